"""Charts of costs, as plain Plotly figures; charts.js gives them the page's look."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from planner.finance.words import CATEGORY_NAMES, POOL_NAMES
from planner.numerals import cents, change, compact
from simcore.economics.lines import CATEGORIES, CostLine

Json = dict[str, Any]
MOST_SERIES = 8
"""Colours that are told apart; smaller categories are drawn together."""
OTHERS = "Other"


def by_month(lines: Sequence[CostLine], of: str = "category") -> Json:
    """Bars of months, stacked by ``category`` or ``pool``; the largest first, from below."""
    periods = sorted({line.period for line in lines})
    stacks = drawn_together(stacked(lines, of))
    return {
        "data": [_bars(name, place, periods, amounts) for place, (name, amounts) in enumerate(stacks.items())],
        "layout": {
            "barmode": "relative",
            "xaxis": {"title": {"text": "month"}, "type": "category"},
            "yaxis": {"title": {"text": "USD a month"}, "rangemode": "tozero"},
            "showlegend": True,
            "legend": {"y": 1.02, "yanchor": "bottom"},
        },
    }


def stacked(lines: Sequence[CostLine], of: str = "category") -> dict[str, dict[str, Decimal]]:
    """Category or pool in words → period → amount; the largest first."""
    totals: dict[str, Decimal] = {}
    found: dict[str, dict[str, Decimal]] = {}
    for line in lines:
        name = getattr(line, of)
        totals[name] = totals.get(name, Decimal(0)) + abs(line.amount_usd)
        amounts = found.setdefault(name, {})
        amounts[line.period] = amounts.get(line.period, Decimal(0)) + line.amount_usd
    names = CATEGORY_NAMES if of == "category" else POOL_NAMES
    places: dict[str, int] = {name: place for place, name in enumerate(CATEGORIES)}
    order = sorted(totals, key=lambda name: (-totals[name], places.get(name, len(places))))
    return {names.get(name, name): found[name] for name in order}


def drawn_together(stacks: dict[str, dict[str, Decimal]]) -> dict[str, dict[str, Decimal]]:
    """As many as there are colours, the smallest as one."""
    if len(stacks) <= MOST_SERIES:
        return stacks
    names = list(stacks)[: MOST_SERIES - 1]
    rest: dict[str, Decimal] = {}
    for name, amounts in stacks.items():
        for period, usd in amounts.items() if name not in names else ():
            rest[period] = rest.get(period, Decimal(0)) + usd
    return {**{name: stacks[name] for name in names}, OTHERS: rest}


def _bars(name: str, place: int, periods: Sequence[str], amounts: dict[str, Decimal]) -> Json:
    values = [amounts.get(period, Decimal(0)) for period in periods]
    return {
        "type": "bar",
        "name": name,
        "meta": {"series": place},
        "x": list(periods),
        "y": [float(value) for value in values],
        "text": [cents(value) for value in values],
        "textposition": "none",
        "hovertemplate": f"{name}, %{{x}}: %{{text}}<extra></extra>",
    }


def waterfall(start: tuple[str, Decimal], steps: Sequence[tuple[str, Decimal]], end: tuple[str, Decimal]) -> Json:
    """From one amount to another: each step begins where the one before it ended."""
    reached, places = start[1], []
    for name, usd in steps:
        places.append((name, min(reached, reached + usd), usd))
        reached += usd
    names = [start[0], *(name for name, _, _ in places), end[0]]
    ends = [(name, Decimal(0), usd) for name, usd in (start, end)]
    groups = (
        ("Total", 0, ends),
        ("Dearer", 5, [one for one in places if one[2] > 0]),
        ("Cheaper", 2, [one for one in places if one[2] <= 0]),
    )
    return {
        "data": [_floating(name, series, bars) for name, series, bars in groups if bars],
        "layout": {
            "barmode": "overlay",
            "bargap": 0.35,
            "xaxis": {"type": "category", "categoryorder": "array", "categoryarray": names, "automargin": True},
            "yaxis": {"title": {"text": "USD"}, "automargin": True},
            "showlegend": True,
            "legend": {"y": 1.02, "yanchor": "bottom"},
        },
    }


def _floating(name: str, series: int, bars: Sequence[tuple[str, Decimal, Decimal]]) -> Json:
    is_total = name == "Total"
    said = [cents(usd) if is_total else change(usd) for _, _, usd in bars]
    short = [compact(usd) if is_total or usd <= 0 else f"+{compact(usd)}" for _, _, usd in bars]
    return {
        "type": "bar",
        "name": name,
        "meta": {"series": series},
        "x": [bar for bar, _, _ in bars],
        "base": [float(base) for _, base, _ in bars],
        "y": [float(usd if is_total else abs(usd)) for _, _, usd in bars],
        "text": short,
        "hovertext": said,
        "textposition": "outside",
        "constraintext": "none",
        "cliponaxis": False,
        "hovertemplate": "%{x}: %{hovertext}<extra></extra>",
    }
