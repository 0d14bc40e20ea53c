"""What two revisions keep otherwise of the same rows of the catalogue: figures and prices that moved between them."""

from collections.abc import Iterator, Mapping
from typing import Any

from planner.catalogue.columns import columns
from planner.catalogue.display import quantity, words_of
from planner.catalogue.kept import Kept
from planner.scenarios.words import NONE, Change

Row = Mapping[str, Any]
ROWS = "catalogue"
"""The name of such a change among those of inputs."""


def kept_changes(before: Kept, after: Kept) -> list[Change]:
    """Of rows that both keep: which are chosen is told by the inputs."""
    if not before or not after:
        return []
    found = list(_of_row("models", before["model"], after["model"]))
    machines = {row["id"]: row for row in after["machines"]}
    for row in before["machines"]:
        if row["id"] in machines:
            found += _of_machine(row, machines[row["id"]])
    return [*found, *_of_prices(before["prices"], after["prices"], before["machines"])]


def _of_machine(before: Row, after: Row) -> Iterator[Change]:
    yield from _of_row("machines", before, after)
    first, second = before["accelerator"], after["accelerator"]
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        yield from _of_row("accelerators", first, second)


def _of_row(table: str, before: Row, after: Row) -> Iterator[Change]:
    """Nothing where they are two rows."""
    if before["id"] != after["id"]:
        return
    known = columns(table)
    for field, was in before.items():
        if field in known and field != "accelerator" and after.get(field) != was:
            said = [_quantity(value, known[field].unit) for value in (was, after.get(field))]
            yield Change(ROWS, f"{after['name']}, {words_of(field).lower()}", *said)


def _quantity(value: Any, unit: str) -> str:
    return NONE if value is None else quantity(str(value).lower() if isinstance(value, bool) else str(value), unit)


def _of_prices(before: Row, after: Row, machines: list[Row]) -> Iterator[Change]:
    """Of the machines that were asked for; two books are told by the inputs."""
    if before["id"] != after["id"]:
        return
    names = {row["id"]: row["name"] for row in machines}
    now = {price["machine"]: price for price in after["prices"]}
    for price in before["prices"]:
        name, other = names.get(price["machine"]), now.get(price["machine"])
        if name and other and other["usd_per_hour"] != price["usd_per_hour"]:
            said = [f"${one['usd_per_hour']} an hour" for one in (price, other)]
            yield Change(ROWS, f"price of {name}", *said)
    tariffs = [row.get("usd_per_kwh") for row in (before, after)]
    if tariffs[0] != tariffs[1]:
        yield Change(ROWS, "electricity", *(NONE if usd is None else f"${usd} a kWh" for usd in tariffs))
