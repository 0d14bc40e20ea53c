"""What is to be said of the quotes in the price book that a study keeps."""

from datetime import UTC

from django.utils import timezone

from planner.catalogue.quote_lines import STUDY_DAY, TODAY, not_holding
from planner.studies.models import Study
from simcore.answer.result import StudyResult
from simcore.catalogue import resolve_machine


def quotes_not_holding(study: Study, result: StudyResult) -> list[str]:
    """Sentences about those of its machines that do not hold: on the study's own day, today."""
    machines = [resolve_machine(choice.machine).id for choice in result.spec.machines]
    days = {STUDY_DAY: study.created_at.astimezone(UTC).date(), TODAY: timezone.now().date()}
    return not_holding(result.book, machines, days)
