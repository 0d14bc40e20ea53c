"""Tails, throughput and capacity over the token budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from planner.analyses.shown.lines import Axis, Line, lines_figure
from planner.analyses.shown.parts import Cell, Chart, Row, Shown, Table
from planner.numerals import exact, short

Json = dict[str, Any]
BUDGET = Axis("tokens an iteration", log=True)
COLUMNS = (
    "Budget, tokens",
    "Capacity, req/s",
    "9 times in 10",
    "Tokens/s at capacity",
    "Requests for $1",
    "P50 TTFT, s",
    "P99 TTFT, s",
    "P50 TBT, ms",
    "P99 TBT, ms",
    "At the rate",
)


def shown(told: Json) -> Shown:
    return Shown.of(told, [_capacity(told), _tails(told, "tbt", "TBT"), _tails(told, "ttft", "TTFT")], [_table(told)])


def _capacity(told: Json) -> Chart:
    rows, rate = told["budgets"], told["rate_req_per_s"]
    line = Line("capacity", _of(rows, "capacity_req_per_s"), _of(rows, "capacity_low"), _of(rows, "capacity_high"))
    axes = (_budgets(rows), Axis("requests/s held"))
    figure = lines_figure(_of(rows, "token_budget"), [line], axes, told["your_token_budget"], {"the rate": rate})
    said = ", ".join(f"{short(r['token_budget'])}: {short(r['capacity_req_per_s'])}" for r in rows)
    return Chart("token-budget-capacity", "Capacity", figure, f"Requests/s held under the SLO, by budget. {said}.")


def _tails(told: Json, metric: str, name: str) -> Chart:
    rows, unit = told["budgets"], 1000 if metric == "tbt" else 1
    steady = [row if row["stable"] else {} for row in rows]
    lines = [
        Line(f"P{p} {name}", [None if (s := row.get(f"{metric}_p{p}_s")) is None else s * unit for row in steady])
        for p in (99, 90, 50)
    ]
    title = f"{name}, {'ms' if unit == 1000 else 's'}"
    levels = {
        f"limit: {limit['name']}": limit["limit"] * unit
        for limit in told["limits"]
        if limit["metric"] == f"{metric}_s" and limit["percentile"] in (50, 90, 99)
    }
    axes = (_budgets(rows), Axis(title, log=metric == "ttft"))
    figure = lines_figure(_of(rows, "token_budget"), lines, axes, told["your_token_budget"], levels)
    rate = f"at {short(told['rate_req_per_s'])} requests/s"
    said = ", ".join(f"{short(r['token_budget'])}: {short(y)}" for r, y in zip(rows, lines[0].y, strict=True) if y)
    words = f"P99 {title}, by budget. {said}. Left out where the queue grows."
    return Chart(f"token-budget-{metric}", f"{name} {rate}", figure, words)


def _budgets(rows: Sequence[Json]) -> Axis:
    every = _of(rows, "token_budget")
    powers = [budget for budget in every if budget & (budget - 1) == 0]
    return Axis(BUDGET.title, BUDGET.log, powers or every)


def _table(told: Json) -> Table:
    return Table(
        f"{told['design']} at {short(told['rate_req_per_s'])} requests/s, by budget",
        COLUMNS,
        tuple(_row(row) for row in told["budgets"]),
    )


def _row(row: Json) -> Row:
    name = short(row["token_budget"]) + (" (you)" if row["is_yours"] else "")
    interval = f"{short(row['capacity_low'])} to {short(row['capacity_high'])}" if row["capacity_req_per_s"] else "–"
    cells = [
        Cell(name),
        _number(row["capacity_req_per_s"]),
        Cell(interval),
        _number(row["tokens_per_s_at_capacity"]),
        _number(row["req_per_usd"]),
        _number(row["ttft_p50_s"]),
        _number(row["ttft_p99_s"]),
        _number(row["tbt_p50_s"], 1000),
        _number(row["tbt_p99_s"], 1000),
        Cell(_verdict(row), is_text=True),
    ]
    return Row(tuple(cells), "answer" if row["is_yours"] else "")


def _verdict(row: Json) -> str:
    if row["met"]:
        return "holds"
    return "misses limits" if row["stable"] else "the queue grows"


def _number(value: float | None, times: float = 1) -> Cell:
    return Cell("–") if value is None else Cell(short(value * times), exact(value * times))


def _of(rows: Sequence[Json], name: str) -> list[Any]:
    return [row[name] for row in rows]
