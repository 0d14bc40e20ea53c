"""What binds a design at a rate: one limit and one pool, by one rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simcore.evaluation import LimitResult
from simcore.metrics.pool_use import PoolUse
from simcore.pool_behind import load, pool_behind

KV, UNSTABLE = "kv", "unstable"
BLOCKED_SHARE = 0.05
"""KV binds where a pool stood idle for this share of its time with a request that its KV could not hold,"""
PREEMPTED_SHARE = 0.01
"""or this share of requests was preempted,"""
FULL_SHARE = 0.98
"""or a decode pool's KV was this full (its prompts wait elsewhere, so it is never idle for it)."""
USES = ("prefill", "decode", "hybrid", "bubble", "blocked", "transfer_wait", "nic_busy")
"""Shares of a pool's time, and of its NICs', that may be what it lacks most."""


@dataclass(frozen=True)
class Binding:
    """The constraint nearest to failing, or failing most."""

    limit: str
    """A limit's name, ``kv`` or ``unstable``."""
    pool: str
    """The role of the pool behind it."""
    because: str
    """Where that pool's time went most, of ``USES``."""
    ratio: float | None
    """Its value over its limit; None where that is infinite."""


def binding(limits: Sequence[LimitResult], stable: bool, uses: Sequence[PoolUse], preempted_share: float) -> Binding:
    """The binding constraint.

    1. Unstable, or a limit missed, while KV memory turns requests away (see the constants above): ``kv``, and the pool
       it is in.
    2. Unstable otherwise: ``unstable``, and the most loaded pool: by its time in batches and bubbles, or its NICs'.
    3. Else the limit with the largest value over its limit, missed or not; an attainment share counts as
       (1 - value) / (1 - share) and yields to its own TTFT or TPOT limit where that is missed too. Its pool: the one
       that prefills for TTFT and scheduling delay, the one that decodes for TBT and TPOT, the most loaded for the rest.
    """
    worst = max(limits, key=pressure, default=None)
    missed = worst is not None and not all(limit.met for limit in limits)
    ratio = _finite(pressure(worst)) if worst else None
    full = _kv_pool(uses, preempted_share)
    if full and (not stable or missed):
        return _named(KV, full, ratio)
    if not stable or worst is None:
        return _named(UNSTABLE, _most_loaded(uses), ratio)
    return _named(worst.name, _pool_of(worst.metric, uses), ratio)


def _named(limit: str, use: PoolUse, ratio: float | None) -> Binding:
    return Binding(limit, use.result.role, max(USES, key=lambda name: float(getattr(use.result, name))), ratio)


def pressure(limit: LimitResult) -> float:
    """Its value over its limit: above 1 where it is missed, infinite where the value is."""
    if limit.metric == "attainment":
        short, allowed = 1.0 - (limit.value or 0.0), 1.0 - limit.limit
        pressure = short / allowed if allowed > 0 else (0.0 if short <= 0 else float("inf"))
        return min(pressure, 1.0) if limit.met else min(max(pressure, 1.0), 1.0 + 1e-9)
    if limit.value is None:
        return float("inf")
    ratio = limit.value / limit.limit
    return min(ratio, 1.0) if limit.met else ratio


def _kv_pool(uses: Sequence[PoolUse], preempted_share: float) -> PoolUse | None:
    def short_of_kv(use: PoolUse) -> bool:
        full = use.result.kv_peak_share >= FULL_SHARE
        return full and (
            use.result.role == "decode" or use.result.blocked >= BLOCKED_SHARE or preempted_share >= PREEMPTED_SHARE
        )

    return max((use for use in uses if short_of_kv(use)), key=lambda use: use.result.kv_peak_share, default=None)


def _pool_of(metric: str, uses: Sequence[PoolUse]) -> PoolUse:
    found = pool_behind(metric, [use.result for use in uses])
    return next(use for use in uses if use.result is found)


def _most_loaded(uses: Sequence[PoolUse]) -> PoolUse:
    return max(uses, key=lambda use: load(use.result))


def _finite(value: float) -> float | None:
    return None if value == float("inf") else value
