"""What every batch of the oracle keeps: no idle replica with work, budgets, order, no peeking, bubbles, padding."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from simcore.engine.oracle.cluster import run
from simcore.engine.oracle.preemption import micro_batch_size
from simcore.engine.oracle.state import Cluster, MicroBatch, Replica
from simcore.engine.outputs import NEVER
from tests.invariants.admission import EXAMPLES, admissible
from tests.invariants.strategies import CHUNKED, KINDS, SPLITWISE, clusters
from tests.invariants.watching import in_flight, instants, times_with_nothing_in_flight


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(data=st.data())
def test_no_idle_replica_with_admissible_work(kind: str, data: st.DataObject) -> None:
    inputs = data.draw(clusters(kind))
    assume(kind not in SPLITWISE or inputs.scheduler.decode_runs == "stepwise")
    for _, cluster in instants(inputs):
        for replica in cluster.replicas:
            # the splitwise kinds select by themselves; of the others only what is sure of a place is looked at
            busy = replica.in_flight == replica.inputs.stages if kind in SPLITWISE else replica.in_flight > 0
            assert busy or not admissible(cluster, replica)


def check_budget(cluster: Cluster, replica: Replica, batch: MicroBatch) -> None:
    policy = cluster.inputs.scheduler
    decodes = batch.new_tokens.count(0)
    tokens = sum(batch.new_tokens) + decodes
    if policy.kind == "sarathi" or policy.chunked:
        assert tokens <= max(policy.token_budget, decodes)
        assert decodes <= micro_batch_size(cluster, replica)
    elif policy.kind == "vllm":
        assert decodes in (0, len(batch.members))
        assert len(batch.members) <= micro_batch_size(cluster, replica)
        padded = len(batch.members) * max(batch.new_tokens)
        counted = padded if policy.padded_prompts else tokens
        assert decodes or len(batch.members) == 1 or counted <= policy.max_batch_tokens
    elif policy.kind == "vllm_v1":
        assert tokens <= policy.token_budget
        assert len(batch.members) <= micro_batch_size(cluster, replica)
    elif policy.kind == "orca":
        assert len(batch.members) <= policy.max_batch_size
    elif policy.kind == "request_level":
        assert len(batch.members) <= policy.max_batch_size
        assert decodes in (0, len(batch.members))
    else:
        assert len(batch.members) <= micro_batch_size(cluster, replica)
        assert tokens <= policy.max_batch_tokens or len(batch.members) == 1


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(data=st.data())
def test_budgets_are_kept(kind: str, data: st.DataObject) -> None:
    for _, cluster in instants(data.draw(clusters(kind))):
        for replica, batch in in_flight(cluster):
            check_budget(cluster, replica, batch)
            assert len({request.index for request in batch.members}) == len(batch.members)


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(data=st.data())
def test_first_come_first_served_on_each_replica(kind: str, data: st.DataObject) -> None:
    """By start of the prefill: always with sarathi, vllm and chunked; with the splitwise kinds where nothing ages."""
    inputs = data.draw(clusters(kind))
    assume(kind not in SPLITWISE or inputs.scheduler.ageing == "none")
    requests = run(inputs).requests
    for replica in range(len(inputs.replicas)):
        here = (requests.prefill_replica == replica) & (requests.first_scheduled_ps != NEVER)
        assert (np.diff(requests.first_scheduled_ps[here]) >= 0).all()


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(data=st.data())
def test_no_rule_reads_output_tokens_before_the_last_token(kind: str, data: st.DataObject) -> None:
    """With max_output_tokens given, a longer output changes nothing before the moment it would have ended.

    One output token is left out: nothing is sent for it, which layer-wise transfer has to know beforehand.
    """
    inputs = data.draw(clusters(kind, limits=True))
    longer = data.draw(st.integers(0, len(inputs.arrival_ps) - 1))
    assume(2 <= inputs.output_tokens[longer] < inputs.max_output_tokens[longer])
    outputs = inputs.output_tokens.copy()
    outputs[longer] = inputs.max_output_tokens[longer]
    before, after = run(inputs).requests, run(dataclasses.replace(inputs, output_tokens=outputs)).requests
    until = before.finish_ps[longer] if before.finish_ps[longer] != NEVER else np.iinfo(np.int64).max
    for old, new in (
        (before.first_scheduled_ps, after.first_scheduled_ps),
        (before.first_token_ps, after.first_token_ps),
        (before.finish_ps, after.finish_ps),
    ):
        settled = (old != NEVER) & (old < until)
        assert (old[settled] == new[settled]).all()
        assert ((new[~settled] == NEVER) | (new[~settled] >= until)).all()


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(data=st.data())
def test_each_stage_is_busy_in_a_bubble_or_without_anything_in_flight(kind: str, data: st.DataObject) -> None:
    inputs = data.draw(clusters(kind))
    result = run(inputs)
    counts = result.replicas
    assert (counts.bubble_ps >= 0).all()
    for index, empty_ps in enumerate(times_with_nothing_in_flight(inputs, result.busy_until_ps)):
        stages = inputs.replicas[index].stages
        busy = int(counts.busy_ps[index].sum()) // stages
        for stage in range(stages):
            assert busy + int(counts.bubble_ps[index, stage].sum()) + empty_ps == result.busy_until_ps
        assert (counts.bubble_ps[index, stages:] == 0).all()
        assert stages > 1 or (counts.bubble_ps[index] == 0).all()


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(data=st.data())
def test_padding_is_only_what_request_level_pads(kind: str, data: st.DataObject) -> None:
    inputs = data.draw(clusters(kind))
    policy, counts = inputs.scheduler, run(inputs).replicas
    if not (policy.pad_compute or policy.keep_finished):
        assert (counts.padding_tokens == 0).all()
        return
    bare = dataclasses.replace(policy, pad_compute=False, keep_finished=False)
    one = dataclasses.replace(inputs, replicas=inputs.replicas[:1], scheduler=policy)
    padded, plain = run(one), run(dataclasses.replace(one, scheduler=bare))
    assert (padded.replicas.padding_tokens >= 0).all()
    for name in ("prefill_tokens", "decode_tokens", "prefill_pairs", "chunk_read_tokens", "context_tokens"):
        assert np.array_equal(getattr(padded.replicas, name), getattr(plain.replicas, name))


@pytest.mark.parametrize("kind", [*SPLITWISE, CHUNKED])
@EXAMPLES
@given(data=st.data())
def test_blocked_is_never_said_of_a_machine_with_nothing_to_do(kind: str, data: st.DataObject) -> None:
    result = run(data.draw(clusters(kind)))
    idle = result.replicas.iterations.sum(axis=1) == 0
    unused = idle & ~np.isin(np.arange(len(idle)), result.requests.decode_replica)
    assert (
        result.replicas.blocked_ps[unused & ~np.isin(np.arange(len(idle)), result.requests.prefill_replica)] == 0
    ).all()
