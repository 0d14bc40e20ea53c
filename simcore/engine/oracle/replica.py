"""A replica: requests arrive, micro-batches are formed and end. ``sarathi`` and ``vllm`` here; splitwise next door."""

from __future__ import annotations

from simcore.engine.oracle import chunked, sarathi, splitwise, vllm
from simcore.engine.oracle.blocks import give_back
from simcore.engine.oracle.idle import settle_idle
from simcore.engine.oracle.micro_batch import launch
from simcore.engine.oracle.state import Cluster, MicroBatch, Replica, Request
from simcore.engine.oracle.tokens import emit_token, end_prefill, forget_finished

SPLITWISE_KINDS = ("splitwise", "splitwise_baseline")


def arrive(cluster: Cluster, request: Request, now: int) -> None:
    """A routed request joins the queue of its prefill replica, which is woken."""
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
        splitwise.start_iteration(cluster, replica, now)
        return
    settle_idle(replica, now)
    form = sarathi.form if kind == "sarathi" else vllm.form
    while replica.in_flight < replica.inputs.stages:
        members, new_tokens = form(cluster, replica)
        if not members:
            return
        launch(cluster, replica, members, new_tokens, now)


def end_iteration(cluster: Cluster, replica: Replica, batch: MicroBatch, now: int) -> None:
    """Tokens appear; finished requests leave, the others are appended to the running list in the batch's order."""
    replica.in_flight -= 1
    cluster.active -= 1
    replica.idle_since_ps = now
    cluster.due.add(replica.index)
    if cluster.inputs.scheduler.chunked:
        chunked.end_iteration(cluster, replica, batch, now)
        return
    if cluster.inputs.scheduler.kind in SPLITWISE_KINDS:
        splitwise.end_iteration(cluster, replica, batch, now)
        return
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


def advance(cluster: Cluster, request: Request, now: int) -> bool:
    """A token from a decode or from the end of a prompt; True when it was the last."""
    end_prefill(cluster, request)
    finished = emit_token(cluster, request, now)
    if finished:
        forget_finished(cluster, request)
    return finished
