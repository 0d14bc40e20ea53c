"""Where requests go."""

from collections import deque

import numpy as np
import pytest

from simcore.engine.oracle.cluster import run
from simcore.engine.oracle.router import choose_two_stages, draw, return_home, route, turn_mixed
from simcore.engine.oracle.setup import build_cluster
from simcore.engine.oracle.state import Cluster
from simcore.engine.outputs import REFUSED
from tests.clusters import cluster, replica, scheduler


def routed(cluster_: Cluster, request: int) -> tuple[int, int]:
    assert route(cluster_, cluster_.requests[request])
    return cluster_.requests[request].prefill_replica, cluster_.requests[request].decode_replica


def test_jsq_counts_whole_prompts_and_one_for_each_request() -> None:
    policy = scheduler("sarathi")
    state = build_cluster(cluster(policy, [(0, 100, 5), (0, 10, 5), (0, 10, 5), (0, 79, 5)], [replica(), replica()]))
    assert [routed(state, i)[0] for i in range(4)] == [0, 1, 1, 1]
    assert [r.pending_tokens for r in state.replicas] == [101, 102]


def test_jsq_forgets_the_prompt_at_its_end_and_the_request_at_its_finish() -> None:
    state = run(cluster(scheduler("vllm"), [(0, 100, 3), (50, 10, 2), (320, 10, 1)], [replica(), replica()]))
    # at 320 replica 0 has finished its request, replica 1 too: the lowest index
    assert state.requests.prefill_replica.tolist() == [0, 1, 0]


def test_round_robin_takes_turns() -> None:
    policy = scheduler("vllm", router="round_robin")
    result = run(cluster(policy, [(i, 10, 1) for i in range(5)], [replica(), replica()]))
    assert result.requests.prefill_replica.tolist() == [0, 1, 0, 1, 0]


def test_random_is_splitmix64_of_seed_and_request() -> None:
    assert draw(0, 0, 0) == 0xE220A8397B1DCDAF  # the sequence's published first number for seed 0
    policy = scheduler("vllm", router="random", seed=7)
    asked = cluster(policy, [(i, 10, 1) for i in range(400)], [replica()] * 4)
    counts = np.bincount(run(asked).requests.prefill_replica, minlength=4)
    assert counts.min() > 70
    assert (run(asked).requests.prefill_replica == [draw(7, i, 0) % 4 for i in range(400)]).all()


def test_least_waiting_looks_at_queues_not_at_running_requests() -> None:
    policy = scheduler("sarathi", router="least_waiting", max_batch_size=1)
    result = run(cluster(policy, [(0, 10, 9), (1, 10, 9), (2, 10, 9), (3, 10, 9)], [replica(), replica()]))
    assert result.requests.prefill_replica.tolist() == [0, 0, 1, 1]


def test_least_kv_counts_blocks_held_and_prompts_waiting() -> None:
    policy = scheduler("sarathi", router="least_kv")
    result = run(cluster(policy, [(0, 100, 9), (0, 10, 9), (0, 10, 9)], [replica(), replica()]))
    assert result.requests.prefill_replica.tolist() == [0, 1, 1]


def test_a_request_that_no_replica_can_hold_is_refused_and_others_pass_by_small_ones() -> None:
    mixed = [replica(kv_blocks=4), replica(kv_blocks=100)]
    result = run(cluster(scheduler("sarathi"), [(0, 60, 5), (0, 1600, 1), (0, 60, 4)], mixed))
    assert result.requests.prefill_replica.tolist() == [1, -1, 0]
    assert result.requests.status.tolist() == [0, REFUSED, 0]


def test_a_request_over_max_model_tokens_is_refused_by_its_own_limit() -> None:
    policy = scheduler("vllm", max_model_tokens=100)
    result = run(cluster(policy, [(0, 90, 10), (0, 90, 11), (0, 50, 5)], limits=[0, 0, 51]))
    assert result.requests.status.tolist() == [0, REFUSED, REFUSED]


SPLIT = [replica("prefill"), replica("prefill"), replica("decode"), replica("decode")]


def test_two_stages_take_the_fewest_pending_tokens_and_the_least_reserved_kv() -> None:
    state = build_cluster(cluster(scheduler("splitwise"), [(0, 100, 50), (0, 10, 5), (0, 10, 500)], SPLIT))
    assert [routed(state, i) for i in range(3)] == [(0, 2), (1, 3), (1, 3)]
    assert [r.pending_tokens for r in state.replicas] == [100, 20, 1, 2]
    assert [r.reserved_tokens for r in state.replicas] == [101, 22, 150, 525]


def test_with_max_length_the_router_counts_what_each_decode_reserves() -> None:
    policy = scheduler("splitwise", reservation="max_length", max_model_tokens=100)
    small = [replica("prefill"), replica("prefill"), replica("decode", kv_blocks=20)]
    state = build_cluster(cluster(policy, [(0, 10, 10)] * 4, small))
    # 3 x 100 of 320 tokens are reserved: a fourth 100 would fill it, and a prefill machine turns mixed for it
    assert [routed(state, i) for i in range(4)] == [(0, 2), (1, 2), (0, 2), (1, 1)]
    assert [r.reserved_tokens for r in state.replicas] == [22, 111, 300]


def test_a_full_queue_turns_the_decode_machine_with_the_fewest_pending_tokens_mixed() -> None:
    policy = scheduler("splitwise", prompt_pending_limit=50)
    state = build_cluster(cluster(policy, [(0, 60, 5)] * 3, [SPLIT[0], *SPLIT[2:]]))
    assert routed(state, 0) == (0, 1)
    state.replicas[0].tasks.append(0)  # something waits there
    # replica 1 has a pending token and reserved KV, 2 has neither: it is chosen for both phases
    assert routed(state, 1) == (2, 2)
    assert state.mixed_pool == [2]
    assert state.decode_pool == [1]


@pytest.mark.parametrize("queue", ["waiting", "joining", "left_over"])
def test_a_chunked_machine_s_prompts_and_decodes_that_wait_make_its_queue_long(queue: str) -> None:
    policy = scheduler("chunked", prompt_pending_limit=50)
    state = build_cluster(cluster(policy, [(0, 60, 5)] * 3, SPLIT))
    assert routed(state, 0)[0] == 0
    state.replicas[1].running.append(state.requests[0])  # an iteration that has just ended left it: it does not wait
    state.replicas[1].pending_tokens = 10
    assert routed(state, 1)[0] == 1
    setattr(state.replicas[0], queue, 1 if queue == "left_over" else deque(state.requests[:1]))
    setattr(state.replicas[1], queue, 1 if queue == "left_over" else deque(state.requests[:1]))
    assert routed(state, 2)[0] in (2, 3)
    assert len(state.mixed_pool) == 1


def test_full_decode_machines_turn_the_prefill_machine_with_the_least_reserved_kv_mixed() -> None:
    small = [replica("prefill"), replica("prefill"), replica("decode", kv_blocks=10)]
    state = build_cluster(cluster(scheduler("splitwise"), [(0, 100, 50), (0, 100, 50)], small))
    assert routed(state, 0) == (0, 2)
    assert routed(state, 1) == (1, 1)
    assert state.mixed_pool == [1]
    assert state.prefill_pool == [0]


def test_with_no_machine_left_to_turn_both_phases_go_to_the_fewest_pending_tokens() -> None:
    policy = scheduler("splitwise", prompt_pending_limit=0)
    state = build_cluster(cluster(policy, [(0, 60, 5)] * 4, [replica("prefill"), replica("decode")]))
    for machine in state.replicas:
        machine.tasks.append(0)
    turn_mixed(state, 0, state.prefill_pool)
    turn_mixed(state, 1, state.decode_pool)
    state.replicas[0].pending_tokens = 7
    assert choose_two_stages(state, state.requests[0]) == (1, 1)


@pytest.mark.parametrize(("ties", "order"), [("index", [0, 1]), ("pool_order", [1, 0])])
def test_a_machine_returns_to_its_place_or_to_the_end_of_its_pool(ties: str, order: list[int]) -> None:
    state = build_cluster(cluster(scheduler("splitwise", router_ties=ties), [(0, 1, 1)], SPLIT))
    turn_mixed(state, 0, state.prefill_pool)
    return_home(state, state.replicas[0])
    assert state.prefill_pool == order
    assert state.mixed_pool == []


def test_a_machine_that_turned_mixed_returns_when_it_has_no_requests() -> None:
    small = [replica("prefill"), replica("prefill"), replica("decode", kv_blocks=10)]
    asked = [(0, 100, 50), (0, 100, 50), (100_000, 100, 50), (100_001, 100, 50)]
    result = run(cluster(scheduler("splitwise"), asked, small))
    assert result.requests.decode_replica.tolist() == [2, 1, 2, 1]
    assert result.requests.prefill_replica.tolist() == [0, 1, 0, 1]


def test_without_the_mixed_pool_nothing_moves() -> None:
    policy = scheduler("splitwise", mixed_pool=False, prompt_pending_limit=0)
    small = [replica("prefill"), replica("decode", kv_blocks=10)]
    result = run(cluster(policy, [(0, 100, 50)] * 3, small))
    assert result.requests.prefill_replica.tolist() == [0, 0, 0]
    assert result.requests.decode_replica.tolist() == [1, 1, 1]
    assert (result.requests.status == 0).all()
