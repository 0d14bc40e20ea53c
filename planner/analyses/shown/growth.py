"""The rate over the months, what is bought to hold it, and where limits are."""

from __future__ import annotations

from typing import Any

from planner.analyses.shown.lines import Axis, Line, lines_figure
from planner.analyses.shown.parts import Cell, Chart, Row, Shown, Table
from planner.numerals import exact, short, usd

Json = dict[str, Any]
BREAKS = ("What", "Requests/s", "9 times in 10", "Month", "9 times in 10, months")
STEPS = ("Month", "Buy", "Then it is", "Holds, requests/s", "$ a month", "Lasts to month")


def shown(told: Json) -> Shown:
    return Shown.of(told, [_chart(told)], [_breaks(told), _steps(told)])


def _chart(told: Json) -> Chart:
    drawn = told["months"][: _last(told) + 1]
    months = [one["month"] for one in drawn]
    rates = [one["rate_req_per_s"] for one in drawn]
    steps = [step for step in told["purchases"] if step["design"]]
    ends = [step["month"] for step in told["purchases"] if not step["design"]]
    held = [_held(steps, month) if not ends or month < ends[0] else None for month in months]
    low, high = ([None if one is None else one[name] for one in held] for name in ("capacity_low", "capacity_high"))
    lines = [
        Line("rate", rates),
        Line(
            "held by what is bought", [None if one is None else one["capacity_req_per_s"] for one in held], steps=True
        ),
        Line("held, 9 times in 10 at least", low, steps=True),
    ]
    top = max([*rates, *(value for value in high if value)])
    levels = {
        one["name"]: one["rate_req_per_s"]
        for one in told["breaks"][1:]
        if one["month"] is not None and 0 < one["rate_req_per_s"] <= 1.2 * top
    }
    bought = "; ".join(f"month {step['month']}: {short(step['capacity_req_per_s'])}" for step in steps)
    words = f"From {short(rates[0])} to {short(rates[-1])} requests/s in {months[-1]} months. Held from {bought}."
    figure = lines_figure(months, lines, (Axis("month"), Axis("requests/s")), levels=levels, markers=False)
    return Chart("growth", "Traffic and what holds it", figure, words)


BEYOND = 1.25
"""Of the last month in which something happens, that are drawn."""


def _last(told: Json) -> int:
    """The last month drawn: a little after the last purchase and the last limit, as far as the months go."""
    happens = [step["month"] for step in told["purchases"]] + [one["month"] or 0 for one in told["breaks"]]
    return min(max(round(BEYOND * max(happens)) + 1, 3), told["months"][-1]["month"])


def _held(steps: list[Json], month: int) -> Json:
    return [step for step in steps if step["month"] <= month][-1]


def _breaks(told: Json) -> Table:
    return Table("What is reached, at which rate and when", BREAKS, tuple(_break(one) for one in told["breaks"]))


def _break(one: Json) -> Row:
    if one["month"] is None:
        return Row((_name(one), Cell("not reached by any design tried"), Cell("–"), Cell("–"), Cell("–")))
    rates = f"{short(one['rate_low'])} to {short(one['rate_high'])}"
    months = f"{one['month_low'] or 0:.1f} to {one['month_high'] or 0:.1f}"
    rate, month = one["rate_req_per_s"], one["month"]
    return Row((_name(one), Cell(short(rate), exact(rate)), Cell(rates), Cell(f"{month:.1f}"), Cell(months)))


def _name(one: Json) -> Cell:
    return Cell(one["name"][:1].upper() + one["name"][1:])


def _steps(told: Json) -> Table:
    return Table("Purchases, month by month", STEPS, tuple(_step(step) for step in told["purchases"]))


def _step(step: Json) -> Row:
    if not step["design"]:
        return Row((
            Cell(str(step["month"])),
            Cell("nothing", is_text=True),
            Cell(step["why"], is_text=True),
            *(Cell("–"),) * 3,
        ))  # fmt: skip
    bought = ", ".join(f"{count} {name}" for name, count in step["buy"].items()) or "nothing"
    return Row((
        Cell(str(step["month"])),
        Cell(bought, is_text=True),
        Cell(step["design"], is_text=True),
        Cell(short(step["capacity_req_per_s"]), exact(step["capacity_req_per_s"])),
        Cell(usd(float(step["usd_per_month"])), step["usd_per_month"]),
        Cell("–" if step["lasts_to_month"] is None else f"{step['lasts_to_month']:.1f}"),
    ))  # fmt: skip
