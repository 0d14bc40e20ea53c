"""Measured results from the files of benchmark tools, in one form."""

from simcore.measurements.points import Flag, Flags, Measurements, ServingPoint, Setting, Source, StepPoint
from simcore.measurements.read import Given, read_measurements

__all__ = [
    "Flag",
    "Flags",
    "Given",
    "Measurements",
    "ServingPoint",
    "Setting",
    "Source",
    "StepPoint",
    "read_measurements",
]
