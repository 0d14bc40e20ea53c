"""KV transfer ``chunkwise``: a chunk's KV is sent when its iteration has ended, while the next one runs.

The destination's room for the whole request is taken when the first chunk's micro-batch is formed; without room then,
the prompt is sent whole at its end. A chunk is sent from max(its iteration's end, the end of this request's chunk
before), and with contention not before both NICs are free; they are busy from there to its end, set-up included: each
chunk takes set-ups of its own. The transfer ends with the last chunk; the source holds its KV till then.
"""

from __future__ import annotations

from simcore.engine.inputs import SchedulerInputs
from simcore.engine.oracle.idle import settle_idle
from simcore.engine.oracle.state import TRANSFER_END, Cluster, MicroBatch, Request
from simcore.engine.oracle.transfer import has_room, is_sent, push_event, reserve_room, send


def reserve_for_chunks(cluster: Cluster, batch: MicroBatch, now: int) -> None:
    """At the first chunk of prompts: reserve the room of their decodes, where there is any."""
    if cluster.inputs.transfer.mode != "chunkwise":
        return
    for request, new in zip(batch.members, batch.new_tokens, strict=True):
        is_first_chunk = new > 0 and request.done_tokens == request.cached_tokens
        if is_first_chunk and is_sent(request) and has_room(cluster, request):
            settle_idle(cluster.replicas[request.decode_replica], now)
            reserve_room(cluster, request)
            request.sent_by_chunk = True


def send_chunk(cluster: Cluster, request: Request, now: int) -> None:
    """At the end of a chunk, ``done_tokens`` counting it already: send what has not been sent."""
    tokens = sent_by_now(request, cluster.inputs.scheduler) - request.sent_tokens
    ready = max(now, request.sent_ps)
    request.sent_ps = send(cluster, request, tokens, ready, ready)
    request.sent_tokens += tokens
    if request.done_tokens == request.target_tokens:
        push_event(cluster, request.sent_ps, TRANSFER_END, request)


def sent_by_now(request: Request, scheduler: SchedulerInputs) -> int:
    """What goes with all chunks so far, in tokens of all layers rounded up: the cached prompt too, and of a windowed
    layer what is among the prompt's last ``window_tokens``. All of a prompt: ``transfer.sent_tokens``."""
    layers = scheduler.full_layers + scheduler.windowed_layers
    before_window = max(request.target_tokens - scheduler.window_tokens, 0)
    in_window = max(request.done_tokens - before_window, 0)
    return -(-(scheduler.full_layers * request.done_tokens + scheduler.windowed_layers * in_window) // layers)
