"""KV transfer from a prefill replica to a decode replica: room first, then the two NICs, first come first.

The rules are the oracle's. Transfers under way are a heap by (end, order of start); those that poll are a queue, for
all poll at one interval.
"""

from __future__ import annotations

from simcore.engine.fast.blocks import (
    blocks_of,
    give_back,
    held_tokens,
    room_to_admit,
    routed_prompt_tokens,
    take,
    transfer_tokens,
)
from simcore.engine.fast.flight_state import flight_at, members_of, new_tokens_of
from simcore.engine.fast.idle import settle_idle
from simcore.engine.fast.jit import inlined, step
from simcore.engine.fast.loads import add_reserved
from simcore.engine.fast.names import LAYERWISE
from simcore.engine.fast.replica_state import Replica, replica_at
from simcore.engine.fast.request_state import Request, request_at
from simcore.engine.fast.state import FOREVER, NONE, Cluster
from simcore.engine.fast.transfer_heap import keep_transfers, push_transfer
from simcore.transfer import WHOLE_BELOW_TOKENS

NOTHING, WAITING, POLLING, UNDER_WAY = 0, 1, 2, 3
"""``Request.sending``."""


@step
def ps_per_token(cluster: Cluster, request: Request) -> int:
    """At the slower NIC of the two, unless the case gives one bandwidth for all."""
    given = cluster.transfer_ps_per_token
    if given > 0:
        return given
    source, destination = replica_at(cluster, request.prefill_replica), replica_at(cluster, request.decode_replica)
    return max(source.transfer_ps_per_token, destination.transfer_ps_per_token)


@step
def sent_tokens(cluster: Cluster, request: Request) -> int:
    """What a transfer sends, in tokens of all layers: a windowed layer's KV of the prompt's last tokens only."""
    return held_tokens(request.target_tokens, cluster)


@step
def is_sent(request: Request) -> bool:
    """At a prefill's start: whether there will be anything to send, a decode elsewhere. The last token has none."""
    return request.prefill_replica != request.decode_replica and request.generated + 1 < request.output_tokens


@step
def send_by_layer(cluster: Cluster, replica: Replica, flight: int, now: int) -> None:
    """When prefills are formed into a micro-batch: start the layer-wise transfers that have room."""
    if cluster.transfer_mode != LAYERWISE:
        return
    batch = flight_at(cluster, flight)
    for i in range(batch.first, batch.first + batch.members):
        slot = members_of(cluster, flight)[i]
        request = request_at(cluster, slot)
        new = new_tokens_of(cluster, flight)[i]
        long_enough = request.target_tokens >= WHOLE_BELOW_TOKENS
        if new > 0 and long_enough and is_sent(request) and has_room(cluster, request):
            start_ps = batch.start_ps
            settle_idle(replica_at(cluster, request.decode_replica), now)
            request.sent_by_layer = 1
            layers = cluster.layers
            first_layer_ps = -(-batch.duration_ps * replica.stages // layers)
            last_layer_ps = -(-sent_tokens(cluster, request) * ps_per_token(cluster, request) // layers)
            start_transfer(cluster, slot, start_ps + first_layer_ps, batch.end_ps + last_layer_ps)


@step
def send_whole(cluster: Cluster, slot: int, now: int) -> None:
    """At the end of a prefill: start its transfer, or have it wait for room, first come first or by polls."""
    request = request_at(cluster, slot)
    if request.sent_by_layer > 0:
        return
    destination = replica_at(cluster, request.decode_replica)
    settle_idle(destination, now)
    if has_room(cluster, request):
        start_transfer(cluster, slot, now, now)
    elif cluster.retry_ps > 0:
        destination.polls += 1
        push_poll(cluster, slot, now)
    else:
        push_inbound(cluster, destination, slot)


@step
def has_room(cluster: Cluster, request: Request) -> bool:
    """Blocks at the destination, and nobody waiting for them before."""
    destination = replica_at(cluster, request.decode_replica)
    blocks = blocks_of(transfer_tokens(request, cluster), cluster)
    return destination.inbound_waiting == 0 and room_to_admit(destination, blocks)


@step
def start_transfer(cluster: Cluster, slot: int, ready_ps: int, not_before_ps: int) -> None:
    """Take the destination's blocks and both NICs; the end is known."""
    request = request_at(cluster, slot)
    reserve_room(cluster, request)
    push_transfer(cluster, slot, send(cluster, request, sent_tokens(cluster, request), ready_ps, not_before_ps))


@step
def reserve_room(cluster: Cluster, request: Request) -> None:
    """Take the destination's blocks: a transfer is under way."""
    destination = replica_at(cluster, request.decode_replica)
    request.inbound_blocks = blocks_of(transfer_tokens(request, cluster), cluster)
    take(destination, request.inbound_blocks)
    request.sending = UNDER_WAY
    destination.inbound += 1
    cluster.active += 1
    cluster.failed_polls = 0


@step
def send(cluster: Cluster, request: Request, tokens: int, ready_ps: int, not_before_ps: int) -> int:
    """Take both NICs for so many tokens; returns the end: not before ``not_before_ps``, then the set-up time."""
    source, destination = replica_at(cluster, request.prefill_replica), replica_at(cluster, request.decode_replica)
    start = ready_ps
    if cluster.contention > 0:
        start = max(ready_ps, source.nic_free_ps, destination.nic_free_ps)
    sent = start + tokens * ps_per_token(cluster, request)
    end = max(sent, not_before_ps) + set_up_ps(cluster, tokens)
    occupy_nic(source, start, end)
    occupy_nic(destination, start, end)
    return end


@step
def set_up_ps(cluster: Cluster, tokens: int) -> int:
    """Setting up what is sent at once: one set-up for each block of it, a last block that is not full too."""
    block = cluster.transfer_block_tokens
    return -(-tokens // block) * cluster.setup_ps if block > 0 else cluster.setup_ps


@step
def occupy_nic(replica: Replica, start: int, end: int) -> None:
    """Busy from start to end."""
    replica.nic_free_ps = end
    replica.nic_busy_ps += end - start


@step
def push_inbound(cluster: Cluster, destination: Replica, slot: int) -> None:
    """At the end of the transfers that wait for room there."""
    request = request_at(cluster, slot)
    request.sending, request.next_waiting = WAITING, NONE
    if destination.inbound_waiting == 0:
        destination.first_inbound = slot
    else:
        request_at(cluster, destination.last_inbound).next_waiting = slot
    destination.last_inbound = slot
    destination.inbound_waiting += 1


@step
def push_poll(cluster: Cluster, slot: int, now: int) -> None:
    """One interval from now it looks for room: later than all that poll already, or after them."""
    request = request_at(cluster, slot)
    request.poll_ps = now + cluster.retry_ps
    request.sending = POLLING
    append_poll(cluster, slot)


@step
def append_poll(cluster: Cluster, slot: int) -> None:
    """At the end of those that poll."""
    request_at(cluster, slot).next_poll = NONE
    if cluster.polling == 0:
        cluster.first_poll = slot
    else:
        request_at(cluster, cluster.last_poll).next_poll = slot
    cluster.last_poll = slot
    cluster.polling += 1
    note_next_poll(cluster)


@step
def note_next_poll(cluster: Cluster) -> None:
    """When the first poll is due."""
    cluster.next_poll_ps = request_at(cluster, cluster.first_poll).poll_ps if cluster.polling > 0 else FOREVER


@step
def poll_transfer(cluster: Cluster, now: int) -> None:
    """The waiting transfer whose turn it is looks for room again, every ``retry_ps``."""
    slot = cluster.first_poll
    request = request_at(cluster, slot)
    cluster.first_poll = request.next_poll
    cluster.polling -= 1
    note_next_poll(cluster)
    destination = replica_at(cluster, request.decode_replica)
    settle_idle(destination, now)
    if has_room(cluster, request):
        destination.polls -= 1
        start_transfer(cluster, slot, now, now)
        return
    cluster.failed_polls = cluster.failed_polls + 1 if cluster.active == 0 else 0
    push_poll(cluster, slot, now)


@inlined
def start_waiting_transfers(cluster: Cluster, replica: Replica, now: int) -> None:
    """After KV was freed here: start the transfers that waited for it, up to the first that still does not fit."""
    if replica.inbound_waiting > 0:
        start_those_that_fit(cluster, replica, now)


@step
def start_those_that_fit(cluster: Cluster, replica: Replica, now: int) -> None:
    """Of the transfers that wait for room here, up to the first that does not fit."""
    while replica.inbound_waiting > 0:
        slot = replica.first_inbound
        request = request_at(cluster, slot)
        if not room_to_admit(replica, blocks_of(transfer_tokens(request, cluster), cluster)):
            return
        replica.first_inbound = request.next_waiting
        replica.inbound_waiting -= 1
        start_transfer(cluster, slot, now, now)


@step
def finish_transfer(cluster: Cluster, request: Request, now: int) -> None:
    """The KV has come: the source frees its own, and starts transfers that waited for that room."""
    source, destination = replica_at(cluster, request.prefill_replica), replica_at(cluster, request.decode_replica)
    settle_idle(source, now)
    settle_idle(destination, now)
    cluster.active -= 1
    destination.inbound -= 1
    give_back(source, request)
    add_reserved(cluster, source, -routed_prompt_tokens(request, cluster))
    request.sending, request.moved = NOTHING, 1
    request.blocks = request.inbound_blocks
    request.inbound_blocks = 0
    start_waiting_transfers(cluster, source, now)


@step
def cancel_transfer(cluster: Cluster, slot: int, now: int) -> None:
    """One end of it has failed: its transfer, under way or waiting for room, is off and its room given back.

    The other end's NIC stays taken to the planned end, and both ends' NIC time stays counted. ``drop_cancelled`` comes
    next.
    """
    request = request_at(cluster, slot)
    destination = replica_at(cluster, request.decode_replica)
    settle_idle(destination, now)
    if request.sending == UNDER_WAY:
        destination.free_blocks += request.inbound_blocks
        request.inbound_blocks = 0
        destination.inbound -= 1
        cluster.active -= 1
    elif request.sending == WAITING:
        remove_inbound(cluster, destination, slot)
    elif request.sending == POLLING:
        destination.polls -= 1
    request.sending = NOTHING


@step
def remove_inbound(cluster: Cluster, destination: Replica, slot: int) -> None:
    """Out of the transfers that wait for room there."""
    before, ahead = NONE, destination.first_inbound
    while ahead != slot:
        before, ahead = ahead, request_at(cluster, ahead).next_waiting
    after = request_at(cluster, slot).next_waiting
    if before == NONE:
        destination.first_inbound = after
    else:
        request_at(cluster, before).next_waiting = after
    if destination.last_inbound == slot:
        destination.last_inbound = before
    destination.inbound_waiting -= 1


@step
def drop_cancelled(cluster: Cluster) -> None:
    """Transfers that are off leave those under way and those that poll."""
    keep_transfers(cluster, UNDER_WAY)
    slot, polling = cluster.first_poll, cluster.polling
    cluster.polling = 0
    for _ in range(polling):
        following = request_at(cluster, slot).next_poll
        if request_at(cluster, slot).sending == POLLING:
            append_poll(cluster, slot)
        slot = following
    note_next_poll(cluster)
