"""What each request of a window waited for, in picoseconds: the numbers that SLOs and summaries are made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]


@dataclass(frozen=True)
class Latencies:
    """One entry a request of the window, in order of arrival; a refused or unfinished one is ``INFINITE`` in all."""

    arrival_ps: Int64
    prompt_tokens: Int64
    cached_prompt_tokens: Int64
    output_tokens: Int64
    queue_ps: Int64
    """Arrival to the first iteration with any of its prompt."""
    ttft_ps: Int64
    e2e_ps: Int64
    tpot_ps: Float64
    """(finish - first token) / (output - 1); infinite where unfinished, 0 with one output token (see ``has_tpot``)."""
    gap_ps: Int64
    """Distinct gaps between two consecutive tokens, increasing,"""
    gap_count: Int64
    """how often each came,"""
    gaps_never: int
    """and how many of the window's sum of (output - 1) gaps never came."""

    @property
    def has_tpot(self) -> NDArray[np.bool_]:
        """The requests with a second token: only they have a TPOT."""
        return self.output_tokens >= 2

    def __len__(self) -> int:
        return len(self.arrival_ps)
