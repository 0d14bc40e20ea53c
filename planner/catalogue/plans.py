"""What an imported file would change, row by row, before anything is: the same code says it and does it."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from django.utils import timezone

from planner.accounts.models import Team, User
from planner.catalogue.columns import columns, date_problem
from planner.catalogue.csv_figures import Figures, figures_in
from planner.catalogue.csv_file import CsvFile
from planner.catalogue.display import quantity, words_of
from planner.catalogue.editing import (
    Draft,
    id_problem,
    same_figure,
    same_value,
    write_rows,
)
from planner.catalogue.models import USER
from planner.catalogue.row_form import LONGEST_SOURCE
from planner.catalogue.rows import Row, rows
from planner.catalogue.together import Beside, check_row, rows_beside
from simcore.catalogue import STATUSES
from simcore.spec import SpecError, nearest
from simcore.words import listed

EVERY_STATUS = (*STATUSES, USER)


@dataclass(frozen=True)
class Line:
    """One figure that would be added or changed."""

    line: int
    row_id: str
    words: str
    was: str
    """Empty where it is added."""
    now: str
    source: str


@dataclass(frozen=True)
class Refusal:
    """A row of the file that cannot be taken, and why."""

    line: int
    row_id: str
    words: str


@dataclass
class Plan:
    """What an import would do."""

    added: list[Line] = field(default_factory=list)
    changed: list[Line] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    unchanged: int = 0
    new_rows: list[str] = field(default_factory=list)

    @property
    def may_be_applied(self) -> bool:
        return not self.refused and bool(self.added or self.changed)

    def apply(self, team: Team, user: User) -> None:
        """Makes the changes."""
        raise NotImplementedError

    def longest(self) -> int:
        """Of the lists that a page shows."""
        return max(len(self.added), len(self.changed), len(self.refused))

    @property
    def token(self) -> str:
        """Another one as soon as anything that the plan says is another: somebody edited a row in between."""
        return hashlib.sha256(repr(self).encode()).hexdigest()[:32]


@dataclass
class FigurePlan(Plan):
    """Of a table's figures."""

    table: str = ""
    drafts: dict[str, list[Draft]] = field(default_factory=dict)
    rows: dict[str, Row] = field(default_factory=dict, repr=False)

    def apply(self, team: Team, user: User) -> None:
        rows = ((self.rows.get(row_id) or Row(self.table, row_id), drafts) for row_id, drafts in self.drafts.items())
        write_rows(team, user, list(rows))


def plan_figures(user: User, table: str, file: CsvFile) -> FigurePlan:
    """The plan of a file for a table; SpecError where it is not one of the table's."""
    plan = FigurePlan(table=table, rows=rows(user, table))
    found = figures_in(table, file, plan.rows, timezone.now().date().isoformat())
    lines = _by_row(table, found, plan)
    beside = rows_beside(user, table)
    for row_id, drafts in lines.items():
        _plan_row(plan, row_id, drafts, beside)
    plan.refused = in_order(plan.refused)
    return plan


def in_order(refused: Iterable[Refusal]) -> list[Refusal]:
    """Each once, such as a source that all figures of a line lack."""
    return sorted(dict.fromkeys(refused), key=lambda refusal: refusal.line)


def _by_row(table: str, found: Figures, plan: FigurePlan) -> dict[str, dict[str, tuple[int, Draft]]]:
    """The file's figures by row and field; those that cannot be taken by themselves are refused."""
    lines: dict[str, dict[str, tuple[int, Draft]]] = {}
    for line, row_id, draft in found:
        before = lines.get(row_id, {}).get(draft.field)
        if before:
            words = f"{draft.field}: found a second value, the first is on line {before[0]}"
            plan.refused.append(Refusal(line, row_id, words))
        elif problem := _problem(table, row_id, draft):
            plan.refused.append(Refusal(line, row_id, problem))
        else:
            lines.setdefault(row_id, {})[draft.field] = (line, draft)
    return lines


def _problem(table: str, row_id: str, draft: Draft) -> str:
    """What is wrong with one figure of the file; empty where nothing is."""
    known = columns(table)
    if problem := id_problem(row_id):
        return f"id: {problem}"
    if draft.field not in known:
        return f"field: found ‘{draft.field[:60]}’, expected one of {', '.join(known)}{nearest(draft.field, known)}"
    column = known[draft.field]
    if draft.unit != column.unit:
        expected = f"‘{column.unit}’" if column.unit else "nothing"
        found = f"‘{draft.unit[:60]}’" if draft.unit else "nothing"
        return f"unit: found {found}, expected {expected} for {draft.field}"
    if problem := column.problem(draft.value):
        return f"{draft.field}: {problem}"
    return provenance_problem(draft.source, draft.date, draft.status)


def provenance_problem(source: str, date: str, status: str) -> str:
    """What is wrong with where a figure is from; empty where nothing is."""
    if not 0 < len(source) <= LONGEST_SOURCE:
        found = f"{len(source)} characters" if source else "nothing"
        return f"source: found {found}, expected where the figure is from, in at most {LONGEST_SOURCE} characters"
    if problem := date_problem(date):
        return f"date: {problem}"
    if status not in EVERY_STATUS:
        return f"status: found ‘{status[:60]}’, expected one of {', '.join(EVERY_STATUS)}"
    return ""


def _plan_row(plan: FigurePlan, row_id: str, drafts: Mapping[str, tuple[int, Draft]], beside: Beside) -> None:
    row = plan.rows.get(row_id) or Row(plan.table, row_id)
    texts = {**row.texts, **{name: draft.value for name, (_, draft) in drafts.items()}}
    if problem := _row_problem(plan, row_id, texts, beside):
        first = min(line for line, _ in drafts.values())
        of = drafts.get(problem.partition(":")[0])
        plan.refused.append(Refusal(of[0] if of else first, row_id, problem))
        return
    if row_id not in plan.rows:
        plan.new_rows.append(row_id)
    for name, (line, draft) in drafts.items():
        _plan_figure(plan, row, name, line, draft)


def _row_problem(plan: FigurePlan, row_id: str, texts: Mapping[str, str], beside: Beside) -> str:
    """What is wrong with a row as a whole; empty where nothing is, or one of its figures is refused already."""
    if any(refusal.row_id == row_id for refusal in plan.refused):
        return ""
    missing = [column.field for column in columns(plan.table).values() if column.required and column.field not in texts]
    if missing:
        return f"{listed(missing)}: found nothing, expected in a row that the catalogue does not have"
    try:
        check_row(plan.table, row_id, texts, beside)
    except SpecError as error:
        return str(error)
    return ""


def _plan_figure(plan: FigurePlan, row: Row, name: str, line: int, draft: Draft) -> None:
    before = row.figures.get(name)
    if same_figure(draft, before):
        plan.unchanged += 1
        return
    plan.drafts.setdefault(row.row_id, []).append(draft)
    now = quantity(draft.value, draft.unit)
    if before is None:
        plan.added.append(Line(line, row.row_id, words_of(name), "", now, draft.source))
        return
    was = quantity(before.value, before.unit)
    if same_value(draft.value, before.value):
        was, now = f"{was} ({before.status}, {before.date})", f"{now} ({draft.status}, {draft.date})"
    plan.changed.append(Line(line, row.row_id, words_of(name), was, now, draft.source))
