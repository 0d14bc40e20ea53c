"""A scenario's page: its revisions, what each changed, how each was answered, and who may see it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from planner.accounts.owned import Visitor
from planner.finance.models import Approval
from planner.scenarios.forms import QuestionForm
from planner.scenarios.kept_changes import kept_changes
from planner.scenarios.models import Grant, Revision, Scenario
from planner.scenarios.words import Change, Names, Words, names_for
from planner.sharing.models import ShareLink
from planner.sharing.seen import SeenBy, seen_by
from planner.studies import asked
from planner.studies.models import Study
from planner.studies.results import headline


@dataclass(frozen=True)
class RevisionLine:
    """One revision. ``study``: the latest answer to it."""

    revision: Revision
    changes: tuple[Change, ...]
    """Against the revision before it."""
    study: Study | None
    is_latest: bool
    approvals: tuple[Approval, ...] = ()
    """Of answers to it, the oldest first, withdrawn ones too."""


@dataclass(frozen=True)
class History:
    user: Visitor
    scenario: Scenario

    @cached_property
    def revisions(self) -> list[Revision]:
        return list(self.scenario.revisions.select_related("created_by", "scenario").order_by("number"))

    @cached_property
    def latest(self) -> Revision:
        return self.revisions[-1]

    @cached_property
    def studies(self) -> dict[int, Study]:
        """Revision → its latest study."""
        rows = Study.objects.visible_to(self.user).filter(revision__scenario=self.scenario)
        return {study.revision_id: study for study in rows.select_related("workload").order_by("pk")}

    @cached_property
    def approvals(self) -> dict[int, list[Approval]]:
        """Revision → approvals of its answers."""
        rows = Approval.objects.visible_to(self.user).filter(study__revision__scenario=self.scenario)
        found: dict[int, list[Approval]] = {}
        for one in rows.defer("kept", "lines").select_related("study").order_by("created_at", "pk"):
            found.setdefault(one.study.revision_id, []).append(one)
        return found

    @cached_property
    def words(self) -> Words:
        return Words(self._names())

    @property
    def lines(self) -> list[RevisionLine]:
        """Newest first."""
        before: Revision | None = None
        lines = []
        for revision in self.revisions:
            changes = self.changes(before, revision) if before else []
            study = self.studies.get(revision.pk)
            approvals = tuple(self.approvals.get(revision.pk, ()))
            lines.append(RevisionLine(revision, tuple(changes), study, revision == self.latest, approvals))
            before = revision
        return lines[::-1]

    def changes(self, before: Revision, after: Revision) -> list[Change]:
        """What differs between two revisions: inputs, and figures of the catalogue that moved between them."""
        return [*self.words.changes(before.inputs, after.inputs), *kept_changes(before.rows, after.rows)]

    @property
    def links(self) -> Sequence[ShareLink]:
        rows = ShareLink.objects.visible_to(self.user).filter(study__revision__scenario=self.scenario)
        return list(rows.select_related("study__revision", "created_by"))

    @property
    def grants(self) -> Sequence[Grant]:
        rows = Grant.objects.visible_to(self.user).filter(scenario=self.scenario)
        return list(rows.select_related("created_by"))

    @property
    def seen_by(self) -> SeenBy:
        return seen_by(self.user, self.scenario)

    @property
    def answered(self) -> list[Study]:
        """What may be shared: the latest answer to each revision, newest first."""
        return sorted(self.studies.values(), key=lambda study: -study.pk)

    def _names(self) -> Names:
        """As the user sees them now; of what is there no more, as the studies kept them."""
        names: dict[str, dict[str, str]] = {}
        for study in self.studies.values():
            _add(names, asked.words_of(study).names)
        _add(names, names_for(QuestionForm(self.user)))
        return names


@dataclass(frozen=True)
class Comparison:
    """Two revisions: what differs, and nothing else."""

    before: Revision
    after: Revision
    changes: tuple[Change, ...]
    answers: Change | None
    """How each was answered; None where not both were."""
    studies: tuple[Study, ...]
    """The latest answers; empty where not both have one."""


def compare(history: History, first: str, second: str) -> Comparison | None:
    """Two revisions by their numbers, the older one first; None where they are not two of them."""
    numbered = {str(revision.number): revision for revision in history.revisions}
    if first == second or first not in numbered or second not in numbered:
        return None
    before, after = sorted((numbered[first], numbered[second]), key=lambda revision: revision.number)
    found = [history.studies[revision.pk] for revision in (before, after) if revision.pk in history.studies]
    studies = tuple(found) if len(found) > 1 else ()
    answers = Change("answer", "answer", *map(headline, studies)) if studies else None
    return Comparison(before, after, tuple(history.changes(before, after)), answers, studies)


def _add(names: dict[str, dict[str, str]], more: Names) -> None:
    for field, known in more.items():
        names[field] = {**names.get(field, {}), **known}
