"""Which measured rows were used to find the shipped coefficients (data/fitted.csv): the one place that
says so. A row of that table fits a measured row where each column is ``*`` or names it (several: ``2|8``); all others
are judged.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from simcore.validation.comparison import Place

ANY = "*"


def is_fitted(set_name: str, place: Place, phase: str, sizes: Mapping[str, object] | None = None) -> bool:
    """Whether a measured row was fitted; ``sizes`` are what the table's column ``where`` may name (``load=8``): other
    rows of the same place, of other sources or systems, are judged."""
    named = {
        "set": set_name,
        "engine": place.engine,
        "variant": place.variant,
        "model": place.model,
        "accelerator": place.accelerator,
        "tensor_parallel": str(place.tensor_parallel),
        "phase": phase,
    }
    known = {name: str(value) for name, value in (sizes or {}).items()}
    return any(all(_names(row[key], value) for key, value in named.items()) and _at(row, known) for row in _rows())


def _names(cell: str, value: str) -> bool:
    return cell == ANY or value in cell.split("|")


def _at(row: dict[str, str], sizes: dict[str, str]) -> bool:
    if row["where"] == ANY:
        return True
    name, _, values = row["where"].partition("=")
    return _names(values, sizes.get(name, ""))


def described() -> list[dict[str, str]]:
    """The table, for the report."""
    return [dict(row) for row in _rows()]


@cache
def _rows() -> tuple[dict[str, str], ...]:
    text = files("simcore.validation").joinpath("data/fitted.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))
