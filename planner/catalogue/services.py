"""The catalogue as one user sees it: the shipped rows with the user's teams' own figures and price books on top."""

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal

from planner.accounts.owned import Visitor
from planner.catalogue.models import (
    Figure,
    FigureOverride,
    MachinePrice,
    PriceBook,
    ShippedFigure,
    ShippedPrice,
    ShippedPriceBook,
)
from simcore.catalogue import build
from simcore.spec import Accelerator, Machine, Model, Price, SpecError, nearest
from simcore.spec import PriceBook as SpecPriceBook

KINDS = {"accelerators": "accelerator", "machines": "machine", "models": "model"}


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
        rows = rows_of(user, table)
        raise SpecError(f"{KINDS[table]}: found '{row_id}', expected one of {', '.join(rows)}{nearest(row_id, rows)}")
    return list({figure.field: figure for figure in found}.values())


def _figures(user: Visitor, table: str, **of: str) -> list[Figure]:
    """Shipped figures, then the teams' own, which stand in for shipped ones of the same row and field."""
    own = FigureOverride.objects.visible_to(user).filter(table=table, **of)
    return [*ShippedFigure.objects.filter(table=table, **of), *own]


def accelerator_for(user: Visitor, row_id: str) -> Accelerator:
    """The accelerator as the user sees it."""
    return build(Accelerator, row_id, _texts(figures_of(user, "accelerators", row_id)))


def machine_for(user: Visitor, row_id: str) -> Machine:
    """The machine as the user sees it; its accelerator is inline where a team's own figure is in it."""
    machine = build(Machine, row_id, _texts(figures_of(user, "machines", row_id)))
    figures = figures_of(user, "accelerators", str(machine.accelerator))
    if any(isinstance(figure, FigureOverride) for figure in figures):
        return replace(machine, accelerator=build(Accelerator, str(machine.accelerator), _texts(figures)))
    return machine


def model_for(user: Visitor, row_id: str) -> Model:
    """The model as the user sees it."""
    return build(Model, row_id, _texts(figures_of(user, "models", row_id)))


def price_books_for(user: Visitor) -> dict[str, SpecPriceBook]:
    """Price books by id: the shipped ones, then the teams' own, which stand in for a shipped one of the same id."""
    prices: dict[str, list[Price]] = {}
    for row in ShippedPrice.objects.all():
        prices.setdefault(row.book_id, []).append(_price(row))
    shipped = ShippedPriceBook.objects.all()
    books = {book.book_id: _book(book, prices.get(book.book_id, [])) for book in shipped}
    for own in PriceBook.objects.visible_to(user).prefetch_related("prices"):
        books[own.book_id] = _book(own, [_price(row) for row in own.prices.all()])
    return books


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
        currency=row.currency,  # type: ignore[arg-type]
    )


def _plain(usd: Decimal) -> Decimal:
    """To cents where that is exact: the database keeps four places."""
    cents = usd.quantize(Decimal("0.01"))
    return cents if cents == usd else usd
