"""Fitting the roofline to measured results."""

from simcore.calibration.calibrate import calibrate
from simcore.calibration.target import Target

__all__ = ["Target", "calibrate"]
