"""What ``slo_cost`` found, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from simcore.analyses.kind import Json
from simcore.answer.result import StudyResult
from simcore.economics.hourly import usd_per_month
from simcore.words import dollars, number, percent


def slo_cost_sentences(rows: Sequence[Json], result: StudyResult) -> list[str]:
    """What tighter and looser limits cost, which kind of serving they favour, and what the study did not try."""
    as_asked = next(row for row in rows if row["multiplier"] == 1.0)
    if as_asked["cheapest"] is None:
        first = next((row for row in rows if row["cheapest"] is not None), None)
        if first is None:
            return ["No design that was run holds the SLO at any of these multiples."]
        return [f"No design that was run holds the SLO as it is; with limits {_times(first)} as long {_costs(first)}."]
    held = [row for row in rows if row["cheapest"] is not None]
    said = [_too_tight(rows), _moved(held[0], as_asked), _moved(held[-1], as_asked)]
    return [text for text in [*said, _apart(rows, as_asked), *_crossings(rows), _cheaper(as_asked, result)] if text]


def _too_tight(rows: Sequence[Json]) -> str:
    lost = [row for row in rows if row["cheapest"] is None]
    if not lost:
        return ""
    return f"With limits {_times(lost[-1])} as long no design that was run holds the rate within the question’s limits."


def _moved(row: Json, as_asked: Json) -> str:
    if row is as_asked:
        return ""
    start = f"With limits {_times(row)} as long"
    share = _usd(row["cheapest"]) / _usd(as_asked["cheapest"]) - 1
    if abs(share) < 0.0005:
        return f"{start} the rate costs the same."
    return f"{start} {_costs(row)}, {percent(share)} {'more' if share > 0 else 'less'}."


def _costs(row: Json) -> str:
    cheapest = row["cheapest"]
    return f"{cheapest['design']} at {dollars(Decimal(cheapest['usd_per_month']))} a month is the cheapest"


def _apart(rows: Sequence[Json], as_asked: Json) -> str:
    """What the tightest multiple that both kinds hold costs each of them."""
    kinds = ("co_located", "split")
    tight = next((row for row in rows if row["multiplier"] < 1 and all(row[kind] for kind in kinds)), None)
    if tight is None or not all(as_asked[kind] for kind in kinds):
        return ""
    co_located, split = (_usd(tight[kind]) / _usd(as_asked[kind]) for kind in kinds)
    return (
        f"Limits {_times(tight)} as long cost co-located serving {number(co_located)} times and split serving"
        f" {number(split)} times what the limits as they are cost it."
    )


def _crossings(rows: Sequence[Json]) -> list[str]:
    """Where the cheaper of the two kinds becomes the other."""
    both = [row for row in rows if row["co_located"] and row["split"]]
    splits = [_usd(row["split"]) < _usd(row["co_located"]) for row in both]
    return [
        f"Split serving is the cheaper {f'up to {_times(low)}' if was else f'from {_times(high)} on'}, co-located"
        f" serving {f'from {_times(high)} on' if was else f'up to {_times(low)}'}."
        for low, high, was, now in zip(both, both[1:], splits, splits[1:], strict=False)
        if was != now
    ]


def _cheaper(as_asked: Json, result: StudyResult) -> str:
    """Where a size or a budget that the study did not try beats its answer."""
    if result.winner is None or result.spec.goal != "cost":
        return ""
    less = 1 - _usd(as_asked["cheapest"]) / float(usd_per_month(result.winner.usd_per_hour))
    if less < 0.0005:
        return ""
    return f"The study did not try {as_asked['cheapest']['design']}, which holds the rate for {percent(less)} less."


def _times(row: Json) -> str:
    return f"{number(row['multiplier'])} times"


def _usd(design: Json) -> float:
    return float(design["usd_per_month"])
