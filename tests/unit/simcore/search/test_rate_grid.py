from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore.search.rate_grid import grid_at_most, grid_rate, steps_of


@given(st.integers(-2000, 2000))
def test_a_rate_is_a_percent_above_the_one_before_and_found_again(k):
    assert grid_rate(k) == pytest.approx(float(Fraction(101, 100) ** k), rel=1e-15)
    assert grid_at_most(grid_rate(k)) == k
    assert grid_at_most(grid_rate(k) * (1 - 1e-12)) == k - 1
    assert grid_at_most(grid_rate(k) * 1.0099) == k


@given(st.floats(1e-6, 1e7))
def test_any_rate_lies_between_two_of_the_grid(rate):
    k = grid_at_most(rate)
    assert grid_rate(k) <= rate < grid_rate(k + 1)


def test_one_request_a_second_is_on_the_grid():
    assert grid_rate(0) == 1.0
    assert [steps_of(share) for share in (1.01, 0.9, 0.8)] == [1, -11, -22]
