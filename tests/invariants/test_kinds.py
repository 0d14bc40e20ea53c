"""What holds on every run of one kind: the order of vLLM V1, Orca's full batches, FasterTransformer's closed ones."""

from __future__ import annotations

import dataclasses

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simcore.engine.inputs import ClusterInputs
from simcore.engine.oracle.cluster import run
from simcore.engine.outputs import FINISHED
from tests.clusters import cluster, replica, scheduler
from tests.invariants.strategies import clusters, curves
from tests.invariants.watching import in_flight, instants

EXAMPLES = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
WHOLE = ("full_output", "max_length")


@st.composite
def tight(draw: st.DrawFn) -> ClusterInputs:
    """Requests of like size at once, under vLLM V1 with KV for scarcely more than two of them, taken as tokens
    appear."""
    lengths = st.tuples(st.sampled_from([0, 0, 1]), st.integers(10, 30), st.integers(5, 40))
    rows = draw(st.lists(lengths, min_size=3, max_size=10).map(sorted))
    policy = scheduler("vllm_v1", token_budget=draw(st.sampled_from([8, 37, 256])), block_tokens=4, max_batch_size=64)
    kv_blocks = draw(st.integers(18, 40))
    return cluster(policy, rows, [replica(curve=draw(curves()), kv_blocks=kv_blocks, stages=draw(st.integers(1, 3)))])


@EXAMPLES
@given(data=st.data())
def test_vllm_v1_runs_those_admitted_first(data: st.DataObject) -> None:
    """A micro-batch is in order of admission; with one stage, whoever is left over was admitted after all of it."""
    for _, state in instants(data.draw(tight())):
        for machine, batch in in_flight(state):
            numbers = [request.admission for request in batch.members]
            assert numbers == sorted(numbers)
            left_over = [request.admission for request in machine.running]
            assert machine.inputs.stages > 1 or min(left_over, default=numbers[-1] + 1) > numbers[-1]


@EXAMPLES
@given(data=st.data())
def test_vllm_v1_preempts_the_newest(data: st.DataObject) -> None:
    """With one stage, whoever lost its KV in an instant had been admitted after all others admitted before it that run
    now."""
    inputs = data.draw(tight())
    one_stage = dataclasses.replace(inputs, replicas=(dataclasses.replace(inputs.replicas[0], stages=1),))
    admission, preemptions, admissions = {}, dict.fromkeys(range(len(inputs.arrival_ps)), 0), 0
    for _, state in instants(one_stage):
        lost = [admission[r.index] for r in state.requests if r.preemptions > preemptions[r.index]]
        for _, batch in in_flight(state):
            stayed = [request.admission for request in batch.members if request.admission <= admissions]
            assert max(stayed, default=0) < min(lost, default=admissions + 1)
        admission = {request.index: request.admission for request in state.requests}
        preemptions = {request.index: request.preemptions for request in state.requests}
        admissions = state.replicas[0].admissions


@EXAMPLES
@given(data=st.data())
def test_orca_leaves_no_decode_out_and_preempts_nobody(data: st.DataObject) -> None:
    """With one stage every running request is in each batch. Where reservations are whole nobody loses KV."""
    inputs = data.draw(clusters("orca"))
    for _, state in instants(inputs):
        for machine, _ in in_flight(state):
            assert machine.inputs.stages > 1 or not machine.running
    if inputs.scheduler.reservation in WHOLE:
        assert (run(inputs).requests.preemptions == 0).all()


@EXAMPLES
@given(data=st.data())
def test_nobody_joins_a_request_level_batch(data: st.DataObject) -> None:
    """At most one batch a stage exists, all of prompts or all of decodes; with one stage a batch starts only when all
    of the batch before are finished."""
    inputs = data.draw(clusters("request_level"))
    for _, state in instants(inputs):
        for machine, batch in in_flight(state):
            assert all(batch.new_tokens) or not any(batch.new_tokens)
            assert machine.in_flight + len(machine.batches) <= machine.inputs.stages
    requests = run(inputs).requests
    for index, machine in enumerate(inputs.replicas):
        here = (requests.prefill_replica == index) & (requests.status == FINISHED) & (machine.stages == 1)
        for start in set(requests.first_scheduled_ps[here].tolist()):
            earlier = here & (requests.first_scheduled_ps < start)
            assert (requests.finish_ps[earlier] <= start).all()
