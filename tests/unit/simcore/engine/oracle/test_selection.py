"""The rules of a splitwise machine's next batch, on states written by hand."""

import pytest

from simcore.engine.oracle.cluster import run
from simcore.engine.oracle.selection import select
from simcore.engine.oracle.setup import build_cluster
from simcore.engine.oracle.state import Cluster
from simcore.engine.outputs import FINISHED
from tests.clusters import cluster, replica, scheduler


def prompt(request: int) -> int:
    return 2 * request


def decode(request: int) -> int:
    return 2 * request + 1


def machine(prompts: list[int], waiting_decodes: list[int], batch: list[int], interrupted: list[int] | None = None,
            passes: dict[int, int] | None = None, **options: object) -> Cluster:  # fmt: skip
    """Ten requests of 40 prompt tokens and 10 output tokens, the named ones on one machine of 1,000 blocks."""
    blocks = options.pop("kv_blocks", 1000)
    policy = scheduler("splitwise_baseline", **options)
    state = build_cluster(cluster(policy, [(0, 40, 10)] * 10, [replica(kv_blocks=blocks)]))
    here = state.replicas[0]
    decodes = waiting_decodes + batch + (interrupted or [])
    for index in decodes:
        state.requests[index].prefill_ended = True
        state.requests[index].done_tokens = 40
        state.requests[index].blocks = 4
    for index in prompts + decodes:
        state.requests[index].prefill_replica = state.requests[index].decode_replica = 0
        here.present.append(index)
    here.present.sort()
    here.prompts.extend(prompt(i) for i in prompts)
    here.interrupted.extend(decode(i) for i in interrupted or [])
    here.batch.extend(decode(i) for i in batch)
    here.tasks = sorted([prompt(i) for i in prompts] + [decode(i) for i in waiting_decodes + (interrupted or [])])
    for task, count in (passes or {}).items():
        state.requests[task // 2].passes[task % 2] = count
    return state


def selected(state: Cluster) -> list[int]:
    return select(state, state.replicas[0])


def test_the_order_is_aged_prompts_interrupted_last_batch_others() -> None:
    state = machine([5, 6], [4, 9], [2, 1], [7, 3], passes={decode(9): 4})
    assert selected(state) == [decode(9), prompt(5), prompt(6), decode(7), decode(3), decode(2), decode(1), decode(4)]


def test_the_first_task_may_exceed_the_budget_and_nothing_joins_it() -> None:
    state = machine([0, 1], [], [2], max_batch_tokens=30)
    assert selected(state) == [prompt(0)]


def test_prompts_stop_at_the_budget_and_decodes_fill_what_is_left() -> None:
    state = machine([3, 4], [], [0, 1, 2], max_batch_tokens=42)
    assert selected(state) == [prompt(3), decode(0), decode(1)]


def test_a_waiting_prompt_stops_later_decodes() -> None:
    # no KV for prompt 2; rule 5 goes by arrival: the decode of 1 joins, the prompt of 2 ends it, the decode of 3 waits
    state = machine([2], [1, 3], [0])
    state.replicas[0].free_blocks = 0
    assert selected(state) == [decode(0), decode(1)]


def test_max_batch_size_ends_every_rule() -> None:
    state = machine([5, 6], [4], [1, 2], max_batch_size=3)
    assert selected(state) == [prompt(5), prompt(6), decode(1)]


def test_an_aged_misfit_is_skipped() -> None:
    state = machine([], [1, 2], [], passes={decode(1): 5, decode(2): 5})
    state.requests[1].output_limit = 10_000
    state.replicas[0].free_blocks = 5
    assert selected(state)[0] == decode(2)


@pytest.mark.parametrize(("ageing", "first"), [("fair", decode(3)), ("splitwise-sim", prompt(1)), ("none", prompt(1))])
def test_the_simulator_s_ageing_sees_only_the_front_of_its_list(ageing: str, first: int) -> None:
    state = machine([1, 2], [3], [], ageing=ageing, passes={decode(3): 4})
    assert selected(state)[0] == first


def test_the_watermark_is_kept_free_of_prompts_only() -> None:
    state = machine([1, 2], [], [0], kv_blocks=10, watermark_blocks_share=0.3)
    state.replicas[0].free_blocks = 6
    # prompts take 3 blocks each: 6 - 3 = 3 are the watermark
    assert selected(state) == [prompt(1), decode(0)]


@pytest.mark.parametrize("ageing", ["fair", "none"])
def test_decodes_run_where_an_older_prompt_waits_for_the_kv_that_they_hold(ageing: str) -> None:
    # aged prompts pass an older one that does not fit; once they have ended, nothing is left but it and their decodes
    policy = scheduler(
        "splitwise_baseline",
        max_batch_tokens=16,
        max_batch_size=64,
        block_tokens=1,
        reservation="full_output",
        ageing=ageing,
        simultaneous_arrivals="together",
    )
    prompts, outputs = [20, 22, 12, 20, 24, 5, 24, 8, 12, 18, 13, 4], [2, 2, 6, 1, 3, 4, 3, 2, 4, 2, 6, 3]
    rows = [(0, prompt, output) for prompt, output in zip(prompts, outputs, strict=True)]
    cached = [0, 0, 0, 0, 16, 0, 0, 0, 11, 0, 0, 0]
    result = run(cluster(policy, rows, [replica(kv_blocks=28)], cached=cached))
    assert result.requests.status.tolist() == [FINISHED] * 12
