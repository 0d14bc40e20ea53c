"""How far off drawn watts may be."""

from __future__ import annotations

import csv
from dataclasses import replace
from functools import cache
from importlib.resources import files
from math import pi, sqrt

from simcore.catalogue import POWERED, evidence_id, resolve_accelerator
from simcore.power.coefficients import FIELDS
from simcore.spec import LatencySpec, Machine, Model
from simcore.trust.groups import place_of
from simcore.trust.phase_error import NORMAL, PhaseError, nearest_error

WHOLE_ENGINES = "vllm-2026"
"""The one generation whose engines' watts were measured together with their load."""


def power_error(model: Model, machine: Machine, tensor_parallel: int, latency: LatencySpec) -> PhaseError | None:
    """Of an accelerator at work, true over predicted, at 90 %.

    With predicted times of whole engines: their residuals, in which slow software that draws less counts too. With
    other times: the power model alone, as it was fitted (docs/power-fit.md); the worst of all where the accelerator
    has no watts of its own. Of an accelerator with coefficients of its own (brought to a log's mean) what shipped ones
    have in common is gone, how loads differ from each other stays: the same width around 0.
    """
    error = _shipped_error(model, machine, tensor_parallel, latency)
    return replace(error, mean=0.0) if error and has_own_power(machine) else error


def has_own_power(machine: Machine) -> bool:
    """Whether its accelerators come with power coefficients, a power log's or typed ones."""
    accelerator = resolve_accelerator(machine)
    return any(getattr(accelerator, name) is not None for name in FIELDS)


def _shipped_error(model: Model, machine: Machine, tensor_parallel: int, latency: LatencySpec) -> PhaseError | None:
    accelerator = evidence_id(resolve_accelerator(machine), POWERED)
    if latency.source == "roofline" and latency.engine == WHOLE_ENGINES:
        return nearest_error(place_of(model, accelerator, tensor_parallel), ("power",), WHOLE_ENGINES)
    known = _fitted()
    mean_error, anchors, source = known.get(accelerator) or max(known.values())
    spread = mean_error * sqrt(pi / 2)  # of a normal with this mean absolute value
    return PhaseError(0.0, NORMAL * spread, anchors, 1, int(accelerator not in known), accelerator, source)


@cache
def _fitted() -> dict[str, tuple[float, int, str]]:
    text = files("simcore.trust").joinpath("data/power.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    return {row["accelerator"]: (float(row["mean_error"]), int(row["anchors"]), row["source"]) for row in rows}
