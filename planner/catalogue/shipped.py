"""Loads the shipped catalogue into the database; done again, it brings shipped rows up to date, never a team's own."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db import models, transaction

from planner.catalogue.models import FigureOverride, PriceBook, ShippedFigure, ShippedPrice, ShippedPriceBook
from simcore import catalogue


@dataclass(frozen=True)
class Loaded:
    """What a load did, in rows."""

    added: int
    changed: int
    withdrawn: int
    unchanged: int
    teams_own: int
    """Overrides and price books of teams: left as they are."""

    def __str__(self) -> str:
        return (
            f"{self.added} added, {self.changed} changed, {self.withdrawn} withdrawn, {self.unchanged} unchanged;"
            f" {self.teams_own} of the teams' own kept"
        )


@transaction.atomic
def load_shipped() -> Loaded:
    """Make the shipped rows those of the installed version's CSVs."""
    parts = [
        _bring_up_to_date(ShippedFigure, ("table", "row_id", "field"), _figures()),
        _bring_up_to_date(ShippedPriceBook, ("book_id",), _books()),
        _bring_up_to_date(ShippedPrice, ("book_id", "machine"), _prices()),
    ]
    own = FigureOverride.unscoped.count() + PriceBook.unscoped.count()
    added, changed, withdrawn, unchanged = (sum(counts) for counts in zip(*parts, strict=True))
    return Loaded(added, changed, withdrawn, unchanged, teams_own=own)


def _bring_up_to_date(
    model: type[models.Model], key: tuple[str, ...], wanted: Iterable[dict[str, Any]]
) -> tuple[int, int, int, int]:
    """Rows added, changed, withdrawn, unchanged."""
    manager = model._default_manager
    known = {tuple(getattr(row, name) for name in key): row for row in manager.all()}
    added, changed, unchanged = [], [], 0
    for values in wanted:
        row = known.pop(tuple(values[name] for name in key), None)
        if row is None:
            added.append(model(**values))
        elif any(getattr(row, name) != value for name, value in values.items()):
            for name, value in values.items():
                setattr(row, name, value)
            changed.append(row)
        else:
            unchanged += 1
    manager.bulk_create(added)
    for row in changed:
        row.save()
    manager.filter(pk__in=[row.pk for row in known.values()]).delete()
    return len(added), len(changed), len(known), unchanged


def _figures() -> Iterable[dict[str, Any]]:
    every = ((table, figure) for table in catalogue.TABLES for figure in catalogue.figures(table))
    for position, (table, figure) in enumerate(every):
        values = {name: getattr(figure, name) for name in ("field", "value", "unit", "source", "date", "status")}
        yield {"table": table, "row_id": figure.id, "position": position, **values}


def _books() -> Iterable[dict[str, Any]]:
    for position, book in enumerate(catalogue.price_books().values()):
        yield {"book_id": book.id, "name": book.name, "date": book.date, "position": position}


def _prices() -> Iterable[dict[str, Any]]:
    every = ((book.id, price) for book in catalogue.price_books().values() for price in book.prices)
    for position, (book_id, price) in enumerate(every):
        names = ("machine", "usd_per_hour", "currency", "kind", "source", "date", "status")
        yield {"book_id": book_id, "position": position, **{name: getattr(price, name) for name in names}}
