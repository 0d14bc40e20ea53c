import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore.fluid.lone import base_ps, lone_times
from simcore.latency.curve import BatchKind, IterationCurve

CURVE = IterationCurve(
    (1, 64, 500), (10**9, 2 * 10**9, 7 * 10**9 + 3), (5, 7, 1), (1, 2, 3), attention=1_500, chunk_read_ps=700,
    context_ps=90, decode_seq_ps=11,
)  # fmt: skip
LARGE = IterationCurve((1, 2), (10**15, 3 * 10**15), (10**15, 10**15), (1, 1), 10**9, 10**9, 10**9, 10**9)


@given(st.integers(1, 3000), st.integers(0, 2999), st.integers(1, 300), st.integers(1, 4))
def test_closed_forms_equal_the_iterations_one_by_one(prompt, cached, output, stages):
    cached = min(cached, prompt - 1)
    found = lone_times(CURVE, stages, np.array([prompt]), np.array([cached]), np.array([output]))
    steps = [CURVE.iteration_ps([], [prompt + j]) for j in range(output - 1)]
    assert found.ttft_ps[0] == stages * CURVE.iteration_ps([(prompt - cached, cached)], [])
    assert found.decode_ps[0] == stages * sum(steps)
    assert found.e2e_ps[0] == found.ttft_ps[0] + found.decode_ps[0]


@pytest.mark.parametrize("curve", [CURVE, LARGE, IterationCurve((1,), (5,), (6,), (7,), 0, 0, 0, 0)])
@pytest.mark.parametrize("kind", list(BatchKind))
def test_many_token_counts_at_once_equal_one_by_one(curve, kind):
    tokens = [1, 2, 63, 64, 65, 500, 501, 10_000_000]
    assert list(base_ps(curve, kind, np.array(tokens))) == [curve.base_ps(kind, n) for n in tokens]


def test_products_beyond_64_bits_stay_exact_or_end_at_the_clocks_end():
    found = lone_times(LARGE, 1, np.array([10_000]), np.array([0]), np.array([2]))
    exact = LARGE.iteration_ps([(10_000, 0)], [])
    assert exact > 2**62
    assert found.ttft_ps[0] == 2**62
    assert found.decode_ps[0] == LARGE.iteration_ps([], [10_000])
