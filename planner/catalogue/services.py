"""The catalogue as one user sees it: the shipped rows with the user's teams' own figures and price books on top."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from decimal import Decimal
from typing import Any, TypeVar

from django.db.models import QuerySet

from planner.accounts.models import Team
from planner.accounts.owned import Visitor
from planner.catalogue.models import (
    Figure,
    FigureOverride,
    MachinePrice,
    PriceBook,
    Quote,
    ShippedFigure,
    ShippedPrice,
    ShippedPriceBook,
)
from simcore.catalogue import build
from simcore.spec import Accelerator, Break, Exchange, Fabric, Machine, Model, Offer, Price, SpecError, decode, nearest
from simcore.spec import PriceBook as SpecPriceBook

T = TypeVar("T", Accelerator, Fabric, Machine, Model)
KINDS = {"accelerators": "accelerator", "machines": "machine", "fabrics": "fabric", "models": "model"}


def rows_of(user: Visitor, table: str) -> dict[str, list[Figure]]:
    """A table's rows by id: the shipped ones in their order, then the teams' own; overridden figures in their place."""
    rows: dict[str, dict[str, Figure]] = {}
    for figure in _figures(user, table):
        rows.setdefault(figure.row_id, {})[figure.field] = figure
    return {row_id: list(figures.values()) for row_id, figures in rows.items()}


def figures_of(user: Visitor, table: str, row_id: str) -> list[Figure]:
    """A row's figures; SpecError names the nearest id."""
    found = _figures(user, table, row_id=row_id)
    if not found:
        raise unknown(user, table, row_id)
    return list({figure.field: figure for figure in found}.values())


def _figures(user: Visitor, table: str, **of: str) -> list[Figure]:
    return [figure for rows in _queries(user, table, **of) for figure in rows]


def _queries(user: Visitor, table: str, **of: Any) -> tuple[QuerySet[ShippedFigure], QuerySet[FigureOverride]]:
    """Shipped figures, then the teams' own, which stand in for shipped ones of the same row and field."""
    own = FigureOverride.objects.visible_to(user).filter(table=table, **of)
    return ShippedFigure.objects.filter(table=table, **of), own


def unknown(user: Visitor, table: str, row_id: str) -> SpecError:
    """That there is no such row, with the nearest id."""
    rows = [name for name, _ in names_of(user, table)]
    return SpecError(f"{KINDS[table]}: found '{row_id}', expected one of {', '.join(rows)}{nearest(row_id, rows)}")


def accelerator_for(user: Visitor, row_id: str) -> Accelerator:
    """The accelerator as the user sees it."""
    return _built(user, Accelerator, "accelerators", [row_id])[row_id]


def machine_for(user: Visitor, row_id: str) -> Machine:
    """The machine as the user sees it; its accelerator is inline where a team's own figure is in it."""
    machine = _built(user, Machine, "machines", [row_id])[row_id]
    figures = figures_of(user, "accelerators", str(machine.accelerator))
    if any(isinstance(figure, FigureOverride) for figure in figures):
        return replace(machine, accelerator=build(Accelerator, str(machine.accelerator), _texts(figures)))
    return machine


def whole_machines_for(user: Visitor, row_ids: Collection[str]) -> list[Machine]:
    """The machines as the user sees them, each with its accelerator's figures copied in; SpecError names the nearest
    id of one that is unknown."""
    machines = _built(user, Machine, "machines", row_ids)
    accelerators = _built(
        user, Accelerator, "accelerators", {str(machine.accelerator) for machine in machines.values()}
    )
    return [replace(machine, accelerator=accelerators[str(machine.accelerator)]) for machine in machines.values()]


def model_for(user: Visitor, row_id: str) -> Model:
    """The model as the user sees it."""
    return _built(user, Model, "models", [row_id])[row_id]


def fabric_for(user: Visitor, row_id: str) -> Fabric:
    """The fabric as the user sees it."""
    return _built(user, Fabric, "fabrics", [row_id])[row_id]


def names_of(user: Visitor, table: str) -> list[tuple[str, str]]:
    """Id and name of a table's rows, in their order; the id stands for a name that is missing."""
    return [(row_id, texts.get("name", row_id)) for row_id, texts in _texts_by_id(user, table).items()]


def _built(user: Visitor, cls: type[T], table: str, row_ids: Collection[str]) -> dict[str, T]:
    """Rows as simcore's, by id, in two queries however many there are."""
    texts = _texts_by_id(user, table, row_id__in=row_ids)
    if missing := [row_id for row_id in row_ids if row_id not in texts]:
        raise unknown(user, table, missing[0])
    return {row_id: build(cls, row_id, texts[row_id]) for row_id in row_ids}


def _texts_by_id(user: Visitor, table: str, **of: Collection[str]) -> dict[str, dict[str, str]]:
    """Row → field → value as text."""
    texts: dict[str, dict[str, str]] = {}
    for rows in _queries(user, table, **of):
        for row_id, field, value in rows.values_list("row_id", "field", "value"):
            texts.setdefault(row_id, {})[field] = value
    return texts


def price_books_for(user: Visitor) -> dict[str, SpecPriceBook]:
    """Price books by id: the shipped ones, then the teams' own, which stand in for a shipped one of the same id."""
    books = shipped_books()
    for own in PriceBook.objects.visible_to(user).prefetch_related("prices", "quotes", "rates"):
        books[own.book_id] = _own_book(own)
    return books


def book_of_team(team: Team, book_id: str) -> SpecPriceBook | None:
    """What a team's price book of the id says: its own, else the shipped one."""
    rows = PriceBook.unscoped.filter(team=team, book_id=book_id).prefetch_related("prices", "quotes", "rates")
    own = rows.first()
    return _own_book(own) if own else shipped_books().get(book_id)


def _own_book(own: PriceBook) -> SpecPriceBook:
    return replace(
        _book(own, [_price(row) for row in own.prices.all()]),
        offers=tuple(_offer(row) for row in own.quotes.all()),
        rates=tuple(Exchange(row.currency, _short(row.usd), row.date, row.source) for row in own.rates.all()),
    )


def shipped_books() -> dict[str, SpecPriceBook]:
    """The shipped price books by id."""
    prices: dict[str, list[Price]] = {}
    for row in ShippedPrice.objects.all():
        prices.setdefault(row.book_id, []).append(_price(row))
    return {book.book_id: _book(book, prices.get(book.book_id, [])) for book in ShippedPriceBook.objects.all()}


def price_book_for(user: Visitor, book_id: str) -> SpecPriceBook:
    """The price book as the user sees it; SpecError names the nearest id."""
    books = price_books_for(user)
    if book_id not in books:
        raise SpecError(f"prices: found '{book_id}', expected one of {', '.join(books)}{nearest(book_id, books)}")
    return books[book_id]


def _texts(figures: Iterable[Figure]) -> dict[str, str]:
    return {figure.field: figure.value for figure in figures}


def _book(book: ShippedPriceBook | PriceBook, prices: list[Price]) -> SpecPriceBook:
    return SpecPriceBook(book.book_id, book.name, book.date, tuple(prices))


def _price(row: MachinePrice) -> Price:
    return Price(
        machine=row.machine,
        usd_per_hour=_plain(row.usd_per_hour),
        source=row.source,
        date=row.date,
        status=row.status,
        kind=row.kind,  # type: ignore[arg-type]
        currency=row.currency,
        local_per_hour=None if row.local_per_hour is None else _plain(row.local_per_hour),
    )


def _offer(row: Quote) -> Offer:
    return Offer(
        machine=row.machine,
        term=row.term,  # type: ignore[arg-type]
        price=_short(row.price),
        vendor=row.vendor,
        quote=row.quote,
        currency=row.currency,
        discount=_short(row.discount),
        breaks=tuple(decode(Break, one, "breaks") for one in row.breaks),
        support_per_year=_short(row.support_per_year),
        valid_from=row.valid_from,
        valid_to=row.valid_to,
        source=row.source,
        date=row.date,
    )


def _short(amount: Decimal) -> Decimal:
    """Without zeros at its end, and never as 1E+5."""
    return Decimal(f"{amount.normalize():f}")


def _plain(usd: Decimal) -> Decimal:
    """To cents where that is exact, else without zeros at its end: the database keeps six places."""
    cents = usd.quantize(Decimal("0.01"))
    return cents if cents == usd else usd.normalize()
