"""KV transfers, by hand (times in ns, see tests/clusters.py)."""

import dataclasses

import pytest

from simcore.engine.oracle.cluster import run
from simcore.engine.outputs import FINISHED, UNFINISHED
from tests.clusters import NS, cluster, in_ns, replica, scheduler, transfer

PREFILL, DECODE = replica("prefill"), replica("decode")


def second_gap(result: object, request: int) -> float:
    """From the first token to the second, with two output tokens: transfer, queue and one decode step."""
    requests = result.requests  # type: ignore[attr-defined]
    return in_ns(requests.finish_ps)[request] - in_ns(requests.first_token_ps)[request]


def test_the_slower_nic_sets_the_pace_and_set_up_comes_on_top() -> None:
    machines = [PREFILL, replica("decode", transfer_ps_per_token=3 * NS)]
    result = run(cluster(scheduler("splitwise"), [(0, 100, 2)], machines, transfer(setup_ps=7 * NS)))
    assert second_gap(result, 0) == 300 + 7 + 100


@pytest.mark.parametrize(
    ("block_tokens", "set_ups"), [(0, 1), (1, 100), (30, 4), (50, 2), (99, 2), (100, 1), (101, 1), (2**40, 1)]
)
def test_each_block_begun_takes_a_set_up(block_tokens: int, set_ups: int) -> None:
    sending = transfer(setup_ps=7 * NS, block_tokens=block_tokens)
    result = run(cluster(scheduler("splitwise"), [(0, 100, 2)], [PREFILL, DECODE], sending))
    assert second_gap(result, 0) == 100 + 7 * set_ups + 100
    assert in_ns(result.replicas.nic_busy_ps) == [100 + 7 * set_ups] * 2


def test_one_bandwidth_for_all_overrides_the_nics() -> None:
    result = run(cluster(scheduler("splitwise"), [(0, 100, 2)], [PREFILL, DECODE], transfer(ps_per_token=5 * NS)))
    assert second_gap(result, 0) == 500 + 100


def test_transfers_into_one_nic_queue_and_both_ends_are_busy() -> None:
    machines = [PREFILL, PREFILL, DECODE]
    asked = [(0, 100, 2), (0, 100, 2)]
    queued = run(cluster(scheduler("splitwise"), asked, machines))
    assert second_gap(queued, 0) == 100 + 100
    # the second waits for the first: sent from 200 to 300; the decode of the first ends at 300: one batch
    assert second_gap(queued, 1) == 200 + 100
    assert in_ns(queued.replicas.nic_busy_ps) == [100, 100, 200]
    free = run(cluster(scheduler("splitwise"), asked, machines, transfer(contention=False)))
    # both end at 200; one by one, the first starts its decode before the second has joined
    assert second_gap(free, 1) == 100 + 2 * 100


def test_layerwise_hides_all_but_the_last_layer() -> None:
    machines = [PREFILL, replica("decode", transfer_ps_per_token=NS // 2)]
    sending = transfer(mode="layerwise", setup_ps=3 * NS)
    result = run(cluster(scheduler("splitwise"), [(0, 1000, 2)], machines, sending))
    # prefill 0 to 1000, its first of ten layers done at 100; 1000 tokens at 1 ns (the source's NIC) from 100 to 1100,
    # which is when the last layer, 100 ns after the prefill's end, has gone too
    assert second_gap(result, 0) == 100 + 3 + 100
    blocks = run(
        cluster(scheduler("splitwise"), [(0, 1000, 2)], machines, dataclasses.replace(sending, block_tokens=300))
    )
    assert second_gap(blocks, 0) == 100 + 4 * 3 + 100


def test_waiting_for_a_layerwise_transfer_starts_with_the_prefill() -> None:
    result = run(cluster(scheduler("splitwise"), [(5000, 1000, 2)], [PREFILL, DECODE], transfer(mode="layerwise")))
    # before 5000 the decode machine has nothing to wait for; its KV has come at 6100
    assert in_ns(result.replicas.transfer_wait_ps) == [0, 1100]


def test_layerwise_is_bound_by_the_wire_when_that_is_slower_than_the_prefill() -> None:
    result = run(
        cluster(
            scheduler("splitwise"), [(0, 1000, 2)], [PREFILL, DECODE], transfer(mode="layerwise", ps_per_token=2 * NS)
        )
    )
    assert second_gap(result, 0) == 100 + 2000 - 1000 + 100


def test_short_prompts_are_sent_whole() -> None:
    result = run(cluster(scheduler("splitwise"), [(0, 511, 2)], [PREFILL, DECODE], transfer(mode="layerwise")))
    assert second_gap(result, 0) == 511 + 100


def test_layerwise_without_room_at_the_prefill_s_start_is_serialized() -> None:
    small = [PREFILL, replica("decode", kv_blocks=65)]
    policy = scheduler("splitwise", mixed_pool=False)
    asked = [(0, 600, 4), (0, 600, 2)]
    result = run(cluster(policy, asked, small, transfer(mode="layerwise")))
    # the second's prefill runs from 600 to 1200, the first holds the room until 600 + 60 + 300: sent whole from 1200
    assert second_gap(result, 1) == 600 + 100


def test_a_transfer_waits_for_room_and_is_started_when_it_is_freed() -> None:
    small = [PREFILL, replica("decode", kv_blocks=8)]
    policy = scheduler("splitwise", mixed_pool=False)
    result = run(cluster(policy, [(0, 100, 4), (0, 100, 2)], small))
    # first: 100 prefill, sent to 200, three decodes to 500; the second, ready at 200, is sent from 500 to 600
    assert in_ns(result.requests.finish_ps) == [500, 700]
    assert in_ns(result.replicas.transfer_wait_ps) == [0, 100 + 100]


def test_a_polled_transfer_looks_for_room_at_its_interval_only() -> None:
    small = [PREFILL, replica("decode", kv_blocks=8)]
    policy = scheduler("splitwise", mixed_pool=False)
    result = run(cluster(policy, [(0, 100, 4), (0, 100, 2)], small, transfer(retry_ps=250 * NS)))
    # ready at 200, looks at 450 and 700
    assert in_ns(result.requests.finish_ps) == [500, 700 + 100 + 100]


def test_polls_that_nothing_can_help_come_to_an_end() -> None:
    # once the first has finished, the prompts of two more fill the decode machine; neither's output fits then, and the
    # last would poll for ever
    policy = scheduler("splitwise", mixed_pool=False)
    machines = [replica("prefill"), replica("decode", kv_blocks=9)]
    result = run(cluster(policy, [(0, 60, 70)] * 4, machines, transfer(retry_ps=NS)))
    assert result.requests.status.tolist() == [FINISHED, UNFINISHED, UNFINISHED, UNFINISHED]


def test_the_source_holds_its_kv_to_the_end_of_the_transfer() -> None:
    machines = [replica("prefill", kv_blocks=8), DECODE]
    policy = scheduler("splitwise", mixed_pool=False)
    result = run(cluster(policy, [(0, 100, 2), (0, 100, 2)], machines))
    assert in_ns(result.requests.first_scheduled_ps) == [0, 200]
    assert in_ns(result.replicas.blocked_ps) == [100, 0]
