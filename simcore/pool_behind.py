"""The pool that a metric is made in: where one looks when a limit is missed."""

from __future__ import annotations

from collections.abc import Sequence

from simcore.evaluation import PoolResult

ROLES = {
    "ttft": ("prefill", "mixed"),
    "queue": ("prefill", "mixed"),
    "tbt": ("decode", "mixed"),
    "tpot": ("decode", "mixed"),
}
"""By a metric's first word; any pool for the rest."""


def pool_behind(metric: str, pools: Sequence[PoolResult]) -> PoolResult:
    """Of those that make the metric the most loaded."""
    wanted = ROLES.get(metric.partition("_")[0], ("prefill", "decode", "mixed"))
    return max([pool for pool in pools if pool.role in wanted] or pools, key=load)


def load(pool: PoolResult) -> float:
    """The share of its time in batches and bubbles, or its NICs' where that is more."""
    return max(pool.busy + pool.bubble, pool.nic_busy)
