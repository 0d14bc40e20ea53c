"""Measured results from the files of benchmark tools, in one form."""

from simcore.measurements.content import Content, content_of
from simcore.measurements.points import Flag, Flags, Measurements, ServingPoint, Setting, Source, StepPoint
from simcore.measurements.read import Given, read_content, read_measurements

__all__ = [
    "Content",
    "Flag",
    "Flags",
    "Given",
    "Measurements",
    "ServingPoint",
    "Setting",
    "Source",
    "StepPoint",
    "content_of",
    "read_content",
    "read_measurements",
]
