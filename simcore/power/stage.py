"""What a stage's accelerators draw above idle, by kind of batch and load, and what a machine draws idle."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, Protocol

from simcore.catalogue import resolve_accelerator
from simcore.power.activity import Load, least_work
from simcore.power.cap import checked_cap_w
from simcore.power.coefficients import power_coefficients
from simcore.spec import Accelerator, Machine, Model
from simcore.stages import Stage, stages

POWER_TOKENS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 768, 1024, 2048, 4096)
"""The knots of ``stage_power``."""
CONTEXT_TOKENS = 1024
"""Of each decode: draw is kept by batch tokens alone, and is flat over a decode's life."""
MW_PER_W = 1000
KEPT = 256

Milliwatts = tuple[int, ...]


class StepTime(Protocol):
    """What knows how long a batch takes: an ``IterationCurve``."""

    def iteration_ps(self, chunks: Sequence[tuple[int, int]], contexts: Sequence[int]) -> int:
        """Whole ps of a batch of prefill ``chunks`` and decodes of the given ``contexts``."""


class StagePower(NamedTuple):
    """Milliwatts above idle of one stage's accelerators, and of the fans that cool them, linear between knots of batch
    tokens, flat beyond."""

    tokens: tuple[int, ...]
    milliwatts: tuple[Milliwatts, Milliwatts, Milliwatts]
    """By batch kind: prefill, decode, hybrid."""


@lru_cache(maxsize=KEPT)
def stage_power(
    model: Model, machine: Machine, tensor_parallel: int, pipeline_parallel: int, curve: StepTime
) -> StagePower:
    """What one stage adds to its machine's idle draw, by batch kind and batch tokens. ``curve`` is the stage's own: of
    a capped machine the one under the cap. SpecError names a cap below idle.
    """
    fans = 1 + machine.fans_w / _full_w(machine)
    watts = working_w(model, machine, tensor_parallel, pipeline_parallel, curve)
    idle = resolve_accelerator(machine).idle_w
    by_kind = tuple(
        tuple(max(round(tensor_parallel * (drawn - idle) * fans * MW_PER_W), 0) for drawn in kind) for kind in watts
    )
    return StagePower(POWER_TOKENS, (by_kind[0], by_kind[1], by_kind[2]))


def working_w(
    model: Model, machine: Machine, tensor_parallel: int, pipeline_parallel: int, curve: StepTime
) -> tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]]:
    """Watts of one accelerator of the stage with the most weights, idle included, at ``POWER_TOKENS``: of prefills,
    decodes and hybrid batches. A hybrid batch of n tokens draws the higher of a prompt of n and of n decodes.
    """
    cap_w = checked_cap_w(machine)
    accelerator = resolve_accelerator(machine)
    part = max(stages(model, tensor_parallel, pipeline_parallel), key=lambda stage: stage.weight_bytes(model))
    most = accelerator.tdp_w if cap_w is None else cap_w

    def drawn(load: Load, chunks: Sequence[tuple[int, int]], contexts: Sequence[int]) -> float:
        seconds = curve.iteration_ps(chunks, contexts) / 1e12
        return min(_drawn_w(model, accelerator, part, tensor_parallel, load, seconds), most)

    prefill = tuple(drawn(Load.of_prompt(n), [(n, 0)], []) for n in POWER_TOKENS)
    decode = tuple(drawn(Load.of_decodes(n, CONTEXT_TOKENS), [], [CONTEXT_TOKENS] * n) for n in POWER_TOKENS)
    return prefill, decode, tuple(map(max, prefill, decode))


def watts_at(values: tuple[float, ...], tokens: float) -> float:
    """Of a batch of so many tokens: linear between ``POWER_TOKENS``, flat beyond, as the engine has it."""
    high = bisect_right(POWER_TOKENS, tokens)
    if high in (0, len(POWER_TOKENS)):
        return values[max(high - 1, 0)]
    low = high - 1
    part = (tokens - POWER_TOKENS[low]) / (POWER_TOKENS[high] - POWER_TOKENS[low])
    return values[low] + (values[high] - values[low]) * part


def idle_w(machine: Machine) -> float:
    """Drawn all the time with weights loaded and nothing to do: host and idle accelerators."""
    return machine.host_w + machine.accelerators * resolve_accelerator(machine).idle_w


def _drawn_w(
    model: Model, accelerator: Accelerator, part: Stage, tensor_parallel: int, load: Load, seconds: float
) -> float:
    use = least_work(model, accelerator, part, tensor_parallel, load).over(seconds)
    share = power_coefficients(accelerator).share(*use)
    return accelerator.idle_w + share * (accelerator.tdp_w - accelerator.idle_w)


def _full_w(machine: Machine) -> float:
    """What all its accelerators draw above idle at their TDP: the fans' full speed."""
    accelerator = resolve_accelerator(machine)
    return machine.accelerators * max(accelerator.tdp_w - accelerator.idle_w, 1.0)
