"""Kind ``splitwise`` with ``chunked``: prefill, decode and mixed machines that select as Sarathi-Serve does.

The rules are the oracle's.
"""

from __future__ import annotations

from simcore.engine.fast import sarathi
from simcore.engine.fast.blocks import give_back, growth_blocks, routed_prompt_tokens, take
from simcore.engine.fast.chunkwise import reserve_for_chunks, send_chunk
from simcore.engine.fast.displaced import end_displaced
from simcore.engine.fast.due import make_due
from simcore.engine.fast.flight_state import flight_at, members_of, new_tokens_of
from simcore.engine.fast.group import dissolve, end_step, join_group
from simcore.engine.fast.group_state import group_at
from simcore.engine.fast.idle import settle_idle
from simcore.engine.fast.jit import step
from simcore.engine.fast.loads import WAITING, add_reserved, note_load
from simcore.engine.fast.micro_batch import launch, next_flight
from simcore.engine.fast.next_end import note_next_end
from simcore.engine.fast.pools import return_home
from simcore.engine.fast.queues import free_slot, pop_joining, push_joining, push_waiting
from simcore.engine.fast.replica_state import Replica, replica_at, running_of
from simcore.engine.fast.request_state import Request, request_at
from simcore.engine.fast.running import append_running
from simcore.engine.fast.runs import stretch
from simcore.engine.fast.state import Cluster
from simcore.engine.fast.tokens import advance
from simcore.engine.fast.transfer import finish_transfer, send_whole, start_waiting_transfers


@step
def arrive(cluster: Cluster, slot: int, now: int) -> None:
    """A routed request joins the waiting queue of its prefill replica, which is woken."""
    replica = replica_at(cluster, request_at(cluster, slot).prefill_replica)
    settle_idle(replica, now)
    push_waiting(cluster, replica, slot)
    wake(cluster, replica, now)


@step
def end_transfer(cluster: Cluster, slot: int, now: int) -> None:
    """KV has come: the request joins its decode replica; then the source, with room again, is woken."""
    request = request_at(cluster, slot)
    finish_transfer(cluster, request, now)
    replica, source = replica_at(cluster, request.decode_replica), replica_at(cluster, request.prefill_replica)
    push_joining(cluster, replica, slot)
    wake(cluster, replica, now)
    wake(cluster, source, now)


@step
def wake(cluster: Cluster, replica: Replica, now: int) -> None:
    """Have a replica look for a micro-batch: at the end of this instant, or at once."""
    if cluster.one_by_one > 0 and replica.due == 0:
        start_iterations(cluster, replica, now)
    else:
        make_due(cluster, replica)


@step
def start_iterations(cluster: Cluster, replica: Replica, now: int) -> None:
    """Form micro-batches while fewer than one a stage are in flight; a machine without requests goes home."""
    settle_idle(replica, now)
    while replica.in_flight < replica.stages:
        flight = next_flight(replica)
        members = form(cluster, replica, flight)
        if members == 0:
            break
        launch(cluster, replica, members, now)
        reserve_for_chunks(cluster, replica, flight, now)
        if replica.running == 0:
            stretch(cluster, replica, flight)
    note_next_end(cluster, replica)
    if replica.in_flight + replica.running + replica.joining + replica.waiting == 0:
        return_home(cluster, replica)


@step
def form(cluster: Cluster, replica: Replica, flight: int) -> int:
    """Put the next micro-batch's members in place; returns how many."""
    join_running(cluster, replica)
    members, looked_at, passed, lacks_blocks = add_decodes(cluster, replica, flight)
    # among those passed a decode has no prompt left and so gets no chunk
    members, spent = sarathi.add_prefills_in_progress(cluster, replica, flight, members, looked_at, passed)
    if not lacks_blocks:
        members = sarathi.add_new_requests(cluster, replica, flight, members, spent)
    replica.left_over = replica.running
    note_load(cluster, replica, WAITING)
    return members


@step
def join_running(cluster: Cluster, replica: Replica) -> None:
    """Decodes whose KV has come, while fewer than max_batch_size are admitted."""
    while replica.joining > 0 and replica.admitted < cluster.max_batch_size:
        append_running(cluster, replica, pop_joining(cluster, replica))
        replica.admitted += 1


@step
def add_decodes(cluster: Cluster, replica: Replica, flight: int) -> tuple[int, int, int, bool]:
    """Take decodes from the front of the running list, each with its KV; those of the group are there already.

    What is passed on the way, prefills and decodes without room, is gathered at the front of the list. Returns the
    members, how much of the list was looked at, how many were passed, and whether a decode was among them.
    """
    group = group_at(cluster, flight)
    if group.members > 0 and replica.stages > 1 and has_decode_in_front(cluster, replica):
        group.in_front = replica.left_over
        dissolve(cluster, replica, group)
    members, looked_at, passed, lacks_blocks = group.members, 0, 0, False
    size, in_front = replica.micro_batch_size, replica.left_over if group.members > 0 else 0
    while looked_at < replica.running and (members < size or looked_at < in_front):
        slot = running_of(cluster, replica)[looked_at]
        looked_at += 1
        request = request_at(cluster, slot)
        is_prefill = request.done_tokens < request.target_tokens
        if not is_prefill and grow(cluster, replica, request):
            join_group(cluster, group, slot)
            members += 1
        else:
            running_of(cluster, replica)[passed] = slot
            passed += 1
            lacks_blocks = lacks_blocks or not is_prefill
    flight_at(cluster, flight).grouped = group.members
    return members, looked_at, passed, lacks_blocks


@step
def has_decode_in_front(cluster: Cluster, replica: Replica) -> bool:
    """Whether a decode was left over, which stands before the group and may take a place of the micro-batch."""
    for i in range(replica.left_over):
        request = request_at(cluster, running_of(cluster, replica)[i])
        if request.done_tokens == request.target_tokens:
            return True
    return False


@step
def grow(cluster: Cluster, replica: Replica, request: Request) -> bool:
    """Give a decode the blocks that it lacks, if there are so many."""
    blocks = growth_blocks(request, cluster)
    if blocks > replica.free_blocks:
        return False
    request.blocks += blocks
    take(replica, blocks)
    return True


@step
def end_iteration(cluster: Cluster, replica: Replica, flight: int, now: int) -> None:
    """Chunks and tokens, in the batch's order; ended prompts go on their way; freed KV goes to waiting transfers."""
    batch = flight_at(cluster, flight)
    if batch.grouped > 0:
        end_step(cluster, replica, group_at(cluster, flight), now)
    for i in range(batch.first, batch.first + batch.members):
        slot = members_of(cluster, flight)[i]
        request = request_at(cluster, slot)
        new = new_tokens_of(cluster, flight)[i]
        if request.displaced > 0:
            end_displaced(cluster, replica, slot, new, now)
            continue
        request.done_tokens += new
        if request.done_tokens < request.target_tokens:
            append_running(cluster, replica, slot)
            if request.sent_by_chunk > 0:
                send_chunk(cluster, slot, now)
        else:
            end_phase(cluster, replica, slot, now)
    start_waiting_transfers(cluster, replica, now)


@step
def end_phase(cluster: Cluster, replica: Replica, slot: int, now: int) -> None:
    """A token from a decode or from the end of a prompt; then the request is done, decodes on here, or is sent."""
    request = request_at(cluster, slot)
    if advance(cluster, request, now):
        leave(cluster, replica, slot)
    elif request.decode_replica == replica.index:
        append_running(cluster, replica, slot)
    else:
        replica.admitted -= 1
        send_kv(cluster, slot, now)


@step
def send_kv(cluster: Cluster, slot: int, now: int) -> None:
    """An ended prompt's last chunk, or all of it."""
    if request_at(cluster, slot).sent_by_chunk > 0:
        send_chunk(cluster, slot, now)
    else:
        send_whole(cluster, slot, now)


@step
def leave(cluster: Cluster, replica: Replica, slot: int) -> None:
    """A finished request frees its KV."""
    request = request_at(cluster, slot)
    replica.admitted -= 1
    if request.decode_replica != replica.index:
        add_reserved(cluster, replica, -routed_prompt_tokens(request, cluster))
    give_back(replica, request)
    free_slot(cluster, slot)
