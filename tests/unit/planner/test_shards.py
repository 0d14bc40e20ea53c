"""Waves are cut by predicted cost, in the order in which their designs are wanted."""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.studies.shards import LEAST_S, MOST_S, cut, shards
from simcore.study import next_designs
from tests.unit.simcore.questions import asked

COSTS = st.lists(st.floats(0.001, 20, allow_nan=False), max_size=400)


@given(COSTS)
def test_every_design_is_in_one_shard_in_order_and_shards_keep_to_their_size(costs: list[float]) -> None:
    numbers: list[Any] = list(range(len(costs)))
    parts = cut(numbers, costs)
    assert list(itertools.chain(*parts)) == numbers
    assert all(parts)
    for part in parts:
        largest = max(costs[number] for number in part)
        assert len(part) == 1 or sum(costs[number] for number in part) <= MOST_S + largest / 2 + 1e-9


@given(st.lists(st.floats(0.001, 0.1), min_size=100, max_size=400))
def test_small_designs_come_in_shards_of_one_to_three_seconds(costs: list[float]) -> None:
    parts = cut(list(range(len(costs))), costs)  # type: ignore[arg-type]
    sizes = [sum(costs[number] for number in part) for part in parts]
    assert all(LEAST_S - 0.1 <= size <= MOST_S + 0.1 for size in sizes[:-1])


def test_a_wave_of_the_search_keeps_its_order() -> None:
    context = asked(counts={"mixed": list(range(1, 41)), "prefill": [2, 4, 8], "decode": [2, 4, 8]})
    wanted = next_designs(context, {})
    assert list(itertools.chain(*shards(wanted, context))) == wanted


@pytest.mark.parametrize("costs", [[], [0.5], [9.0, 9.0]])
def test_a_design_alone(costs: list[float]) -> None:
    assert cut(list(range(len(costs))), costs) == [[number] for number in range(len(costs))]  # type: ignore[arg-type]
