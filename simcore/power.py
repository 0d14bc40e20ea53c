"""Watts: what accelerators draw by kind of batch and load, and what a machine draws idle.

An accelerator draws idle + u * (TDP - idle), never above its cap. In decode (flat in time, rising with memory
traffic): u = 0.18 + 0.75 * MBU + 1.2 * MFU, at most 1, where MBU and MFU are the shares of peak bandwidth and
FLOP/s that a batch of n sequences at context 1024 uses over its iteration time. Checked against ML.ENERGY's watts
at batch 8 on H100 (Llama-3.1-8B 486, 70B TP4 441, Qwen3-32B 538, 405B fp8 407) and Splitwise's on A100 (BLOOM TP8
0.60, Llama-2-70B TP8 0.43, TP2 0.75 of TDP): within 15 %. Prefill and hybrid batches: u rises from 0.35 to 1 at 768
tokens (Splitwise's A100: 0.46 to 0.72 of TDP at 128 to 256 tokens, TDP from 512 to 1024), and is never below the
decodes' own. All of it is an estimate; FleetSim's law for H100 (300 + 300/(1 + exp(4.2 - log2 batch)) W) is steeper
in the batch and knows no model.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, Protocol

from simcore.catalogue import resolve_accelerator
from simcore.shapes import distinct_experts_share, pair_flops
from simcore.spec import Accelerator, Machine, Model
from simcore.stages import Stage, stages

POWER_TOKENS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 768, 1024)
"""The knots of ``stage_power``."""
CONTEXT_TOKENS = 1024
DECODE_BASE, DECODE_BY_MBU, DECODE_BY_MFU = 0.18, 0.75, 1.2
PREFILL_BASE, PREFILL_FULL_TOKENS = 0.35, 768
DEFAULT_MBU = 0.8
MW_PER_W = 1000
KEPT = 256

Milliwatts = tuple[int, ...]


class StepTime(Protocol):
    """What knows how long a batch takes: an ``IterationCurve``."""

    def iteration_ps(self, chunks: Sequence[tuple[int, int]], contexts: Sequence[int]) -> int:
        """Whole ps of a batch of prefill ``chunks`` and decodes of the given ``contexts``."""


class StagePower(NamedTuple):
    """Milliwatts above idle of one stage's accelerators, linear between knots of batch tokens, flat beyond."""

    tokens: tuple[int, ...]
    milliwatts: tuple[Milliwatts, Milliwatts, Milliwatts]
    """By batch kind: prefill, decode, hybrid."""


@lru_cache(maxsize=KEPT)
def stage_power(
    model: Model, machine: Machine, tensor_parallel: int, pipeline_parallel: int, curve: StepTime | None = None
) -> StagePower:
    """What one stage's accelerators draw above idle, by batch kind and batch tokens.

    ``curve`` gives a decode's time, so its traffic; without it, decodes are taken to use 0.8 of the bandwidth.
    """
    accelerator = resolve_accelerator(machine)
    part = max(stages(model, tensor_parallel, pipeline_parallel), key=lambda stage: stage.weight_bytes(model))
    decode = [_decode_share(model, accelerator, part, tensor_parallel, n, curve) for n in POWER_TOKENS]
    prefill = [_prefill_share(n) for n in POWER_TOKENS]
    hybrid = [max(shares) for shares in zip(prefill, decode, strict=True)]
    by_kind = tuple(
        tuple(_above_idle_mw(accelerator, machine, tensor_parallel, share) for share in shares)
        for shares in (prefill, decode, hybrid)
    )
    return StagePower(POWER_TOKENS, (by_kind[0], by_kind[1], by_kind[2]))


def idle_w(machine: Machine) -> float:
    """Drawn all the time with weights loaded and nothing to do: host and idle accelerators."""
    return machine.host_w + machine.accelerators * resolve_accelerator(machine).idle_w


def _prefill_share(tokens: int) -> float:
    return min(PREFILL_BASE + (1 - PREFILL_BASE) * tokens / PREFILL_FULL_TOKENS, 1.0)


def _decode_share(
    model: Model, accelerator: Accelerator, part: Stage, tensor_parallel: int, sequences: int, curve: StepTime | None
) -> float:
    weights = part.read_bytes(model, distinct_experts_share(model, sequences))
    windows = part.window_kv_bytes(model) * min(CONTEXT_TOKENS / (model.window_tokens or CONTEXT_TOKENS), 1)
    kv = sequences * (CONTEXT_TOKENS * part.full_kv_bytes_per_token(model) + windows)
    shortest_s = (weights + kv) / accelerator.memory_bandwidth_bytes_per_s
    seconds = shortest_s / DEFAULT_MBU
    if curve is not None:
        seconds = max(curve.iteration_ps([], [CONTEXT_TOKENS] * sequences) / 1e12, shortest_s)
    parameters = part.shared_parameters + part.embedding_parameters
    if model.experts:
        parameters += part.expert_layers * part.routed_parameters * (model.experts_per_token or 0) / model.experts
    context = part.full_layers * CONTEXT_TOKENS + part.windowed_layers * min(model.window_tokens or 0, CONTEXT_TOKENS)
    flops = sequences * (2 * parameters + pair_flops(model) * context / tensor_parallel)
    mbu, mfu = shortest_s / seconds, flops / (seconds * accelerator.bf16_flops_per_s)
    return min(DECODE_BASE + DECODE_BY_MBU * mbu + DECODE_BY_MFU * mfu, 1.0)


def _above_idle_mw(accelerator: Accelerator, machine: Machine, tensor_parallel: int, share: float) -> int:
    drawn = accelerator.idle_w + share * (accelerator.tdp_w - accelerator.idle_w)
    if machine.power_cap_w is not None:
        drawn = min(drawn, machine.power_cap_w)
    return max(round(tensor_parallel * (drawn - accelerator.idle_w) * MW_PER_W), 0)
