"""Charts of costs, as plain Plotly figures; charts.js gives them the page's look."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from planner.finance.words import CATEGORY_NAMES
from planner.numerals import cents, change
from simcore.economics.lines import CATEGORIES, CostLine

Json = dict[str, Any]
MOST_SERIES = 8
"""Colours that are told apart; smaller categories are drawn together."""
OTHERS = "Other"


def by_month(lines: Sequence[CostLine]) -> Json:
    """Bars of months, stacked by category; the largest first, from below."""
    periods = sorted({line.period for line in lines})
    stacks = stacked(lines)
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


def stacked(lines: Sequence[CostLine]) -> dict[str, dict[str, Decimal]]:
    """Category in words → period → amount."""
    totals: dict[str, Decimal] = {}
    for line in lines:
        totals[line.category] = totals.get(line.category, Decimal(0)) + abs(line.amount_usd)
    order = sorted(totals, key=lambda name: (-totals[name], CATEGORIES.index(name)))
    kept = set(order if len(order) <= MOST_SERIES else order[: MOST_SERIES - 1])
    stacks: dict[str, dict[str, Decimal]] = {}
    for category in order:
        name = CATEGORY_NAMES[category] if category in kept else OTHERS
        amounts = stacks.setdefault(name, {})
        for line in lines:
            if line.category == category:
                amounts[line.period] = amounts.get(line.period, Decimal(0)) + line.amount_usd
    return stacks


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
    return {
        "type": "bar",
        "name": name,
        "meta": {"series": series},
        "x": [bar for bar, _, _ in bars],
        "base": [float(base) for _, base, _ in bars],
        "y": [float(usd if is_total else abs(usd)) for _, _, usd in bars],
        "text": said,
        "textposition": "outside",
        "cliponaxis": False,
        "hovertemplate": "%{x}: %{text}<extra></extra>",
    }
