"""The table of residuals that is shipped."""

from __future__ import annotations

import math

from simcore.residuals import residuals


def test_figures_hang_together() -> None:
    """mean |e| >= |mean e|, and mean e^2 = bias^2 + spread^2 >= (mean |e|)^2, to four digits."""
    for one in residuals():
        assert one.rows >= 1
        assert one.mape >= abs(one.bias) - 1e-4
        assert math.hypot(one.bias, one.spread) >= one.mape - 2e-4
        assert one.source
