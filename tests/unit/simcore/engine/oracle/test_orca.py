"""Orca's rules by hand (times in ns, see tests/clusters.py)."""

from simcore.engine.oracle.cluster import run
from tests.clusters import cluster, in_ns, replica, scheduler


def test_a_prompt_joins_the_decodes_in_one_hybrid_batch() -> None:
    result = run(cluster(scheduler("orca"), [(0, 50, 3), (60, 40, 1)]))
    # prompt to 50, decode to 150, a hybrid of one decode and 40 tokens to 150 + 50 + 41
    assert in_ns(result.requests.finish_ps) == [241, 241]
    assert result.replicas.iterations.tolist() == [[1, 1, 1]]


def test_whole_prompts_join_up_to_max_batch_size_however_long() -> None:
    result = run(cluster(scheduler("orca", max_batch_size=2), [(0, 3000, 1), (0, 4000, 1), (0, 10, 1)]))
    assert in_ns(result.requests.finish_ps) == [7000, 7000, 7010]


def test_memory_is_reserved_for_the_longest_request() -> None:
    policy = scheduler("orca", reservation="max_length", max_model_tokens=160)
    result = run(cluster(policy, [(0, 10, 2), (0, 10, 1), (0, 10, 1)], [replica(kv_blocks=25)]))
    # two reservations of 10 blocks fit; the third waits until the second request has left
    assert in_ns(result.requests.first_scheduled_ps) == [0, 0, 20]
    assert result.replicas.kv_peak_tokens.tolist() == [320]


def test_a_head_that_does_not_fit_holds_up_those_behind_it() -> None:
    result = run(cluster(scheduler("orca"), [(0, 60, 4), (0, 100, 1), (0, 1, 1)], [replica(kv_blocks=8)]))
    assert in_ns(result.requests.first_scheduled_ps) == [0, 360, 360]


def test_each_micro_batch_of_a_pipeline_may_be_full() -> None:
    """Two stages, two places: two batches of two are in flight, nobody is refused a place for being the third."""
    result = run(cluster(scheduler("orca", max_batch_size=2), [(0, 50, 2)] * 4, [replica(stages=2)]))
    # the second batch follows one stage behind: ends at 200 and 300, then decodes of 100 a stage
    assert in_ns(result.requests.first_token_ps) == [200, 200, 300, 300]
    assert in_ns(result.requests.finish_ps) == [400, 400, 500, 500]
    assert result.replicas.iterations.tolist() == [[2, 2, 0]]


def test_running_requests_go_on_in_the_order_in_which_they_came_back() -> None:
    """Not by arrival: with one place a batch, the two requests of a pipeline take turns."""
    result = run(cluster(scheduler("orca", max_batch_size=1), [(0, 10, 3), (0, 20, 3)], [replica(stages=2)]))
    assert in_ns(result.requests.first_token_ps) == [20, 50]
    # the first stage is taken by the prompt of 20 until 30, then by each decode in turn for 100
    assert in_ns(result.requests.finish_ps) == [430, 530]


def test_nobody_is_preempted_though_no_block_is_free() -> None:
    policy = scheduler("orca", preempt_when_full=True)
    result = run(cluster(policy, [(0, 10, 6), (0, 10, 6)], [replica(kv_blocks=2)]))
    assert result.requests.preemptions.tolist() == [0, 0]
    assert in_ns(result.requests.finish_ps) == [520, 520]


def test_a_reservation_on_demand_preempts_from_the_end_of_the_list() -> None:
    policy = scheduler("orca", reservation="on_demand")
    result = run(cluster(policy, [(0, 16, 3), (0, 16, 3)], [replica(kv_blocks=3)]))
    # both prompts to 32; the first decode takes the third block, the second is preempted: it has no room for 17
    # tokens until the first has left at 232, then computes them again
    assert result.requests.preemptions.tolist() == [0, 1]
    assert in_ns(result.requests.finish_ps) == [232, 232 + 17 + 100]
