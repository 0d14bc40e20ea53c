"""The table for a terminal: goals, groups by set, phase and accelerator, what was not compared."""

from __future__ import annotations

from collections import Counter

from simcore.validation.comparison import Comparison, Findings
from simcore.validation.goals import goals
from simcore.validation.summary import errors_of, grouped

Key = tuple[str, bool, str, str, str, str, bool]


def printed(found: Findings) -> list[str]:
    """All lines."""
    verdicts = [
        f"{goal.verdict:12}{goal.what}: {goal.found or 'none'} (wanted: {goal.wanted})"
        for goal in goals(found.compared)
    ]
    head = _line("set", "phase", "engine", "measured", "accelerator", "", "rows", "MAPE", "median", "P90")
    groups = [_group(key, group) for key, group in sorted(grouped(found.compared, _key).items())]
    reasons = Counter((one.set, one.reason) for one in found.left_out)
    left_out = [f"not compared {name:22}{count:>6}  {reason}" for (name, reason), count in sorted(reasons.items())]
    return [*verdicts, "", head, *groups, "", *left_out]


def _key(one: Comparison) -> Key:
    place = one.place
    return one.set, one.poor, one.phase, place.engine, place.variant, place.accelerator, one.fitted


def _group(key: Key, group: list[Comparison]) -> str:
    name, poor, phase, engine, variant, accelerator, fitted = key
    errors = errors_of(group)
    kind = "poor" if poor else "fitted" if fitted else "judged"
    figures = (f"{errors.mape:.1%}", f"{errors.median:+.1%}", f"{errors.p90:.1%}")
    return _line(name, phase, engine, variant, accelerator, kind, str(errors.count), *figures)


def _line(*cells: str) -> str:
    widths = (22, 12, 12, 18, 20, 8)
    left = "".join(f"{cell:{width}}" for cell, width in zip(cells, widths, strict=False))
    return left + "".join(f"{cell:>9}" for cell in cells[len(widths) :])
