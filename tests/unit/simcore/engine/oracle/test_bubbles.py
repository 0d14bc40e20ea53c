"""Bubbles by stage and cause, each pipeline small enough to draw (times in ns, see tests/clusters.py).

A stage's line: busy (letter), bubble (cause), nothing in flight (.). up = unequal prompts, pd = prefill against decode,
dc = unequal decode contexts, un = unfilled.
"""

from dataclasses import replace
from typing import Any

import pytest

from simcore.engine.inputs import ClusterInputs
from simcore.engine.oracle.cluster import run
from simcore.engine.outputs import BubbleCause, RunResult
from tests.clusters import CURVE, NS, cluster, in_ns, replica, scheduler

BY_CONTEXT = replace(CURVE, context_ps=NS)
"""A decode step takes 100 ns and 1 ns for each cached token."""


def stages(result: RunResult) -> list[dict[str, float]]:
    """Bubbles of the first replica by stage, in ns, causes without any left out."""
    table = result.replicas.bubble_ps[0]
    return [{cause.name.lower(): row[cause] / NS for cause in BubbleCause if row[cause]} for row in table.tolist()]


def check_whole(inputs: ClusterInputs, result: RunResult, nothing_ns: float) -> None:
    """Busy, bubbles and time with nothing in flight are the whole run, on every stage."""
    count = inputs.replicas[0].stages
    busy = int(result.replicas.busy_ps.sum()) // count
    assert {busy + row.sum() + nothing_ns * NS for row in result.replicas.bubble_ps[0]} == {result.busy_until_ps}


def piped(kind: str, requests: list[tuple[int, int, int]], count: int = 2, **changes: Any) -> ClusterInputs:
    curve = changes.pop("curve", CURVE)
    return cluster(scheduler(kind, **changes), requests, [replica(stages=count, curve=curve)])


def test_one_stage_has_no_bubbles() -> None:
    assert stages(run(piped("sarathi", [(0, 100, 5), (7, 30, 3)], count=1))) == [{}]


def test_a_lone_request_leaves_a_pipeline_unfilled() -> None:
    inputs = piped("vllm", [(10, 40, 2)])
    result = run(inputs)
    # 0  . 10  A 50  un 90  a 190  un 290
    # 1  . 10 un 50  A  90 un 190  a  290
    assert stages(result) == [{"unfilled": 140}, {"unfilled": 140}]
    check_whole(inputs, result, nothing_ns=10)


def test_unequal_prompts_then_nothing_to_form() -> None:
    inputs = piped("sarathi", [(0, 40, 1), (5, 20, 1)])
    result = run(inputs)
    # 0  A 40   B 60  up 80  un 100
    # 1 un 40   A 80   B 100
    assert stages(result) == [{"unequal_prompts": 20, "unfilled": 20}, {"unfilled": 40}]
    check_whole(inputs, result, nothing_ns=0)


def test_a_longer_prompt_behind_a_short_one() -> None:
    inputs = piped("vllm", [(0, 10, 1), (0, 60, 1)], max_batch_tokens=60)
    result = run(inputs)
    # 0  A 10   B 70           un 130
    # 1 un 10   A 20   up 70   B  130
    assert stages(result) == [{"unfilled": 60}, {"unfilled": 10, "unequal_prompts": 50}]
    check_whole(inputs, result, nothing_ns=0)


def test_a_prefill_followed_by_decodes() -> None:
    inputs = piped("vllm", [(0, 30, 2), (0, 400, 1)], max_batch_tokens=400)
    result = run(inputs)
    # 0  A 30   B 430            a 530   pd 830   un 930
    # 1 un 30   A  60   up 430   B 830             a 930
    assert in_ns(result.requests.finish_ps) == [930, 830]
    # when a has left the first stage, the end of B is waited for
    assert stages(result) == [
        {"prefill_against_decode": 300, "unfilled": 100},
        {"unfilled": 30, "unequal_prompts": 370},
    ]
    check_whole(inputs, result, nothing_ns=0)


def test_a_prefill_behind_a_decode() -> None:
    inputs = piped("vllm", [(0, 50, 2), (120, 300, 1)])
    result = run(inputs)
    # 0  A 50  un 100  a 200   B 500          un 800
    # 1 un 50   A 100 un 200   a 300 pd 500    B 800
    assert stages(result) == [
        {"unfilled": 50 + 300},
        {"unfilled": 50 + 100, "prefill_against_decode": 200},
    ]
    check_whole(inputs, result, nothing_ns=0)


def test_decodes_of_unequal_context() -> None:
    inputs = piped("vllm", [(0, 10, 2), (0, 60, 2)], max_batch_tokens=60, max_batch_size=2, curve=BY_CONTEXT)
    result = run(inputs)
    # 0  A 10   B 70                   a 180             b 340   un 500
    # 1 un 10   A 20  up 70   B 130   pd 180   a 290   dc 340     b 500
    assert in_ns(result.requests.finish_ps) == [290, 500]
    assert stages(result) == [
        {"unfilled": 160},
        {"unfilled": 10, "unequal_prompts": 50, "prefill_against_decode": 50, "unequal_decode_contexts": 50},
    ]
    check_whole(inputs, result, nothing_ns=0)


def test_a_gap_from_a_late_arrival_goes_down_the_pipeline_unfilled() -> None:
    inputs = piped("vllm", [(0, 100, 1), (150, 100, 1)], count=3)
    result = run(inputs)
    # 0  A 100  un 150  B 250           un 450
    # 1 un 100   A 200 un 250  B 350    un 450
    # 2 un 200           A 300 un 350    B 450
    assert stages(result) == [{"unfilled": 250}] * 3
    check_whole(inputs, result, nothing_ns=0)


def test_time_with_nothing_in_flight_is_no_bubble() -> None:
    inputs = piped("vllm", [(0, 20, 1), (1000, 30, 1)])
    result = run(inputs)
    assert stages(result) == [{"unfilled": 50}, {"unfilled": 50}]
    check_whole(inputs, result, nothing_ns=960)


def test_waiting_for_the_end_of_a_decode_of_longer_context() -> None:
    inputs = piped("vllm", [(0, 60, 2), (0, 10, 2)], max_batch_tokens=60, max_batch_size=2, curve=BY_CONTEXT)
    result = run(inputs)
    # 0  A 60   B 70  up 120    a 280             b 390  dc 440   un 550
    # 1 un 60   A 120   B 130  pd 280   a 440                      b 550
    assert stages(result) == [
        {"unequal_prompts": 50, "unequal_decode_contexts": 50, "unfilled": 110},
        {"unfilled": 60, "prefill_against_decode": 150},
    ]
    check_whole(inputs, result, nothing_ns=0)


@pytest.mark.parametrize("count", [2, 3, 4])
def test_equal_micro_batches_never_wait_for_each_other(count: int) -> None:
    inputs = piped("vllm", [(0, 64, 50)] * 2 * count, count=count, max_batch_tokens=128, max_batch_size=2 * count)
    result = run(inputs)
    assert result.replicas.iterations.tolist() == [[count, 49 * count, 0]]
    found = {cause for row in stages(result) for cause in row}
    # equal prompts follow each other, then equal decodes: only where the one follows the other is there a gap
    assert found == {"unfilled", "prefill_against_decode"}
    check_whole(inputs, result, nothing_ns=0)
