"""``IterationCurve`` compiled: the same sums and roundings as ``simcore.latency.curve``, on flat tables.

Curves are records of ``Curve``; their knots lie one after another in one array of four rows: tokens, then ``g`` for
prefill, decode and hybrid. Power by batch kind is kept in an array of the same form.
"""

from __future__ import annotations

import numpy as np

from simcore.engine.fast.jit import step
from simcore.engine.fast.layout import Int64, Table, table
from simcore.latency.curve import ATTENTION_FRACTION_BITS, IterationCurve


class Curve:
    """The numbers of one curve; ``first_knot`` and ``knots`` say where its knots lie."""

    first_knot: int
    knots: int
    attention: int
    chunk_read_ps: int
    context_ps: int
    decode_seq_ps: int


def curve_table(curves: list[IterationCurve]) -> Table[Curve]:
    """One record a curve."""
    counts = [len(curve.tokens) for curve in curves]
    return table(Curve, len(curves), first_knot=np.cumsum([0, *counts[:-1]]), knots=counts,
                 attention=[curve.attention for curve in curves],
                 chunk_read_ps=[curve.chunk_read_ps for curve in curves],
                 context_ps=[curve.context_ps for curve in curves],
                 decode_seq_ps=[curve.decode_seq_ps for curve in curves])


def knot_array(curves: list[IterationCurve]) -> Int64:
    """The knots of all curves, in the order of ``curve_table``."""
    rows = [np.array([curve.tokens, curve.prefill_ps, curve.decode_ps, curve.hybrid_ps], np.int64) for curve in curves]
    return np.ascontiguousarray(np.concatenate(rows, axis=1))


@step
def segment(knots: Int64, first: int, count: int, tokens: int) -> int:
    """The column of the upper end of the segment that holds ``tokens``: end segments reach beyond the ends."""
    low, high = first + 1, first + count - 1
    while low < high:
        middle = (low + high) >> 1
        if knots[0, middle] < tokens:
            low = middle + 1
        else:
            high = middle
    return low


@step
def interpolate(knots: Int64, first: int, count: int, kind: int, tokens: int) -> int:
    """Linear between knots and beyond them, rounded down, at least 0 (``IterationCurve.base_ps``)."""
    if count == 1:
        return int(knots[1 + kind, first])
    high = segment(knots, first, count, tokens)
    start, value = int(knots[0, high - 1]), int(knots[1 + kind, high - 1])
    rise, run = int(knots[1 + kind, high]) - value, int(knots[0, high]) - start
    return max(value + rise * (tokens - start) // run, 0)


@step
def base_ps(curve: Curve, knots: Int64, kind: int, tokens: int) -> int:
    """g_kind(n)."""
    return interpolate(knots, curve.first_knot, curve.knots, kind, tokens)


@step
def chunk_ps(curve: Curve, new_tokens: int, cached_tokens: int) -> int:
    """Attention of one prefill chunk, rounded down to a whole ps once."""
    over_cached = max(curve.attention * new_tokens, curve.chunk_read_ps << ATTENTION_FRACTION_BITS)
    within = curve.attention * new_tokens * (new_tokens + 1) // 2
    return (cached_tokens * over_cached + within) >> ATTENTION_FRACTION_BITS
