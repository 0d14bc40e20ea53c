"""KV sent chunk by chunk, by hand (times in ns, see tests/clusters.py): 64 tokens of a prompt of 100, then 36."""

import pytest

from simcore.engine.oracle.cluster import run
from simcore.engine.outputs import RunResult
from tests.clusters import NS, cluster, in_ns, replica, scheduler, transfer

PREFILL, DECODE = replica("prefill"), replica("decode")
PAIR = [PREFILL, DECODE]
POLICY = scheduler("chunked", token_budget=64)


def sent(request: tuple[int, int, int] = (0, 100, 2), **changes: object) -> RunResult:
    return run(cluster(POLICY, [request], PAIR, transfer(mode="chunkwise", **changes)))


def test_a_chunk_is_sent_while_the_next_one_runs() -> None:
    result = sent(ps_per_token=NS // 2)
    # chunks end at 64 and 100; sent from 64 to 96 and, though the wire is free before, from 100 to 118; a decode
    assert in_ns(result.requests.first_token_ps) == [100]
    assert in_ns(result.requests.finish_ps) == [118 + 100]
    assert in_ns(result.replicas.nic_busy_ps) == [32 + 18] * 2
    whole = run(cluster(POLICY, [(0, 100, 2)], PAIR, transfer(ps_per_token=NS // 2)))
    assert in_ns(whole.requests.finish_ps) == [150 + 100]


def test_a_chunk_waits_for_the_one_before_where_the_wire_is_slower() -> None:
    result = sent(ps_per_token=2 * NS, setup_ps=7 * NS)
    # from 64 for 128 and a set-up to 199, from there for 72 and a set-up to 278
    assert in_ns(result.requests.finish_ps) == [278 + 100]
    assert in_ns(result.replicas.nic_busy_ps) == [278 - 64] * 2
    assert in_ns(sent(ps_per_token=2 * NS, setup_ps=7 * NS, contention=False).requests.finish_ps) == [378]


def test_each_chunk_takes_a_set_up_for_each_of_its_blocks() -> None:
    result = sent(block_tokens=20, setup_ps=7 * NS)
    # 64 tokens in four blocks: 64 to 156; 36 in two: 156 to 206
    assert in_ns(result.requests.finish_ps) == [64 + 64 + 4 * 7 + 36 + 2 * 7 + 100]


def test_chunks_of_two_prompts_into_one_nic_go_in_the_order_in_which_they_ended() -> None:
    machines = [PREFILL, PREFILL, DECODE]
    asked = [(0, 100, 2), (0, 100, 2)]
    queued = run(cluster(POLICY, asked, machines, transfer(mode="chunkwise")))
    # 64 of the first from 64, 64 of the second from 128, 36 from 192, 36 from 228 to 264; decodes from 228 and 328
    assert in_ns(queued.requests.finish_ps) == [328, 428]
    assert in_ns(queued.replicas.nic_busy_ps) == [100, 100, 200]
    free = run(cluster(POLICY, asked, machines, transfer(mode="chunkwise", contention=False)))
    # each from 64 to 128 and from there to 164; one by one the first starts its decode alone
    assert in_ns(free.requests.finish_ps) == [264, 364]


def test_a_chunk_is_sent_when_it_has_passed_all_stages() -> None:
    result = run(cluster(POLICY, [(0, 100, 2)], [replica("prefill", stages=2), DECODE], transfer(mode="chunkwise")))
    # two stages: chunks to 128 and 200; sent to 192, and from 200 to 236
    assert in_ns(result.requests.first_token_ps) == [200]
    assert in_ns(result.requests.finish_ps) == [236 + 100]
    assert in_ns(result.replicas.nic_busy_ps) == [100, 100]


def test_without_room_at_the_first_chunk_a_prompt_is_sent_whole() -> None:
    policy = scheduler("chunked", token_budget=64, mixed_pool=False)
    machines = [PREFILL, replica("decode", kv_blocks=8)]
    result = run(cluster(policy, [(0, 100, 4), (0, 100, 2)], machines, transfer(mode="chunkwise")))
    # the first has 7 of the 8 blocks from 0 on; it is sent till 164 and decodes till 464. At 64 the second's first
    # chunk finds no room; its prompt ends at 200 and is sent when there is room
    assert in_ns(result.requests.first_token_ps) == [128, 200]
    assert in_ns(result.requests.finish_ps) == [464, 464 + 100 + 100]


@pytest.mark.parametrize(("budget", "come"), [(64, 60 + 100), (32, 32 + 72 + 28)])
def test_the_cached_part_of_a_prompt_goes_with_its_first_chunk(budget: int, come: int) -> None:
    policy = scheduler("chunked", token_budget=budget)
    result = run(cluster(policy, [(0, 100, 2)], PAIR, transfer(mode="chunkwise"), cached=[40]))
    assert in_ns(result.requests.finish_ps) == [come + 100]


def test_a_prompt_sent_whole_polls_for_room() -> None:
    policy = scheduler("chunked", token_budget=64, mixed_pool=False)
    machines = [PREFILL, replica("decode", kv_blocks=8)]
    sending = transfer(mode="chunkwise", retry_ps=250 * NS)
    result = run(cluster(policy, [(0, 100, 4), (0, 100, 2)], machines, sending))
    # the second's prompt ends at 200; it looks at 450 and 700, the room is free from 464 on
    assert in_ns(result.requests.finish_ps) == [464, 700 + 100 + 100]


def test_of_windowed_layers_only_the_prompt_s_last_tokens_are_sent() -> None:
    policy = scheduler("chunked", token_budget=64, full_layers=1, windowed_layers=1, window_tokens=20)
    result = run(cluster(policy, [(0, 100, 2)], PAIR, transfer(mode="chunkwise")))
    # half of 64 from 64 to 96; at 100 half of 36 and half of the window of 20
    assert in_ns(result.requests.finish_ps) == [100 + 18 + 10 + 100]
    assert in_ns(result.replicas.nic_busy_ps) == [60, 60]


def test_waiting_for_a_transfer_starts_with_the_first_chunk() -> None:
    result = sent((5000, 100, 2))
    # chunks from 5064 to 5128 and from there to 5164
    assert in_ns(result.replicas.transfer_wait_ps) == [0, 164]


def test_one_output_token_reserves_and_sends_nothing() -> None:
    result = sent((0, 100, 1))
    assert in_ns(result.requests.finish_ps) == [100]
    assert result.replicas.kv_peak_tokens.tolist() == [112, 0]
    assert in_ns(result.replicas.nic_busy_ps) == [0, 0]


def test_the_source_holds_its_kv_till_the_last_chunk_has_come() -> None:
    policy = scheduler("chunked", token_budget=64, mixed_pool=False)
    machines = [replica("prefill", kv_blocks=8), DECODE]
    result = run(cluster(policy, [(0, 100, 2), (0, 100, 2)], machines, transfer(mode="chunkwise")))
    # the first's chunks have come at 164
    assert in_ns(result.requests.first_scheduled_ps) == [0, 164]
