"""A request alone on one replica, in closed form: its prompt in one iteration, then one token an iteration."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simcore.latency.curve import ATTENTION_FRACTION_BITS, BatchKind, IterationCurve
from simcore.same import Same, are_fixed, whole_length

Int64 = NDArray[np.int64]
Whole = NDArray[Any]
Column = Same[NDArray[np.int64]]

INT64_SAFE = 2**62
KEPT, MOST_KEPT = 32, 65_536
"""Columns of times that are kept, and the longest: 48 MiB at most."""


@dataclass(frozen=True)
class LoneTimes:
    """One entry a request."""

    ttft_ps: Int64
    decode_ps: Int64
    """First token to last."""

    @cached_property
    def e2e_ps(self) -> Int64:
        """Arrival to last token."""
        return self.ttft_ps + self.decode_ps


def lone_times(curve: IterationCurve, stages: int, prompt: Int64, cached: Int64, output: Int64) -> LoneTimes:
    """Each request's times with nothing else on the replica; exact, whole picoseconds.

    Kept for columns that nobody may write (a trace's): a search asks for the same requests at one rate after another.
    """
    columns = (prompt, cached, output)
    if whole_length(prompt) > MOST_KEPT or not are_fixed(*columns):
        return _lone_times(curve, stages, *columns)
    return _kept(Same(curve), stages, *(Same(column) for column in columns))


@lru_cache(maxsize=KEPT)
def _kept(
    curve: Same[IterationCurve], stages: int, prompt: Same[Int64], cached: Same[Int64], output: Same[Int64]
) -> LoneTimes:
    times = _lone_times(curve.value, stages, prompt.value, cached.value, output.value)
    times.ttft_ps.setflags(write=False)
    times.decode_ps.setflags(write=False)
    return times


def _lone_times(curve: IterationCurve, stages: int, prompt: Int64, cached: Int64, output: Int64) -> LoneTimes:
    """Worked out.

    ttft = stages x (g_prefill(q) + attention of q = prompt - cached tokens over the cached ones);
    decode = stages x [k x (g_decode(1) + s) + b x (k x prompt + k(k - 1)/2)] with k = output - 1 steps, the j-th of
    them (from 0) over prompt + j cached tokens. The whole prompt is one chunk; memory is not checked.
    """
    new, steps = prompt - cached, output - 1
    ttft = base_ps(curve, BatchKind.PREFILL, new) + _chunk_ps(curve, new, cached)
    first = curve.base_ps(BatchKind.DECODE, 1) + curve.decode_seq_ps
    longest = _largest(prompt) + _largest(output)
    wide = _wide_enough((curve.context_ps + 1) * longest * longest, first * _largest(output))
    k: Whole = steps.astype(wide)
    p: Whole = prompt.astype(wide)
    decode = k * first + curve.context_ps * (k * p + k * (k - 1) // 2)
    return LoneTimes(_narrow(ttft * stages), _narrow(decode * stages))


def base_ps(curve: IterationCurve, kind: BatchKind, tokens: Int64) -> Whole:
    """``curve.base_ps`` of many token counts at once."""
    knots, values = np.array(curve.tokens), np.array(curve.knots_ps(kind))
    if len(knots) == 1:
        return np.full(len(tokens), values[0])
    high = np.clip(np.searchsorted(knots, tokens, side="left"), 1, len(knots) - 1)
    low = high - 1
    steepest, farthest = _largest(np.diff(values)), _largest(tokens) + _largest(knots)
    wide = _wide_enough(steepest * farthest, _largest(values))
    rise, run = (values[high] - values[low]).astype(wide), (knots[high] - knots[low]).astype(wide)
    beyond = (tokens - knots[low]).astype(wide)
    line: Whole = np.maximum(values[low] + rise * beyond // run, 0)
    return line


def _chunk_ps(curve: IterationCurve, new: Int64, cached: Int64) -> Whole:
    longest = _largest(new) + _largest(cached) + 1
    read = curve.chunk_read_ps << ATTENTION_FRACTION_BITS
    wide = _wide_enough(curve.attention * longest * longest, read * longest)
    q: Whole = new.astype(wide)
    c: Whole = cached.astype(wide)
    over_cached: Whole = np.maximum(curve.attention * q, read)
    total: Whole = (c * over_cached + curve.attention * q * (q + 1) // 2) >> ATTENTION_FRACTION_BITS
    return total


def _wide_enough(*magnitudes: int) -> type:
    """int64, or Python's unbounded integers where a product could leave its range."""
    return np.int64 if sum(magnitudes) < INT64_SAFE else object


def _narrow(values: Whole) -> Int64:
    """int64 again, what is beyond it at its end: longer than any clock can tell."""
    return np.minimum(values, INT64_SAFE).astype(np.int64)


def _largest(values: Whole) -> int:
    return max(int(values.max(initial=0)), -int(values.min(initial=0)))
