"""A replica: requests arrive, micro-batches are formed and end. What is in one: the file of the scheduler's kind.

The splitwise kinds have their own queues (``splitwise.py``), and ``request_level`` its own end of an iteration.
"""

from __future__ import annotations

from simcore.engine.fast import chunked, orca, request_level, sarathi, splitwise, vllm, vllm_v1
from simcore.engine.fast.bubbles import count_bubbles
from simcore.engine.fast.due import make_due
from simcore.engine.fast.energy import add_batch_energy
from simcore.engine.fast.flight_state import flight_at, members_of, new_tokens_of
from simcore.engine.fast.group import end_step, join_group, leave_replica
from simcore.engine.fast.group_state import group_at
from simcore.engine.fast.idle import settle_idle
from simcore.engine.fast.iteration_log import log_iteration
from simcore.engine.fast.jit import step
from simcore.engine.fast.micro_batch import launch, leave_flight, next_flight
from simcore.engine.fast.names import ORCA, REQUEST_LEVEL, SARATHI, SPLITWISE_BASELINE, VLLM
from simcore.engine.fast.next_end import note_next_end, set_next_end
from simcore.engine.fast.queues import push_waiting
from simcore.engine.fast.replica_state import Replica, replica_at
from simcore.engine.fast.request_state import request_at
from simcore.engine.fast.running import append_running
from simcore.engine.fast.runs import boundary_ps, fold, steps_over, stretch
from simcore.engine.fast.state import Cluster
from simcore.engine.fast.tokens import advance


@step
def is_splitwise(cluster: Cluster) -> bool:
    """Whether the kind is one of the splitwise kinds."""
    return cluster.kind >= SPLITWISE_BASELINE


@step
def comes_into_question(cluster: Cluster, replica: Replica) -> bool:
    """Whether a newcomer may be chosen at the next boundary: not behind others that wait and were not chosen at the
    last one, and not beside a batch that nobody joins."""
    return is_splitwise(cluster) or (replica.waiting == 0 and cluster.kind != REQUEST_LEVEL)


@step
def catch_up(cluster: Cluster, replica: Replica, now: int) -> None:
    """Before something comes to a replica: of a run only the iteration in progress is left in flight. If one ends just
    now, it ends before what comes."""
    flight = replica.first_flight
    batch = flight_at(cluster, flight)
    if replica.in_flight == 0 or batch.steps == 1:
        return
    steps = steps_over(cluster, replica, batch, now)
    ends_now = steps > 0 and boundary_ps(cluster, replica, batch, steps) == now
    fold(cluster, replica, flight, steps - int(ends_now))
    batch.steps = 1
    batch.end_ps = batch.start_ps + batch.duration_ps
    set_next_end(cluster, replica, batch.end_ps)
    if ends_now:
        end_iteration(cluster, replica, now)


@step
def arrive(cluster: Cluster, slot: int, now: int) -> None:
    """A routed request joins the queue of its prefill replica, which is woken."""
    request_at(cluster, slot).routed_ps = now
    replica = replica_at(cluster, request_at(cluster, slot).prefill_replica)
    if comes_into_question(cluster, replica):
        catch_up(cluster, replica, now)
    if cluster.chunked > 0:
        chunked.arrive(cluster, slot, now)
        return
    if is_splitwise(cluster):
        splitwise.arrive(cluster, slot, now)
        return
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
        splitwise.start_iterations(cluster, replica, now)
        return
    settle_idle(replica, now)
    while replica.in_flight < replica.stages:
        if cluster.kind == VLLM:
            vllm.prepare(cluster, replica)
        flight, preempted = next_flight(replica), replica.preempted
        flight_at(cluster, flight).grouped = 0
        members = form(cluster, replica, flight)
        if members == 0:
            break
        launch(cluster, replica, members, now)
        if replica.running == 0 and replica.preempted == preempted:
            stretch(cluster, replica, flight)
    note_next_end(cluster, replica)


@step
def form(cluster: Cluster, replica: Replica, flight: int) -> int:
    """Put the next micro-batch's members in place by the rules of the kind; returns how many."""
    if cluster.kind == SARATHI:
        return sarathi.form(cluster, replica, flight)
    if cluster.kind == VLLM:
        return vllm.form(cluster, replica, flight)
    if cluster.kind == ORCA:
        return orca.form(cluster, replica, flight)
    if cluster.kind == REQUEST_LEVEL:
        return request_level.form(cluster, replica, flight)
    return vllm_v1.form(cluster, replica, flight)


@step
def end_iteration(cluster: Cluster, replica: Replica, now: int) -> None:
    """A micro-batch has passed its stages; the replica may form one again."""
    if replica.stages > 1:
        count_bubbles(cluster, replica, now)
    steps = flight_at(cluster, replica.first_flight).steps
    if steps > 1:
        fold(cluster, replica, replica.first_flight, steps - 1)
    flight = leave_flight(cluster, replica)
    note_next_end(cluster, replica)
    add_batch_energy(cluster, replica, flight, now)
    log_iteration(cluster, replica, flight_at(cluster, flight), now)
    replica.idle_since_ps = now
    make_due(cluster, replica)
    if cluster.chunked > 0:
        chunked.end_iteration(cluster, replica, flight, now)
    elif is_splitwise(cluster):
        splitwise.end_iteration(cluster, replica, flight, now)
    elif cluster.kind == REQUEST_LEVEL:
        request_level.end_iteration(cluster, replica, flight, now)
    else:
        end_members(cluster, replica, flight, now)


@step
def end_members(cluster: Cluster, replica: Replica, flight: int, now: int) -> None:
    """Tokens appear; finished requests leave, the others are appended to the running list in the batch's order."""
    batch, group = flight_at(cluster, flight), group_at(cluster, flight)
    group.in_front = replica.running
    if batch.grouped > 0:
        end_step(cluster, replica, group, now)
    for i in range(batch.first, batch.first + batch.members):
        slot = members_of(cluster, flight)[i]
        request = request_at(cluster, slot)
        request.done_tokens += new_tokens_of(cluster, flight)[i]
        if request.done_tokens < request.target_tokens:
            append_running(cluster, replica, slot)
        elif advance(cluster, request, now):
            leave_replica(cluster, replica, group, slot)
        else:
            join_group(cluster, group, slot)


@step
def end_transfer(cluster: Cluster, slot: int, now: int) -> None:
    """KV has come to a decode replica."""
    request = request_at(cluster, slot)
    catch_up(cluster, replica_at(cluster, request.decode_replica), now)
    catch_up(cluster, replica_at(cluster, request.prefill_replica), now)
    if cluster.chunked > 0:
        chunked.end_transfer(cluster, slot, now)
    else:
        splitwise.end_transfer(cluster, slot, now)
