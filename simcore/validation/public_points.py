"""Served requests of public sources that no fit used (data/public_points.csv, in the columns of
``serving_points.csv``; figures with source and date).

They are no part of ``--data``, of a goal or of residuals. They are not all blind (some had been seen before the last
refit, most share engine and harness with it): the report says which.
"""

from __future__ import annotations

from importlib.resources import as_file, files

from simcore.validation import serving_points
from simcore.validation.comparison import Comparison
from simcore.validation.files import read_rows

FILE = "public_points.csv"


def public_rows() -> list[Comparison]:
    """Gaps between tokens, predicted and measured, in the order of the file."""
    with as_file(files("simcore.validation").joinpath("data", FILE)) as path:
        found = serving_points.compare(read_rows(path, FILE, serving_points.COLUMNS))
    return [one for one in found.compared if one.phase == "tpot"]
