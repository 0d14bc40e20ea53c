"""Flip points: at which price, tariff, rate or SLO the order of a study's designs changes (docs/flips.md).

From stored evaluations alone; where a design that was never tried could come first, that is said.
"""

from simcore.flips.find import Flips, answer_flips, flips
from simcore.flips.flip import Flip, Swap

__all__ = ["Flip", "Flips", "Swap", "answer_flips", "flips"]
