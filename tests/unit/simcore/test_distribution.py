import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore.distribution import (
    INFINITE,
    distribution_s,
    exact_sum,
    percentile,
    percentiles,
    rank,
    weighted_distribution_s,
    weighted_percentile,
)

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
    assert weighted_distribution_s(np.array([], np.int64), np.array([], np.int64), 0).max is None


@given(st.lists(st.tuples(st.integers(-(2**62), 2**62), st.integers(0, 2**40)), min_size=1, max_size=20))
def test_a_sum_is_exact_and_the_mean_of_times_is_the_exact_one_rounded(weighted):
    values, counts = (np.array(column, np.int64) for column in zip(*weighted, strict=True))
    assert exact_sum(values, counts) == sum(value * count for value, count in weighted)
    assert exact_sum(values) == sum(value for value, _ in weighted)
    times = np.abs(values)
    assert distribution_s(times).mean == sum(times.tolist()) / len(times) / 10**12


def test_the_mean_of_gaps_has_no_rounding_on_the_way():
    # as floats the two products are 2**60 each and their sum loses both the ones
    gaps, counts = np.array([2**59 + 1, 2**60 + 1]), np.array([2, 1])
    assert weighted_distribution_s(gaps, counts, 0).mean == (2**61 + 3) / 3 / 10**12


def test_the_mean_of_long_times_does_not_overflow():
    values = np.full(1000, 10**17)
    assert distribution_s(values).mean == pytest.approx(1e5)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 9)), min_size=1, max_size=12), st.integers(0, 9), shares)
def test_weighted_percentiles_equal_those_of_the_values_written_out(pairs, never, p):
    runs = dict(pairs)
    values, counts = np.array(sorted(runs)), np.array([runs[v] for v in sorted(runs)])
    written_out = np.concatenate([np.repeat(values, counts), np.full(never, INFINITE)])
    assert weighted_percentile(values, counts, never, p) == percentile(written_out, p)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 9)), min_size=1, max_size=12))
def test_a_weighted_distribution_equals_that_of_the_values_written_out(pairs):
    runs = dict(pairs)
    values, counts = np.array(sorted(runs)), np.array([runs[v] for v in sorted(runs)])
    found, expected = weighted_distribution_s(values, counts, 0), distribution_s(np.repeat(values, counts))
    assert found.__dict__ == pytest.approx(expected.__dict__)
