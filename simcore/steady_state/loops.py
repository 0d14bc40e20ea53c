"""What one replica does on average at a fixed concurrency or rate, from its ``IterationCurve`` alone: mean-value
analysis in microseconds to a millisecond, where a simulation takes seconds. Within a few per cent of the engine
(test_steady_state.py); it says nothing of percentiles, preemptions or bursts.

One request is followed; the others are a stream of x prompts an iteration, so D = x*(o - 1) of them decode (a request
of o tokens decodes o - 1 times). The prompts share the room that decodes leave of the token budget: a prompt of p
tokens takes w = p / (budget - D - 1) iterations of it, rho = x*E[w] of all room is taken, and

    h = rho + (1 - rho) * (1 - exp(-x*(E[ceil(w)] - E[w])))                  iterations with prompts, of all
    t = (1 - h)*g_decode(D + 1) + h*g_hybrid(D + 1 + x*p/h) + x*A + (b*c + s)*(D + 1)      one iteration = TPOT

(h: many short prompts come together as chance has it, of long ones each takes its iterations; A: attention of one
prompt, a*p*(p + 1)/2 and what its chunks take longer to read KV than to compute; c: a decode's mean context.) TTFT is

    what is left of the iteration in progress + x*E[w^2]/(2*(1 - rho)) iterations of prompts ahead + E[ceil(w)] own

Closed loop of N: K = TTFT / t, x = (N - 1)/(o - 1 + K), the one x for which both hold; requests/s = N/(TTFT +
(o - 1)*t). A client's next request comes when an iteration has just begun. Open loop at a rate: x = rate*t. Whole
prompts in iterations of their own (``prefill_apart``, vLLM V0): t = g_decode(D + 1) + h*g_prefill(x*p/h) + ..., with
h counted a decode. Pipelines: N/PP requests a micro-batch, every time PP times as long, and as the slowest of PP
micro-batches sets the pace, 1 - (1 - h)^PP in the place of h.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from simcore.latency.curve import BatchKind, IterationCurve
from simcore.spec import SpecError
from simcore.steady_state.mean_iteration import Lengths, Mix, Serving

__all__ = ["Lengths", "Serving", "SteadyState", "closed_loop", "offline", "open_loop", "static_batch"]

CLOSE = 1e-9
"""How exactly x is found, relative to the most that it can be."""


@dataclass(frozen=True)
class SteadyState:
    """Means over requests, in seconds, and the rates of one replica."""

    concurrency: float
    """Requests in the replica or waiting for it."""
    ttft_s: float
    tpot_s: float
    """0 where no request has a second token."""
    iteration_s: float
    """Of all iterations while requests decode: what a token waits for."""
    gap_s: float
    """Between two tokens of a request, in iterations without prompts."""
    gap_with_prompts_s: float
    median_gap_s: float
    """Of all gaps: half are no longer."""
    prompts_share: float
    """Of gaps with prompts in them."""
    req_per_s: float
    output_tokens_per_s: float
    saturated: bool
    """Requests wait for a place: open loop, that the replica cannot keep up with the rate (its TTFT grows without end,
    the other figures are those of all places taken)."""


def closed_loop(curve: IterationCurve, lengths: Lengths, serving: Serving, concurrency: float) -> SteadyState:
    """The replica with so many clients, each sending its next request when the last one is done."""
    if not 1 <= concurrency < math.inf:
        raise SpecError(f"concurrency: found {concurrency}, expected at least 1")
    served = min(concurrency, serving.residents(lengths))
    mix = Mix(curve, lengths, serving, max(served / serving.stages, 1.0) - 1)
    x = _closed_stream(mix)
    ttft_s = serving.stages * mix.ttft_s(x)
    rate = served / (ttft_s + lengths.steps * serving.stages * mix.step_s(x))
    waiting_s = (concurrency - served) / rate
    return _state(mix, x, concurrency, ttft_s + waiting_s, rate, concurrency > served)


def open_loop(curve: IterationCurve, lengths: Lengths, serving: Serving, req_per_s: float) -> SteadyState:
    """The replica with Poisson arrivals at a rate."""
    if not 0 < req_per_s < math.inf:
        raise SpecError(f"rate: found {req_per_s}, expected a positive number of requests/s")
    full = offline(curve, lengths, serving)
    if req_per_s >= full.req_per_s:
        return replace(full, concurrency=math.inf, ttft_s=math.inf, saturated=True)
    mix = Mix(curve, lengths, serving, math.inf)
    x = _zero(lambda x: req_per_s * mix.step_s(x) - x, mix.most)
    ttft_s = serving.stages * mix.ttft_s(x)
    e2e_s = ttft_s + lengths.steps * serving.stages * mix.step_s(x)
    return _state(mix, x, req_per_s * e2e_s, ttft_s, req_per_s, saturated=False)


def offline(curve: IterationCurve, lengths: Lengths, serving: Serving) -> SteadyState:
    """The replica with all requests there at once, long after its start and before its end: every place is taken."""
    places = serving.residents(lengths)
    if math.isinf(places):
        raise SpecError("max_batch_size: found no limit, expected one, or kv_tokens, to fill the replica")
    return closed_loop(curve, lengths, serving, places)


def static_batch(curve: IterationCurve, lengths: Lengths, serving: Serving, requests: int) -> SteadyState:
    """So many requests prefilled together, then decoded until all have ended (alike lengths): the measure of papers
    and of tools that time a fixed batch. Its prompts take as many iterations as the budget asks for."""
    mix = Mix(curve, lengths, serving, math.inf)
    per_step = min(serving.token_budget, requests * lengths.prompt)
    prompts_s = requests * (
        lengths.prompt / per_step * mix.base_s(BatchKind.PREFILL, per_step) + mix.prompt_s(per_step)
    )
    step_s = mix.base_s(BatchKind.DECODE, requests) + requests * mix.decode_s
    ttft_s, step_s = serving.stages * prompts_s, serving.stages * step_s
    rate = requests / (ttft_s + lengths.steps * step_s)
    tpot_s = step_s if lengths.steps else 0.0
    tokens = rate * (lengths.steps + 1)
    return SteadyState(requests, ttft_s, tpot_s, step_s, step_s, step_s, step_s, 0.0, rate, tokens, saturated=False)


def _state(mix: Mix, x: float, concurrency: float, ttft_s: float, rate: float, saturated: bool) -> SteadyState:
    stages, steps = mix.serving.stages, mix.lengths.steps
    step_s = stages * mix.step_s(x)
    without, with_prompts, share = mix.iterations_s(x)
    if mix.serving.prefill_apart:
        with_prompts += without
    return SteadyState(
        concurrency=concurrency,
        ttft_s=ttft_s,
        tpot_s=step_s if steps else 0.0,
        iteration_s=step_s,
        gap_s=stages * without,
        gap_with_prompts_s=stages * (with_prompts if share else without),
        median_gap_s=stages * mix.median_iteration_s(x),
        prompts_share=min(share, 1.0),
        req_per_s=rate,
        output_tokens_per_s=rate * (steps + 1),
        saturated=saturated,
    )


def _closed_stream(mix: Mix) -> float:
    """x of the closed loop: what the others send an iteration is what they finish."""
    if not mix.others:
        return 0.0
    steps = mix.lengths.steps
    return _zero(lambda x: mix.others / (steps + mix.ttft_s(x) / mix.step_s(x)) - x, mix.most)


def _zero(falls: Callable[[float], float], most: float) -> float:
    """Where a function that is above 0 at 0 falls through it; ``most`` where it does not before."""
    from scipy.optimize import brentq  # slow to load: the command line starts without it

    if falls(most) >= 0:
        return most
    return float(brentq(falls, 0.0, most, xtol=most * CLOSE))
