"""Which designs other seeds are worth, and what all seeds say together."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simcore.evaluation import Evaluation
from simcore.search.replications import Standing, by_first_seed, close_designs, merged

RATE = 7.0


def standing(kind, machines, low, capacity, high):
    return Standing(kind, machines, capacity, low, high)


def test_designs_of_two_kinds_that_reach_each_other_on_the_same_machines_are_close():
    found = [standing(0, (5,), 9, 10, 11), standing(1, (5,), 8, 8.5, 9), standing(2, (5,), 7, 8, 8.9)]
    assert close_designs(found, 100) == [0, 1]


def test_a_design_with_more_machines_is_close_to_one_that_may_hold_more_with_fewer():
    found = [standing(0, (5, 1), 9, 10, 11), standing(1, (6, 1), 10.5, 12, 13), standing(2, (9, 9), 12.9, 14, 15)]
    assert close_designs(found, 100) == [0, 1, 2]
    assert close_designs(found[:1] + found[2:], 100) == []


def test_designs_none_of_which_has_no_more_of_any_machine_are_compared_by_their_price_not_by_chance():
    assert close_designs([standing(0, (5, 0), 9, 10, 11), standing(1, (0, 5), 9, 10, 11)], 100) == []


def test_counts_of_one_kind_are_not_compared():
    assert close_designs([standing(0, (5,), 9, 10, 11), standing(0, (6,), 9, 10.5, 12)], 100) == []


def test_what_a_third_surely_beats_is_not_worth_a_run():
    best = standing(2, (4,), 20, 21, 22)
    assert close_designs([standing(0, (5,), 9, 10, 11), standing(1, (5,), 9, 10, 11), best], 100) == []


def test_whether_a_design_holds_the_required_rate_is_open_where_it_lies_within_its_interval():
    within = standing(0, (5,), 6.5, 6.9, 7.4)
    assert close_designs([within], RATE) == [0]
    assert close_designs([standing(0, (5,), 7.0, 7.2, 7.4)], RATE) == []
    assert close_designs([standing(0, (5,), 6.0, 6.5, 6.9)], RATE) == []
    surely = standing(0, (5,), 7.0, 7.2, 7.4)
    assert close_designs([surely, replace(within, machines=(6,))], RATE) == []
    assert close_designs([surely, replace(within, machines=(4,))], RATE) == [1]


def test_where_the_most_capable_wins_those_that_reach_it_are_close():
    found = [standing(0, (5, 0), 9, 10, 11), standing(0, (0, 9), 8, 8.5, 9), standing(0, (0, 8), 7, 8, 8.9)]
    assert close_designs(found, 100, most_wins=True) == [0, 1]
    assert close_designs(found[:1] + found[2:], 100, most_wins=True) == []
    assert close_designs(found, 100) == []


def test_designs_without_a_capacity_are_never_close():
    assert close_designs([], RATE) == []
    assert close_designs([standing(0, (5,), 0, 0, 0), standing(1, (5,), 0, 0, 0)], RATE, most_wins=True) == []


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 3), st.integers(1, 9), st.integers(0, 2)),
        min_size=1,
        max_size=12,
    )
)
def test_whatever_true_capacities_lie_within_the_intervals_only_close_designs_change_places(drawn):
    """Of designs of different kinds: who beats whom with no more machines, among those that nobody surely beats."""
    found = [standing(kind, (a, b), held - off, held, held + off) for kind, a, b, held, off in drawn if a + b]
    close = set(close_designs(found, 100))
    for x, one in enumerate(found):
        for y, other in enumerate(found):
            fewer = all(i <= j for i, j in zip(one.machines, other.machines, strict=True))
            if not fewer or one.kind == other.kind or {x, y} <= close:
                continue
            decided = one.low > other.high or one.high < other.low
            assert decided or _surely_beaten(one, found) or _surely_beaten(other, found)


def _surely_beaten(one, found):
    return any(np.all(np.less_equal(other.machines, one.machines)) and other.low > one.high for other in found)


def evaluation(capacity, low, high, limit="ttft_p99", **changes):
    spent = {"simulations": 3, "requests_simulated": 100, "events": 1000, "warnings": (limit,)}
    return Evaluation("x", "evaluated", "", capacity, low, high, limit, "mixed", **(spent | changes))


def test_all_seeds_together_are_the_median_between_the_least_and_the_most():
    first = evaluation(10.0, 9.0, 11.0, held_required=True)
    found = merged(first, (0, 1, 2), [evaluation(12.0, 11.5, 12.5, "kv"), evaluation(11.0, 10, 12, "tbt_p99")])
    assert (found.capacity_low, found.capacity_req_per_s, found.capacity_high) == (10.0, 11.0, 12.0)
    assert (found.binding_limit, found.held_required) == ("tbt_p99", True)
    assert (found.simulations, found.requests_simulated, found.events) == (9, 300, 3000)
    assert found.warnings == ("ttft_p99", "kv", "tbt_p99")
    assert [one.seed for one in found.replications] == [0, 1, 2]
    assert [one.capacity_req_per_s for one in found.replications] == [10.0, 12.0, 11.0]


@pytest.mark.parametrize("others", [[], [evaluation(12.0, 11.5, 12.5, "kv")]])
def test_the_search_goes_by_what_the_first_seed_said(others):
    first = evaluation(10.0, 9.0, 11.0)
    back = by_first_seed(merged(first, range(len(others) + 1), others)) if others else by_first_seed(first)
    kept = ("capacity_req_per_s", "capacity_low", "capacity_high", "binding_limit", "binding_pool", "replications")
    assert [getattr(back, name) for name in kept] == [getattr(first, name) for name in kept]


def test_a_rate_below_the_capacity_over_all_seeds_is_held():
    found = merged(evaluation(6.9, 6.5, 7.4), (0, 1, 2), [evaluation(7.5, 7, 8), evaluation(7.3, 7, 8)])
    assert found.holds(RATE)
    assert not merged(evaluation(7.3, 7, 8), (0, 1, 2), [evaluation(6.5, 6, 7), evaluation(6.8, 6, 7)]).holds(RATE)
