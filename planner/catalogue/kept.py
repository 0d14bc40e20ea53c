"""The rows that a question rests on, kept with each of its revisions: what the catalogue says later changes neither it
nor its answer.

Kept are JSON objects: ``model``, ``machines`` (each with its accelerator copied in) and ``prices`` (a price book). What
is not kept yet, such as a machine that a question newly chooses, is taken from the catalogue as it is now.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from planner.accounts.owned import Visitor
from planner.catalogue.services import fabric_for, model_for, price_book_for, price_books_for, whole_machines_for
from simcore.spec import Fabric, Machine, Model, PriceBook, decode, encode

Kept = Mapping[str, Any]
NOTHING: Kept = {}


def kept_model(kept: Kept) -> Model | None:
    """The model as it was; None where none is kept."""
    return decode(Model, kept["model"], "model") if "model" in kept else None


def kept_machines(kept: Kept) -> dict[str, Machine]:
    """The machines as they were, by id."""
    return {row["id"]: decode(Machine, row, f"machines: {row['id']}") for row in kept.get("machines", ())}


def kept_prices(kept: Kept) -> PriceBook | None:
    """The price book as it was; None where none is kept."""
    return decode(PriceBook, kept["prices"], "prices") if "prices" in kept else None


def kept_fabric(kept: Kept) -> Fabric | None:
    """The fabric as it was; None where none is kept."""
    return decode(Fabric, kept["fabric"], "fabric") if kept.get("fabric") else None


def model_of(user: Visitor, row_id: str, kept: Kept = NOTHING) -> Model:
    """The kept model, else today's; SpecError where there is neither."""
    was = kept_model(kept)
    return was if was is not None and was.id == row_id else model_for(user, row_id)


def machines_of(user: Visitor, row_ids: Sequence[str], kept: Kept = NOTHING) -> list[Machine]:
    """The kept machines, today's where one is not kept, in the order asked; SpecError where there is neither."""
    found = kept_machines(kept)
    new = [row_id for row_id in row_ids if row_id not in found]
    if new:
        found |= {machine.id: machine for machine in whole_machines_for(user, new)}
    return [found[row_id] for row_id in row_ids]


SUPPOSED = "supposed of an answer"
"""The source of a price that a revision keeps from a what-if: no catalogue ever said it."""


def prices_of(user: Visitor, book_id: str, machine_ids: Collection[str], kept: Kept = NOTHING) -> PriceBook:
    """The kept book, with today's prices of those of the machines that it has none for; today's book where another is
    asked for."""
    was = kept_prices(kept)
    if was is None or was.id != book_id:
        return price_book_for(user, book_id)
    missing = set(machine_ids) - {price.machine for price in was.prices}
    now = price_books_for(user).get(book_id) if missing else None
    return replace(was, prices=(*was.prices, *_prices(now, missing)))


def _prices(book: PriceBook | None, machine_ids: Collection[str]) -> list[Any]:
    return [price for price in (book.prices if book else ()) if price.machine in machine_ids]


def price_books_of(user: Visitor, kept: Kept = NOTHING) -> dict[str, PriceBook]:
    """The books that a question may choose, by id: the kept one in its place, with today's prices beyond its own."""
    books, was = price_books_for(user), kept_prices(kept)
    if was is not None:
        priced = [price.machine for price in books[was.id].prices] if was.id in books else []
        books[was.id] = prices_of(user, was.id, priced, kept)
    return books


def fabric_of(user: Visitor, row_id: str, kept: Kept = NOTHING) -> Fabric:
    """The kept fabric, else today's; SpecError where there is neither."""
    was = kept_fabric(kept)
    return was if was is not None and was.id == row_id else fabric_for(user, row_id)


def rows_kept(
    model: Model, machines: Sequence[Machine], prices: PriceBook, fabric: Fabric | None = None
) -> dict[str, Any]:
    """The rows as a revision keeps them."""
    rows = {"model": encode(model), "machines": [encode(machine) for machine in machines], "prices": encode(prices)}
    return rows if fabric is None else {**rows, "fabric": encode(fabric)}
