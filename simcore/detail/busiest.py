"""Which minute of a run is looked at: the one in which the most requests were present."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simcore.detail.piecewise import Lasting
from simcore.latency.curve import PS_PER_S

WINDOW_S = 60
RULE = "the {seconds:.0f} s with the most requests present, waiting or served, while the measured requests arrived"


def busiest_ps(present: Lasting, span_ps: tuple[int, int]) -> tuple[int, int]:
    """The minute, begun at a whole second after the span's first instant, within which the most requests were present
    on average; of equals the first. The whole span where it is no longer."""
    first_ps, last_ps = span_ps
    seconds = (last_ps - first_ps) // PS_PER_S
    if seconds <= WINDOW_S:
        return first_ps, max(last_ps, first_ps + 1)
    upto = np.concatenate([[0.0], np.cumsum(present.means(first_ps + PS_PER_S * np.arange(seconds + 1)))])
    start: int = int(np.argmax(_rounded(upto[WINDOW_S:] - upto[:-WINDOW_S])))
    return first_ps + start * PS_PER_S, first_ps + (start + WINDOW_S) * PS_PER_S


def _rounded(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """The last bits of a difference of sums are not to choose between equals."""
    return np.round(sums, 6)
