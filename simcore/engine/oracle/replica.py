"""A replica: requests arrive, micro-batches are formed and end. What is in one: the file of the scheduler's kind.

The splitwise kinds have their own queues (``splitwise.py``), and ``request_level`` its own end of an iteration.
"""

from __future__ import annotations

from simcore.engine.oracle import chunked, orca, request_level, sarathi, splitwise, vllm, vllm_v1
from simcore.engine.oracle.blocks import give_back
from simcore.engine.oracle.bubbles import count_bubbles
from simcore.engine.oracle.energy import add_batch_energy
from simcore.engine.oracle.idle import settle_idle
from simcore.engine.oracle.iteration_log import log_iteration
from simcore.engine.oracle.micro_batch import launch
from simcore.engine.oracle.state import Cluster, MicroBatch, Replica, Request
from simcore.engine.oracle.tokens import advance

SPLITWISE_KINDS = ("splitwise", "splitwise_baseline")
FORMS = {
    "sarathi": sarathi.form,
    "vllm": vllm.form,
    "vllm_v1": vllm_v1.form,
    "orca": orca.form,
    "request_level": request_level.form,
}


def arrive(cluster: Cluster, request: Request, now: int) -> None:
    """A routed request joins the queue of its prefill replica, which is woken."""
    request.routed_ps = now
    if cluster.inputs.scheduler.chunked:
        chunked.arrive(cluster, request, now)
        return
    if cluster.inputs.scheduler.kind in SPLITWISE_KINDS:
        splitwise.arrive(cluster, request, now)
        return
    replica = cluster.replicas[request.prefill_replica]
    settle_idle(replica, now)
    replica.waiting.append(request)
    if cluster.inputs.scheduler.simultaneous_arrivals == "one_by_one" and replica.index not in cluster.due:
        start_iterations(cluster, replica, now)
    else:
        cluster.due.add(replica.index)


def start_iterations(cluster: Cluster, replica: Replica, now: int) -> None:
    """Form micro-batches from what is not in flight while fewer than one a stage are."""
    kind = cluster.inputs.scheduler.kind
    if cluster.inputs.scheduler.chunked:
        chunked.start_iterations(cluster, replica, now)
        return
    if kind in SPLITWISE_KINDS:
        splitwise.start_iterations(cluster, replica, now)
        return
    settle_idle(replica, now)
    while replica.in_flight < replica.inputs.stages:
        members, new_tokens = FORMS[kind](cluster, replica)
        if not members:
            return
        launch(cluster, replica, members, new_tokens, now)


def end_iteration(cluster: Cluster, replica: Replica, batch: MicroBatch, now: int) -> None:
    """A micro-batch has passed its stages; the replica may form one again."""
    if replica.inputs.stages > 1:
        count_bubbles(replica, batch, now)
    replica.in_flight -= 1
    cluster.active -= 1
    cluster.busy_until_ps = now
    add_batch_energy(cluster, replica, batch, now)
    log_iteration(cluster, replica, batch, now)
    replica.idle_since_ps = now
    cluster.due.add(replica.index)
    kind = cluster.inputs.scheduler.kind
    if cluster.inputs.scheduler.chunked:
        chunked.end_iteration(cluster, replica, batch, now)
    elif kind in SPLITWISE_KINDS:
        splitwise.end_iteration(cluster, replica, batch, now)
    elif kind == "request_level":
        request_level.end_iteration(cluster, replica, batch, now)
    else:
        end_members(cluster, replica, batch, now)


def end_members(cluster: Cluster, replica: Replica, batch: MicroBatch, now: int) -> None:
    """Tokens appear; finished requests leave, the others are appended to the running list in the batch's order."""
    for request, new in zip(batch.members, batch.new_tokens, strict=True):
        request.done_tokens += new
        if request.done_tokens == request.target_tokens and advance(cluster, request, now):
            replica.admitted -= 1
            give_back(replica, request)
        else:
            replica.running.append(request)


def end_transfer(cluster: Cluster, request: Request, now: int) -> None:
    """KV has come to a decode replica."""
    if cluster.inputs.scheduler.chunked:
        chunked.end_transfer(cluster, request, now)
    else:
        splitwise.end_transfer(cluster, request, now)
