"""Sarathi's rules, each on a cluster small enough to follow by hand (times in ns, see tests/clusters.py)."""

from dataclasses import replace

import pytest

from simcore.engine.oracle.cluster import run
from simcore.engine.outputs import FINISHED
from tests.clusters import NS, cluster, in_ns, replica, scheduler


def test_a_lone_prompt_is_chunked_by_the_budget() -> None:
    result = run(cluster(scheduler("sarathi"), [(0, 100, 3)]))
    assert result.replicas.iterations.tolist() == [[2, 2, 0]]  # 64 + 36 tokens, then two decodes
    assert in_ns(result.requests.first_token_ps) == [100]
    assert in_ns(result.requests.finish_ps) == [300]


def test_decodes_come_first_and_the_prefill_gets_what_is_left_of_the_budget() -> None:
    result = run(cluster(scheduler("sarathi"), [(0, 64, 3), (10, 64, 1)]))
    # 64 tokens to 64; then 1 decode + 63 of the second prompt to 64 + 50 + 64; then 1 decode + its last token: 52 ns
    assert in_ns(result.requests.finish_ps) == [230, 230]
    assert in_ns(result.requests.first_scheduled_ps) == [0, 64]


def test_decodes_are_never_held_back_by_the_budget() -> None:
    result = run(cluster(scheduler("sarathi", token_budget=2), [(0, 2, 9), (0, 2, 9), (0, 2, 9)]))
    # the prompts one after the other, the second and third beside decodes that take the whole budget: they wait
    assert result.replicas.decode_tokens.sum() == 24
    assert in_ns(result.requests.first_token_ps)[0] == 2
    assert max(result.replicas.iterations[0]) < 24


def test_admission_stops_at_a_head_that_gets_no_token() -> None:
    result = run(cluster(scheduler("sarathi"), [(0, 100, 1), (0, 10, 1)]))
    # 64; then 36 + 10
    assert in_ns(result.requests.first_scheduled_ps) == [0, 64]
    assert in_ns(result.requests.finish_ps) == [110, 110]


def test_admission_stops_at_a_head_that_does_not_fit_although_a_later_one_would() -> None:
    tight = [replica(kv_blocks=4)]
    result = run(cluster(scheduler("sarathi"), [(0, 32, 20), (1, 48, 1), (2, 1, 1)], tight))
    started = in_ns(result.requests.first_scheduled_ps)
    assert started[2] >= started[1] >= in_ns(result.requests.finish_ps)[0]


def test_max_batch_size_counts_every_admitted_request() -> None:
    result = run(cluster(scheduler("sarathi", max_batch_size=1), [(0, 16, 2), (0, 16, 1)]))
    assert in_ns(result.requests.first_scheduled_ps) == [0, 116]


def test_the_newest_is_preempted_and_recomputes_prompt_and_generated_tokens() -> None:
    tight = [replica(kv_blocks=3)]
    result = run(cluster(scheduler("sarathi"), [(0, 16, 10), (0, 16, 10)], tight))
    assert result.requests.preemptions.tolist() == [0, 1]
    assert result.requests.status.tolist() == [FINISHED, FINISHED]
    # both prompts (32 ns); the second decode needs a block each, one is left: the second goes back to the queue,
    # and in again when the first has finished after nine decodes alone; then 17 tokens are prefilled
    assert in_ns(result.requests.finish_ps)[0] == 32 + 9 * 100
    assert result.replicas.prefill_tokens.tolist() == [[16 + 16 + 17, 0, 0]]
    assert in_ns(result.requests.max_gap_ps)[1] == 9 * 100 + 17


def test_preempt_when_full_preempts_although_no_block_is_needed() -> None:
    tight = [replica(kv_blocks=2)]
    asked = [(0, 10, 3), (0, 10, 3)]
    assert run(cluster(scheduler("sarathi"), asked, tight)).requests.preemptions.tolist() == [0, 0]
    forced = run(cluster(scheduler("sarathi", preempt_when_full=True), asked, tight))
    # at each of the first one's decodes the second gives up its block, and gets it again in the same selection
    assert forced.requests.preemptions.tolist() == [0, 2]


@pytest.mark.parametrize(
    ("reservation", "peak"), [("on_demand", 2), ("full_output", 4), ("output_at_decode", 4), ("max_length", 8)]
)
def test_blocks_are_taken_by_the_reservation(reservation: str, peak: int) -> None:
    policy = scheduler("sarathi", reservation=reservation, max_model_tokens=128)
    result = run(cluster(policy, [(0, 16, 3)], limits=[40]))
    assert result.replicas.kv_peak_tokens.tolist() == [peak * 16]


def test_the_watermark_is_kept_free_but_not_by_an_empty_replica() -> None:
    small = [replica(kv_blocks=10)]
    policy = scheduler("sarathi", watermark_blocks_share=0.35)  # 3 blocks
    result = run(cluster(policy, [(0, 100, 2), (0, 16, 1)], small))
    # 7 of 10 blocks are taken: the second waits until the first has gone
    assert in_ns(result.requests.first_scheduled_ps)[1] == in_ns(result.requests.finish_ps)[0]
    whole = run(cluster(policy, [(0, 150, 1)], small))
    assert whole.requests.status.tolist() == [FINISHED]


def test_the_watermark_is_the_decimal_share_rounded_down() -> None:
    # 0.29 x 100 is 28.999... in floating point; exactly 29 blocks stay free
    policy = scheduler("sarathi", watermark_blocks_share=0.29, token_budget=2048)
    assert policy.watermark_blocks(100) == 29
    small = [replica(kv_blocks=100)]
    fits = run(cluster(policy, [(0, 160, 9), (0, 976, 1)], small))  # 10 + 61 blocks
    waits = run(cluster(policy, [(0, 160, 9), (0, 977, 1)], small))  # 10 + 62 blocks
    assert in_ns(fits.requests.first_scheduled_ps) == [0, 0]
    assert in_ns(waits.requests.first_scheduled_ps)[1] == in_ns(waits.requests.finish_ps)[0]


def test_prefill_starts_after_the_cached_prompt_whose_kv_is_counted() -> None:
    result = run(cluster(scheduler("sarathi"), [(0, 100, 1)], cached=[90]))
    assert in_ns(result.requests.first_token_ps) == [10]
    assert result.replicas.kv_peak_tokens.tolist() == [7 * 16]
    assert result.replicas.chunk_read_tokens.tolist() == [[90, 0, 0]]


def test_two_stages_hold_two_micro_batches_and_each_stage_is_first_in_first_out() -> None:
    two = [replica(stages=2)]
    result = run(cluster(scheduler("sarathi"), [(0, 40, 1), (5, 20, 1)], two))
    # first: 0-40, 40-80; second: formed at 5, first stage 40-60, second stage 80-100
    assert in_ns(result.requests.first_scheduled_ps) == [0, 40]
    assert in_ns(result.requests.finish_ps) == [80, 100]
    assert result.replicas.busy_ps.tolist() == [[2 * 60 * NS, 0, 0]]


def test_a_micro_batch_holds_a_stage_s_share_of_max_batch_size() -> None:
    two = [replica(stages=2)]
    policy = scheduler("sarathi", max_batch_size=4)
    result = run(cluster(policy, [(0, 8, 1)] * 4, two))
    assert result.replicas.iterations.tolist() == [[2, 0, 0]]


def test_max_gap_and_gaps_are_of_the_window_s_requests() -> None:
    whole = run(cluster(scheduler("sarathi"), [(0, 64, 3), (0, 64, 3)]))
    second = run(cluster(scheduler("sarathi"), [(0, 64, 3), (0, 64, 3)], window=(1, 2)))
    assert int(whole.gap_count.sum()) == 4
    assert int(second.gap_count.sum()) == 2
    assert set(second.gap_ps.tolist()) <= set(whole.gap_ps.tolist())


def test_the_policy_is_read_from_the_inputs_alone() -> None:
    inputs = cluster(scheduler("sarathi"), [(0, 100, 1)])
    wide = replace(inputs, scheduler=replace(inputs.scheduler, token_budget=100))
    assert run(wide).replicas.iterations.tolist() == [[1, 0, 0]]
