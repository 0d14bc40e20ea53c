"""How far off predictions are near a point: the shipped residuals of validation (residuals.csv), by place and phase.

``python -m simcore validate --residuals`` writes the table: one row for each engine generation, accelerator, model, TP
and phase, of rows that a fit used and of those that it did not apart. Errors are predicted / measured - 1. Rows of
poor quality are not in it.
"""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from simcore.catalogue import model as model_of
from simcore.catalogue import model_ids, resolve_accelerator
from simcore.spec import Machine, Model

COLUMNS = (
    *("engine", "variant", "accelerator", "model", "tensor_parallel", "phase", "fitted", "rows", "bias", "spread"),
    *("mape", "source"),
)
FALLBACK = {"vllm-2026": "kernel", "trtllm-2025": "kernel"}
"""Device times of the same software generation, for phases that nobody measured with a host."""


@dataclass(frozen=True)
class Residual:
    """The errors of one group of measured rows."""

    engine: str
    variant: str
    """Software and precision that were measured."""
    accelerator: str
    model: str
    tensor_parallel: int
    phase: str
    fitted: bool
    """Whether the rows were used to find coefficients: then the error elsewhere is likely more."""
    rows: int
    bias: float
    """Mean error: above 0, predictions are too high."""
    spread: float
    """Standard deviation of the errors."""
    mape: float
    source: str


def residuals_near(model: Model, machine: Machine, tensor_parallel: int, engine: str) -> dict[str, Residual]:
    """For each phase the group of measured rows that is nearest: another accelerator is further than another model,
    that further than another TP, and that than rows which were fitted. A phase that this engine generation was not
    measured in is that of its device times, or absent.
    """
    found = _nearest(FALLBACK.get(engine, engine), model, machine, tensor_parallel)
    return {**found, **_nearest(engine, model, machine, tensor_parallel)}


def _nearest(engine: str, model: Model, machine: Machine, tensor_parallel: int) -> dict[str, Residual]:
    nearest: dict[str, Residual] = {}
    for one in sorted(_table(), key=lambda one: _distance(one, model, machine, tensor_parallel)):
        if one.engine == engine:
            nearest.setdefault(one.phase, one)
    return nearest


def _distance(
    one: Residual, model: Model, machine: Machine, tensor_parallel: int
) -> tuple[bool, float, float, bool, int]:
    measured = model_of(one.model).parameters if one.model in model_ids() else 1
    size = abs(math.log2(model.parameters / measured)) + (model.id != one.model)
    times = abs(math.log2(tensor_parallel / one.tensor_parallel))
    return resolve_accelerator(machine).id != one.accelerator, size, times, one.fitted, -one.rows


def residuals() -> tuple[Residual, ...]:
    """The whole table."""
    return _table()


@cache
def _table() -> tuple[Residual, ...]:
    text = files("simcore").joinpath("residuals.csv").read_text(encoding="utf-8")
    return tuple(_row(row) for row in csv.DictReader(text.splitlines()))


def _row(row: dict[str, str]) -> Residual:
    return Residual(
        engine=row["engine"],
        variant=row["variant"],
        accelerator=row["accelerator"],
        model=row["model"],
        tensor_parallel=int(row["tensor_parallel"]),
        phase=row["phase"],
        fitted=row["fitted"] == "yes",
        rows=int(row["rows"]),
        bias=float(row["bias"]),
        spread=float(row["spread"]),
        mape=float(row["mape"]),
        source=row["source"],
    )
