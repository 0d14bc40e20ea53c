"""A replica: requests arrive, micro-batches are formed and end. ``sarathi`` and ``vllm`` here; splitwise next door."""

from __future__ import annotations

from simcore.engine.fast import chunked, sarathi, splitwise, vllm
from simcore.engine.fast.blocks import give_back
from simcore.engine.fast.due import make_due
from simcore.engine.fast.energy import add_batch_energy
from simcore.engine.fast.idle import settle_idle
from simcore.engine.fast.jit import step
from simcore.engine.fast.micro_batch import launch, leave_flight, next_flight
from simcore.engine.fast.names import SARATHI, SPLITWISE_BASELINE
from simcore.engine.fast.queues import free_slot, push_waiting
from simcore.engine.fast.running import append_running
from simcore.engine.fast.state import (
    Cluster,
    Replica,
    Request,
    flight_at,
    members_of,
    new_tokens_of,
    replica_at,
    request_at,
)
from simcore.engine.fast.tokens import emit_token, end_prefill, forget_finished


@step
def is_splitwise(cluster: Cluster) -> bool:
    """Whether the kind is one of the splitwise kinds."""
    return cluster.kind >= SPLITWISE_BASELINE


@step
def arrive(cluster: Cluster, slot: int, now: int) -> None:
    """A routed request joins the queue of its prefill replica, which is woken."""
    if cluster.chunked > 0:
        chunked.arrive(cluster, slot, now)
        return
    if is_splitwise(cluster):
        splitwise.arrive(cluster, slot, now)
        return
    replica = replica_at(cluster, request_at(cluster, slot).prefill_replica)
    settle_idle(replica, now)
    push_waiting(cluster, replica, slot)
    if cluster.one_by_one > 0 and replica.due == 0:
        start_iterations(cluster, replica, now)
    else:
        make_due(cluster, replica)


@step
def start_iterations(cluster: Cluster, replica: Replica, now: int) -> None:
    """Form micro-batches from what is not in flight while fewer than one a stage are."""
    if cluster.chunked > 0:
        chunked.start_iterations(cluster, replica, now)
        return
    if is_splitwise(cluster):
        splitwise.start_iteration(cluster, replica, now)
        return
    settle_idle(replica, now)
    while replica.in_flight < replica.stages:
        flight = next_flight(replica)
        if cluster.kind == SARATHI:
            members = sarathi.form(cluster, replica, flight)
        else:
            members = vllm.form(cluster, replica, flight)
        if members == 0:
            return
        launch(cluster, replica, members, now)


@step
def end_iteration(cluster: Cluster, replica: Replica, now: int) -> None:
    """Tokens appear; finished requests leave, the others are appended to the running list in the batch's order."""
    flight = leave_flight(cluster, replica)
    add_batch_energy(cluster, replica, flight)
    replica.idle_since_ps = now
    make_due(cluster, replica)
    if cluster.chunked > 0:
        chunked.end_iteration(cluster, replica, flight, now)
        return
    if is_splitwise(cluster):
        splitwise.end_iteration(cluster, replica, flight, now)
        return
    for i in range(flight_at(cluster, replica, flight).members):
        slot = members_of(cluster, replica, flight)[i]
        request = request_at(cluster, slot)
        request.done_tokens += new_tokens_of(cluster, replica, flight)[i]
        if request.done_tokens == request.target_tokens and advance(cluster, request, now):
            replica.admitted -= 1
            give_back(replica, request)
            free_slot(cluster, slot)
        else:
            append_running(cluster, replica, slot)


@step
def end_transfer(cluster: Cluster, slot: int, now: int) -> None:
    """KV has come to a decode replica."""
    if cluster.chunked > 0:
        chunked.end_transfer(cluster, slot, now)
    else:
        splitwise.end_transfer(cluster, slot, now)


@step
def advance(cluster: Cluster, request: Request, now: int) -> bool:
    """A token from a decode or from the end of a prompt; True when it was the last."""
    end_prefill(cluster, request)
    finished = emit_token(cluster, request, now)
    if finished:
        forget_finished(cluster, request)
    return finished
