"""What holds on every run, whatever the cluster, policy, options and load: the statements of docs/invariants.md."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from simcore.engine.inputs import ClusterInputs, SchedulerInputs
from simcore.engine.oracle.blocks import blocks_of, chunk_blocks, growth_blocks, room_to_admit
from simcore.engine.oracle.cluster import run
from simcore.engine.oracle.preemption import fits, has_place, micro_batch_size
from simcore.engine.oracle.selection import select
from simcore.engine.oracle.state import Cluster, MicroBatch, Replica, Request
from simcore.engine.oracle.vllm_v1 import next_chunk
from simcore.engine.outputs import FINISHED, NEVER, REFUSED, UNFINISHED
from tests.invariants.strategies import CHUNKED, CO_LOCATED, KINDS, SPLITWISE, clusters
from tests.invariants.watching import held_blocks, in_flight, instants, times_with_nothing_in_flight

EXAMPLES = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)


def lifetime_blocks(inputs: ClusterInputs, request: int) -> int:
    limit = int(inputs.max_output_tokens[request]) or int(inputs.output_tokens[request])
    tokens = int(inputs.prompt_tokens[request]) + limit
    if inputs.scheduler.reservation == "max_length":
        tokens = inputs.scheduler.max_model_tokens
    return blocks_of(tokens, inputs.scheduler)


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(data=st.data())
def test_conservation_of_requests(kind: str, data: st.DataObject) -> None:
    inputs = data.draw(clusters(kind))
    result = run(inputs).requests
    for request, status in enumerate(result.status.tolist()):
        times = (result.first_scheduled_ps[request], result.first_token_ps[request], result.finish_ps[request])
        if status == FINISHED:
            assert min(times) >= 0
        if status == REFUSED:
            assert max(times) == NEVER
            assert result.prefill_replica[request] == result.decode_replica[request] == NEVER
    contiguous = kind in SPLITWISE and inputs.scheduler.decode_runs == "contiguous"
    if kind in CO_LOCATED or (inputs.scheduler.reservation != "output_at_decode" and not contiguous):
        assert UNFINISHED not in result.status


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(data=st.data())
def test_only_what_can_never_fit_is_refused(kind: str, data: st.DataObject) -> None:
    inputs = data.draw(clusters(kind))
    if kind in ("splitwise", CHUNKED):  # by the rule that looks at all pools
        two_stages = dataclasses.replace(inputs.scheduler, router="jsq", mixed_pool=True)
        inputs = dataclasses.replace(inputs, scheduler=two_stages)
    status = run(inputs).requests.status
    most = inputs.scheduler.max_model_tokens
    for request in range(len(status)):
        limit = int(inputs.max_output_tokens[request]) or int(inputs.output_tokens[request])
        too_long = bool(most) and int(inputs.prompt_tokens[request]) + limit > most
        too_big = lifetime_blocks(inputs, request) > max(r.kv_blocks for r in inputs.replicas)
        assert (status[request] == REFUSED) == (too_long or too_big)


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(data=st.data())
def test_conservation_of_kv_blocks(kind: str, data: st.DataObject) -> None:
    inputs = data.draw(clusters(kind))
    cluster = None
    for _, cluster in instants(inputs):
        for replica, held in zip(cluster.replicas, held_blocks(cluster), strict=True):
            assert 0 <= replica.free_blocks == replica.inputs.kv_blocks - held
    assert cluster is not None
    if all(r.status != UNFINISHED for r in cluster.requests):
        assert all(r.free_blocks == r.inputs.kv_blocks for r in cluster.replicas)
        assert all(r.pending_tokens == r.reserved_tokens == r.inbound == r.admitted == 0 for r in cluster.replicas)


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(data=st.data())
def test_a_windowed_layer_holds_no_more_than_its_window(kind: str, data: st.DataObject) -> None:
    """Counted by layers, as the engine's own rule is not: full ones all tokens, windowed ones the last. With
    request_level a batch's members hold KV for each other, so all of them are counted together."""
    inputs = data.draw(clusters(kind))
    for _, cluster in instants(inputs):
        here = [request for request in cluster.requests if request.prefill_replica >= 0]
        together = [here] if kind == "request_level" else [[request] for request in here]
        for requests in together:
            most = sum(most_layer_blocks(inputs.scheduler, request) for request in requests)
            assert sum(request.blocks for request in requests) <= most
            assert sum(request.inbound_blocks for request in requests) <= most


def most_layer_blocks(rules: SchedulerInputs, request: Request) -> int:
    """Blocks of all layers that hold the request's tokens layer by layer, the last block not full."""
    most = max(request.prompt_tokens + request.output_limit, rules.max_model_tokens)
    by_layer = [most] * rules.full_layers + [min(most, rules.window_tokens)] * rules.windowed_layers
    return -(-sum(by_layer) // (len(by_layer) * rules.block_tokens))


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(data=st.data())
def test_a_window_that_nothing_exceeds_changes_nothing(kind: str, data: st.DataObject) -> None:
    inputs = data.draw(clusters(kind))
    dense, wide = ({"full_layers": 4}, {"full_layers": 3, "windowed_layers": 1, "window_tokens": 10_000})
    runs = [
        run(dataclasses.replace(inputs, scheduler=dataclasses.replace(inputs.scheduler, **layers)))
        for layers in ({**dense, "windowed_layers": 0, "window_tokens": 0}, wide)
    ]
    assert np.array_equal(runs[0].requests.finish_ps, runs[1].requests.finish_ps)
    assert np.array_equal(runs[0].replicas.kv_peak_tokens, runs[1].replicas.kv_peak_tokens)


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(data=st.data())
def test_tokens_are_produced_once(kind: str, data: st.DataObject) -> None:
    inputs = data.draw(clusters(kind))
    result = run(inputs)
    assume((result.requests.status != UNFINISHED).all())
    done = result.requests.status == FINISHED
    counts = result.replicas
    tokens = int(inputs.output_tokens[done].sum())
    prefills = int(done.sum())
    preemptions = int(result.requests.preemptions.sum())
    # each token comes from a decode or from the end of a prefill; a preemption adds at most one prefill
    assert tokens - prefills - preemptions <= int(counts.decode_tokens.sum()) <= tokens - prefills
    assert int(counts.decode_tokens.sum() + counts.prompt_ends.sum()) == tokens
    prompts = int((inputs.prompt_tokens - inputs.cached_prompt_tokens)[done].sum())
    assert int(counts.prefill_tokens.sum()) >= prompts
    if preemptions == 0:
        assert int(counts.prefill_tokens.sum()) == prompts
        assert int(counts.decode_tokens.sum()) == tokens - prefills


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(data=st.data())
def test_causality(kind: str, data: st.DataObject) -> None:
    inputs = data.draw(clusters(kind))
    result = run(dataclasses.replace(inputs, window=(0, len(inputs.arrival_ps))))
    requests = result.requests
    done = requests.status == FINISHED
    assert (inputs.arrival_ps[done] <= requests.first_scheduled_ps[done]).all()
    assert (requests.first_scheduled_ps[done] < requests.first_token_ps[done]).all()
    assert (requests.first_token_ps[done] <= requests.finish_ps[done]).all()
    spans = int((requests.finish_ps - requests.first_token_ps)[done].sum())
    if done.all() or (requests.status[~done] == REFUSED).all():
        assert int((result.gap_ps * result.gap_count).sum()) == spans
        assert int(result.gap_count.sum()) == int((inputs.output_tokens[done] - 1).sum())
        assert result.end_ps == (int(requests.finish_ps.max()) if done.any() else 0)
    assert (np.diff(result.gap_ps) > 0).all()
    assert (result.gap_count > 0).all()


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(data=st.data())
def test_the_clock_is_monotone_and_nothing_ends_before_it_starts(kind: str, data: st.DataObject) -> None:
    inputs = data.draw(clusters(kind))
    last = 0
    for now, cluster in instants(inputs):
        assert now >= last
        last = now
        assert all(event[0] >= now for event in cluster.events)
        for replica, batch in in_flight(cluster):
            assert (np.diff(batch.starts_ps) >= batch.duration_ps).all()
            assert batch.starts_ps[0] + batch.duration_ps * replica.inputs.stages <= batch.end_ps
        assert all(replica.in_flight <= replica.inputs.stages for replica in cluster.replicas)


def admissible(cluster: Cluster, replica: Replica) -> bool:
    """Whether a batch could be formed here now."""
    kind = cluster.inputs.scheduler.kind
    if cluster.inputs.scheduler.chunked:
        return chunked_admissible(cluster, replica)
    if kind in SPLITWISE:
        return bool(select(cluster, replica))
    if replica.running or replica.batches or not replica.waiting:
        return bool(replica.running or replica.batches)
    head = replica.waiting[0]
    if kind != "vllm_v1":
        return fits(cluster, replica, head)
    chunk = next_chunk(cluster, head, [])
    return has_place(cluster, replica) and room_to_admit(replica, chunk_blocks(head, chunk, cluster.inputs.scheduler))


def chunked_admissible(cluster: Cluster, replica: Replica) -> bool:
    """A prefill in progress, a decode whose blocks fit or that may join; if no decode lacks blocks, a prompt."""
    decodes = [request for request in replica.running if request.done_tokens == request.target_tokens]
    lacking = [r for r in decodes if growth_blocks(r, cluster.inputs.scheduler) > replica.free_blocks]
    if len(lacking) < len(replica.running):
        return True
    if replica.joining and replica.admitted < cluster.inputs.scheduler.max_batch_size:
        return True
    return not lacking and bool(replica.waiting) and fits(cluster, replica, replica.waiting[0])


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
def test_time_and_energy_add_up(kind: str, data: st.DataObject) -> None:
    inputs = data.draw(clusters(kind))
    result = run(inputs)
    counts = result.replicas
    assert int(result.energy_by_second_nj.sum()) == int(counts.energy_nj.sum())
    assert (counts.kv_peak_tokens <= [r.kv_blocks * inputs.scheduler.block_tokens for r in inputs.replicas]).all()
    if UNFINISHED not in result.requests.status:
        stages = np.array([r.stages for r in inputs.replicas])
        spent = counts.busy_ps.sum(axis=1) + counts.blocked_ps + counts.transfer_wait_ps
        assert (spent <= stages * result.end_ps).all()
        if inputs.transfer.contention:
            assert (counts.nic_busy_ps <= result.end_ps).all()


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


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(data=st.data())
def test_the_same_inputs_give_the_same_run(kind: str, data: st.DataObject) -> None:
    inputs = data.draw(clusters(kind))
    first, second = run(inputs), run(inputs)
    for group in ("requests", "replicas"):
        for field in dataclasses.fields(getattr(first, group)):
            assert np.array_equal(
                getattr(getattr(first, group), field.name), getattr(getattr(second, group), field.name)
            )
    assert np.array_equal(first.gap_ps, second.gap_ps)
    assert np.array_equal(first.energy_by_second_nj, second.energy_by_second_nj)
