"""KV transfer ``chunkwise``: a chunk's KV is sent when its iteration has ended, while the next one runs.

The rules are the oracle's.
"""

from __future__ import annotations

from simcore.engine.fast.flight_state import flight_at, members_of, new_tokens_of
from simcore.engine.fast.idle import settle_idle
from simcore.engine.fast.jit import step
from simcore.engine.fast.names import CHUNKWISE
from simcore.engine.fast.replica_state import Replica, replica_at
from simcore.engine.fast.request_state import Request, request_at
from simcore.engine.fast.state import Cluster
from simcore.engine.fast.transfer import has_room, is_sent, reserve_room, send
from simcore.engine.fast.transfer_heap import push_transfer


@step
def reserve_for_chunks(cluster: Cluster, replica: Replica, flight: int, now: int) -> None:
    """At the first chunk of prompts: reserve the room of their decodes, where there is any."""
    if cluster.transfer_mode != CHUNKWISE:
        return
    batch = flight_at(cluster, flight)
    for i in range(batch.first, batch.first + batch.members):
        request = request_at(cluster, members_of(cluster, flight)[i])
        new = new_tokens_of(cluster, flight)[i]
        is_first_chunk = new > 0 and request.done_tokens == request.cached_tokens
        if is_first_chunk and is_sent(request) and has_room(cluster, request):
            settle_idle(replica_at(cluster, request.decode_replica), now)
            reserve_room(cluster, request)
            request.sent_by_chunk = 1


@step
def send_chunk(cluster: Cluster, slot: int, now: int) -> None:
    """At the end of a chunk, ``done_tokens`` counting it already: send what has not been sent."""
    request = request_at(cluster, slot)
    tokens = sent_by_now(request, cluster) - request.sent_tokens
    ready = max(now, request.sent_ps)
    request.sent_ps = send(cluster, request, tokens, ready, ready)
    request.sent_tokens += tokens
    if request.done_tokens == request.target_tokens:
        push_transfer(cluster, slot, request.sent_ps)


@step
def sent_by_now(request: Request, cluster: Cluster) -> int:
    """What goes with all chunks so far, in tokens of all layers rounded up: the cached prompt too, and of a windowed
    layer what is among the prompt's last ``window_tokens``. All of a prompt: ``transfer.sent_tokens``."""
    layers = cluster.full_layers + cluster.windowed_layers
    before_window = max(request.target_tokens - cluster.window_tokens, 0)
    in_window = max(request.done_tokens - before_window, 0)
    return -(-(cluster.full_layers * request.done_tokens + cluster.windowed_layers * in_window) // layers)
