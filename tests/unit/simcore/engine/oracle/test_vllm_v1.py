"""vLLM V1's rules by hand (times in ns, see tests/clusters.py)."""

import pytest

from simcore.engine.oracle.cluster import run
from tests.clusters import cluster, in_ns, replica, scheduler


def test_decodes_and_chunks_share_one_budget_in_order_of_admission() -> None:
    result = run(cluster(scheduler("vllm_v1", token_budget=50), [(0, 20, 3), (0, 60, 1)]))
    # 20 + 30 of the second; then a decode and the other 30 of it (50 + 31 ns); then a decode
    assert in_ns(result.requests.first_token_ps) == [50, 131]
    assert in_ns(result.requests.finish_ps) == [231, 131]
    assert result.replicas.iterations.tolist() == [[1, 1, 1]]


def test_a_partial_prefill_admitted_earlier_comes_before_later_decodes() -> None:
    """The first request's prompt takes the whole budget of 10 three times; the second decodes only after that."""
    result = run(cluster(scheduler("vllm_v1", token_budget=10), [(0, 5, 3), (0, 30, 1)]))
    # 5 + 5 to 10; then a decode and 9 of the prompt: 50 + 10, twice; the rest of 7 to 137
    assert in_ns(result.requests.first_token_ps) == [10, 137]
    assert in_ns(result.requests.finish_ps) == [130, 137]
    longer_first = run(cluster(scheduler("vllm_v1", token_budget=10), [(0, 30, 1), (0, 5, 3)]))
    assert in_ns(longer_first.requests.first_token_ps) == [30, 35]


def test_a_decode_past_the_budget_waits() -> None:
    """Sarathi would not hold a decode back; here three decodes share a budget of two."""
    result = run(cluster(scheduler("vllm_v1", token_budget=2), [(0, 1, 2), (0, 1, 2), (0, 1, 2)]))
    # two prompts to 2; their decodes take the budget to 102; then the third: prompt to 103, decode to 203
    assert in_ns(result.requests.finish_ps) == [102, 102, 203]


def test_kv_is_taken_by_the_chunk() -> None:
    """A prompt that needs all 10 blocks starts beside another; it is preempted when it comes to the last two."""
    result = run(cluster(scheduler("vllm_v1"), [(0, 1, 5), (0, 159, 1)], [replica(kv_blocks=10)]))
    assert in_ns(result.requests.first_scheduled_ps) == [0, 0]
    # 1 + 63 to 64; a decode and 63 to 178, 8 blocks of 126 tokens; then the decode alone, and the prompt from its
    # start again beside the last two decodes, to 392 and 506; its last 33 tokens alone
    assert result.requests.preemptions.tolist() == [0, 1]
    assert in_ns(result.requests.finish_ps) == [506, 539]


def test_a_whole_reservation_is_taken_at_admission() -> None:
    policy = scheduler("vllm_v1", token_budget=16, reservation="full_output")
    result = run(cluster(policy, [(0, 32, 17), (0, 16, 1)], [replica(kv_blocks=4)]))
    # 48 tokens are 3 blocks + 1 token: all four are held until the end
    assert in_ns(result.requests.first_scheduled_ps)[1] == in_ns(result.requests.finish_ps)[0]
    assert result.replicas.kv_peak_tokens.tolist() == [64]


def test_the_last_running_is_preempted_and_nobody_is_admitted_in_that_selection() -> None:
    requests = [(0, 16, 3), (0, 16, 3), (20, 1, 1)]
    result = run(cluster(scheduler("vllm_v1"), requests, [replica(kv_blocks=3)]))
    # both prompts to 32; the first decode takes the last block, the second request is preempted. The third has come,
    # but waits behind it: 17 tokens need two blocks, free when the first has left at 232
    assert result.requests.preemptions.tolist() == [0, 1, 0]
    assert in_ns(result.requests.first_token_ps) == [32, 32, 232 + 18]
    assert in_ns(result.requests.finish_ps) == [232, 350, 250]


def test_a_request_preempts_itself_when_it_is_the_last_and_readmitted_it_is_the_newest() -> None:
    requests = [(0, 15, 4), (0, 16, 2), (0, 14, 3)]
    result = run(cluster(scheduler("vllm_v1"), requests, [replica(kv_blocks=3)]))
    # at 45 the second needs a block for its 17th token: the third is preempted for it
    assert result.requests.preemptions.tolist() == [0, 0, 1]
    # the two decode to 145; the second leaves two blocks; the first needs one for its 17th token, the third one for 15
    assert in_ns(result.requests.finish_ps) == [
        145 + 50 + 1 + 15 + 100,
        145,
        145 + 50 + 1 + 15 + 100,
    ]


@pytest.mark.parametrize(("stages", "most"), [(1, 4), (2, 2)])
def test_a_micro_batch_holds_its_share_of_max_batch_size(stages: int, most: int) -> None:
    policy = scheduler("vllm_v1", max_batch_size=4)
    result = run(cluster(policy, [(0, 10, 1)] * 4, [replica(stages=stages)]))
    assert result.replicas.iterations.tolist() == [[4 // most, 0, 0]]


def test_a_request_waits_for_a_later_one_in_flight_instead_of_giving_up_its_own_kv() -> None:
    """Two stages, 6 blocks, two prompts of 5 blocks in chunks of one: each would preempt itself in turn for ever."""
    policy = scheduler("vllm_v1", token_budget=16)
    result = run(cluster(policy, [(0, 80, 1), (0, 80, 1)], [replica(kv_blocks=6, stages=2)]))
    # chunks of the first end at 32, 64, 96, of the second 16 later: three blocks each. The first waits until 112, has
    # the second preempted, and goes on to 144 and 176; the second, let in with one block, finds no other at 160,
    # preempts itself, and starts again at 176: five chunks of 32
    assert result.requests.preemptions.tolist() == [0, 2]
    assert in_ns(result.requests.first_token_ps) == [176, 336]
