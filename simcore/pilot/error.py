"""How far true iteration times of a part may be from predicted ones, and how much longer the purchase allows."""

from __future__ import annotations

import math
from dataclasses import dataclass

from simcore.catalogue import resolve_machine, resolve_model
from simcore.evaluation import Evaluation
from simcore.spec import Case, Slo
from simcore.trust.capacity_error import response
from simcore.trust.time_error import time_error

PHASES = {"mixed": ("prefill", "decode", "hybrid"), "prefill": ("prefill",), "decode": ("decode",)}
"""What a replica of each role runs."""
UNCLAIMED = math.log(1.25)
"""Either way, where times are the user's own and nothing was compared with them: an assumption."""
FINE = 40


@dataclass(frozen=True)
class TimeRange:
    """True over predicted times of one replica, at 90 %."""

    role: str
    faster: float
    """At most 1."""
    slower: float
    """At least 1."""
    basis: str
    """What says so; empty where nothing was compared."""


def time_range(case: Case, role: str) -> TimeRange:
    """Of the pool with the role: the widest over the phases that it runs."""
    pool = next(pool for pool in case.pools if pool.role == role)
    degrees = (pool.tensor_parallel, pool.pipeline_parallel)
    error = time_error(resolve_model(case.model), resolve_machine(pool.machine), *degrees, pool.latency or case.latency)
    if not error.phases:
        return TimeRange(role, math.exp(-UNCLAIMED), math.exp(UNCLAIMED), "")
    longer, shorter = (max(of(phase) for phase in PHASES[role]) for of in (error.longer, error.shorter))
    return TimeRange(role, math.exp(-shorter), math.exp(longer), error.basis)


def allowed(evaluation: Evaluation, slo: Slo, required_req_per_s: float) -> float:
    """How many times as long all iterations may take, with the design still holding the required rate: at least 1.

    By the design's response (``simcore.trust.capacity_error``): k where its capacity has fallen to the rate. It falls
    by k at least, so k is at most capacity / rate.
    """
    answer, spare = response(evaluation, slo), math.log(evaluation.capacity_req_per_s / required_req_per_s)
    low, high = 0.0, max(spare, 0.0)
    for _ in range(FINE):
        middle = (low + high) / 2
        held = answer.log_capacity(dict.fromkeys(PHASES, middle)) >= -spare
        low, high = (middle, high) if held else (low, middle)
    return math.exp(low)
