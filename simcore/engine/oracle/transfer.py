"""KV transfer from a prefill replica to a decode replica: room first, then the two NICs, first come first.

``serialized``: from the end of the prefill. ``layerwise``: each layer's KV as soon as that layer is done, decided
when the prefill starts; without room at the destination then, and for prompts under 512 tokens, serialized. The end
is known when a transfer is started: start = max(ready, source NIC free, destination NIC free), both busy to the end.
``contention`` false: start = ready. The destination's blocks are taken when the transfer is started, the source's are
held to the end. The set-up comes last: one, or one for each block of ``block_tokens`` that is sent. ``chunkwise``: see
``chunkwise.py``.
"""

from __future__ import annotations

import heapq

from simcore.engine.oracle.blocks import (
    blocks_of,
    give_back,
    held_tokens,
    room_to_admit,
    routed_prompt_tokens,
    take,
    transfer_tokens,
)
from simcore.engine.oracle.idle import settle_idle
from simcore.engine.oracle.state import TRANSFER_END, TRANSFER_POLL, Cluster, MicroBatch, Replica, Request
from simcore.transfer import WHOLE_BELOW_TOKENS


def ps_per_token(cluster: Cluster, request: Request) -> int:
    """At the slower NIC of the two, unless the case gives one bandwidth for all."""
    source, destination = ends(cluster, request)
    slower = max(source.inputs.transfer_ps_per_token, destination.inputs.transfer_ps_per_token)
    return cluster.inputs.transfer.ps_per_token or slower


def ends(cluster: Cluster, request: Request) -> tuple[Replica, Replica]:
    """Source and destination."""
    return cluster.replicas[request.prefill_replica], cluster.replicas[request.decode_replica]


def sent_tokens(cluster: Cluster, request: Request) -> int:
    """What a transfer sends, in tokens of all layers: a windowed layer's KV of the prompt's last tokens only."""
    return held_tokens(request.target_tokens, cluster.inputs.scheduler)


def is_sent(request: Request) -> bool:
    """At a prefill's start: whether there will be anything to send, a decode elsewhere. The last token has none."""
    return request.prefill_replica != request.decode_replica and request.generated + 1 < request.output_tokens


def send_by_layer(cluster: Cluster, batch: MicroBatch, now: int) -> None:
    """When prefills are formed into a micro-batch: start the layer-wise transfers that have room."""
    if cluster.inputs.transfer.mode != "layerwise":
        return
    for request, new in zip(batch.members, batch.new_tokens, strict=True):
        long_enough = request.target_tokens >= WHOLE_BELOW_TOKENS
        if new and long_enough and is_sent(request) and has_room(cluster, request):
            settle_idle(cluster.replicas[request.decode_replica], now)
            request.sent_by_layer = True
            layers = cluster.inputs.transfer.layers
            first_layer_ps = -(-batch.duration_ps * len(batch.starts_ps) // layers)
            last_layer_ps = -(-sent_tokens(cluster, request) * ps_per_token(cluster, request) // layers)
            start_transfer(cluster, request, batch.starts_ps[0] + first_layer_ps, batch.end_ps + last_layer_ps)


def send_whole(cluster: Cluster, request: Request, now: int) -> None:
    """At the end of a prefill: start its transfer, or have it wait for room, first come first or by polls."""
    if request.sent_by_layer:
        return
    destination = cluster.replicas[request.decode_replica]
    settle_idle(destination, now)
    if has_room(cluster, request):
        start_transfer(cluster, request, now, now)
    elif cluster.inputs.transfer.retry_ps:
        destination.polls += 1
        push_event(cluster, now + cluster.inputs.transfer.retry_ps, TRANSFER_POLL, request)
    else:
        destination.inbound_waiting.append(request)


def has_room(cluster: Cluster, request: Request) -> bool:
    """Blocks at the destination, and nobody waiting for them before."""
    destination = cluster.replicas[request.decode_replica]
    scheduler = cluster.inputs.scheduler
    blocks = blocks_of(transfer_tokens(request, scheduler), scheduler)
    return not destination.inbound_waiting and room_to_admit(destination, blocks)


def start_transfer(cluster: Cluster, request: Request, ready_ps: int, not_before_ps: int) -> None:
    """Take the destination's blocks and both NICs; the end is known."""
    reserve_room(cluster, request)
    end = send(cluster, request, sent_tokens(cluster, request), ready_ps, not_before_ps)
    push_event(cluster, end, TRANSFER_END, request)


def reserve_room(cluster: Cluster, request: Request) -> None:
    """Take the destination's blocks: a transfer is under way."""
    destination, scheduler = cluster.replicas[request.decode_replica], cluster.inputs.scheduler
    request.inbound_blocks = blocks_of(transfer_tokens(request, scheduler), scheduler)
    take(destination, request.inbound_blocks)
    destination.inbound += 1
    cluster.active += 1
    cluster.failed_polls = 0


def send(cluster: Cluster, request: Request, tokens: int, ready_ps: int, not_before_ps: int) -> int:
    """Take both NICs for so many tokens; returns the end: not before ``not_before_ps``, then the set-up time."""
    source, destination = ends(cluster, request)
    contends = cluster.inputs.transfer.contention
    start = max(ready_ps, source.nic_free_ps, destination.nic_free_ps) if contends else ready_ps
    sent = start + tokens * ps_per_token(cluster, request)
    end = max(sent, not_before_ps) + set_up_ps(cluster, tokens)
    for replica in (source, destination):
        replica.nic_free_ps = end
        replica.counters.nic_busy_ps += end - start
    return end


def set_up_ps(cluster: Cluster, tokens: int) -> int:
    """Setting up what is sent at once: one set-up for each block of it, a last block that is not full too."""
    transfer = cluster.inputs.transfer
    blocks = -(-tokens // transfer.block_tokens) if transfer.block_tokens else 1
    return blocks * transfer.setup_ps


def push_event(cluster: Cluster, time_ps: int, kind: int, request: Request) -> None:
    """Events of transfers are ordered by time, then by when they were set."""
    cluster.sequence += 1
    cluster.transfers += kind == TRANSFER_END
    heapq.heappush(cluster.events, (time_ps, kind, 0, cluster.sequence, request.decode_replica, request))


def poll_transfer(cluster: Cluster, request: Request, now: int) -> None:
    """A waiting transfer looks for room again, every ``retry_ps``."""
    destination = cluster.replicas[request.decode_replica]
    settle_idle(destination, now)
    if has_room(cluster, request):
        destination.polls -= 1
        start_transfer(cluster, request, now, now)
        return
    cluster.failed_polls = cluster.failed_polls + 1 if cluster.active == 0 else 0
    push_event(cluster, now + cluster.inputs.transfer.retry_ps, TRANSFER_POLL, request)


def start_waiting_transfers(cluster: Cluster, replica: Replica, now: int) -> None:
    """After KV was freed here: start the transfers that waited for it, up to the first that still does not fit."""
    scheduler = cluster.inputs.scheduler
    while replica.inbound_waiting:
        request = replica.inbound_waiting[0]
        if not room_to_admit(replica, blocks_of(transfer_tokens(request, scheduler), scheduler)):
            return
        replica.inbound_waiting.popleft()
        start_transfer(cluster, request, now, now)


def finish_transfer(cluster: Cluster, request: Request, now: int) -> None:
    """The KV has come: the source frees its own, and starts transfers that waited for that room."""
    source, destination = ends(cluster, request)
    settle_idle(source, now)
    settle_idle(destination, now)
    cluster.active -= 1
    destination.inbound -= 1
    give_back(source, request)
    source.reserved_tokens -= routed_prompt_tokens(request, cluster.inputs.scheduler)
    request.moved = True
    request.blocks = request.inbound_blocks
    request.inbound_blocks = 0
    start_waiting_transfers(cluster, source, now)


def cancel_transfer(cluster: Cluster, request: Request, now: int) -> None:
    """One end of it has failed: its transfer, under way or waiting for room, is off and its room given back.

    The other end's NIC stays taken to the planned end, and both ends' NIC time stays counted.
    """
    destination = cluster.replicas[request.decode_replica]
    settle_idle(destination, now)
    if request.inbound_blocks:
        destination.free_blocks += request.inbound_blocks
        request.inbound_blocks = 0
        destination.inbound -= 1
        cluster.active -= 1
    elif request in destination.inbound_waiting:
        destination.inbound_waiting.remove(request)
    elif any(event[5] is request for event in cluster.events):
        destination.polls -= 1
    drop_events(cluster, request)


def drop_events(cluster: Cluster, what: MicroBatch | Request) -> None:
    """What will not come to pass leaves the queue."""
    cluster.events = [event for event in cluster.events if event[5] is not what]
    heapq.heapify(cluster.events)
