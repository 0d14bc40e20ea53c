import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore.engine.outputs import CountedGaps
from simcore.slo.distribution import (
    distribution_s,
    exact_float_sum,
    exact_sum,
    gap_distribution_s,
    gap_percentiles,
    percentile,
    percentiles,
    rank,
)
from simcore.slo.latencies import INFINITE


def counted(gaps):
    return CountedGaps(np.array(sorted(gaps), np.int64), np.array([gaps[gap] for gap in sorted(gaps)], np.int64))


times = st.lists(st.integers(0, 10**15), min_size=1, max_size=60)
shares = st.sampled_from([0.1, 1, 50, 90, 95, 99, 99.9, 100])


@pytest.mark.parametrize(
    ("p", "count", "expected"), [(50, 1, 1), (50, 2, 1), (50, 3, 2), (99, 100, 99), (99, 101, 100), (99.9, 1000, 999)]
)
def test_rank_is_the_ceiling_of_the_decimal_product(p, count, expected):
    assert rank(p, count) == expected


def test_a_percentile_is_a_value_that_occurred():
    assert percentile(np.array([4, 1, 3, 2]), 50) == 2


@given(times, shares)
def test_a_percentile_is_the_least_value_that_enough_values_do_not_exceed(values, p):
    found = percentile(np.array(values), p)
    held = [v for v in sorted(values) if sum(w <= v for w in values) * 100 >= p * len(values) - 1e-9]
    assert found == held[0]


@given(times, st.lists(shares, min_size=1, max_size=5))
def test_several_percentiles_equal_one_by_one(values, wanted):
    column = np.array(values)
    assert percentiles(column, wanted) == [percentile(column, p) for p in wanted]


def test_times_that_never_came_are_infinite_in_percentiles_and_null_in_figures():
    values = np.array([10**12, 2 * 10**12, INFINITE])
    assert percentile(values, 99) == math.inf
    found = distribution_s(values)
    assert (found.mean, found.p50, found.p99, found.max) == (None, 2.0, None, None)


def test_nothing_measured_is_null():
    assert distribution_s(np.array([], np.int64)).p50 is None
    assert gap_distribution_s(counted({}), 0, 0).max is None


@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-(2**40), 2**40), min_size=1, max_size=20))
def test_a_sum_is_exact_and_the_mean_of_times_is_the_exact_one_rounded(numbers):
    values = np.array(numbers, np.int64)
    assert exact_sum(values) == sum(numbers)
    times = np.abs(np.clip(values, -(2**62), 2**62))
    assert distribution_s(times).mean == sum(times.tolist()) / len(times) / 10**12


@given(st.lists(st.floats(0, 2**63) | st.floats(0, 1e-200) | st.floats(1, 2**40), max_size=20))
def test_a_floating_sum_is_rounded_once(numbers):
    assert exact_float_sum(np.array(numbers, np.float64)) == math.fsum(numbers)


def test_the_mean_of_gaps_has_no_rounding_on_the_way():
    # as floats the two products are 2**60 each and their sum loses both the ones
    gaps = {2**59 + 1: 2, 2**60 + 1: 1}
    assert gap_distribution_s(counted(gaps), 0, 2**61 + 3).mean == (2**61 + 3) / 3 / 10**12


def test_the_mean_of_long_times_does_not_overflow():
    values = np.full(1000, 10**17)
    assert distribution_s(values).mean == pytest.approx(1e5)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 9)), min_size=1, max_size=12), st.integers(0, 9), shares)
def test_weighted_percentiles_equal_those_of_the_values_written_out(pairs, never, p):
    gaps = counted(dict(pairs))
    written_out = np.concatenate([np.repeat(*gaps.counted()), np.full(never, INFINITE)])
    assert gap_percentiles(gaps, never, [p, 50]) == [percentile(written_out, p), percentile(written_out, 50)]


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 9)), min_size=1, max_size=12))
def test_a_weighted_distribution_equals_that_of_the_values_written_out(pairs):
    gaps = counted(dict(pairs))
    written_out = np.repeat(*gaps.counted())
    assert gap_distribution_s(gaps, 0, int(written_out.sum())) == distribution_s(written_out)
