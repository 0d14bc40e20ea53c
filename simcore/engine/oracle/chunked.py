"""Kind ``splitwise`` with ``chunked``: prefill, decode and mixed machines that select as Sarathi-Serve does.

Routing, moves between the pools and their return are those of kind ``splitwise``. A machine selects whenever fewer
micro-batches than it has stages are in flight, under ``token_budget``:

1. decodes whose KV has come join the end of the running list, first come first served, while fewer than max_batch_size
   are admitted (prompts from admission to their end, decodes to theirs);
2. decodes, one token each, never held back by the budget. Nothing is preempted, for a decode machine could not
   recompute: a decode whose blocks do not fit is left over and looked at the next time;
3. prefills in progress, then new prompts, first come first served, as in ``sarathi.py``. While a decode lacks blocks
   no new prompt is admitted (with ``sarathi`` the preempted one would be in front of them).

A prompt that has ended decodes here or its KV is sent. ``ageing`` and ``decode_runs`` mean nothing here.
"""

from __future__ import annotations

from simcore.engine.oracle import sarathi
from simcore.engine.oracle.blocks import give_back, growth_blocks, routed_prompt_tokens, take
from simcore.engine.oracle.chunkwise import reserve_for_chunks, send_chunk
from simcore.engine.oracle.displaced import end_displaced
from simcore.engine.oracle.idle import settle_idle
from simcore.engine.oracle.micro_batch import launch
from simcore.engine.oracle.preemption import micro_batch_size
from simcore.engine.oracle.router import return_home
from simcore.engine.oracle.state import Cluster, MicroBatch, Replica, Request
from simcore.engine.oracle.tokens import advance
from simcore.engine.oracle.transfer import finish_transfer, send_whole, start_waiting_transfers


def arrive(cluster: Cluster, request: Request, now: int) -> None:
    """A routed request joins the waiting queue of its prefill replica, which is woken."""
    replica = cluster.replicas[request.prefill_replica]
    settle_idle(replica, now)
    replica.waiting.append(request)
    wake(cluster, replica, now)


def end_transfer(cluster: Cluster, request: Request, now: int) -> None:
    """KV has come: the request joins its decode replica; then the source, with room again, is woken."""
    finish_transfer(cluster, request, now)
    replica = cluster.replicas[request.decode_replica]
    replica.joining.append(request)
    wake(cluster, replica, now)
    wake(cluster, cluster.replicas[request.prefill_replica], now)


def wake(cluster: Cluster, replica: Replica, now: int) -> None:
    """Have a replica look for a micro-batch: at the end of this instant, or at once."""
    if cluster.inputs.scheduler.simultaneous_arrivals == "one_by_one" and replica.index not in cluster.due:
        start_iterations(cluster, replica, now)
    else:
        cluster.due.add(replica.index)


def start_iterations(cluster: Cluster, replica: Replica, now: int) -> None:
    """Form micro-batches while fewer than one a stage are in flight; a machine without requests goes home."""
    settle_idle(replica, now)
    while replica.in_flight < replica.inputs.stages:
        members, new_tokens = form(cluster, replica)
        if not members:
            break
        reserve_for_chunks(cluster, launch(cluster, replica, members, new_tokens, now), now)
    if not (replica.in_flight or replica.running or replica.joining or replica.waiting):
        return_home(cluster, replica)


def form(cluster: Cluster, replica: Replica) -> tuple[list[Request], list[int]]:
    """The next micro-batch's members and each one's new prompt tokens (0: a decode)."""
    members: list[Request] = []
    new_tokens: list[int] = []
    join_running(cluster, replica)
    passed, lacks_blocks = add_decodes(cluster, replica, members, new_tokens)
    # among those passed a decode has no prompt left and so gets no chunk
    left_over = sarathi.add_prefills_in_progress(cluster, passed, members, new_tokens)
    replica.running = sorted(left_over + replica.running, key=lambda request: request.routed_ps)
    if not lacks_blocks:
        sarathi.add_new_requests(cluster, replica, members, new_tokens)
    replica.left_over = len(replica.running)
    return members, new_tokens


def join_running(cluster: Cluster, replica: Replica) -> None:
    """Rule 1."""
    while replica.joining and replica.admitted < cluster.inputs.scheduler.max_batch_size:
        replica.running.append(replica.joining.popleft())
        replica.admitted += 1


def add_decodes(
    cluster: Cluster, replica: Replica, members: list[Request], new_tokens: list[int]
) -> tuple[list[Request], bool]:
    """Take decodes from the front of the running list, each with its KV.

    Returns what was passed on the way, prefills and decodes without room, and whether there was one of the latter.
    """
    passed = []
    lacks_blocks = False
    size = micro_batch_size(cluster, replica)
    while replica.running and len(members) < size:
        request = replica.running.pop(0)
        if request.done_tokens < request.target_tokens:
            passed.append(request)
        elif grow(cluster, replica, request):
            members.append(request)
            new_tokens.append(0)
        else:
            passed.append(request)
            lacks_blocks = True
    return passed, lacks_blocks


def grow(cluster: Cluster, replica: Replica, request: Request) -> bool:
    """Give a decode the blocks that it lacks, if there are so many."""
    blocks = growth_blocks(request, cluster.inputs.scheduler)
    if blocks > replica.free_blocks:
        return False
    request.blocks += blocks
    take(replica, blocks)
    return True


def end_iteration(cluster: Cluster, replica: Replica, batch: MicroBatch, now: int) -> None:
    """Chunks and tokens, in the batch's order; ended prompts go on their way; freed KV goes to waiting transfers."""
    for request, new in zip(batch.members, batch.new_tokens, strict=True):
        if request.displaced:
            end_displaced(cluster, replica, request, new, now)
            continue
        request.done_tokens += new
        if request.done_tokens < request.target_tokens:
            replica.running.append(request)
            if request.sent_by_chunk:
                send_chunk(cluster, request, now)
        else:
            end_phase(cluster, replica, request, now)
    start_waiting_transfers(cluster, replica, now)


def end_phase(cluster: Cluster, replica: Replica, request: Request, now: int) -> None:
    """A token from a decode or from the end of a prompt; then the request is done, decodes on here, or is sent."""
    if advance(cluster, request, now):
        leave(cluster, replica, request)
    elif request.decode_replica == replica.index:
        replica.running.append(request)
    else:
        replica.admitted -= 1
        send_kv(cluster, request, now)


def send_kv(cluster: Cluster, request: Request, now: int) -> None:
    """An ended prompt's last chunk, or all of it."""
    if request.sent_by_chunk:
        send_chunk(cluster, request, now)
    else:
        send_whole(cluster, request, now)


def leave(cluster: Cluster, replica: Replica, request: Request) -> None:
    """A finished request frees its KV."""
    replica.admitted -= 1
    if request.decode_replica != replica.index:
        replica.reserved_tokens -= routed_prompt_tokens(request, cluster.inputs.scheduler)
    give_back(replica, request)
