"""Replicas that start late, drain, fail and come up again, by hand (times in ns, see tests/clusters.py)."""

from __future__ import annotations

from typing import Any

from simcore.engine.inputs import ReplicaInputs
from simcore.engine.oracle.cluster import run
from simcore.engine.outputs import FINISHED, NEVER, REFUSED, UNFINISHED
from simcore.spec import AvailabilityState
from tests.clusters import NS, cluster, in_ns, replica, scheduler, transfer


def changing(role: str, *changes: tuple[int, AvailabilityState], **inputs: Any) -> ReplicaInputs:
    """A replica with a schedule, in ns."""
    return replica(role, availability=tuple((ns * NS, state) for ns, state in changes), **inputs)


def test_a_failure_in_mid_decode_recomputes_prompt_and_generated_tokens_elsewhere() -> None:
    machines = [changing("mixed", (200, "failed")), replica()]
    result = run(cluster(scheduler("sarathi"), [(0, 50, 4)], machines))
    # tokens at 50 and 150; the one due at 250 is lost at 200. 50 + 2 tokens from 200 to 252, a decode to 352
    assert in_ns(result.requests.first_token_ps) == [50]
    assert in_ns(result.requests.finish_ps) == [352]
    assert in_ns(result.gap_ps) == [100, 102]
    assert result.gap_count.tolist() == [2, 1]
    assert result.requests.preemptions.tolist() == [1]
    assert result.requests.decode_replica.tolist() == [1]
    assert result.replicas.busy_ps.tolist() == [[50 * NS, (100 + 50) * NS, 0], [52 * NS, 100 * NS, 0]]


def test_what_a_failed_replica_would_have_done_is_not_counted_but_its_tokens_are() -> None:
    machines = [changing("mixed", (2500, "failed"), (10_000, "up"))]
    result = run(cluster(scheduler("vllm"), [(0, 4000, 1)], machines))
    # 2.5 us of the prefill, floored to whole us at 1 W, and 4 us of the second
    assert in_ns(result.requests.finish_ps) == [14_000]
    assert in_ns(result.requests.first_scheduled_ps) == [0]
    assert in_ns(result.replicas.busy_ps[0]) == [2500 + 4000, 0, 0]
    assert result.replicas.energy_nj.tolist() == [1000 * (2 + 4)]
    assert result.energy_by_second_nj.tolist() == [6000]
    assert result.replicas.prefill_tokens.sum() == 8000


def test_cached_tokens_are_still_cached_after_a_failure() -> None:
    machines = [changing("mixed", (150, "failed")), replica()]
    result = run(cluster(scheduler("sarathi"), [(0, 50, 3)], machines, cached=[20]))
    # 30 tokens, a decode to 130, lost at 150; 52 - 20 tokens give the last
    assert in_ns(result.requests.finish_ps) == [150 + 32]


def test_a_decode_machine_that_fails_during_a_transfer() -> None:
    slow = {"transfer_ps_per_token": 3 * NS}
    machines = [replica("prefill", **slow), changing("decode", (150, "failed"), **slow), replica("decode", **slow)]
    result = run(cluster(scheduler("splitwise"), [(0, 100, 3)], machines))
    # sent from 100 to 400, off at 150; 101 tokens from 150 to 251 give the second token; the source's NIC is taken to
    # 400, then 101 tokens' KV to 703, a decode to 803
    assert in_ns(result.requests.finish_ps) == [803]
    assert in_ns(result.gap_ps) == [151, 552]
    assert result.requests.decode_replica.tolist() == [2]
    assert result.requests.preemptions.tolist() == [1]
    assert in_ns(result.replicas.nic_busy_ps) == [300 + 303, 300, 303]


def test_a_prompt_in_a_micro_batch_when_its_decode_s_machine_fails_is_seen_through() -> None:
    machines = [replica("prefill"), changing("decode", (50, "failed")), replica("decode")]
    result = run(cluster(scheduler("splitwise"), [(0, 100, 3)], machines))
    # its token at 100; then 101 tokens to 201, their KV to 302, a decode to 402
    assert in_ns(result.requests.first_token_ps) == [100]
    assert in_ns(result.requests.finish_ps) == [402]
    assert result.requests.preemptions.tolist() == [1]


def test_a_last_token_is_not_made_again() -> None:
    machines = [replica("prefill"), changing("decode", (50, "failed")), replica("decode")]
    result = run(cluster(scheduler("splitwise"), [(0, 100, 1)], machines))
    assert in_ns(result.requests.finish_ps) == [100]
    assert result.requests.preemptions.tolist() == [0]


def test_a_chunked_prompt_goes_no_further_than_its_chunk_when_its_decode_s_machine_fails() -> None:
    machines = [replica("prefill"), changing("decode", (50, "failed")), replica("decode")]
    policy = scheduler("chunked", token_budget=64)
    result = run(cluster(policy, [(0, 100, 2)], machines))
    # a chunk to 64 for nothing; again from there, 64 and 36 tokens, the KV to 264, a decode
    assert in_ns(result.requests.first_token_ps) == [164]
    assert in_ns(result.requests.finish_ps) == [364]
    assert result.replicas.prefill_tokens.sum() == 164


def test_a_prefill_machine_that_fails_gives_the_room_at_the_decode_machine_back() -> None:
    # 7 of 8 blocks were taken for the transfer that is off
    machines = [changing("prefill", (150, "failed")), replica("prefill"), replica("decode", kv_blocks=8)]
    result = run(cluster(scheduler("splitwise", mixed_pool=False), [(0, 100, 3)], machines))
    # 101 tokens from 150 to 251, sent to 352, a decode
    assert in_ns(result.requests.finish_ps) == [452]
    assert result.requests.prefill_replica.tolist() == [1]
    assert result.replicas.kv_peak_tokens.tolist() == [112, 112, 112]


def test_transfers_that_wait_for_room_get_that_of_one_that_is_off() -> None:
    machines = [changing("prefill", (250, "failed")), replica("prefill"), replica("decode", kv_blocks=8)]
    policy = scheduler("splitwise", mixed_pool=False)
    for sending in (transfer(ps_per_token=3 * NS), transfer(ps_per_token=3 * NS, retry_ps=50 * NS)):
        result = run(cluster(policy, [(0, 100, 3), (20, 100, 3)], machines, sending))
        # the first is sent from 100 to 400 and off at 250; the second, ready at 120, has room from then on, but the
        # decode machine's NIC only from 400: sent to 700, decodes to 900
        assert in_ns(result.requests.finish_ps)[1] == 900
        assert result.requests.status.tolist() == [FINISHED, FINISHED]


def test_a_draining_replica_ends_what_it_has_and_gets_nothing_new() -> None:
    machines = [changing("mixed", (60, "draining"), (600, "up")), replica()]
    result = run(cluster(scheduler("sarathi"), [(0, 50, 5), (500, 50, 1), (700, 50, 1)], machines))
    assert in_ns(result.requests.finish_ps) == [450, 550, 750]
    assert result.requests.decode_replica.tolist() == [0, 1, 0]
    assert result.requests.preemptions.tolist() == [0, 0, 0]


def test_a_decode_machine_that_drains_takes_what_it_was_promised() -> None:
    machines = [replica("prefill"), changing("decode", (50, "draining")), replica("decode")]
    result = run(cluster(scheduler("splitwise"), [(0, 100, 2), (60, 100, 2)], machines))
    assert result.requests.decode_replica.tolist() == [1, 2]
    assert in_ns(result.requests.finish_ps) == [300, 400]


def test_a_replica_that_starts_late_is_waited_for() -> None:
    machines = [changing("mixed", (0, "starting"), (1000, "up"))]
    result = run(cluster(scheduler("sarathi"), [(0, 50, 2), (10, 20, 1)], machines))
    # 50 and 14 tokens to 1064; a decode and 6 tokens, 50 + 7, to 1121
    assert in_ns(result.requests.first_scheduled_ps) == [1000, 1000]
    assert in_ns(result.requests.first_token_ps) == [1064, 1121]
    assert in_ns(result.requests.finish_ps) == [1121, 1121]
    assert result.requests.preemptions.tolist() == [0, 0]
    assert in_ns(result.replicas.blocked_ps) == [0]


def test_all_replicas_down_for_a_while() -> None:
    machines = [changing(role, (150, "failed"), (1000, "up")) for role in ("prefill", "decode")]
    result = run(cluster(scheduler("splitwise"), [(0, 100, 3), (500, 100, 2)], machines))
    # 101 tokens to 1101, sent to 1202, a decode to 1302; the second's prompt to 1201, sent from 1202 to 1302, a decode
    assert in_ns(result.requests.finish_ps) == [1302, 1402]
    assert in_ns(result.requests.first_scheduled_ps) == [0, 1101]
    assert result.requests.preemptions.tolist() == [1, 0]


def test_replicas_that_fail_together_displace_a_request_once() -> None:
    machines = [changing("mixed", (60, "failed"), (100, "up")) for _ in range(4)]
    result = run(cluster(scheduler("sarathi"), [(0, 50, 2)] * 4, machines))
    assert result.requests.preemptions.tolist() == [1, 1, 1, 1]
    assert in_ns(result.requests.finish_ps) == [151] * 4


def test_a_micro_batch_that_no_stage_took_up_was_never_scheduled() -> None:
    machines = [changing("mixed", (30, "failed"), (1000, "up"), stages=2)]
    result = run(cluster(scheduler("sarathi"), [(0, 64, 1), (0, 64, 1)], machines))
    # the second would have been taken up at 64
    assert in_ns(result.requests.first_scheduled_ps) == [0, 1064]
    assert in_ns(result.requests.finish_ps) == [1128, 1192]
    assert in_ns(result.replicas.busy_ps[0]) == [30 + 4 * 64, 0, 0]


def test_a_request_waits_for_the_only_replica_that_can_hold_it_and_is_refused_only_by_all() -> None:
    machines = [replica(kv_blocks=4), changing("mixed", (0, "failed"), (500, "up"), kv_blocks=8)]
    result = run(cluster(scheduler("sarathi"), [(0, 100, 1), (10, 30, 1), (20, 130, 1)], machines))
    assert result.requests.status.tolist() == [FINISHED, FINISHED, REFUSED]
    assert in_ns(result.requests.finish_ps) == [600, 40, -1]
    assert result.requests.prefill_replica.tolist() == [1, 0, NEVER]


def test_what_no_replica_comes_up_for_stays_unfinished() -> None:
    machines = [changing("mixed", (100, "failed"), (200, "starting"))]
    result = run(cluster(scheduler("sarathi"), [(0, 50, 1), (60, 50, 1), (300, 50, 1)], machines))
    assert result.requests.status.tolist() == [FINISHED, UNFINISHED, UNFINISHED]
    assert in_ns(result.requests.first_scheduled_ps) == [0, 60, -1]
    assert result.requests.prefill_replica.tolist() == [0, NEVER, NEVER]
    assert in_ns([result.end_ps]) == [50]


def test_those_queued_again_go_behind_those_that_wait_and_in_trace_order() -> None:
    machines = [changing("mixed", (40, "draining"), (200, "failed"), (300, "up"))]
    policy = scheduler("orca", max_batch_size=1)
    result = run(cluster(policy, [(0, 50, 9), (10, 50, 1), (60, 50, 1)], machines))
    # the third came while the replica drained: at 300 it goes first, then the first (50 + 2 tokens), then the second
    assert in_ns(result.requests.first_scheduled_ps)[2] == 300
    assert in_ns(result.requests.finish_ps)[2] == 350
    assert result.requests.preemptions.tolist() == [1, 1, 0]
    assert in_ns(result.requests.finish_ps)[0] == 350 + 52 + 600


def test_a_static_batch_loses_what_it_kept_for_finished_members_too() -> None:
    machines = [changing("mixed", (200, "failed"), (300, "up"))]
    policy = scheduler("request_level", simultaneous_arrivals="together")
    result = run(cluster(policy, [(0, 10, 1), (0, 10, 4)], machines))
    # both prompts to 20, a decode to 120; the next, lost at 200, again from 300 with 12 tokens, then one more
    assert in_ns(result.requests.finish_ps) == [20, 412]
    assert result.requests.preemptions.tolist() == [0, 1]


def test_a_machine_that_turned_mixed_comes_up_at_home() -> None:
    # the prefill machine is too small for the queue: the decode machine turns mixed, fails and comes up
    machines = [replica("prefill"), changing("decode", (150, "failed"), (400, "up"))]
    policy = scheduler("splitwise", prompt_pending_limit=0, simultaneous_arrivals="together")
    result = run(cluster(policy, [(0, 100, 1), (10, 100, 1), (20, 100, 1), (500, 100, 2)], machines))
    assert (result.requests.status == FINISHED).all()
    assert (result.requests.prefill_replica[3], result.requests.decode_replica[3]) == (0, 1)
