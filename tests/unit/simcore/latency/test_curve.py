"""The integer curve: exact between knots, along the end segments beyond them, never negative."""

from __future__ import annotations

import math
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from simcore.latency.curve import BatchKind, IterationCurve, batch_kind

times = st.integers(0, 10**15)


@st.composite
def curves(draw: st.DrawFn) -> IterationCurve:
    tokens = draw(st.lists(st.integers(0, 10**5), min_size=1, max_size=12, unique=True).map(sorted))
    tables = [tuple(draw(times) for _ in tokens) for _ in range(3)]
    a, r, b, s = (draw(st.integers(0, 10**8)) for _ in range(4))
    return IterationCurve(tuple(tokens), *tables, attention=a, chunk_read_ps=r, context_ps=b, decode_seq_ps=s)


@given(curves(), st.sampled_from(BatchKind), st.integers(0, 2 * 10**5))
def test_base_is_the_line_through_the_knots_around_rounded_down_once(
    curve: IterationCurve, kind: BatchKind, n: int
) -> None:
    knots, values = curve.tokens, curve.knots_ps(kind)
    if len(knots) == 1:
        assert curve.base_ps(kind, n) == values[0]
        return
    low = max(i for i in range(len(knots) - 1) if i == 0 or knots[i] < n)
    slope = Fraction(values[low + 1] - values[low], knots[low + 1] - knots[low])
    assert curve.base_ps(kind, n) == max(math.floor(values[low] + slope * (n - knots[low])), 0)


@given(curves())
def test_knots_are_hit_exactly(curve: IterationCurve) -> None:
    for kind in BatchKind:
        assert [curve.base_ps(kind, n) for n in curve.tokens] == list(curve.knots_ps(kind))


@given(curves(), st.integers(1, 10**5), st.integers(0, 10**6))
def test_a_chunk_is_rounded_down_once(curve: IterationCurve, new: int, cached: int) -> None:
    a, r = Fraction(curve.attention, 1024), curve.chunk_read_ps
    exact = cached * max(a * new, r) + a * new * (new + 1) / 2
    assert curve.chunk_ps(new, cached) == math.floor(exact)


@given(curves(), st.lists(st.integers(1, 10**5), min_size=1, max_size=8))
def test_a_pure_decode_batch_slows_by_a_constant_each_step(curve: IterationCurve, contexts: list[int]) -> None:
    now, later = (curve.iteration_ps([], [c + step for c in contexts]) for step in (0, 1))
    assert later - now == curve.context_ps * len(contexts)


def test_a_batch_is_named_by_what_it_holds() -> None:
    assert [batch_kind(1, 0), batch_kind(0, 1), batch_kind(1, 1)] == list(BatchKind)
