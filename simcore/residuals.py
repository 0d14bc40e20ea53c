"""How far off predictions were: the shipped residuals of validation (residuals.csv), by place and phase.

``python -m simcore validate --residuals`` writes the table: one row for each engine generation, accelerator, model, TP
and phase, of rows that a fit used and of those that it did not apart. Errors are predicted / measured - 1. Rows of
poor quality are not in it.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

COLUMNS = (
    *("engine", "variant", "accelerator", "model", "tensor_parallel", "phase", "fitted", "rows", "bias", "spread"),
    *("mape", "source"),
)


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
