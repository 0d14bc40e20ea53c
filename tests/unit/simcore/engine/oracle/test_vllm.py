"""vLLM's rules as of 2023, by hand (times in ns, see tests/clusters.py)."""

import pytest

from simcore.engine.oracle.cluster import run
from tests.clusters import cluster, in_ns, replica, scheduler


def test_a_waiting_prompt_that_fits_stalls_the_decodes() -> None:
    result = run(cluster(scheduler("vllm"), [(0, 50, 3), (60, 40, 1)]))
    # prompt to 50, decode to 150, the second prompt alone to 190, then the second decode
    assert in_ns(result.requests.finish_ps) == [290, 190]
    assert in_ns(result.requests.max_gap_ps) == [140, 0]
    assert result.replicas.iterations.tolist() == [[2, 2, 0]]


@pytest.mark.parametrize(("padded", "batches"), [(False, 1), (True, 2)])
def test_prompts_join_up_to_max_batch_tokens(padded: bool, batches: int) -> None:
    policy = scheduler("vllm", max_batch_tokens=100, padded_prompts=padded)
    result = run(cluster(policy, [(0, 90, 1), (0, 10, 1)]))
    assert result.replicas.iterations.tolist() == [[batches, 0, 0]]


def test_a_prompt_longer_than_max_batch_tokens_runs_alone() -> None:
    policy = scheduler("vllm", max_batch_tokens=100)
    result = run(cluster(policy, [(0, 150, 1), (0, 10, 1)]))
    assert in_ns(result.requests.finish_ps) == [150, 160]


def test_decodes_go_on_while_the_head_does_not_fit() -> None:
    result = run(cluster(scheduler("vllm"), [(0, 30, 4), (1, 48, 1)], [replica(kv_blocks=4)]))
    assert in_ns(result.requests.first_scheduled_ps) == [0, 330]


def test_the_newest_running_request_is_preempted() -> None:
    result = run(cluster(scheduler("vllm"), [(0, 16, 4), (0, 16, 4), (0, 16, 4)], [replica(kv_blocks=5)]))
    assert result.requests.preemptions.tolist() == [0, 0, 1]
    assert sorted(in_ns(result.requests.finish_ps)) == in_ns(result.requests.finish_ps)


def test_a_lone_request_that_preempts_itself_is_let_in_again() -> None:
    """``preempt_when_full`` on a replica that the request fills: each token comes from a new prefill."""
    policy = scheduler("vllm", preempt_when_full=True)
    result = run(cluster(policy, [(0, 10, 5)], [replica(kv_blocks=1)]))
    assert result.requests.preemptions.tolist() == [4]
    assert in_ns(result.requests.finish_ps) == [10 + 11 + 12 + 13 + 14]
