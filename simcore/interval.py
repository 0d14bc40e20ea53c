"""How far chance alone may move a capacity: a block bootstrap of the limit that binds."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from simcore.distribution import rank
from simcore.evaluation import LimitResult
from simcore.probes import Probe
from simcore.slo import limit_values

BLOCKS = 40
"""Consecutive requests share their queue; blocks of a fortieth of the window are taken as independent."""
RESAMPLES = 200
TAILS = (2.5, 97.5)
LEAST_SLOPE = 0.05
WIDEST = 1.25
SEED = 20_260_101


def noise_interval(at: Probe, below: Probe, limit_name: str) -> tuple[float, float] | None:
    """(low, high) rates of a 95 % interval, or None where the limit has no value a request (TBT gaps, kv, unstable).

    The binding percentile at the capacity is resampled by blocks of consecutive requests; its relative spread becomes
    one of rates through the slope d ln(value) / d ln(rate) between 0.9 of the capacity and the capacity. Neither end
    is further than 1.25 times from the capacity: beyond that the straight line says nothing. It is the noise of a run
    of this length, not the error of the model.
    """
    limit, earlier = _limit(at, limit_name), _limit(below, limit_name)
    values = None if limit is None else limit_values(at.goal, at.latencies, limit)
    if limit is None or earlier is None or values is None or not limit.value or not earlier.value:
        return None
    slope = math.log(limit.value / earlier.value) / math.log(at.rate_req_per_s / below.rate_req_per_s)
    spread = resampled(values, limit.percentile)
    if slope < LEAST_SLOPE or not np.all(np.isfinite(spread)) or np.any(spread <= 0):
        return None
    least, most = np.percentile(spread, TAILS)
    low, high = ((limit.limit / value) ** (1 / slope) for value in (most, least))
    rate = at.rate_req_per_s
    return rate * min(max(low, 1 / WIDEST), 1.0), rate * min(max(high, 1.0), WIDEST)


def resampled(values: NDArray[np.float64], percentile: float) -> NDArray[np.float64]:
    """The percentile (inverse empirical CDF) of each of many resamples of whole blocks, drawn with replacement."""
    blocks = min(BLOCKS, len(values))
    size = len(values) // blocks
    grid = values[: blocks * size].reshape(blocks, size)
    picks = np.random.default_rng(SEED).integers(0, blocks, (RESAMPLES, blocks))
    position = rank(percentile, blocks * size) - 1
    return np.array([np.partition(grid[pick].ravel(), position)[position] for pick in picks])


def _limit(probe: Probe, name: str) -> LimitResult | None:
    return next((limit for limit in probe.summary.slo.limits if limit.name == name), None)
