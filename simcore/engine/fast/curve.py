"""``IterationCurve`` compiled: the same sums and roundings as ``simcore.latency.curve``, on flat tables.

Curves are records of ``Curve``; their knots lie one after another in one array, four numbers each: tokens, then ``g``
for prefill, decode and hybrid. Power by batch kind is kept in an array of the same form.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simcore.engine.fast.jit import step
from simcore.engine.fast.layout import Int64, numbers, table
from simcore.latency.curve import ATTENTION_FRACTION_BITS, IterationCurve

KNOT = 4
"""Numbers of one knot."""


class Curve:
    """The numbers of one curve; ``first_knot`` and ``knots`` say where its knots lie."""

    first_knot: int
    knots: int
    attention: int
    chunk_read_ps: int
    context_ps: int
    decode_seq_ps: int


def curve_table(curves: list[IterationCurve]) -> NDArray[Any]:
    """One record a curve."""
    counts = [len(curve.tokens) for curve in curves]
    return table(
        Curve,
        len(curves),
        first_knot=np.cumsum([0, *counts[:-1]]),
        knots=counts,
        attention=[curve.attention for curve in curves],
        chunk_read_ps=[curve.chunk_read_ps for curve in curves],
        context_ps=[curve.context_ps for curve in curves],
        decode_seq_ps=[curve.decode_seq_ps for curve in curves],
    )


def knot_array(curves: list[IterationCurve]) -> Int64:
    """The knots of all curves, in the order of ``curve_table``."""
    knots = [zip(c.tokens, c.prefill_ps, c.decode_ps, c.hybrid_ps, strict=True) for c in curves]
    return np.array([number for curve in knots for knot in curve for number in knot], np.int64)


@step
def knot_tokens(knots: int, knot: int) -> int:
    """The tokens of a knot of the array at this address."""
    return numbers(knots)[KNOT * knot]


@step
def knot_value(knots: int, knot: int, kind: int) -> int:
    """The value of a knot for a kind of batch."""
    return numbers(knots)[KNOT * knot + 1 + kind]


@step
def segment(knots: int, first: int, count: int, tokens: int) -> int:
    """The knot at the upper end of the segment that holds ``tokens``: end segments reach beyond the ends."""
    low, high = first + 1, first + count - 1
    while low < high:
        middle = (low + high) >> 1
        if knot_tokens(knots, middle) < tokens:
            low = middle + 1
        else:
            high = middle
    return low


@step
def between(knots: int, high: int, kind: int, tokens: int) -> int:
    """On the line through a knot and the one before it, rounded down."""
    start, value = knot_tokens(knots, high - 1), knot_value(knots, high - 1, kind)
    rise, run = knot_value(knots, high, kind) - value, knot_tokens(knots, high) - start
    return value + rise * (tokens - start) // run


@step
def interpolate(knots: int, first: int, count: int, kind: int, tokens: int) -> int:
    """Linear between knots and beyond them, rounded down, at least 0 (``IterationCurve.base_ps``)."""
    if count == 1:
        return knot_value(knots, first, kind)
    return max(between(knots, segment(knots, first, count, tokens), kind, tokens), 0)


@step
def base_ps(curve: Curve, knots: int, kind: int, tokens: int) -> int:
    """g_kind(n)."""
    return interpolate(knots, curve.first_knot, curve.knots, kind, tokens)


@step
def chunk_ps(curve: Curve, new_tokens: int, cached_tokens: int) -> int:
    """Attention of one prefill chunk, rounded down to a whole ps once."""
    over_cached = max(curve.attention * new_tokens, curve.chunk_read_ps << ATTENTION_FRACTION_BITS)
    within = curve.attention * new_tokens * (new_tokens + 1) // 2
    return (cached_tokens * over_cached + within) >> ATTENTION_FRACTION_BITS
