"""What an engine is given: a case compiled to whole numbers, every default resolved.

``compile.compile_case`` is the only way from spec to engine; both engines take the same ``ClusterInputs``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction
from math import floor

import numpy as np
from numpy.typing import NDArray

from simcore.latency.curve import IterationCurve
from simcore.spec import AvailabilityState

Int64 = NDArray[np.int64]

UNDIVIDED_KINDS = ("orca", "request_level")
"""Each micro-batch may hold max_batch_size requests, however many stages there are."""


@dataclass(frozen=True)
class ReplicaInputs:
    """One replica. Replicas are numbered by pool in the case's order, then by position in the pool."""

    pool: int
    role: str
    curve: IterationCurve
    stages: int
    """Pipeline stages; up to this many micro-batches are in flight."""
    kv_blocks: int
    """Capacity in blocks of ``SchedulerInputs.block_tokens``."""
    transfer_ps_per_token: int
    """Sending one prompt token's KV over this replica's own NIC."""
    power_mw: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]
    """By batch kind: milliwatts above idle of ONE STAGE's accelerators at the n of ``power_tokens``; linear between,
    flat beyond."""
    power_tokens: tuple[int, ...]
    availability: tuple[tuple[int, AvailabilityState], ...] = ()
    """(ps, state) in the order of time: the state from then on. Before the first it is up."""


@dataclass(frozen=True)
class SchedulerInputs:
    """A policy with every default of CONTRACT.md resolved."""

    kind: str
    token_budget: int
    max_batch_tokens: int
    max_batch_size: int
    block_tokens: int
    watermark_blocks_share: float
    reservation: str
    max_model_tokens: int
    """0: no limit."""
    mixed_pool: bool
    chunked: bool
    prompt_pending_limit: int
    padded_prompts: bool
    preempt_when_full: bool
    pad_compute: bool
    keep_finished: bool
    """``request_level`` only, else false."""
    ageing: str
    decode_runs: str
    simultaneous_arrivals: str
    router: str
    router_ties: str
    seed: int
    full_layers: int = 1
    """The model's layers whose KV is kept of every token, and"""
    windowed_layers: int = 0
    """those that keep it of a request's last ``window_tokens`` only."""
    window_tokens: int = 0

    def watermark_blocks(self, kv_blocks: int) -> int:
        """What admission keeps free of so many blocks, rounded down; the share is the decimal that it is written as."""
        return floor(Fraction(repr(self.watermark_blocks_share)) * kv_blocks)


@dataclass(frozen=True)
class TransferInputs:
    """KV transfer with bandwidth and set-up in whole picoseconds."""

    mode: str
    ps_per_token: int
    """0: the slower of the two replicas' ``transfer_ps_per_token``; else this, for every pair."""
    contention: bool
    setup_ps: int
    block_tokens: int
    """Tokens that one set-up is taken for; 0: one set-up, however much is sent."""
    retry_ps: int
    """0: as soon as there is room; else polled."""
    layers: int


class Wait(IntEnum):
    """What a ``WaitLimit`` is on."""

    QUEUE = 0
    """Arrival to the first iteration with any of the prompt."""
    TTFT = 1
    """Arrival to the first token."""
    DECODE = 2
    """First token to the last."""
    E2E = 3
    """Arrival to the last token."""


@dataclass(frozen=True)
class WaitLimit:
    """How long each request of the window may wait, and how many of them may wait longer."""

    wait: Wait
    limit_ps: Int64
    """One entry a request of the window."""
    allowed: int


@dataclass(frozen=True)
class ClusterInputs:
    """A whole cluster and the requests it serves."""

    replicas: tuple[ReplicaInputs, ...]
    scheduler: SchedulerInputs
    transfer: TransferInputs
    arrival_ps: Int64
    prompt_tokens: Int64
    output_tokens: Int64
    cached_prompt_tokens: Int64
    max_output_tokens: Int64
    """0: not given."""
    window: tuple[int, int]
    """First and one past the last request whose token gaps are kept (all: (0, N))."""
    wait_limits: tuple[WaitLimit, ...] = ()
    """Once more requests than one of them allows have waited too long, the run is given up (``give_up.py``): it ends,
    and all that it says is that."""
    log_ps: tuple[int, int] = (0, 0)
    """Micro-batches under way within this stretch of time are logged (``RunResult.log``); empty: none."""
