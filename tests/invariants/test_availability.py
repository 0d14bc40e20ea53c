"""What holds on every run in which replicas start late, drain, fail and come up again (docs/invariants.md)."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from simcore.engine.inputs import ClusterInputs
from simcore.engine.oracle.availability import DOWN
from simcore.engine.oracle.blocks import routed_prompt_tokens, routed_tokens
from simcore.engine.oracle.cluster import run
from simcore.engine.oracle.router import could_ever_hold, route
from simcore.engine.oracle.state import Cluster, Replica, Request
from simcore.engine.outputs import FINISHED, NEVER, REFUSED, UNFINISHED
from tests.invariants.admission import EXAMPLES, admissible
from tests.invariants.strategies import CO_LOCATED, KINDS, SPLITWISE, failing_clusters
from tests.invariants.watching import held_blocks, in_flight, instants, times_with_nothing_in_flight


def last_state(inputs: ClusterInputs) -> Cluster:
    """The cluster when nothing can happen any more."""
    *_, (_, cluster) = instants(inputs)
    return cluster


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(data=st.data())
def test_conservation_of_requests_under_failures(kind: str, data: st.DataObject) -> None:
    """Unfinished requests wait for a replica that never comes up again, or for room (faults of output_at_decode and of
    contiguous)."""
    inputs = data.draw(failing_clusters(kind))
    cluster = last_state(inputs)
    for request in cluster.requests:
        if request.status == FINISHED:
            assert request.arrival_ps <= request.first_scheduled_ps < request.first_token_ps <= request.finish_ps
        elif request.status == REFUSED:
            assert not could_ever_hold(cluster, request)
            assert request.prefill_replica == request.first_scheduled_ps == request.finish_ps == NEVER
        else:
            rules = inputs.scheduler
            stuck = rules.reservation == "output_at_decode" or rules.decode_runs == "contiguous"
            stuck = stuck and kind not in CO_LOCATED
            assert stuck or request in cluster.unrouted
    assert all(request.status == UNFINISHED for request in cluster.unrouted)
    assert not cluster.displaced
    assert not any(route(cluster, request) for request in cluster.unrouted)


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(data=st.data())
def test_conservation_of_kv_blocks_under_failures(kind: str, data: st.DataObject) -> None:
    for _, cluster in instants(data.draw(failing_clusters(kind))):
        for replica, held in zip(cluster.replicas, held_blocks(cluster), strict=True):
            assert 0 <= replica.free_blocks == replica.inputs.kv_blocks - held


def counted_by_router(cluster: Cluster, replica: Replica) -> tuple[int, int]:
    """Pending and reserved tokens of the requests that are assigned to the replica."""
    pending = reserved = 0
    for request in cluster.requests:
        if request.status != UNFINISHED:
            continue
        if request.prefill_replica == replica.index:
            pending += 0 if request.prefill_ended else request.target_tokens
            elsewhere = request.displaced or request.decode_replica != replica.index
            reserved += routed_prompt_tokens(request, cluster.inputs.scheduler) * (elsewhere and not request.moved)
        if request.decode_replica == replica.index and not request.displaced:
            pending += 1
            reserved += routed_tokens(request, cluster.inputs.scheduler)
    return pending, reserved


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(data=st.data())
def test_the_router_counts_what_is_there(kind: str, data: st.DataObject) -> None:
    for _, cluster in instants(data.draw(failing_clusters(kind))):
        for replica in cluster.replicas:
            assert (replica.pending_tokens, replica.reserved_tokens) == counted_by_router(cluster, replica)


def places(cluster: Cluster) -> list[tuple[int, int, int]]:
    return [(r.prefill_replica, r.decode_replica, r.preemptions) for r in cluster.requests]


def newly_routed(cluster: Cluster, before: list[tuple[int, int, int]]) -> list[Request]:
    return [
        request
        for request, old, new in zip(cluster.requests, before, places(cluster), strict=True)
        if old != new and request.prefill_replica != NEVER and not request.displaced
    ]


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(data=st.data())
def test_only_what_is_up_is_routed_to_and_nothing_is_on_what_is_down(kind: str, data: st.DataObject) -> None:
    inputs = data.draw(failing_clusters(kind))
    before = [(NEVER, NEVER, 0)] * len(inputs.arrival_ps)
    for _, cluster in instants(inputs):
        up = [replica.index for replica in cluster.replicas if replica.state == "up"]
        assert sorted(cluster.prefill_pool + cluster.decode_pool + cluster.mixed_pool) == up
        for request in newly_routed(cluster, before):
            assert {request.prefill_replica, request.decode_replica} <= set(up)
        before = places(cluster)
        assert all(replica.state not in DOWN for replica, _ in in_flight(cluster))
        for replica in cluster.replicas:
            if replica.state in DOWN:
                assert replica.free_blocks == replica.inputs.kv_blocks
                assert replica.in_flight == replica.admitted == replica.inbound == replica.polls == 0
                queues = (replica.waiting, replica.running, replica.joining, replica.tasks, replica.batch)
                assert not any(queues)
                assert len(replica.present) == len(replica.inbound_waiting) == 0


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(data=st.data())
def test_tokens_are_produced_once_under_failures(kind: str, data: st.DataObject) -> None:
    inputs = data.draw(failing_clusters(kind))
    cluster = last_state(inputs)
    for request in cluster.requests:
        if request.status == FINISHED:
            assert request.generated == request.output_tokens
            assert request.last_token_ps == request.finish_ps
        else:
            assert request.generated < request.output_tokens
    first, end = inputs.window
    measured = cluster.requests[first:end]
    assert sum(cluster.gaps.values()) == sum(max(request.generated - 1, 0) for request in measured)
    spans = sum(request.last_token_ps - request.first_token_ps for request in measured if request.generated)
    assert sum(gap * count for gap, count in cluster.gaps.items()) == spans


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(data=st.data())
def test_no_idle_replica_with_admissible_work_under_failures(kind: str, data: st.DataObject) -> None:
    inputs = data.draw(failing_clusters(kind))
    assume(kind not in SPLITWISE or inputs.scheduler.decode_runs == "stepwise")
    for _, cluster in instants(inputs):
        for replica in cluster.replicas:
            assert replica.in_flight or not admissible(cluster, replica)


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(data=st.data())
def test_stages_are_busy_in_a_bubble_or_without_anything_in_flight_under_failures(
    kind: str, data: st.DataObject
) -> None:
    """What a failure cut is neither busy nor a bubble: over all stages of a replica together."""
    inputs = data.draw(failing_clusters(kind))
    result = run(inputs)
    counts = result.replicas
    assert (counts.bubble_ps >= 0).all()
    for index, empty_ps in enumerate(times_with_nothing_in_flight(inputs, result.busy_until_ps)):
        spent = int(counts.busy_ps[index].sum()) + int(counts.bubble_ps[index].sum())
        assert spent == inputs.replicas[index].stages * (result.busy_until_ps - empty_ps)


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(data=st.data())
def test_time_and_energy_add_up_under_failures(kind: str, data: st.DataObject) -> None:
    inputs = data.draw(failing_clusters(kind))
    result = run(inputs)
    counts = result.replicas
    assert int(result.energy_by_second_nj.sum()) == int(counts.energy_nj.sum())
    assert (counts.energy_nj >= 0).all()
    assert (counts.busy_ps >= 0).all()
    assert (counts.nic_busy_ps >= 0).all()
    last = max([result.end_ps, *(ps for each in inputs.replicas for ps, _ in each.availability)])
    if UNFINISHED not in result.requests.status:
        stages = [each.stages for each in inputs.replicas]
        spent = counts.busy_ps.sum(axis=1) + counts.blocked_ps + counts.transfer_wait_ps
        assert all(used <= number * last for used, number in zip(spent.tolist(), stages, strict=True))
