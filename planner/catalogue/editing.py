"""Changes to a team's own figures. Shipped figures stay: a team's figure stands in for one until it is taken back."""

import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import transaction

from planner.accounts.models import Team, User
from planner.catalogue.columns import plain_number
from planner.catalogue.models import Figure, FigureOverride, ShippedFigure
from planner.catalogue.rows import PROVENANCE, Row

ROW_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}", re.ASCII)
ROW_ID_WORDS = "small letters, digits, dots and hyphens, at most 100, a letter or digit first"
RESERVED_IDS = frozenset({"add", "new", "import", "export.csv"})
"""Ids that would be addresses of other pages."""


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


def write(team: Team, user: User, row: Row, drafts: Iterable[Draft], dropped: Collection[str] = ()) -> None:
    """Makes the team's figures of a row say what the drafts say; figures ``dropped`` are taken away."""
    write_rows(team, user, [(row, list(drafts))])
    mine = FigureOverride.objects.editable_by(user).filter(team=team, table=row.table, row_id=row.row_id)
    mine.filter(field__in=dropped).delete()


def write_rows(team: Team, user: User, changed: Collection[tuple[Row, list[Draft]]]) -> None:
    """Makes the team's figures say what the drafts say, of any number of rows in a few queries. One that says what is
    shipped is taken back instead."""
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


def restore(team: Team, user: User, row: Row, field: str = "") -> int:
    """Back to what is shipped: one figure, or all of the row's. How many were taken back."""
    mine = FigureOverride.objects.editable_by(user).filter(team=team, table=row.table, row_id=row.row_id)
    shipped = ShippedFigure.objects.filter(table=row.table, row_id=row.row_id).values("field")
    return mine.filter(**({"field": field} if field else {}), field__in=shipped).delete()[0]


def delete(team: Team, user: User, row: Row) -> int:
    """Takes all of the team's figures of the row away: a row of its own is gone, a shipped one as it is shipped."""
    mine = FigureOverride.objects.editable_by(user).filter(team=team, table=row.table, row_id=row.row_id)
    return mine.delete()[0]
