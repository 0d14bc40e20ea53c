import math
import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simcore.capacity.rate_search import DECIDING, RateSearch
from simcore.search.rate_grid import grid_rate

LOWEST, HIGHEST = -300, 400


class Line:
    """Rates up to the k-th hold, but for given gaps; short runs are wrong by so many steps; the pressure is a power of
    the rate, or infinite from the first that fails. Counts the runs."""

    def __init__(self, k, gaps=(), slope=4.0, blind=False, error=0):
        self.k, self.gaps, self.slope, self.blind, self.error = k, gaps, slope, blind, error
        self.tried = {}

    def pressure(self, k, rung):
        self.tried[k, rung] = self.tried.get((k, rung), 0) + 1
        last = self.k if rung == DECIDING else self.k + self.error
        if any(low <= k <= high for low, high in self.gaps):
            return 2.0
        if k > last and self.blind:
            return math.inf
        return math.exp(min(self.slope * (k - last - 0.5) * 0.01, 50.0))

    @property
    def long_runs(self):
        return len({k for k, rung in self.tried if rung == DECIDING})


def bisected(runs, lowest=LOWEST, highest=HIGHEST):
    """Plain bisection by long runs: nothing above the highest is taken to hold."""
    low, high = lowest - 1, highest + 1
    if runs.pressure(lowest, DECIDING) > 1:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if runs.pressure(middle, DECIDING) <= 1 else (low, middle)
    return low


@given(
    st.integers(LOWEST - 50, HIGHEST + 50),
    st.integers(-40, 40),
    st.sampled_from([0.01, 1.0, 4.0, 50.0]),
    st.booleans(),
)
@example(LOWEST, 0, 4.0, True)
@example(HIGHEST, 40, 4.0, True)
@example(LOWEST - 1, 40, 4.0, False)
def test_the_search_finds_what_plain_bisection_does(k, error, slope, blind):
    runs = Line(k, slope=slope, blind=blind, error=error)
    search = RateSearch(runs, LOWEST, HIGHEST)
    assert search.find() == bisected(Line(k, slope=slope, blind=blind))
    assert not search.warnings
    assert all(LOWEST <= tried <= HIGHEST for tried, _ in runs.tried)
    assert runs.long_runs <= 25


@given(st.lists(st.booleans(), min_size=1, max_size=80), st.lists(st.booleans(), min_size=80, max_size=80))
def test_whatever_holds_what_is_found_holds_and_the_next_does_not(long, short):
    """Feasibility need not be monotone: any pattern of it, long and short runs in any disagreement."""

    class Runs:
        def pressure(self, k, rung):
            return 0.7 if (long if rung == DECIDING else short)[k] else 1.4

    found = RateSearch(Runs(), 0, len(long) - 1).find()
    if found is None:
        assert not long[0] or not all(long)
    else:
        assert long[found]
        assert not any(long[found + 1 : found + 2])


@pytest.mark.parametrize("seed", range(200))
def test_when_a_run_that_fails_was_given_up_changes_nothing(seed):
    """Nor does it where feasibility is not monotone: any pattern of it."""
    drawn = random.Random(seed)
    holds = [[drawn.random() < 0.8 - k / 200 for k in range(120)] for _ in ("short", "long")]
    held = [drawn.choice([1e-3, 0.1, 0.9]) for _ in range(120)]

    class Runs:
        def __init__(self, failed):
            self.failed = failed

        def pressure(self, k, rung):
            return held[k] if holds[rung][k] else self.failed

    soon, late = (RateSearch(Runs(failed), 0, 119) for failed in (40.0, 1.0 + 1e-9))
    assert soon.find() == late.find()
    assert soon.warnings == late.warnings


@pytest.mark.parametrize("slope", [3.0, 6.0, 20.0])
@pytest.mark.parametrize("error", [-4, 0, 4])
def test_short_runs_that_are_about_right_leave_few_long_ones(slope, error):
    runs = Line(250, slope=slope, error=error)
    RateSearch(runs, LOWEST, HIGHEST).find()
    assert runs.long_runs <= 8


def test_nothing_that_holds_is_given_up_soon():
    runs = Line(-10_000)
    assert RateSearch(runs, LOWEST, HIGHEST).find() is None
    assert len(runs.tried) <= 7


def test_only_a_long_run_says_that_nothing_holds():
    runs = Line(LOWEST + 10, error=-100)
    assert RateSearch(runs, LOWEST, HIGHEST).find() == LOWEST + 10


def test_a_capacity_is_checked_at_the_grid_rates_nearest_to_nine_and_eight_tenths():
    search = RateSearch(Line(100), 0, 200)
    assert [grid_rate(k) / grid_rate(100) for k in search.checks(100)] == pytest.approx([0.9, 0.8], rel=0.005)
    assert search.checks(15) == [4]


def test_a_rate_near_those_that_held_is_the_check():
    search = RateSearch(Line(100), 0, 200)
    search.held[DECIDING].update([83, 84, 92, 94, 95])
    assert search.checks(100) == [92, 83]
    search = RateSearch(Line(100), 0, 200)
    search.find()
    assert all(k in search.held[DECIDING] for k in search.checks(100))


@pytest.mark.parametrize(("gap", "found"), [((87, 92), 86), ((76, 80), 75), ((40, 90), 39)])
def test_a_failure_below_lowers_the_capacity_and_warns(gap, found):
    search = RateSearch(Line(100, [gap]), 0, 101)
    assert search._check_below(100) == found
    assert len(search.warnings) == 1


def test_a_monotone_line_passes_the_check_untouched():
    search = RateSearch(Line(100), 0, 101)
    assert search._check_below(100) == 100
    assert not search.warnings
