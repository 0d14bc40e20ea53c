"""The least time of one stage that a mean request's prefill and decode take: prices that no batch undercuts.

A batch's time is shared out among its tokens in a way that never hands out more than there is: each new prompt token
gets a fixed price, what is left goes to the decodes, part of it in equal shares, part of it by the KV memory that they
hold. Since the decodes of one batch hold at most the replica's KV memory, nobody decodes in batches larger than fit.
The argument is in docs/decisions/0013-pruning-by-proof.md. Latency and memory only; imports no engine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simcore.fluid.workload_statistics import WorkloadStatistics
from simcore.latency.curve import ATTENTION_FRACTION_BITS, PS_PER_S, BatchKind, IterationCurve

PROMPT_SHARES = (1.0, 0.9, 0.75, 0.5, 0.25, 0.0)
"""Of the dearest price that a prompt token can be given: any is valid, the best one depends on the cluster."""
MEMORY_PRICES = 48
"""Points of the table of a decode's price over the memory that it holds."""
EACH_UP_TO, GROUP_WIDTH = 8192, 0.001
"""Numbers of decodes that are priced one by one; larger ones in groups of this part of them."""
MEMORY_SHARES = (0.15, 0.3, 0.45, 0.6, 0.75, 0.9, 1.0)
"""Of what is left for decodes, the part that goes by memory: any is valid, the dearest counts."""

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]


@dataclass(frozen=True)
class BatchLimits:
    """What no batch of one replica exceeds."""

    prefill_tokens: int
    """New tokens of a batch of prompts alone."""
    hybrid_tokens: int
    """Prompts' and decodes' tokens together; 0: they never share a batch."""
    sequences: int
    """Decodes."""
    kv_tokens: int | None = None
    """Held by a batch's decodes together, in tokens of all layers; None: memory is not looked at."""
    whole_outputs: bool = False
    """A decode holds its prompt and whole output from its first step on (reserved), not only what it has so far."""
    windowed_share: float = 0.0
    """Of all layers; each of these keeps"""
    window_tokens: int = 0
    """so many tokens of a request at most."""

    def held(self, tokens: Int64) -> Float64:
        """What requests of so many tokens hold, in tokens of all layers."""
        return (1 - self.windowed_share) * tokens + self.windowed_share * np.minimum(tokens, self.window_tokens)


@dataclass(frozen=True)
class RequestWork:
    """Least time of one stage that a mean request's phases can take, in seconds."""

    prefill_s: float
    decode_s: float


def phase_works(curve: IterationCurve, statistics: WorkloadStatistics, limits: BatchLimits) -> list[RequestWork]:
    """Pairs of prices, each of them a bound by itself: the dearer a prompt token, the cheaper a decode beside it.

    prefill = prompt tokens x price + a x pairs; decode = steps x price + b x context. The first pair prices prompt
    tokens as high as batches of prompts alone allow.
    """
    dearest = token_ps(curve, BatchKind.PREFILL, limits.prefill_tokens)
    prices = [dearest]
    if limits.hybrid_tokens:
        equal = min(dearest, token_ps(curve, BatchKind.HYBRID, limits.hybrid_tokens))
        prices = [*(dearest * share for share in PROMPT_SHARES), equal]
    found = []
    for price in dict.fromkeys(prices):
        left = _left_for_decodes_ps(curve, limits, price)
        if left.min() >= 0:  # else a batch would be handed out more than it takes
            found.append(_request_work(curve, statistics, limits, price, left))
    return found


def token_ps(curve: IterationCurve, kind: BatchKind, most: int) -> float:
    """min over 1 <= n <= most of g_kind(n)/n. On a linear piece g(n)/n is monotone, so its least value is at a knot
    or an end."""
    candidates = {1, most, *(knot for knot in curve.tokens if 1 <= knot <= most)}
    return min(curve.base_ps(kind, n) / n for n in candidates)


def _left_for_decodes_ps(curve: IterationCurve, limits: BatchLimits, prompt_token_ps: float) -> Float64:
    """By number of decodes: what the quickest batch with so many takes, without its prompt tokens' price.

    On a linear piece of g the rest is linear in the prompt tokens, so its least value is at a knot or an end. Knots are
    looked at from the last one down, once for all numbers of decodes.
    """
    fewest, most = _numbers_of_decodes(curve, limits)
    left = _base_ps(curve, BatchKind.DECODE, fewest)
    if most is not fewest:
        left = np.minimum(left, _base_ps(curve, BatchKind.DECODE, most))
    beside = fewest[fewest < limits.hybrid_tokens]
    if len(beside):
        ends = np.unique(np.minimum([*curve.tokens, limits.hybrid_tokens], limits.hybrid_tokens))
        at_ends = _base_ps(curve, BatchKind.HYBRID, ends) - prompt_token_ps * ends
        from_end_on = np.minimum.accumulate(at_ends[::-1])[::-1]
        least = beside + 1
        at_least = _base_ps(curve, BatchKind.HYBRID, least) - prompt_token_ps * least
        hybrid = np.minimum(at_least, from_end_on[np.searchsorted(ends, least)]) + prompt_token_ps * beside
        left[: len(beside)] = np.minimum(left[: len(beside)], hybrid)
    return left + curve.decode_seq_ps * fewest


def _numbers_of_decodes(curve: IterationCurve, limits: BatchLimits) -> tuple[Int64, Int64]:
    """(fewest, most) of each group of numbers that are priced together: each by itself, as far as batches are of any
    size that is run; beyond, groups so narrow that pricing their time as if of the fewest, and sharing it among the
    most, loses a thousandth. No knot of the curve lies within a group."""
    last = max(limits.sequences, 1)
    exact = np.arange(1, min(last, EACH_UP_TO) + 1)
    if last <= EACH_UP_TO:
        return exact, exact
    steps = math.ceil(math.log(last / EACH_UP_TO) / math.log1p(GROUP_WIDTH))
    ends = np.geomspace(EACH_UP_TO, last, steps + 1).astype(np.int64)[1:]
    knots = [knot for knot in curve.tokens if EACH_UP_TO < knot < last]
    most = np.unique(np.concatenate([exact, ends, np.array(knots, np.int64), [last]]))
    return np.concatenate([[1], most[:-1] + 1]), most


def _base_ps(curve: IterationCurve, kind: BatchKind, tokens: Int64) -> Float64:
    """g_kind of each, before it is rounded down to a whole ps."""
    knots, values = np.array(curve.tokens, float), np.array(curve.knots_ps(kind), float)
    if len(knots) == 1:
        return np.full(len(tokens), values[0])
    high = np.clip(np.searchsorted(knots, tokens), 1, len(knots) - 1)
    slope = (values[high] - values[high - 1]) / (knots[high] - knots[high - 1])
    found: Float64 = np.maximum(values[high - 1] + slope * (tokens - knots[high - 1]), 0.0)
    return found


def _request_work(
    curve: IterationCurve,
    statistics: WorkloadStatistics,
    limits: BatchLimits,
    prompt_token_ps: float,
    left_ps: Float64,
) -> RequestWork:
    attention = curve.attention * statistics.prefill_pairs / 2**ATTENTION_FRACTION_BITS
    context = curve.context_ps * statistics.decode_context_tokens
    decode = _decode_price_ps(statistics, limits, left_ps, _numbers_of_decodes(curve, limits)[1])
    return RequestWork(
        (statistics.prompt_tokens * prompt_token_ps + attention) / PS_PER_S, (decode + context) / PS_PER_S
    )


def _decode_price_ps(statistics: WorkloadStatistics, limits: BatchLimits, left_ps: Float64, decodes: Int64) -> float:
    """All decode steps of a mean request, with the share that goes by memory as it comes out dearest."""
    equal = statistics.decode_tokens * float((left_ps / decodes).min())
    if limits.kv_tokens is None or not statistics.decode_tokens:
        return equal
    memory, steps = _steps_by_memory(statistics, limits)
    return max(equal, *(_shared_price_ps(left_ps, decodes, memory, steps, share) for share in MEMORY_SHARES))


def _steps_by_memory(statistics: WorkloadStatistics, limits: BatchLimits) -> tuple[Float64, Float64]:
    """Shares of the memory there is, evenly apart, and a mean request's decode steps at each.

    A step that holds something in between is divided among both neighbours. The price that it is multiplied with is
    concave in the memory held (a least of straight lines), so its chord between the two is no dearer.
    """
    tokens, steps = statistics.steps_by_total if limits.whole_outputs else statistics.steps_by_context
    memory = limits.held(tokens) / (limits.kv_tokens or 1)
    points = np.linspace(memory.min(), memory.max(), MEMORY_PRICES)
    width = (points[1] - points[0]) or 1.0
    place = np.minimum(((memory - points[0]) / width).astype(np.int64), MEMORY_PRICES - 2)
    beyond = (memory - points[0]) / width - place
    at_points: Float64 = np.bincount(place, steps * (1 - beyond), MEMORY_PRICES).astype(float)
    at_points += np.bincount(place + 1, steps * beyond, MEMORY_PRICES)
    return points, at_points


def _shared_price_ps(left_ps: Float64, decodes: Int64, memory: Float64, steps: Float64, by_memory: float) -> float:
    """sum over steps of min over n of left(n) x ((1 - by_memory)/n + by_memory x the share of memory held)."""
    each = left_ps * ((1 - by_memory) / decodes)
    least = (each + np.multiply.outer(by_memory * memory, left_ps)).min(axis=1)
    return float(least @ steps)
