"""Power coefficients by accelerator (data/coefficients.csv, one row a figure): an accelerator's own, else its row's,
else those of ``*``.

benchmarks/fit_power.py fits them again from measured watts and prints the error of every one of them.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import sqrt

from simcore.catalogue import POWERED, departures, fitted_as
from simcore.spec import Accelerator

ANY = "*"
"""Rows of an accelerator that has none of its own."""
FIELDS = ("power_base", "power_by_mbu", "power_by_mfu")


@dataclass(frozen=True)
class PowerCoefficients:
    """Of idle to TDP, what an accelerator draws while it works."""

    base: float
    """Whatever it does: clocks, leakage, waiting for memory or for other ranks. A cap does not reach it."""
    by_mbu: float
    """More at the whole of its memory bandwidth."""
    by_mfu: float
    """More at the whole of its FLOP/s."""
    unpacking: float
    """Reading weights that cores unpack draws so many times what reading others does."""
    status: str
    """``given`` with the accelerator itself, else that of the shipped rows: ``estimate`` or ``assumption``."""
    source: str

    def share(self, mbu: float, mfu: float, packed: float = 0.0) -> float:
        """u of a batch with this use. MFU^(3/4) by square roots: they have the same bits on every machine."""
        reading = mbu + (self.unpacking - 1) * packed
        return min(self.base + self.by_mbu * reading + self.by_mfu * sqrt(mfu * sqrt(mfu)), 1.0)


@cache
def power_coefficients(accelerator: Accelerator) -> PowerCoefficients:
    """An accelerator's coefficients: its own where it has them, else in the shipped table those of what it is measured
    as, else ``*``'s. They are assumed where its peaks or TDP are others than those that were measured."""
    shipped = _table().get(fitted_as(accelerator)) or _table()[ANY]
    own = {name: getattr(accelerator, name) for name in FIELDS}
    base, by_mbu, by_mfu = (shipped[name][0] if own[name] is None else own[name] for name in FIELDS)
    _, status, source = shipped[FIELDS[0]]
    if departures(accelerator, POWERED):
        status, source = "assumption", f"{source}, of {fitted_as(accelerator)} as it is shipped"
    if any(value is not None for value in own.values()):
        status, source = "given", "given with the accelerator"
    return PowerCoefficients(base, by_mbu, by_mfu, shipped["power_unpacking"][0], status, source)


@cache
def _table() -> dict[str, dict[str, tuple[float, str, str]]]:
    text = files("simcore.power").joinpath("data/coefficients.csv").read_text(encoding="utf-8")
    table: dict[str, dict[str, tuple[float, str, str]]] = {}
    for row in csv.DictReader(text.splitlines()):
        figure = (float(row["value"]), row["status"], row["source"])
        table.setdefault(row["accelerator"], {})[row["field"]] = figure
    return table
