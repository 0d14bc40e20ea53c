"""What the catalogue says otherwise today than the rows that a question keeps."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from django.urls import reverse

from planner.accounts.owned import Visitor
from planner.catalogue.columns import columns
from planner.catalogue.display import NOT_GIVEN, quantity, words_of
from planner.catalogue.kept import SUPPOSED, Kept, kept_fabric, kept_machines, kept_model, kept_prices
from planner.catalogue.quote_fields import quote_texts
from planner.catalogue.services import fabric_for, model_for, price_books_for, whole_machines_for
from simcore.spec import Accelerator, Fabric, Machine, Model, Offer, Price, PriceBook, SpecError

GONE = "not in the catalogue any more"


@dataclass(frozen=True)
class RowChange:
    """One figure, as the question keeps it and as the catalogue has it today."""

    row: str
    figure: str
    was: str
    now: str
    address: str = ""
    """The row's page; empty where it is gone."""


def changes_since(user: Visitor, kept: Kept) -> list[RowChange]:
    """What a question that keeps these rows would be asked with today; nothing where it keeps none."""
    model, machines, fabric = kept_model(kept), kept_machines(kept), kept_fabric(kept)
    found = list(_of_row(model, "models", lambda: model_for(user, model.id))) if model else []
    for machine in machines.values():
        found += _of_machine(user, machine)
    found += _of_row(fabric, "fabrics", lambda: fabric_for(user, fabric.id)) if fabric else []
    return found + list(_of_prices(user, kept, machines))


def _of_row(was: Model | Fabric, table: str, today: Callable[[], Model | Fabric]) -> Iterator[RowChange]:
    try:
        now = today()
    except SpecError:
        yield RowChange(was.name, type(was).__name__, "", GONE)
        return
    yield from _figures(table, was.name, was, now)


def _of_machine(user: Visitor, was: Machine) -> Iterable[RowChange]:
    try:
        (now,) = whole_machines_for(user, [was.id])
    except SpecError:
        return [RowChange(was.name, "Machine", "", GONE)]
    found = list(_figures("machines", was.name, was, now))
    first, second = was.accelerator, now.accelerator
    if isinstance(first, Accelerator) and isinstance(second, Accelerator):
        if first.id != second.id:
            found.append(
                RowChange(was.name, words_of("accelerator"), first.name, second.name, _page("machines", was.id))
            )
        else:
            found += _figures("accelerators", f"{was.name}, {first.name}", first, second)
    return found


def _figures(table: str, name: str, was: Model | Fabric | Machine | Accelerator, now: object) -> Iterator[RowChange]:
    for field in dataclasses.fields(was):
        first, second = getattr(was, field.name), getattr(now, field.name)
        if first == second or field.name in ("id", "accelerator"):
            continue
        unit = columns(table)[field.name].unit
        before, after = (NOT_GIVEN if value is None else quantity(_text(value), unit) for value in (first, second))
        yield RowChange(name, words_of(field.name), before, after, _page(table, was.id))


def _of_prices(user: Visitor, kept: Kept, machines: dict[str, Machine]) -> Iterator[RowChange]:
    """Of the machines kept: what else a book says does not matter to the question."""
    was = kept_prices(kept)
    if was is None:
        return
    now = price_books_for(user).get(was.id)
    today = {price.machine: price for price in now.prices} if now else {}
    for price in was.prices:
        if price.machine not in machines or price.source == SUPPOSED:
            continue
        said = _price(price), _price(today.get(price.machine))
        if said[0] != said[1]:
            address = reverse("catalogue:price_book", args=[was.id]) if now else ""
            yield RowChange(f"{machines[price.machine].name} in {was.name}", "Price", *said, address)
    yield from _of_quotes(was, now, machines)


def _of_quotes(was: PriceBook, now: PriceBook | None, machines: dict[str, Machine]) -> Iterator[RowChange]:
    """Changed, gone and new ones of the machines kept."""
    before = {offer.key: offer for offer in was.offers if offer.machine in machines}
    after = {offer.key: offer for offer in (now.offers if now else ()) if offer.machine in machines}
    for key, offer in {**before, **after}.items():
        if before.get(key) != after.get(key):
            said = _quote(before.get(key)), _quote(after.get(key))
            address = reverse("catalogue:price_book", args=[was.id]) if now else ""
            yield RowChange(f"{machines[offer.machine].name} in {was.name}", offer.name, *said, address)


def _quote(offer: Offer | None) -> str:
    if offer is None:
        return "none"
    left_out = ("machine", "vendor", "quote")
    said = {name: text for name, text in quote_texts(offer).items() if text and name not in left_out}
    return ", ".join(f"{name.replace('_', ' ')} {text}" for name, text in said.items())


def _price(price: Price | None) -> str:
    return f"{price.usd_per_hour} {price.currency} an hour, {price.kind.replace('_', ' ')}" if price else GONE


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _page(table: str, row_id: str) -> str:
    return reverse("catalogue:row", args=[table, row_id])
