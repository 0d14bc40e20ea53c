"""What the part does on average under Poisson arrivals of alike requests.

One mixed replica: ``steady_state.open_loop``. A pair: the prefill replica is a queue M/D/1 of prompts, TTFT = S +
rho*S/(2*(1 - rho)), or of full batches of them where that is less; the decode replica an open loop of decodes alone: a
request decodes beside D = rate*(o - 1)*t others, t = g_decode(D + 1) + (b*c + s)*(D + 1), and its first gap has the
KV's transfer and half an iteration on top, which its TPOT spreads over o - 1 gaps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from simcore.budget import auto_budget
from simcore.catalogue import resolve_model
from simcore.latency.curve import PS_PER_S, BatchKind, IterationCurve
from simcore.pilot.part import Part, PilotPool
from simcore.scheduler_defaults import BATCH_SIZES, BATCH_TOKENS, TOKEN_BUDGETS
from simcore.shapes import kv_bytes_per_token
from simcore.spec import AUTO, Case
from simcore.steady_state.loops import Lengths, Serving, open_loop
from simcore.transfer import replica_nic_bytes_per_s


@dataclass(frozen=True)
class Prediction:
    """Means over requests; infinite where the part cannot keep up with the rate."""

    ttft_s: float
    tpot_s: float
    req_per_s: float
    output_tokens_per_s: float


def predict(
    part: Part, prompt_tokens: int, output_tokens: int, req_per_s: float, slower: Sequence[float] = (1.0, 1.0)
) -> Prediction:
    """The part at a rate, were every iteration of each of its pools so many times as long as its curve says."""
    if part.split:
        return _pair(part, prompt_tokens, output_tokens, req_per_s, slower)
    pool = part.pools[0]
    state = open_loop(
        scaled(pool.curve, slower[0]), Lengths.of(prompt_tokens, output_tokens), serving(part.case, pool), req_per_s
    )
    return Prediction(state.ttft_s, state.tpot_s, state.req_per_s, state.output_tokens_per_s)


def serving(case: Case, pool: PilotPool) -> Serving:
    """How a replica batches, the kind's defaults filled in."""
    given, kind = case.scheduler, case.scheduler.kind
    budget = given.max_batch_tokens or BATCH_TOKENS if kind == "vllm" else token_budget(case)
    size = given.max_batch_size or BATCH_SIZES[kind]
    return Serving(budget, kind == "vllm", size, pool.kv_tokens, pool.pipeline_parallel)


def token_budget(case: Case) -> int:
    """Of an iteration."""
    budget = case.scheduler.token_budget
    if budget == AUTO:
        return auto_budget(case).tokens
    if budget is None and case.scheduler.kind == "splitwise":
        return case.scheduler.max_batch_tokens or BATCH_TOKENS
    return budget or TOKEN_BUDGETS[case.scheduler.kind]


def scaled(curve: IterationCurve, slower: float) -> IterationCurve:
    """Every iteration so many times as long."""

    def times(values: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(round(value * slower) for value in values)

    return replace(
        curve,
        prefill_ps=times(curve.prefill_ps),
        decode_ps=times(curve.decode_ps),
        hybrid_ps=times(curve.hybrid_ps),
        attention=round(curve.attention * slower),
        chunk_read_ps=round(curve.chunk_read_ps * slower),
        context_ps=round(curve.context_ps * slower),
        decode_seq_ps=round(curve.decode_seq_ps * slower),
    )


def transfer_s(part: Part, prompt_tokens: int) -> float:
    """From a prompt's end to its KV's arrival, with nobody in the way: all of it at the slower NICs, or its last
    layer."""
    case, model = part.case, resolve_model(part.case.model)
    rate = case.kv_transfer.bandwidth_bytes_per_s or min(
        replica_nic_bytes_per_s(pool.machine.nic_bytes_per_s, pool.tensor_parallel, pool.pipeline_parallel)
        for pool in part.pools
    )
    sent = prompt_tokens * (case.memory.kv_bytes_per_token or kv_bytes_per_token(model))
    return sent / rate / (model.layers if case.kv_transfer.mode == "layerwise" else 1) + (case.kv_transfer.setup_s or 0)


def _pair(part: Part, prompt_tokens: int, output_tokens: int, req_per_s: float, slower: Sequence[float]) -> Prediction:
    prefill, decode = part.pools
    ttft_s, most = _prompts(scaled(prefill.curve, slower[0]), part, prompt_tokens, req_per_s)
    lengths = Lengths.of(prompt_tokens, output_tokens)
    step_s = _decode_step_s(scaled(decode.curve, slower[1]), lengths, decode, req_per_s)
    joining_s = transfer_s(part, prompt_tokens) + step_s / 2
    tpot_s = step_s + joining_s / lengths.steps if lengths.steps else 0.0
    served = min(req_per_s, most) if math.isfinite(tpot_s) else 0.0
    return Prediction(ttft_s, tpot_s, served, served * output_tokens)


def _prompts(curve: IterationCurve, part: Part, prompt_tokens: int, req_per_s: float) -> tuple[float, float]:
    """TTFT of the prefill replica, and the most prompts a second that it takes: a queue with one service at a time."""
    stages, together = part.pools[0].pipeline_parallel, max(token_budget(part.case) // prompt_tokens, 1)

    def batch_s(prompts: int) -> float:
        chunks = prompts * curve.chunk_ps(prompt_tokens, 0)
        return (curve.base_ps(BatchKind.PREFILL, prompts * prompt_tokens) + chunks) / PS_PER_S

    def waits_s(prompts: int) -> float:
        """In the queue and for one's own batch, were all batches of so many."""
        share = req_per_s * batch_s(prompts) / prompts
        if share >= 1:
            return math.inf
        return stages * batch_s(prompts) + share * batch_s(prompts) / (2 * (1 - share))

    return min(waits_s(1), waits_s(together)), together / batch_s(together)


def _decode_step_s(curve: IterationCurve, lengths: Lengths, pool: PilotPool, req_per_s: float) -> float:
    """t of the decode replica; infinite where no batch that fits keeps up."""
    each_s = (curve.context_ps * lengths.context + curve.decode_seq_ps) / PS_PER_S

    def step_s(decodes: float) -> float:
        whole = max(int(decodes), 1)
        low, high = (curve.base_ps(BatchKind.DECODE, n) / PS_PER_S for n in (whole, whole + 1))
        return low + max(decodes - whole, 0.0) * (high - low) + decodes * each_s

    def lacking(decodes: float) -> float:

        return req_per_s * lengths.steps * step_s(decodes) + 1 - decodes

    most = pool.kv_tokens / lengths.resident
    if not lengths.steps:
        return step_s(1.0)
    if most <= 1 or lacking(most) > 0:
        return math.inf
    from scipy.optimize import brentq  # slow to load: the command line starts without it

    return pool.pipeline_parallel * step_s(float(brentq(lacking, 1.0, most)) if lacking(1.0) > 0 else 1.0)
