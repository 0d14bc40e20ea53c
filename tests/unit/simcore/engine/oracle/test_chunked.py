"""Kind ``splitwise`` with ``chunked``, by hand (times in ns, see tests/clusters.py)."""

from simcore.engine.oracle.cluster import run
from tests.clusters import NS, cluster, in_ns, replica, scheduler
from tests.invariants.watching import instants

PAIR = [replica("prefill"), replica("decode")]


def test_a_prefill_machine_chunks_by_the_budget_and_kv_is_sent_when_the_prompt_has_ended() -> None:
    result = run(cluster(scheduler("chunked", token_budget=64), [(0, 100, 2), (10, 100, 2)], PAIR))
    # 64 of the first; its 36 and 28 of the second; 64; 8
    assert in_ns(result.requests.first_scheduled_ps) == [0, 64]
    assert in_ns(result.requests.first_token_ps) == [128, 200]
    # sent from 128 to 228 and, one NIC, from 228 to 328; a decode step each
    assert in_ns(result.requests.finish_ps) == [328, 428]
    assert result.replicas.iterations.tolist() == [[4, 0, 0], [0, 2, 0]]
    assert result.replicas.prefill_tokens.sum(axis=1).tolist() == [200, 0]


def test_a_mixed_machine_has_decodes_first_and_the_prompt_in_what_is_left_of_the_budget() -> None:
    result = run(cluster(scheduler("chunked", token_budget=64), [(0, 50, 3), (60, 100, 1)]))
    # prompt to 50, a decode to 150; the last decode with 63 of the prompt: 64 + 50; its other 37
    assert in_ns(result.requests.finish_ps) == [264, 301]
    assert result.replicas.iterations.tolist() == [[2, 1, 1]]


def test_a_decode_without_room_is_left_over_and_no_prompt_goes_before_it() -> None:
    machine = [replica(kv_blocks=11)]
    result = run(cluster(scheduler("chunked"), [(0, 60, 20), (0, 70, 30), (200, 10, 1)], machine))
    # blocks: the first 4 then 5, the second 5 then 7, the third 1. One is free from 60 on: the second lacks one
    first = 60 + 121 + 18 * 100
    assert in_ns(result.requests.first_scheduled_ps) == [0, 60, first]
    # then its first decode and the third's prompt together
    third = first + 11 + 50
    assert in_ns(result.requests.finish_ps) == [first, third + 28 * 100, third]
    assert result.requests.preemptions.tolist() == [0, 0, 0]


def test_a_decode_joins_when_there_is_a_place_among_max_batch_size() -> None:
    result = run(cluster(scheduler("chunked", max_batch_size=1), [(0, 10, 3), (0, 10, 3)], PAIR))
    # prompts to 10 and 20, sent to 20 and 30; the second's decodes wait for the end of the first's
    assert in_ns(result.requests.first_token_ps) == [10, 20]
    assert in_ns(result.requests.finish_ps) == [220, 420]


def test_a_decode_machine_that_turned_mixed_chunks_and_goes_home_without_requests() -> None:
    policy = scheduler("chunked", token_budget=64, prompt_pending_limit=100)
    inputs = cluster(policy, [(0, 100, 2), (0, 100, 1), (0, 100, 1)], PAIR)
    # the second waits for the first, so that the third does not join that queue: its chunks end at 64 and 100
    assert in_ns(run(inputs).requests.finish_ps) == [128 + 100 + 100, 200, 100]
    turned = {now // NS: list(state.mixed_pool) for now, state in instants(inputs)}
    assert turned == {0: [1], 64: [1], **{end: [] for end in (100, 128, 192, 200, 228, 328)}}


def test_chunks_of_one_prompt_pass_the_stages_one_after_the_other() -> None:
    policy = scheduler("chunked", token_budget=64)
    result = run(cluster(policy, [(0, 100, 1), (0, 64, 1)], [replica(stages=2)]))
    # stage 0: 64 of the first to 64, the second to 128, 36 of the first (which left stage 1 at 128) to 164;
    # stage 1: 64 to 128, to 192, to 228
    assert in_ns(result.requests.finish_ps) == [228, 192]
