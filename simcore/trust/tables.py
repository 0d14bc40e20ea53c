"""How far off measured step times may be: how repeated runs scatter, what lies between two knots, and hybrids."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from importlib.resources import files

from simcore.catalogue import fitted_as, resolve_accelerator
from simcore.latency.measured import step_times
from simcore.spec import LatencySpec, Machine, Model
from simcore.trust.phase_error import NORMAL, PhaseError

LEFT_OUT_GAP = 4.0
"""Between two knots a line is off by the square of their distance: a quarter of what it is off at a knot that is left
out."""


def table_errors(model: Model, machine: Machine, tensor_parallel: int, latency: LatencySpec) -> dict[str, PhaseError]:
    """Of prefills and decodes: the scatter of repeated runs, and a quarter of what the line misses a knot by that is
    left out. Hybrids were not measured: off by as much as ``hybrid_factor`` changes, and as prefills are."""
    times = step_times(model, machine, tensor_parallel, latency)
    device = resolve_accelerator(machine)
    where = f"{model.id} on {device.id} TP{tensor_parallel}"
    found = {}
    for phase, knots in (("prefill", times.prefill_ms), ("decode", times.decode_ms)):
        scatter = _scatter().get((model.id, fitted_as(device), tensor_parallel, phase), 0.0)
        half = NORMAL * math.hypot(scatter if latency.path is None else 0.0, _between_knots(knots))
        found[phase] = PhaseError(0.0, half, len(knots), 1, 0, where, times.source)
    hybrid = found["prefill"].also(abs(math.log(latency.hybrid_factor)))
    return {**found, "hybrid": hybrid}


def _between_knots(by_key: Mapping[int, Fraction]) -> float:
    """RMS of what a line between its neighbours misses each knot by, over ``LEFT_OUT_GAP``."""
    knots = sorted(by_key)
    missed = []
    for low, at, high in zip(knots, knots[1:], knots[2:], strict=False):
        line = by_key[low] + (by_key[high] - by_key[low]) * Fraction(at - low, high - low)
        missed.append(math.log(line / by_key[at]) if line > 0 else 0.0)
    return math.sqrt(sum(one * one for one in missed) / len(missed)) / LEFT_OUT_GAP if missed else 0.0


@cache
def _scatter() -> dict[tuple[str, str, int, str], float]:
    """RMS of ln(run / median of its configuration) by model, accelerator, TP and phase, of the shipped table."""
    text = files("simcore.trust").joinpath("data/scatter.csv").read_text(encoding="utf-8")
    return {
        (row["model"], row["hardware"], int(row["tensor_parallel"]), row["phase"]): float(row["scatter"])
        for row in csv.DictReader(text.splitlines())
    }
