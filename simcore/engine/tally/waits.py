"""What each request of a batch waited for: ``latencies.py`` and ``slo.py`` of one request after the other."""

from __future__ import annotations

from simcore.engine.fast.jit import step
from simcore.engine.fast.layout import numbers, smalls
from simcore.engine.outputs import FINISHED
from simcore.engine.tally.keys import key_of
from simcore.engine.tally.lone import alone_decode_ps, alone_ttft_ps
from simcore.engine.tally.records import (
    ALONE,
    ARRIVAL,
    BATCH,
    DELAY,
    E2E,
    E2E_SLOWDOWN,
    NO_REFERENCE,
    QUEUE,
    TBT_SLOWDOWN,
    TPOT,
    TTFT,
    TTFT_SLOWDOWN,
    Requests,
    Walk,
)

ZERO_KEY = 0


@step
def fill(walk: Walk, requests: Requests, start: int, end: int) -> tuple[int, int]:
    """Put the waits of the finished requests from ``start`` to before ``end`` into the batch. Returns how many they
    are, and how many of them have a second token."""
    filled = several = 0
    for i in range(start, end, requests.stride):
        if smalls(requests.status)[i] == FINISHED:
            several = put_request(walk, requests, i, filled, several)
            filled += 1
    return filled, several


@step
def put_request(walk: Walk, requests: Requests, i: int, place: int, several: int) -> int:
    """Put one request's waits at a place, those per token at the place ``several``. Returns the next of these."""
    arrival_ps, first_token_ps = numbers(requests.arrival_ps)[i], numbers(requests.first_token_ps)[i]
    ttft_ps, decode_ps = first_token_ps - arrival_ps, numbers(requests.finish_ps)[i] - first_token_ps
    steps, tpot_key = numbers(requests.output_tokens)[i] - 1, ZERO_KEY
    put(walk, QUEUE, place, numbers(requests.first_scheduled_ps)[i] - arrival_ps)
    put(walk, TTFT, place, ttft_ps)
    put(walk, E2E, place, ttft_ps + decode_ps)
    if steps > 0:
        tpot_key = key_of(decode_ps / steps)
        put(walk, TPOT, several, tpot_key)
    walk.in_time += int(key_of(float(ttft_ps)) <= walk.ttft_limit and tpot_key <= walk.tpot_limit)
    if walk.delays != 0:
        put_delay(walk, requests, i, place)
    if walk.reference != NO_REFERENCE:
        put_slowdowns(walk, requests, i, place, several)
    return several + int(steps > 0)


@step
def put_delay(walk: Walk, requests: Requests, i: int, place: int) -> None:
    """How much later the request at a place was done than alone on the replicas that served it."""
    prompt, steps = numbers(requests.prompt_tokens)[i], numbers(requests.output_tokens)[i] - 1
    first = second = 0
    if walk.pools > 1:
        first = numbers(walk.pool_of)[smalls(requests.prefill_replica)[i]]
        second = numbers(walk.pool_of)[smalls(requests.decode_replica)[i]] if steps > 0 else first
    alone_ps = alone_ttft_ps(walk, first, prompt, numbers(requests.cached_prompt_tokens)[i])
    alone_ps += alone_decode_ps(walk, second, prompt, steps)
    put(walk, ARRIVAL, place, numbers(requests.arrival_ps)[i])
    put(walk, ALONE, place, alone_ps)
    put(walk, DELAY, place, at(walk, E2E, place) - alone_ps)


@step
def put_slowdowns(walk: Walk, requests: Requests, i: int, place: int, several: int) -> None:
    """The request's times over those alone on the reference, at least 1 ps."""
    prompt, steps = numbers(requests.prompt_tokens)[i], numbers(requests.output_tokens)[i] - 1
    ttft_ps = alone_ttft_ps(walk, walk.reference, prompt, numbers(requests.cached_prompt_tokens)[i])
    decode_ps = alone_decode_ps(walk, walk.reference, prompt, steps)
    put(walk, TTFT_SLOWDOWN, place, key_of(at(walk, TTFT, place) / max(ttft_ps, 1)))
    put(walk, E2E_SLOWDOWN, place, key_of(at(walk, E2E, place) / max(ttft_ps + decode_ps, 1)))
    if steps > 0:
        tpot_ps = (at(walk, E2E, place) - at(walk, TTFT, place)) / steps
        put(walk, TBT_SLOWDOWN, several, key_of(tpot_ps / max(decode_ps / steps, 1.0)))


@step
def put(walk: Walk, column: int, place: int, value: int) -> None:
    """An entry of the batch."""
    numbers(walk.batch)[column * BATCH + place] = value


@step
def at(walk: Walk, column: int, place: int) -> int:
    """What was put there."""
    return numbers(walk.batch)[column * BATCH + place]
