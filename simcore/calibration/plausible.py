"""Times that no engine can have taken: of another unit, mostly. For a step alone no law tells."""

from __future__ import annotations

from collections.abc import Sequence

from simcore.calibration.fit import Model
from simcore.calibration.observations import Observation
from simcore.calibration.target import Target
from simcore.measurements import Flag, Flags
from simcore.measurements.checks import UNITS

POSSIBLE = (0.1, 100.0)
"""Measured over predicted with shipped coefficients, which are at least half of what the hardware can do."""
LIKELY = (0.1, 10.0)
TIMES = ("prefill", "decode", "TPOT")
"""TTFT and E2E may be a queue's."""


def plausible(target: Target, every: Sequence[Observation], flags: Flags) -> list[Observation]:
    """Those that may be; the others are flagged."""
    model = Model(target, every)
    predicted = iter(model.predicted(model.shipped, 0.0))
    kept = []
    for one in every:
        ratios = [(figure, figure.seconds / float(next(predicted))) for figure in one.figures]
        wrong = next(((f, r) for f, r in ratios if f.phase in TIMES and not POSSIBLE[0] <= r <= POSSIBLE[1]), None)
        if wrong is None:
            kept.append(one)
            continue
        figure, ratio = wrong
        reason = f"the shipped coefficients predict {figure.seconds / ratio:.4g} s: no time of {target.model.id} on"
        reason += f" {target.accelerator.id}{_unit(ratio)}"
        flags.add(Flag(one.file, one.where, figure.phase, f"{figure.seconds:.4g} s", reason, "row left out"))
    return kept


def _unit(ratio: float) -> str:
    fitting = (words for factor, words in UNITS.items() if LIKELY[0] <= ratio * factor <= LIKELY[1])
    return next((f"; it fits if times are {words}" for words in fitting), "")
