"""Whether a run stays within the engine's clock: 64-bit picoseconds, which whole numbers leave without a sound."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from simcore.engine.inputs import ClusterInputs, SchedulerInputs
from simcore.fluid.lone import MOST_KEPT, base_ps
from simcore.latency.curve import ATTENTION_FRACTION_BITS, PS_PER_S, BatchKind, IterationCurve
from simcore.same import Same, are_fixed
from simcore.slo.latencies import pieces
from simcore.spec import BUDGET_KINDS, SpecError

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]

KEPT = 16
"""Inputs that were found to be within the clock."""
ITERATIONS, TRANSFERS = "the iterations", "the KV transfers"
MOST_PS = 2.0**61
"""Of work, and of one iteration: 26 days. With arrivals up to 62.5 days it leaves a sixth of the clock to spare."""


def check_clock(inputs: ClusterInputs) -> None:
    """SpecError where the requests would take the cluster, or one iteration, longer than the clock is sure to hold.

    Work: each prompt alone, each decode's own share (context and sampling) and its part of a full batch, over the
    replicas that are always up (all on one where none is); and all transfers over one NIC. Estimates, by the slowest
    replica; requests that can never fit take none.
    """
    columns = inputs.prompt_tokens, inputs.output_tokens
    if len(inputs.prompt_tokens) > MOST_KEPT or not are_fixed(*columns):
        _check(inputs)
    else:
        _check_once(Same(inputs, inputs.replicas, inputs.scheduler, inputs.transfer, *columns))


@lru_cache(maxsize=KEPT)
def _check_once(inputs: Same[ClusterInputs]) -> None:
    """A search asks for the same cluster and requests at one rate after another."""
    _check(inputs.value)


def _check(inputs: ClusterInputs) -> None:
    if len(inputs.prompt_tokens) == 0:
        return
    longest = inputs.prompt_tokens.max(keepdims=True), inputs.output_tokens.max(keepdims=True)
    if max(_times_ps(inputs, *longest, len(inputs.prompt_tokens)).values()) <= MOST_PS:
        return  # even if all were as long as the longest
    for what, taken_ps in _all_times_ps(inputs).items():
        if not taken_ps <= MOST_PS:
            raise SpecError(
                f"latency: found times at which {what} could take {taken_ps / PS_PER_S:.3g} s,"
                f" expected at most {MOST_PS / PS_PER_S:.3g} s"
            )


def _all_times_ps(inputs: ClusterInputs) -> dict[str, float]:
    """What takes how long of those that are served, a piece after the other."""
    found: dict[str, float] = {}
    for piece in pieces(len(inputs.prompt_tokens)):
        prompts, outputs = inputs.prompt_tokens[piece], inputs.output_tokens[piece]
        served = _served(inputs, prompts + outputs)
        if served.any():
            for what, taken_ps in _times_ps(inputs, prompts[served], outputs[served], 1).items():
                one_by_one = what == ITERATIONS or (what == TRANSFERS and inputs.transfer.contention)
                before = found.get(what, 0.0)
                found[what] = before + taken_ps if one_by_one else max(before, taken_ps)
    return found


def _times_ps(inputs: ClusterInputs, prompts: Int64, outputs: Int64, of_each: int) -> dict[str, float]:
    """What takes how long where there are so many requests ``of_each`` of these lengths."""
    prompt, output, requests = prompts.astype(np.float64), outputs.astype(np.float64), len(prompts) * of_each
    always_up = max(sum(not replica.availability for replica in inputs.replicas), 1)
    padding = _padding(inputs.scheduler, requests) / always_up
    iterations, works = [0.0], [0.0]
    for replica in {id(replica.curve): replica for replica in inputs.replicas}.values():
        together = min(inputs.scheduler.max_batch_size, requests)
        work = _work_ps(replica.curve, prompt, output, together)
        if of_each > 1:  # for a shorter prompt may take longer, where a curve falls
            work += max(replica.curve.prefill_ps)
        works.append(of_each * work * padding * replica.stages)
        iterations.append(_iteration_ps(inputs, replica.curve, prompt + output, of_each) * replica.stages)
    transfers = _transfer_ps(inputs, prompt[output > 1]) * of_each
    return {"one iteration": max(iterations), ITERATIONS: max(works), TRANSFERS: transfers}


def _served(inputs: ClusterInputs, tokens: Int64) -> NDArray[np.bool_]:
    rules = inputs.scheduler
    room = max(replica.kv_blocks for replica in inputs.replicas) * rules.block_tokens
    kept = rules.full_layers * tokens + rules.windowed_layers * np.minimum(tokens, rules.window_tokens)
    fits: NDArray[np.bool_] = kept <= room * (rules.full_layers + rules.windowed_layers)
    return fits & (tokens <= (rules.max_model_tokens or np.iinfo(np.int64).max))


def _iteration_ps(inputs: ClusterInputs, curve: IterationCurve, context: Float64, of_each: int) -> float:
    """The longest iteration, or the largest number on the way to it: a chunk's attention before it is rounded."""
    rules = inputs.scheduler
    longest, members = float(context.max()), float(min(rules.max_batch_size, len(context) * of_each))
    budget = _budget_tokens(rules, longest, members)
    tokens = budget + members if rules.pad_compute else min(budget + members, float(context.sum()) * of_each)
    chunk = min(budget, longest) * longest * curve.attention + longest * (
        curve.chunk_read_ps << ATTENTION_FRACTION_BITS
    )
    attention = chunk * min(members, tokens) / 2**ATTENTION_FRACTION_BITS
    steepest = max(float(max(np.abs(np.diff(curve.knots_ps(kind))), default=0)) for kind in BatchKind)
    highest = max(float(max(curve.knots_ps(kind))) for kind in BatchKind) + steepest * tokens / curve.tokens[-1]
    decodes = (float(curve.context_ps) * longest + curve.decode_seq_ps) * members
    return float(max(chunk, steepest * tokens, highest + attention + decodes))


def _budget_tokens(rules: SchedulerInputs, longest: float, members: float) -> float:
    """The most prompt tokens that one iteration computes."""
    if rules.kind in BUDGET_KINDS or rules.chunked:
        return rules.token_budget
    if rules.kind in ("orca", "request_level"):
        return members * longest
    return max(rules.max_batch_tokens, longest)


def _padding(rules: SchedulerInputs, requests: int) -> int:
    """How many times the work of its requests a padded batch may take: no member takes longer than all of them."""
    return min(rules.max_batch_size, requests) if rules.pad_compute or rules.keep_finished else 1


def _work_ps(curve: IterationCurve, prompt: Float64, output: Float64, together: int) -> float:
    steps = output - 1
    prefill = base_ps(curve, BatchKind.PREFILL, prompt.astype(np.int64)).astype(np.float64)
    attention = float(curve.attention) / 2**ATTENTION_FRACTION_BITS * prompt * (prompt + 1) / 2
    contexts = float(curve.context_ps) * (steps * prompt + steps * (steps - 1) / 2)
    each = curve.decode_seq_ps + curve.base_ps(BatchKind.DECODE, 1) / together
    return float((prefill + attention + contexts + steps * each).sum())


def _transfer_ps(inputs: ClusterInputs, prompt: Float64) -> float:
    """All KV through one NIC where transfers contend, else the longest."""
    given = inputs.transfer
    if inputs.scheduler.kind != "splitwise":
        return 0.0
    slowest = given.ps_per_token or max(replica.transfer_ps_per_token for replica in inputs.replicas)
    set_ups = np.ceil(prompt / given.block_tokens) if given.block_tokens else np.ones_like(prompt)
    if given.mode == "chunkwise":
        set_ups = prompt  # a chunk may be one token beside a budget of decodes
    sent = prompt * float(slowest) + set_ups * given.setup_ps
    return float(sent.sum() if given.contention else sent.max(initial=0.0))
