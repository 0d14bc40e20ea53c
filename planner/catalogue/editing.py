"""Changes to a team's own figures. Shipped figures stay: a team's figure stands in for one until it is taken back."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import transaction

from planner.accounts import audit
from planner.accounts.models import Team, User
from planner.catalogue.columns import plain_number
from planner.catalogue.models import Figure, FigureOverride, ShippedFigure
from planner.catalogue.rows import PROVENANCE, Row

ROW_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}", re.ASCII)
ROW_ID_WORDS = "small letters, digits, dots and hyphens, at most 100, a letter or digit first"
RESERVED_IDS = frozenset({"add", "new", "import", "export.csv"})
"""Ids that would be addresses of other pages."""


ROW = FigureOverride._meta.label_lower
"""What a row of the catalogue is called in the history."""
AT_ONCE = 500
"""Rows of a query."""


class StaleError(Exception):
    """Somebody changed what is being changed, since it was looked at."""


@dataclass(frozen=True)
class Draft:
    """A figure as it is to be."""

    field: str
    value: str
    unit: str
    source: str
    date: str
    status: str


def same_figure(draft: Draft, figure: Figure | None) -> bool:
    """Whether the figure says so already: the same number, with the same provenance."""
    if figure is None:
        return False
    rest = all(getattr(draft, name) == getattr(figure, name) for name in PROVENANCE if name != "value")
    return rest and same_value(draft.value, figure.value)


def same_value(one: str, other: str) -> bool:
    """``312e12`` is ``3.12e14``."""
    if one == other:
        return True
    numbers = plain_number(one), plain_number(other)
    return None not in numbers and numbers[0] == numbers[1]


def id_problem(row_id: str) -> str:
    """What is wrong with a new row's id; empty where nothing is."""
    if row_id in RESERVED_IDS:
        return f"found ‘{row_id}’, expected none of {', '.join(sorted(RESERVED_IDS))}"
    if ROW_ID.fullmatch(row_id):
        return ""
    return f"found ‘{row_id[:60]}’, expected {ROW_ID_WORDS}"


@contextmanager
def one_at_a_time(team: Team) -> Iterator[None]:
    """A transaction in which nobody else changes the team's catalogue."""
    with transaction.atomic():
        Team.objects.select_for_update().get(pk=team.pk)
        yield


@transaction.atomic
def write(team: Team, user: User, row: Row, drafts: Iterable[Draft], dropped: Collection[str] = ()) -> None:
    """Makes the team's figures of a row say what the drafts say; figures ``dropped`` are taken away."""
    written = list(drafts)
    _write(team, user, [(row, written)])
    mine = FigureOverride.objects.editable_by(user).filter(team=team, table=row.table, row_id=row.row_id)
    mine.filter(field__in=dropped).delete()
    _record(team, user, [(row, _with(row, written, dropped))])


@transaction.atomic
def write_rows(team: Team, user: User, changed: Collection[tuple[Row, list[Draft]]]) -> None:
    """Makes the team's figures say what the drafts say, of any number of rows in a few queries. One that says what is
    shipped is taken back instead."""
    _write(team, user, changed)
    _record(team, user, [(row, _with(row, drafts)) for row, drafts in changed])


def _write(team: Team, user: User, changed: Collection[tuple[Row, list[Draft]]]) -> None:
    old = [row.own[draft.field].pk for row, drafts in changed for draft in drafts if draft.field in row.own]
    mine = FigureOverride.objects.editable_by(user).filter(team=team)
    for first in range(0, len(old), AT_ONCE):
        mine.filter(pk__in=old[first : first + AT_ONCE]).delete()
    made = (
        FigureOverride(team=team, created_by=user, table=row.table, row_id=row.row_id, **vars(draft))
        for row, drafts in changed
        for draft in drafts
        if not same_figure(draft, row.shipped.get(draft.field))
    )
    FigureOverride.objects.bulk_create(made, batch_size=AT_ONCE)


@transaction.atomic
def restore(team: Team, user: User, row: Row, field: str = "") -> int:
    """Back to what is shipped: one figure, or all of the row's. How many were taken back."""
    mine = FigureOverride.objects.editable_by(user).filter(team=team, table=row.table, row_id=row.row_id)
    shipped = ShippedFigure.objects.filter(table=row.table, row_id=row.row_id).values("field")
    back = mine.filter(**({"field": field} if field else {}), field__in=shipped)
    fields = list(back.values_list("field", flat=True))
    if fields:
        back.delete()
        _record(team, user, [(row, _with(row, (), fields))], "took back to what is shipped")
    return len(fields)


@transaction.atomic
def delete(team: Team, user: User, row: Row) -> int:
    """Takes all of the team's figures of the row away: a row of its own is gone, a shipped one as it is shipped."""
    mine = FigureOverride.objects.editable_by(user).filter(team=team, table=row.table, row_id=row.row_id)
    gone = mine.delete()[0]
    if gone:
        action = "took back to what is shipped" if row.shipped else "deleted"
        _record(team, user, [(row, dict(row.shipped))], action)
    return gone


def _with(row: Row, drafts: Iterable[Draft], dropped: Collection[str] = ()) -> dict[str, Figure | Draft]:
    """The row's figures once the drafts are written, and those dropped as they are shipped, if they are."""
    left = {name: figure for name, figure in row.figures.items() if name not in dropped}
    back = {name: row.shipped[name] for name in dropped if name in row.shipped}
    return {**left, **back, **{draft.field: draft for draft in drafts}}


def _record(
    team: Team, user: User, changed: Iterable[tuple[Row, Mapping[str, Figure | Draft]]], action: str = ""
) -> None:
    """Rows as they were, and their figures as they are now."""
    entries: dict[str, list[tuple[audit.Named, audit.Told]]] = {}
    for row, now in changed:
        name = now["name"].value if "name" in now else row.name
        told = audit.changed(_told(row.figures), _told(now))
        if told:
            of = entries.setdefault(action or ("changed" if row.figures else "added"), [])
            of.append((audit.Named(ROW, f"{row.table}/{row.row_id}", name), told))
    for said, of in entries.items():
        audit.record_each(team, user, said, of)


def _told(figures: Mapping[str, Figure | Draft]) -> dict[str, str]:
    """Each figure's value, and by fields of their own the rest of what is said of it."""
    return {
        f"{name}.{part}" if part != "value" else name: getattr(figure, part)
        for name, figure in figures.items()
        for part in PROVENANCE
    }
