"""A row of a table as one user sees it: what is shipped, and beside it what the user's teams say instead."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from planner.accounts.owned import Visitor
from planner.catalogue.models import Figure, FigureOverride, ShippedFigure

PROVENANCE = ("value", "unit", "source", "date", "status")
SHIPPED, OVERRIDDEN, OWN = "shipped", "overridden", "own"
ORIGINS = {SHIPPED: "shipped", OVERRIDDEN: "shipped, with figures of your team's", OWN: "your team's own"}


@dataclass(frozen=True)
class Row:
    """One row; figures by field."""

    table: str
    row_id: str
    shipped: dict[str, ShippedFigure] = field(default_factory=dict)
    own: dict[str, FigureOverride] = field(default_factory=dict)

    @property
    def figures(self) -> dict[str, Figure]:
        """What holds: the team's own figure in place of the shipped one."""
        return {**self.shipped, **self.own}

    @property
    def texts(self) -> dict[str, str]:
        return {name: figure.value for name, figure in self.figures.items()}

    @property
    def name(self) -> str:
        return self.texts.get("name", self.row_id)

    @property
    def origin(self) -> str:
        if not self.shipped:
            return OWN
        return OVERRIDDEN if self.own else SHIPPED

    @property
    def version(self) -> str:
        """Another one as soon as anything about the row is another."""
        return version_of(self.figures.values())


def version_of(rows: Iterable[Any], names: tuple[str, ...] = ("field", *PROVENANCE)) -> str:
    """A short hash of all that rows say."""
    said = sorted([str(getattr(row, name)) for name in names] for row in rows)
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:32]


def rows(user: Visitor, table: str, **of: Any) -> dict[str, Row]:
    """A table's rows by id: the shipped ones in their order, then the teams' own."""
    found: dict[str, Row] = {}
    for shipped in ShippedFigure.objects.filter(table=table, **of):
        found.setdefault(shipped.row_id, Row(table, shipped.row_id)).shipped[shipped.field] = shipped
    for own in FigureOverride.objects.visible_to(user).filter(table=table, **of).select_related("created_by"):
        found.setdefault(own.row_id, Row(table, own.row_id)).own[own.field] = own
    return found


def row_or_none(user: Visitor, table: str, row_id: str) -> Row | None:
    """One row, where there is one."""
    return rows(user, table, row_id=row_id).get(row_id)
