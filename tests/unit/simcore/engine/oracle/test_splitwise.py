"""Machines of the splitwise kinds, by hand (times in ns, see tests/clusters.py)."""

import pytest

from simcore.engine.oracle.cluster import run
from simcore.engine.outputs import FINISHED, NEVER, UNFINISHED
from tests.clusters import cluster, in_ns, replica, scheduler, transfer

PAIR = [replica("prefill"), replica("decode")]
SENT_AT_ONCE = transfer(ps_per_token=1)


def test_the_first_gap_includes_the_transfer_and_ttft_does_not() -> None:
    result = run(cluster(scheduler("splitwise"), [(0, 100, 3)], PAIR))
    # prefill to 100, 100 tokens sent at 1 ns each, two decodes
    assert in_ns(result.requests.first_token_ps) == [100]
    assert in_ns(result.requests.finish_ps) == [400]
    assert in_ns(result.gap_ps) == [100, 200]
    assert result.requests.prefill_replica.tolist() == [0]
    assert result.requests.decode_replica.tolist() == [1]
    assert in_ns(result.replicas.nic_busy_ps) == [100, 100]


def test_one_output_token_transfers_nothing_and_frees_both_machines() -> None:
    result = run(cluster(scheduler("splitwise"), [(0, 100, 1), (500, 100, 1)], PAIR))
    assert in_ns(result.requests.finish_ps) == [100, 600]
    assert in_ns(result.replicas.nic_busy_ps) == [0, 0]
    assert result.replicas.kv_peak_tokens.tolist() == [112, 0]


def test_a_prompt_of_the_whole_budget_interrupts_every_decode() -> None:
    policy = scheduler("splitwise_baseline", max_batch_tokens=100)
    result = run(cluster(policy, [(0, 50, 3), (60, 100, 1)]))
    # prompt to 50, decode to 150, the long prompt alone to 250, the last decode
    assert in_ns(result.requests.finish_ps) == [350, 250]


def test_prompts_and_decodes_share_a_batch_within_the_budget() -> None:
    policy = scheduler("splitwise_baseline", max_batch_tokens=101)
    result = run(cluster(policy, [(0, 50, 3), (60, 100, 1)]))
    # the prompt and the decode together: 101 + 50
    assert in_ns(result.requests.finish_ps) == [301, 301]
    assert result.replicas.iterations.tolist() == [[1, 1, 1]]


def test_prompts_stop_before_the_first_that_exceeds_the_budget() -> None:
    policy = scheduler("splitwise_baseline", max_batch_tokens=100, simultaneous_arrivals="together")
    result = run(cluster(policy, [(0, 60, 1), (0, 50, 1), (0, 10, 1)]))
    assert in_ns(result.requests.first_scheduled_ps) == [0, 60, 60]


def test_a_prompt_waits_for_kv_and_the_machine_counts_as_blocked_only_while_idle() -> None:
    small = [replica(kv_blocks=10)]
    result = run(cluster(scheduler("splitwise_baseline"), [(0, 100, 2), (10, 100, 2)], small))
    assert in_ns(result.requests.first_scheduled_ps) == [0, 200]
    assert in_ns(result.replicas.blocked_ps) == [0]


def test_prompts_that_leave_no_room_for_any_output_are_stuck_and_said_to_be() -> None:
    # as in the simulator: a prompt's admission does not reserve its output
    policy = scheduler("splitwise_baseline", simultaneous_arrivals="together")
    result = run(cluster(policy, [(0, 60, 40), (0, 60, 40)], [replica(kv_blocks=8)]))
    assert result.requests.status.tolist() == [UNFINISHED, UNFINISHED]
    assert result.requests.finish_ps.tolist() == [NEVER, NEVER]
    assert (result.requests.first_token_ps > 0).all()
    safe = scheduler("splitwise_baseline", simultaneous_arrivals="together", reservation="full_output")
    result = run(cluster(safe, [(0, 60, 40), (0, 60, 40)], [replica(kv_blocks=8)]))
    assert result.requests.status.tolist() == [FINISHED, FINISHED]


def test_an_arrival_at_an_iteration_s_end_has_arrived() -> None:
    # the first prompt ends at 50, the second arrives at 50: one batch of a decode and a prompt
    result = run(cluster(scheduler("splitwise_baseline"), [(0, 50, 2), (50, 10, 1)]))
    assert result.replicas.iterations.tolist() == [[1, 0, 1]]


@pytest.mark.parametrize(("mode", "first_batch"), [("together", 2), ("one_by_one", 1)])
def test_simultaneous_arrivals(mode: str, first_batch: int) -> None:
    policy = scheduler("splitwise_baseline", simultaneous_arrivals=mode)
    result = run(cluster(policy, [(0, 10, 1), (0, 10, 1)]))
    assert in_ns(result.requests.first_scheduled_ps) == [0, 0 if first_batch == 2 else 10]


def test_a_contiguous_run_is_not_interrupted_by_a_long_prompt_whose_decode_is_elsewhere() -> None:
    """A prefill machine that turned mixed decodes; a prompt over max_batch_tokens waits until a member finishes."""
    machines = [replica("prefill"), replica("decode", kv_blocks=20)]
    asked = [(0, 200, 100), (10_000, 150, 2), (10_500, 120, 2)]
    results = {}
    for runs in ("stepwise", "contiguous"):
        policy = scheduler("splitwise", max_batch_tokens=100, decode_runs=runs, router_ties="pool_order")
        results[runs] = run(cluster(policy, asked, machines, SENT_AT_ONCE))
    assert (results["stepwise"].requests.status == FINISHED).all()
    assert (results["contiguous"].requests.status == FINISHED).all()


def test_decode_runs_differ_where_a_waiting_task_cannot_interrupt() -> None:
    """Stepwise, a decode left out joins as soon as a place is free; here both see the same finishes."""
    asked = [(0, 10, 5), (0, 10, 5), (0, 10, 5)]
    stepwise = scheduler("splitwise_baseline", max_batch_size=2, ageing="none")
    contiguous = scheduler("splitwise_baseline", max_batch_size=2, ageing="none", decode_runs="contiguous")
    assert in_ns(run(cluster(stepwise, asked)).requests.finish_ps) == in_ns(
        run(cluster(contiguous, asked)).requests.finish_ps
    )


def test_ageing_lets_a_request_passed_over_four_times_go_first() -> None:
    """One place in the batch; short requests keep coming, each prompt before the waiting decode."""
    asked = [(0, 10, 3)] + [(5 + 10 * i, 10, 1) for i in range(8)]
    places = {"max_batch_size": 1}
    fair = run(cluster(scheduler("splitwise_baseline", **places), asked))
    none = run(cluster(scheduler("splitwise_baseline", ageing="none", **places), asked))
    # without ageing its decodes come after all eight prompts; with it, once passed over four times
    assert in_ns(none.requests.finish_ps)[0] == 10 + 8 * 10 + 2 * 100
    assert in_ns(fair.requests.finish_ps)[0] < in_ns(none.requests.finish_ps)[0]
