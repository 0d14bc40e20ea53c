"""Longer or shorter requests at the same times: what a change of a workload's lengths does."""

from __future__ import annotations

import numpy as np

from simcore.traces.trace import MAX_TOKENS, IntArray, Trace


def stretched(trace: Trace, prompts: float = 1.0, outputs: float = 1.0) -> Trace:
    """Every prompt (with its cached part) and every output times a factor, rounded, at least one token."""
    prompt_tokens = _times(trace.prompt_tokens, prompts)
    output_tokens = _times(trace.output_tokens, outputs)
    limits = _times(trace.max_output_tokens, outputs)
    return Trace(
        f"{trace.name}, prompts × {prompts:g}, outputs × {outputs:g}",
        trace.arrival_ps,
        prompt_tokens,
        output_tokens,
        np.minimum(np.rint(trace.cached_prompt_tokens * prompts).astype(np.int64), prompt_tokens - 1),
        np.where(trace.max_output_tokens > 0, np.maximum(limits, output_tokens), 0),
        trace.classes,
        trace.sessions,
    )


def _times(tokens: IntArray, factor: float) -> IntArray:
    rounded: IntArray = np.clip(np.rint(tokens * factor), 1, MAX_TOKENS).astype(np.int64)
    return rounded
