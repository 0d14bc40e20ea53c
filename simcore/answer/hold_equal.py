"""The papers' comparisons: one thing held equal, how much better or worse each family does than a baseline.

At equal cost, power or number of machines: what the best design of each family holds that uses no more of it than the
baseline does. At equal rate: what the cheapest design of each family that holds the required rate costs. All from what
was simulated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import exp
from typing import Any

from simcore.answer.result import StudyResult, is_split
from simcore.rows import DesignRow
from simcore.shortfalls import machines
from simcore.spec.study import HeldEqual as HeldEqual
from simcore.spec.study import PowerKind
from simcore.trust.ties import apart

ROUNDING = 1 + 1e-9
NEARLY_ALL = 0.9
"""Of what is held equal: a design that uses less, with room for one more of its machines, is not its family's best."""


@dataclass(frozen=True)
class Bar:
    """The best design of a family with one thing held equal."""

    row: DesignRow
    used: float
    """Of what is held equal."""
    figure: float
    """Requests/s that it holds; at equal rate, dollars an hour."""
    ratio: float
    """Of the baseline's figure."""
    low: float
    high: float
    """Within what is known of both capacities, 9 times in 10."""
    is_least: bool = False
    """Larger designs of the family would use no more than is held equal and were not tried: it holds at least this."""


@dataclass(frozen=True)
class Comparison:
    """Families side by side, best first."""

    by: HeldEqual
    baseline: DesignRow
    equal: float
    """How much of it: the baseline's dollars an hour, watts or machines, or the required rate."""
    bars: tuple[Bar, ...]
    without: tuple[str, ...]
    """Families of which no design that was tried will do."""


def hold_equal(result: StudyResult, by: HeldEqual, baseline: DesignRow, power: PowerKind) -> Comparison:
    """Every family against the baseline, which stands for its own family; ``power``: which watts are held equal."""
    uses = _uses(by, power, result)
    equal = uses(baseline) or 0.0
    best: dict[str, DesignRow] = {}
    for row in _able(result):
        used = uses(row)
        within = used is not None and (by == "rate" or used <= equal * ROUNDING)
        if within and _holds(row, by, result) and _better(row, best.get(row.family), by):
            best[row.family] = row
    best[baseline.family] = baseline
    found = (_bar(result, row, baseline, by, uses) for row in best.values())
    bars = sorted((replace(bar, is_least=_has_room(bar, by, equal)) for bar in found), key=lambda bar: bar.ratio)
    families = dict.fromkeys(row.family for row in result.rows if row.status != "infeasible")
    return Comparison(
        by,
        baseline,
        equal,
        tuple(bars if by == "rate" else reversed(bars)),
        tuple(name for name in families if name not in best),
    )


def comparison_json(result: StudyResult) -> dict[str, Any] | None:
    """The comparison that the question asks for, as JSON: each family's best beside the baseline that is proposed
    first, which is named; None where none is asked for. Power is that of the question's ``limits.power_kind``."""
    by, power = result.spec.hold_equal, result.spec.limits.power_kind
    if by is None:
        return None
    offered = baselines(result, by)
    if not offered:
        return {"by": by, "equal": None, "unit": _unit(by, power), "baseline": None, "families": [], "without": []}
    found = hold_equal(result, by, offered[0], power)
    return {
        "by": by,
        "equal": found.equal,
        "unit": _unit(by, power),
        "baseline": {"design_id": found.baseline.design_id, "label": found.baseline.label},
        "families": [
            {
                "family": bar.row.family,
                "design_id": bar.row.design_id,
                "label": bar.row.label,
                "uses": bar.used,
                "figure": bar.figure,
                "figure_unit": "$/h" if by == "rate" else "requests/s",
                "of_baseline": bar.ratio,
                "of_baseline_low": bar.low,
                "of_baseline_high": bar.high,
                "is_least": bar.is_least,
            }
            for bar in found.bars
        ],
        "without": list(found.without),
    }


def _unit(by: HeldEqual, power: PowerKind) -> str:
    units: dict[HeldEqual, str] = {"rate": "requests/s", "cost": "$/h", "machines": "machines"}
    return units.get(by, f"W {power}")


def baselines(result: StudyResult, by: HeldEqual) -> list[DesignRow]:
    """What a comparison may be relative to, the one that is proposed first: the best co-located design that meets the
    question, then the best of the other families; where none meets it, what holds the most of each family."""
    if by == "rate":
        able = [row for row in result.best_by_family if row.capacity_req_per_s]
    else:
        able = list(result.best_by_family) or _most_capable(result)
    return sorted(able, key=is_split)


def _most_capable(result: StudyResult) -> list[DesignRow]:
    best: dict[str, DesignRow] = {}
    for row in _able(result):
        if (row.capacity_req_per_s or 0.0) > (
            best[row.family].capacity_req_per_s or 0.0 if row.family in best else 0.0
        ):
            best[row.family] = row
    return list(best.values())


def _able(result: StudyResult) -> list[DesignRow]:
    return [row for row in result.rows if row.status == "evaluated" and row.capacity_req_per_s]


def _holds(row: DesignRow, by: HeldEqual, result: StudyResult) -> bool:
    return by != "rate" or result.holds(row.design_id, result.spec.rate_req_per_s)


def _better(row: DesignRow, than: DesignRow | None, by: HeldEqual) -> bool:
    """Holds more, or at equal rate costs less; of equals the one with less of the other."""
    if than is None:
        return True
    mine, theirs = (_merits(one, by) for one in (row, than))
    return mine > theirs


def _merits(row: DesignRow, by: HeldEqual) -> tuple[float, float]:
    held, saved = row.capacity_req_per_s or 0.0, -float(row.usd_per_hour)
    return (saved, held) if by == "rate" else (held, saved)


def _uses(by: HeldEqual, power: PowerKind, result: StudyResult) -> Callable[[DesignRow], float | None]:
    watts: dict[PowerKind, Callable[[DesignRow], float | None]] = {
        "nameplate": lambda row: row.nameplate_w,
        "provisioned": lambda row: row.provisioned_w,
        "drawn_mean": lambda row: row.mean_w,
        "drawn_p99": lambda row: row.p99_w,
    }
    uses: dict[HeldEqual, Callable[[DesignRow], float | None]] = {
        "rate": lambda row: result.spec.rate_req_per_s,
        "cost": lambda row: float(row.usd_per_hour),
        "power": watts[power],
        "machines": lambda row: float(machines(row)),
    }
    return uses[by]


def _bar(
    result: StudyResult,
    row: DesignRow,
    baseline: DesignRow,
    by: HeldEqual,
    uses: Callable[[DesignRow], float | None],
) -> Bar:
    figure, of_baseline = ((float(one.usd_per_hour) if by == "rate" else one.capacity_req_per_s or 0.0)
                           for one in (row, baseline))  # fmt: skip
    ratio = figure / of_baseline
    down, up = _apart(result, row, baseline)
    if by == "rate":  # what turns out to hold less needs as many more machines
        down, up = up, down
    return Bar(row, uses(row) or 0.0, figure, ratio, ratio * exp(-down), ratio * exp(up))


def _has_room(bar: Bar, by: HeldEqual, equal: float) -> bool:
    """Whether another of its machines fits, and that is more than a step of the search."""
    each = bar.used / machines(bar.row)
    return by != "rate" and bar.used < NEARLY_ALL * equal and bar.used + each <= equal * ROUNDING


def _apart(result: StudyResult, row: DesignRow, baseline: DesignRow) -> tuple[float, float]:
    mine, theirs = result.margins.get(row.design_id), result.margins.get(baseline.design_id)
    if row is baseline or mine is None or theirs is None:
        return 0.0, 0.0
    return apart(mine, theirs)
