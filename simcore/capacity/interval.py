"""How far chance alone may move a capacity: a block bootstrap of the limit that binds."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from simcore.capacity.probes import Probe
from simcore.evaluation import LimitResult
from simcore.slo.distribution import rank
from simcore.slo.objective import limit_values

BLOCKS = 40
"""Consecutive requests share their queue; blocks of a fortieth of the window are taken as independent."""
RESAMPLES = 200
TAILS = (2.5, 97.5)
LEAST_SLOPE = 0.05
WIDEST = 1.25
SEED = 20_260_101
STRIDE = 128


def noise_interval(at: Probe, above: Probe, below: Probe, limit_name: str) -> tuple[float, float] | None:
    """(low, high) rates of a 95 % interval, or None where the limit has no value a request (TBT gaps, kv, unstable).

    ``at`` is the capacity, ``above`` the lowest rate that fails, ``below`` 0.9 of the capacity. The binding percentile
    at the first two is resampled by blocks of consecutive requests; its spread becomes one of rates through the slope
    d ln(value) / d ln(rate) between ``below`` and ``above``; the wider end of either counts. No end is further than
    1.25 times from the capacity: beyond that the straight line says nothing. It is the noise of a run of this length,
    not the error of the model.
    """
    upper, lower = _limit(above, limit_name), _limit(below, limit_name)
    if upper is None or lower is None or not upper.value or not lower.value or above.feasible:
        return None
    slope = math.log(upper.value / lower.value) / math.log(above.rate_req_per_s / below.rate_req_per_s)
    if slope < LEAST_SLOPE:
        return None
    ends = [end for probe in (at, above) for end in _ends(probe, limit_name, slope)]
    if not ends:
        return None
    rate = at.rate_req_per_s
    return max(min(*ends, rate), rate / WIDEST), min(max(*ends, rate), rate * WIDEST)


def _ends(probe: Probe, limit_name: str, slope: float) -> list[float]:
    """The rates at which the probe's resampled limit, at either end of its spread, would just hold."""
    limit = _limit(probe, limit_name)
    values = None if limit is None else limit_values(probe.goal, probe.latencies, limit)
    if limit is None or values is None:
        return []
    spread = resampled(values, limit.percentile)
    if not np.all(np.isfinite(spread)) or np.any(spread <= 0):
        return []
    least, most = np.percentile(spread, TAILS)
    return [probe.rate_req_per_s * (limit.limit / value) ** (1 / slope) for value in (most, least)]


def resampled(values: NDArray[np.float64], percentile: float) -> NDArray[np.float64]:
    """The percentile (inverse empirical CDF) of each of many resamples of whole blocks, drawn with replacement."""
    blocks = min(BLOCKS, len(values))
    size = len(values) // blocks
    picks = np.random.default_rng(SEED).integers(0, blocks, (RESAMPLES, blocks))
    times = _times(np.arange(RESAMPLES)[:, None], picks, (RESAMPLES, blocks))
    order = np.argsort(values[: blocks * size])
    places = _places(order // size, times, rank(percentile, blocks * size))
    found: NDArray[np.float64] = values[order[places]]
    return found


def _places(block: NDArray[np.int64], times: NDArray[np.int64], wanted: int) -> NDArray[np.int64]:
    """The first place, one a resample, up to which it has so many values: values stand in increasing order, each of a
    ``block`` that a resample took so many ``times``.

    At every ``STRIDE``-th place it is known how many values of each block stand before it; between two of them it is
    counted.
    """
    starts = np.arange(0, len(block), STRIDE)
    blocks, strides = times.shape[1], len(starts)
    in_stride = _times(block, np.arange(len(block)) // STRIDE, (blocks, strides))
    upto = np.einsum("ij,jk->ik", times, np.cumsum(in_stride, axis=1))
    stride = (upto < wanted).sum(axis=1)
    before = np.where(stride > 0, np.take_along_axis(upto, np.maximum(stride - 1, 0)[:, None], axis=1)[:, 0], 0)
    within = np.minimum(starts[stride][:, None] + np.arange(STRIDE), len(block) - 1)
    taken = np.take_along_axis(times, block[within], axis=1)
    reached = before[:, None] + np.cumsum(taken, axis=1) >= wanted
    places: NDArray[np.int64] = starts[stride] + reached.argmax(axis=1)
    return places


def _times(row: NDArray[np.int64], column: NDArray[np.int64], shape: tuple[int, int]) -> NDArray[np.int64]:
    """How often each cell of a table was met."""
    return np.bincount((row * shape[1] + column).ravel(), minlength=shape[0] * shape[1]).reshape(shape)


def _limit(probe: Probe, name: str) -> LimitResult | None:
    return next((limit for limit in probe.judged.slo.limits if limit.name == name), None)
