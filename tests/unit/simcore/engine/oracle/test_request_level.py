"""FasterTransformer's rules by hand (times in ns, see tests/clusters.py)."""

import dataclasses

import pytest

from simcore.engine.oracle.cluster import run
from simcore.latency.curve import IterationCurve
from tests.clusters import CURVE, NS, cluster, in_ns, replica, scheduler

BY_CONTEXT = dataclasses.replace(CURVE, context_ps=NS)
"""A decode takes 100 ns and 1 ns for each cached token."""


def test_nobody_joins_a_batch_until_all_of_it_are_finished() -> None:
    result = run(cluster(scheduler("request_level"), [(0, 50, 3), (0, 30, 1), (10, 40, 1)]))
    assert in_ns(result.requests.first_token_ps) == [80, 80, 320]
    assert in_ns(result.requests.finish_ps) == [280, 80, 320]


def test_a_batch_is_formed_of_what_waits_up_to_max_batch_size() -> None:
    result = run(cluster(scheduler("request_level", max_batch_size=2), [(0, 10, 1), (0, 20, 1), (0, 30, 1)]))
    assert in_ns(result.requests.finish_ps) == [30, 30, 60]


def test_prompts_are_padded_to_the_longest() -> None:
    policy = scheduler("request_level", pad_compute=True)
    result = run(cluster(policy, [(0, 50, 1), (0, 20, 1), (0, 35, 1)], cached=[0, 0, 5]))
    assert in_ns(result.requests.finish_ps) == [150, 150, 150]
    assert result.replicas.prefill_tokens.sum(axis=1).tolist() == [100]
    assert result.replicas.padding_tokens.sum(axis=1).tolist() == [50]
    assert result.replicas.chunk_read_tokens.sum(axis=1).tolist() == [5]


def test_padded_prompts_attend_as_if_they_were_as_long() -> None:
    """a = 1 ns a pair: the longest prompt of 4 attends 10 pairs; each of the three chunks takes that, and its cached
    tokens 4 pairs each."""
    curve = IterationCurve((1,), (0,), (0,), (0,), attention=NS << 10, chunk_read_ps=0, context_ps=0, decode_seq_ps=0)
    policy = scheduler("request_level", pad_compute=True)
    result = run(cluster(policy, [(0, 4, 1), (0, 2, 1), (0, 5, 1)], [replica(curve=curve)], cached=[0, 0, 3]))
    assert in_ns(result.requests.finish_ps) == [42, 42, 42]
    assert result.replicas.prefill_pairs.sum(axis=1).tolist() == [10 + 3 + 3 * 2 + 3]


@pytest.mark.parametrize(("kept", "finish"), [(True, 60 + 160 + 161), (False, 60 + 150 + 151)])
def test_a_finished_slot_goes_on_being_computed(kept: bool, finish: int) -> None:
    """The first has 50 tokens cached and decodes at 50, then 51; the second is finished and stays at 10."""
    policy = scheduler("request_level", keep_finished=kept)
    result = run(cluster(policy, [(0, 50, 3), (0, 10, 1)], [replica(curve=BY_CONTEXT)]))
    assert in_ns(result.requests.finish_ps) == [finish, 60]
    assert result.replicas.decode_tokens.sum(axis=1).tolist() == [2]
    assert result.replicas.context_tokens.sum(axis=1).tolist() == [101]
    assert result.replicas.padding_tokens.sum(axis=1).tolist() == [2 if kept else 0]


@pytest.mark.parametrize("kept", [True, False])
def test_kv_is_freed_with_the_batch(kept: bool) -> None:
    """The second request is finished at 60, but its blocks are held until 160: the third does not fit before."""
    policy = scheduler("request_level", keep_finished=kept)
    requests = [(0, 30, 2), (0, 30, 1), (0, 30, 1)]
    result = run(cluster(policy, requests, [replica(kv_blocks=5, stages=2)]))
    # two stages: the batch is at the end of the pipeline at 120 and 320; the third could start at 60 with a batch of
    # its own, but fits only once the first batch has left
    assert in_ns(result.requests.finish_ps) == [320, 120, 320 + 60]
    assert result.replicas.kv_peak_tokens.tolist() == [64]


def test_a_pipeline_alternates_between_batches() -> None:
    policy = scheduler("request_level", max_batch_size=1)
    result = run(cluster(policy, [(0, 10, 2), (0, 20, 2), (0, 30, 1)], [replica(stages=2)]))
    # the first stage is taken until 10 and 30, then by the two decodes until 130 and 230. The third batch is formed
    # when the first is dissolved at 230; its second stage is free at 330
    assert in_ns(result.requests.first_token_ps) == [20, 50, 330 + 30]
    assert in_ns(result.requests.finish_ps) == [230, 330, 360]
