"""What each request of a window waited for, in picoseconds: the numbers that SLOs and summaries are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]

INFINITE = int(np.iinfo(np.int64).max)
"""+infinity in an array of picoseconds: a time that never came."""


PIECE = 32_768
"""Requests whose figures are worked out at once: bounds the memory of what is in between."""


def pieces(length: int) -> Iterator[slice]:
    """One piece after the other."""
    return (slice(start, min(start + PIECE, length)) for start in range(0, length, PIECE))


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
    gaps_due: int
    """The window's sum of (output - 1), which come if all finish."""

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
    def decode_ps(self) -> Int64:
        """First token to last."""
        return self._or_infinite(self.finish_ps - self.first_token_ps)

    @property
    def tpot_ps(self) -> Float64:
        """(finish - first token) / (output - 1); infinite where unfinished, 0 with one output token (see
        ``has_tpot``)."""
        return self.in_pieces(_tpot_ps)

    @property
    def tpot_of_several_ps(self) -> Float64:
        """That of the requests that have one."""
        return self.in_pieces(lambda part: part.of_several(_tpot_ps(part)))

    @cached_property
    def has_tpot(self) -> NDArray[np.bool_]:
        """The requests with a second token: only they have a TPOT."""
        return self.output_tokens >= 2

    def of_several(self, values: Float64) -> Float64:
        """Of one entry a request those of the requests with a TPOT."""
        return values if self.has_tpot.all() else values[self.has_tpot]

    @property
    def finished(self) -> Latencies:
        """The requests that finished alone."""
        return self.chosen(self.done)

    @cached_property
    def all_done(self) -> bool:
        """Whether every request finished."""
        return bool(self.done.all())

    @property
    def gaps_never(self) -> int:
        """How many of the gaps that were due never came."""
        return max(self.gaps_due - self.gaps.total, 0)

    def part(self, piece: slice) -> Latencies:
        """Some of the requests; the gaps are still those of all."""
        return self if piece == slice(0, len(self)) else self._of_columns(lambda column: column[piece])

    def chosen(self, which: NDArray[np.bool_]) -> Latencies:
        """Some of the requests, the same as all where it is all of them; the gaps are still those of all."""
        return self if which.all() else self._of_columns(lambda column: column[which])

    def _of_columns(self, taken: Callable[[NDArray[Any]], NDArray[Any]]) -> Latencies:
        columns: dict[str, Any] = {name: taken(getattr(self, name)) for name in COLUMNS}
        return Latencies(**columns, gaps=self.gaps, gaps_due=self.gaps_due)

    def parts(self) -> Iterator[Latencies]:
        """One piece after the other."""
        return (self.part(piece) for piece in pieces(len(self)))

    def in_pieces(self, work: Callable[[Latencies], Float64]) -> Float64:
        """What ``work`` gives of one piece after the other, at most a number a request."""
        if len(self) <= PIECE:
            return work(self)
        found, count = np.empty(len(self)), 0
        for part in self.parts():
            values = work(part)
            found[count : count + len(values)] = values
            count += len(values)
        return found[:count]

    def __len__(self) -> int:
        return len(self.arrival_ps)

    def _or_infinite(self, times_ps: Int64) -> Int64:
        if not self.all_done:
            times_ps[~self.done] = INFINITE
        return times_ps


COLUMNS = tuple(column.name for column in fields(Latencies) if not column.name.startswith("gaps"))


def _tpot_ps(part: Latencies) -> Float64:
    tpot: Float64 = (part.finish_ps - part.first_token_ps) / np.maximum(part.output_tokens - 1, 1)
    if not part.has_tpot.all():
        tpot[~part.has_tpot] = 0.0
    if not part.all_done:
        tpot[~part.done] = np.inf
    return tpot
