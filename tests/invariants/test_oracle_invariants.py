"""What every run of the oracle keeps: requests, KV blocks, tokens, time and energy."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from simcore.engine.inputs import ClusterInputs, SchedulerInputs
from simcore.engine.oracle.blocks import blocks_of
from simcore.engine.oracle.cluster import run
from simcore.engine.oracle.state import Request
from simcore.engine.outputs import FINISHED, NEVER, REFUSED, UNFINISHED
from tests.invariants.admission import EXAMPLES
from tests.invariants.strategies import CHUNKED, CO_LOCATED, KINDS, SPLITWISE, clusters
from tests.invariants.watching import held_blocks, in_flight, instants


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
