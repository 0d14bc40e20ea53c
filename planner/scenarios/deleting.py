"""A question deleted with all that is part of it, and put back."""

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone

from planner.accounts import deleting
from planner.accounts.models import User
from planner.accounts.owned import Visitor
from planner.analyses.services import leave
from planner.scenarios.models import Scenario
from planner.scenarios.services import author
from planner.studies import services
from planner.studies.models import Study
from planner.studies.waves import ACTIVE


class ShippedError(ValueError):
    """It comes with Phaseplan."""

    def __init__(self) -> None:
        super().__init__("The example comes with Phaseplan and stays as it is shipped: it cannot be deleted.")


@transaction.atomic
def delete(user: Visitor, scenario: Scenario) -> int:
    """With its revisions, answers and links; how many studies under way were stopped for it. PermissionDenied to who
    does not write in its team, ShippedError of the example."""
    if not Scenario.objects.owned_by(user).filter(pk=scenario.pk).exists():
        raise PermissionDenied("You may read this question, but not delete it.")
    if scenario.shipped_id is not None:
        raise ShippedError
    if not deleting.delete(scenario, author(user), scenario.latest.title):
        return 0  # somebody else was quicker
    studies = Study.unscoped.filter(revision__scenario=scenario)
    under_way = list(studies.filter(state__in=ACTIVE))
    for study in under_way:
        services.cancel(study, user)
    leave(studies)
    return len(under_way)


def put_back(scenario: Scenario, user: User) -> bool:
    """With all that was part of it. What was under way can be gone on with."""
    return deleting.put_back(scenario, user, scenario.latest.title, updated_at=timezone.now())
