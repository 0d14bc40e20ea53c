"""A curve under its machine's power cap: what the law of ``power/cap.py`` makes of iteration times, for every source.

A batch that draws more than the cap without it runs its cores at phi of their clock. The part of its time that is
compute takes 1/phi as long, the rest as long as before:

    t under the cap = t * (1 + k * (1/phi - 1)),   k = m^2 / (m^2 + r^2)

m and r are the least times of its FLOPs (whole tiles) and of its reads: k is what the roofline's sqrt(m^2 + r^2) gives
more for each share more of m. So prefills slow first and nearly in full, decodes only below their own draw and by
little. Attention within prompts counts as compute, reading KV (for decodes or chunks) as memory.

Where a machine gives ``prefill_slowdown``, that is taken instead: prefill and hybrid batches times it, decodes as they
are (Splitwise's HHcap: 0.7 of the power, prefill x 1.3). Times that were measured or given under the cap stay as they
are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from simcore.catalogue import resolve_accelerator
from simcore.latency.curve import BatchKind, IterationCurve
from simcore.power import POWER_TOKENS, Load, checked_cap_w, least_work, speed_under_cap, watts_at, working_w
from simcore.power.stage import CONTEXT_TOKENS
from simcore.spec import Accelerator, Machine, Model
from simcore.stages import stages

TILE_TOKENS = 128
"""Linear operators compute whole tiles of so many tokens."""


def under_cap(
    curve: IterationCurve, model: Model, machine: Machine, tensor_parallel: int, pipeline_parallel: int
) -> IterationCurve:
    """The curve under the machine's cap, from the one without: itself where there is no cap, where none of its batches
    draws as much, or where the machine gives its slowdown. SpecError names a cap below idle.
    """
    cap_w = checked_cap_w(machine)
    if cap_w is None or machine.prefill_slowdown is not None:
        return curve
    parallel = (tensor_parallel, pipeline_parallel)
    watts = working_w(model, replace(machine, power_cap_w=None), *parallel, curve)
    accelerator = resolve_accelerator(machine)

    def slower(kind: BatchKind, tokens: int) -> float:
        """1/phi of a batch."""
        return 1 / speed_under_cap(accelerator, watts_at(watts[kind], tokens), cap_w)

    compute, knots = _compute_share(model, accelerator, *parallel), _knots(curve.tokens, watts, cap_w)
    prefill, decode, hybrid = (tuple(1 + compute(kind, n) * (slower(kind, n) - 1) for n in knots) for kind in BatchKind)
    attention = slower(BatchKind.PREFILL, POWER_TOKENS[-1])
    if max(*prefill, *decode, *hybrid, attention) == 1.0:
        return curve
    return replace(
        curve,
        tokens=knots,
        prefill_ps=_times(curve, BatchKind.PREFILL, knots, prefill),
        decode_ps=_times(curve, BatchKind.DECODE, knots, decode),
        hybrid_ps=_times(curve, BatchKind.HYBRID, knots, hybrid),
        attention=round(curve.attention * attention),
        source=f"{curve.source}; capped at {cap_w:g} W: prefill x {max(prefill):.3g}, decode x {max(decode):.3g} at"
        " most (a law, docs/power.md)",
    )


def _compute_share(
    model: Model, accelerator: Accelerator, tensor_parallel: int, pipeline_parallel: int
) -> Callable[[BatchKind, int], float]:
    """k of a batch by its kind and tokens, on the stage with the most weights."""
    part = max(stages(model, tensor_parallel, pipeline_parallel), key=lambda stage: stage.weight_bytes(model))

    def share(kind: BatchKind, tokens: int) -> float:
        of = Load.of_decodes(tokens, CONTEXT_TOKENS) if kind == BatchKind.DECODE else Load.of_prompt(tokens)
        work = least_work(model, accelerator, part, tensor_parallel, of)
        padded = replace(of, tokens=-(-tokens // TILE_TOKENS) * TILE_TOKENS)
        math_s = least_work(model, accelerator, part, tensor_parallel, padded).math_s
        return math_s * math_s / (math_s * math_s + work.read_s * work.read_s)

    return share


def _knots(tokens: tuple[int, ...], watts: Sequence[tuple[float, ...]], cap_w: float) -> tuple[int, ...]:
    """The curve's knots, those of the draw, and the two whole numbers between which a kind's draw passes the cap."""
    found = {*tokens, *POWER_TOKENS}
    for values in watts:
        for (low, below), (high, above) in pairwise(zip(POWER_TOKENS, values, strict=True)):
            if (below <= cap_w) != (above <= cap_w):
                passes = low + int((cap_w - below) / (above - below) * (high - low))
                found |= {passes, min(passes + 1, high)}
    return tuple(sorted(n for n in found if tokens[0] <= n <= tokens[-1]))


def _times(
    curve: IterationCurve, kind: BatchKind, knots: tuple[int, ...], factors: tuple[float, ...]
) -> tuple[int, ...]:
    return tuple(round(curve.base_ps(kind, n) * factor) for n, factor in zip(knots, factors, strict=True))
