"""A request alone on one replica: ``simcore/lone.py`` of one request, where no product leaves int64."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simcore.engine.fast.curve import Curve, base_ps, chunk_ps
from simcore.engine.fast.jit import step
from simcore.engine.fast.layout import address_of, numbers, row_of, table
from simcore.engine.inputs import Int64
from simcore.engine.tally.records import Alone, Walk, alone_row
from simcore.latency.curve import ATTENTION_FRACTION_BITS, BatchKind, IterationCurve
from simcore.lone import INT64_SAFE
from simcore.lone import base_ps as base_of_many_ps
from simcore.same import Same

KNOWN_TOKENS = 8192
"""A table of 64 KiB a curve; longer prompts are looked up between the curve's knots."""
KEPT = 64
PREFILL = int(BatchKind.PREFILL)
curve_row = row_of(Curve)

Served = tuple[IterationCurve, int]
"""A replica's curve and its pipeline stages."""


def fits(served: Served, longest_prompt: int, longest_output: int) -> bool:
    """Whether no number on the way leaves int64."""
    curve, stages = served
    longest = longest_prompt + longest_output + curve.tokens[-1] + 1
    values = curve.prefill_ps
    steepest = max((abs(b - a) for a, b in pairwise(values)), default=0)
    pairs = (curve.attention + curve.context_ps + 1) * longest * longest
    read = (curve.chunk_read_ps << ATTENTION_FRACTION_BITS) * longest
    base = steepest * longest + max(values)
    decode = (curve.base_ps(BatchKind.DECODE, 1) + curve.decode_seq_ps) * longest
    return stages * (pairs + read + base + decode) < INT64_SAFE


def alone_table(served: Sequence[Served], curves: NDArray[Any]) -> tuple[NDArray[Any], list[Int64]]:
    """``Alone`` of each, with the curves of ``curve_table``; and what the table points to."""
    known = [_known_base(Same(curve)) for curve, _ in served]
    made = table(
        Alone,
        len(served),
        curve=[address_of(curves) + place * curves.itemsize for place in range(len(served))],
        stages=[stages for _, stages in served],
        decode_ps=[curve.base_ps(BatchKind.DECODE, 1) + curve.decode_seq_ps for curve, _ in served],
        known_base=[address_of(column) for column in known],
        known_tokens=KNOWN_TOKENS,
    )
    return made, known


@lru_cache(maxsize=KEPT)
def _known_base(curve: Same[IterationCurve]) -> Int64:
    return np.ascontiguousarray(base_of_many_ps(curve.value, BatchKind.PREFILL, np.arange(KNOWN_TOKENS)), np.int64)


@step
def alone_ttft_ps(walk: Walk, place: int, prompt_tokens: int, cached_tokens: int) -> int:
    """Arrival to first token."""
    alone = alone_row(walk.alone, place)
    curve, new = curve_row(alone.curve, 0), prompt_tokens - cached_tokens
    known = new < alone.known_tokens
    base = numbers(alone.known_base)[new] if known else base_ps(curve, walk.knots, PREFILL, new)
    return (base + chunk_ps(curve, new, cached_tokens)) * alone.stages


@step
def alone_decode_ps(walk: Walk, place: int, prompt_tokens: int, steps: int) -> int:
    """First token to last."""
    alone = alone_row(walk.alone, place)
    contexts = steps * prompt_tokens + ((steps * (steps - 1)) >> 1)
    return (steps * alone.decode_ps + curve_row(alone.curve, 0).context_ps * contexts) * alone.stages
