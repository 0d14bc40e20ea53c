"""What each request of a window waited for, in picoseconds: the numbers that SLOs and summaries are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]

INFINITE = int(np.iinfo(np.int64).max)
"""+infinity in an array of picoseconds: a time that never came."""


class TokenGaps(Protocol):
    """Times between consecutive tokens of the window's requests, as an engine keeps them."""

    @property
    def total(self) -> int:
        """How many came."""

    def at_ranks(self, ranks: Sequence[int]) -> list[int]:
        """Of all in increasing order those at these places, from 1 to ``total``."""


@dataclass(frozen=True)
class Latencies:
    """One entry a request of the window, in order of arrival; a refused or unfinished one is ``INFINITE`` in all.

    Columns are kept as the engine left them; a latency is worked out when it is asked for.
    """

    arrival_ps: Int64
    prompt_tokens: Int64
    cached_prompt_tokens: Int64
    output_tokens: Int64
    first_scheduled_ps: Int64
    first_token_ps: Int64
    finish_ps: Int64
    done: NDArray[np.bool_]
    """Whether it finished."""
    gaps: TokenGaps
    gaps_never: int
    """How many of the window's sum of (output - 1) gaps never came."""

    @property
    def queue_ps(self) -> Int64:
        """Arrival to the first iteration with any of its prompt."""
        return self._or_infinite(self.first_scheduled_ps - self.arrival_ps)

    @property
    def ttft_ps(self) -> Int64:
        """Arrival to first token."""
        return self._or_infinite(self.first_token_ps - self.arrival_ps)

    @property
    def e2e_ps(self) -> Int64:
        """Arrival to last token."""
        return self._or_infinite(self.finish_ps - self.arrival_ps)

    @property
    def tpot_ps(self) -> Float64:
        """(finish - first token) / (output - 1); infinite where unfinished, 0 with one output token (see
        ``has_tpot``)."""
        tpot = (self.finish_ps - self.first_token_ps) / np.maximum(self.output_tokens - 1, 1)
        tpot[self.output_tokens < 2] = 0.0
        tpot[~self.done] = np.inf
        return tpot

    @property
    def has_tpot(self) -> NDArray[np.bool_]:
        """The requests with a second token: only they have a TPOT."""
        return self.output_tokens >= 2

    def __len__(self) -> int:
        return len(self.arrival_ps)

    def _or_infinite(self, times_ps: Int64) -> Int64:
        times_ps[~self.done] = INFINITE
        return times_ps
