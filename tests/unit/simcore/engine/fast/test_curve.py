"""The compiled curve and power tables give the sums and roundings of the plain ones."""

import random

import numpy as np
import pytest

from simcore.engine.fast import curve, energy
from simcore.engine.fast.jit import entry
from simcore.engine.fast.layout import row_of
from simcore.engine.oracle.energy import power_mw
from simcore.latency.curve import BatchKind, IterationCurve

CURVES = [
    IterationCurve((7,), (10,), (5,), (0,), 777, 5, 3, 2),
    IterationCurve((1, 5, 100, 1000), (10, 20, 400, 100), (5, 9, 700, 701), (0, 1000, 2, 3), 777, 5, 3, 2),
    IterationCurve((0, 64), (9, 1), (10**12, 10**12 + 7), (3, 5), 10**6, 10**5, 0, 0),
]
TABLE, KNOTS = curve.curve_table(CURVES), curve.knot_array(CURVES)
curve_row = row_of(curve.Curve)


@entry
def compiled_base_ps(curves: int, number: int, knots: int, kind: int, tokens: int) -> int:
    return curve.base_ps(curve_row(curves, number), knots, kind, tokens)


@entry
def compiled_chunk_ps(curves: int, number: int, new_tokens: int, cached_tokens: int) -> int:
    return curve.chunk_ps(curve_row(curves, number), new_tokens, cached_tokens)


@entry
def compiled_power_mw(knots: int, first: int, count: int, kind: int, tokens: int) -> int:
    return energy.power_mw(knots, first, count, kind, tokens)


@pytest.mark.parametrize("number", range(len(CURVES)))
def test_base_is_the_curves_between_and_beyond_the_knots(number: int) -> None:
    for kind in BatchKind:
        for tokens in [*range(120), 999, 1000, 1001, 50_000]:
            ours = compiled_base_ps(TABLE.ctypes.data, number, KNOTS.ctypes.data, kind, tokens)
            assert ours == CURVES[number].base_ps(kind, tokens), (kind, tokens)


@pytest.mark.parametrize("number", range(len(CURVES)))
def test_a_chunks_attention_is_the_curves(number: int) -> None:
    rng = random.Random(number)
    for _ in range(300):
        new, cached = rng.randrange(1, 5000), rng.randrange(100_000)
        assert compiled_chunk_ps(TABLE.ctypes.data, number, new, cached) == CURVES[number].chunk_ps(new, cached)


def test_power_is_flat_beyond_its_knots() -> None:
    powers = [((1,), ((5,), (6,), (7,))), ((10, 20, 1000), ((3, 8, 2), (1, 1, 9), (100, 3, 4)))]
    knots = np.array(energy.power_knot_array(powers))
    for first, (tokens, values) in zip((0, 1), powers, strict=True):
        for kind in BatchKind:
            for n in (0, 1, 9, 10, 11, 19, 20, 21, 555, 1000, 2000):
                ours = compiled_power_mw(knots.ctypes.data, first, len(tokens), kind, n)
                assert ours == power_mw(tokens, values[kind], n), (first, kind, n)
