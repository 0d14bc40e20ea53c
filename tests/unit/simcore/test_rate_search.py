import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore.rate_search import LEAST_SHARE, bracket, check_below, close_in, short_bracket


class Line:
    """Rates up to a capacity hold, but for given gaps; the pressure is a power of the rate. Counts the runs."""

    def __init__(self, capacity, gaps=(), slope=4.0, blind=False):
        self.capacity, self.gaps, self.slope, self.blind = capacity, gaps, slope, blind
        self.tried = []

    def pressure(self, rate_req_per_s, requests):
        if rate_req_per_s not in self.tried:
            self.tried.append(rate_req_per_s)
        if any(low <= rate_req_per_s <= high for low, high in self.gaps):
            return 2.0
        if rate_req_per_s > self.capacity and (self.blind or not self.capacity):
            return math.inf
        return min((rate_req_per_s / self.capacity) ** self.slope, 1e9)


@given(st.floats(0.002, 0.999), st.floats(0.5, 2.0), st.sampled_from([0.01, 1.0, 4.0, 50.0]), st.booleans())
def test_the_search_ends_within_a_percent_of_the_capacity(share, error, slope, blind):
    runs = Line(100 * share, slope=slope, blind=blind)
    low, high = short_bracket(runs, 100.0)
    assert low <= runs.capacity < high or high == 100.0
    low, high = bracket(runs, min(low * error, 100.0), 100.0, 1)
    low, high = close_in(runs, low, high, 1)
    assert low <= runs.capacity < high <= low * 1.01
    assert min(runs.tried) >= 100 * LEAST_SHARE / 2
    assert len(runs.tried) <= 35


@pytest.mark.parametrize("slope", [1.0, 4.0, 20.0])
@pytest.mark.parametrize("guess", [45.0, 49.0, 51.0, 56.0])
def test_a_good_guess_takes_few_long_runs(slope, guess):
    runs = Line(50.0, slope=slope)
    low, high = bracket(runs, guess, 100.0, 1)
    close_in(runs, low, high, 1)
    assert len(runs.tried) <= 6


def test_nothing_that_holds_is_given_up_soon():
    runs = Line(0.0)
    assert short_bracket(runs, 100.0)[0] == 0.0
    assert len(runs.tried) <= 6


def test_a_capacity_far_below_the_bound_is_still_found():
    runs = Line(0.5)
    low, high = short_bracket(runs, 100.0)
    assert low <= 0.5 < high


def test_no_rate_above_the_bound_is_tried():
    runs = Line(1e9)
    low, high = bracket(runs, 30.0, 100.0, 1)
    assert (low, high) == (100.0, 100.0)
    assert max(runs.tried) == 100.0


@pytest.mark.parametrize(("gap", "capacity"), [((44, 46), 44), ((39, 41), 39), ((20, 46), 20)])
def test_a_failure_below_lowers_the_capacity_and_warns(gap, capacity):
    warnings = []
    low, high = check_below(Line(50.0, [gap]), 50.0, 50.4, 1, warnings)
    assert low < capacity <= high <= low * 1.01
    assert len(warnings) == 1


def test_a_monotone_line_passes_the_check_untouched():
    warnings = []
    assert check_below(Line(50.0), 50.0, 50.4, 1, warnings) == (50.0, 50.4)
    assert not warnings
