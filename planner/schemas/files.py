"""What each schema says, from the columns and dataclasses that the files are made of."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from planner.api.shapes import Shape, anything, maybe, money, one_of, text, time, told, whole, with_more
from planner.api.shapes import many as list_of
from planner.api.shapes_of import told_of
from planner.finance.tables import CASH_FLOW, KEYS, LINES, MEASURES, TIMES, UNIT_COSTS, Table
from planner.schemas import NAMES, address
from planner.studies.api_shapes import DESIGN, STUDY
from simcore.economics.assumptions import Assumptions
from simcore.economics.lines import CostLine, View
from simcore.economics.physics import Physics
from simcore.spec import Exchange, Offer, PriceBook, Standing

DRAFT = "https://json-schema.org/draft/2020-12/schema"
VIEWS, STANDINGS = View.__args__, Standing.__args__  # type: ignore[attr-defined]
WHOLE = ("hours",)
MONEY = (
    *("quantity", "unit_price_usd", "amount_usd", "exchange_usd", "paid_usd", "paid_so_far_usd", "req_per_s"),
    *("tokens", "usd_per_million", "with_idle_usd_per_million", "usd_per_accelerator", *MEASURES),
)
NEVER_NULL = (*KEYS, *TIMES, *WHOLE, "quantity", "unit_price_usd", "amount_usd", "paid_usd", "base_usd", "headroom")
"""Of a row."""


def as_text(name: str) -> str:
    """As it is served and committed."""
    made: dict[str, Callable[[], Shape]] = {"costs-1": _costs, "designs-1": _designs}
    shape = {"$schema": DRAFT, "$id": address(name), **made[name]()}
    return json.dumps(_untitled(shape), indent=1, ensure_ascii=False) + "\n"


def texts() -> dict[str, str]:
    """All of them, by name."""
    return {name: as_text(name) for name in NAMES}


def _costs() -> Shape:
    line = _once(_row(LINES), **_of(told_of(CostLine)), category_name=text("The category in words."))
    return told(
        "costs.json: a study's costs with all that they follow from. Money and simulated figures are decimal text.",
        schema=text("This schema's address."),
        **{name: text() for name in KEYS},
        view=one_of(*VIEWS),
        physics=list_of(told_of(Physics), "The design, and those that follow it as traffic grows; nine digits each."),
        assumptions=_without(told_of(Assumptions), "machines", "taken"),
        quotes=list_of(_quote(), "The quotes that prices are from, as they stood on the study’s day."),
        not_given=list_of(text(), "What counts nothing, as nobody gave it a price."),
        lines=list_of(line),
        total_usd=money("The sum of the lines."),
        low_usd=maybe(money("Of the total, were the capacity at the high end of its 90 % interval.")),
        base_usd=money(),
        high_usd=maybe(money("… at the low end; null: no capacity is certain.")),
        slo_attainment=maybe(money("The share of requests within the SLO’s limits at the rate, first month.")),
        headroom=money("Capacity under the SLO ÷ rate - 1, first month."),
        cash_flow=list_of(with_more(_row(CASH_FLOW), month=text("As 2027-01."))),
        unit_costs=list_of(_row(UNIT_COSTS)),
        npv_usd=money("Of all that is paid, at the start of the first month."),
        reconciled=told("Paid - booked = left.", paid_usd=money(), booked_usd=money(), left_usd=money()),
        uncovered_from=maybe(text("The first month that no design tried holds.")),
    )


def _designs() -> Shape:
    of_study = {name: shape for name, shape in STUDY["properties"].items() if name not in ("url", "what_if")}
    shape = told(
        "designs.json: a study's answer, its designs and all that it rests on.",
        schema=text("This schema's address."),
        **of_study,
        designs=list_of(DESIGN),
        spec=anything("The question as a STUDY.json."),
        prices=told_of(PriceBook),
        trace_hash=text(),
        engine_version=text(),
    )
    shape["properties"]["what_if"] = STUDY["properties"]["what_if"]
    return shape


def _quote() -> Shape:
    return told(
        "",
        machine=text(),
        row=text("What lines name in ``rows``."),
        name=text(),
        standing=one_of(*STANDINGS),
        judged_on=text("The study’s own day, UTC."),
        machines=whole("Which pick the quantity break."),
        list_usd=money("Of one, before discount."),
        net_usd=money("After discount: price × (1 - discount) × rate, to a millionth."),
        support_usd_per_year=money(),
        offer=told_of(Offer),
        exchange=maybe(told_of(Exchange)),
    )


def _row(table: Table) -> Shape:
    return told("", **{name: _column(name) for name in table.header})


def _column(name: str) -> Shape:
    plain = whole() if name in WHOLE else time() if name in TIMES else money() if name in MONEY else text()
    return plain if name in NEVER_NULL else maybe(plain)


def _once(shape: Shape, /, **fields: Shape) -> Shape:
    """``with_more`` where some of the fields are there already."""
    made = with_more(shape, **fields)
    return {**made, "required": list(dict.fromkeys(made["required"]))}


def _of(shape: Shape) -> dict[str, Shape]:
    found: dict[str, Shape] = shape["properties"]
    return found


def _without(shape: Shape, name: str, left_out: str) -> Shape:
    """Where ``name`` lists objects, those without one of their keys."""
    items = shape["properties"][name]["items"]
    del items["properties"][left_out]
    items["required"].remove(left_out)
    return shape


def _untitled(shape: Any) -> Any:
    """Without the names that only the OpenAPI document refers to."""
    if isinstance(shape, dict):
        return {key: _untitled(value) for key, value in shape.items() if key != "title" or isinstance(value, dict)}
    return [_untitled(one) for one in shape] if isinstance(shape, list) else shape
