"""Percentiles as everywhere in Phaseplan: the inverse empirical CDF, +infinity included."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simcore.latency.curve import PS_PER_S

Numbers = NDArray[np.int64] | NDArray[np.float64]

INFINITE = int(np.iinfo(np.int64).max)
"""+infinity in an array of picoseconds: a time that never came."""

REPORTED = (50, 90, 95, 99, 100)

LIMB_BITS = 21


@dataclass(frozen=True)
class Distribution:
    """Mean, percentiles and maximum of one quantity; None where the figure is infinite or there is nothing to
    measure."""

    mean: float | None
    p50: float | None
    p90: float | None
    p95: float | None
    p99: float | None
    max: float | None


def rank(percentile: float, count: int) -> int:
    """Position, from 1, of the percentile among ``count`` sorted values: ceil(percentile x count / 100), exactly.

    The percentile is the decimal number that it is written as (99.9 is 999/10). 0 < percentile <= 100, count >= 1.
    """
    return max(math.ceil(Fraction(repr(percentile)) * count / 100), 1)


def percentile(values: Numbers, p: float) -> float:
    """Inverse empirical CDF: the least value that at least p % of the values do not exceed.

    ``INFINITE`` counts as infinity. No values: 0 (nothing was late).
    """
    return percentiles(values, (p,))[0]


def percentiles(values: Numbers, wanted: Sequence[float]) -> list[float]:
    """``percentile`` for several percentiles at once; exact, with one partial sort."""
    if len(values) == 0:
        return [0.0] * len(wanted)
    positions = [rank(p, len(values)) - 1 for p in wanted]
    placed = np.partition(values, sorted(set(positions)))
    return [_as_float(placed[position]) for position in positions]


def weighted_percentile(values: NDArray[np.int64], counts: NDArray[np.int64], never: int, p: float) -> float:
    """Inverse empirical CDF of ``values`` (increasing), each ``counts`` times, and ``never`` times infinity."""
    total = int(counts.sum()) + never
    if total == 0:
        return 0.0
    position = int(np.searchsorted(np.cumsum(counts), rank(p, total), side="left"))
    return float(values[position]) if position < len(values) else math.inf


def exact_sum(values: NDArray[np.int64], counts: NDArray[np.int64] | int = 1) -> int:
    """The sum of ``values``, each ``counts`` times, in parts with room for 2**42 of them: one int64 might overflow,
    and the last bits of a floating sum depend on its order, so on the machine."""
    limb = (1 << LIMB_BITS) - 1
    parts = (values & limb, values >> LIMB_BITS & limb, values >> 2 * LIMB_BITS)
    return sum(int((part * counts).sum()) << i * LIMB_BITS for i, part in enumerate(parts))


def mean_of(values: Numbers) -> float:
    """The mean of at least one value, from the exact sum and so the same everywhere."""
    if np.issubdtype(values.dtype, np.integer):
        return exact_sum(values.astype(np.int64)) / len(values)
    return math.fsum(values.tolist()) / len(values)


def distribution_s(values_ps: Numbers) -> Distribution:
    """The distribution, in seconds, of times in picoseconds."""
    if len(values_ps) == 0:
        return Distribution(None, None, None, None, None, None)
    points = percentiles(values_ps, REPORTED)
    mean = math.inf if math.isinf(points[-1]) else mean_of(values_ps)
    return _in_seconds(mean, points)


def weighted_distribution_s(values_ps: NDArray[np.int64], counts: NDArray[np.int64], never: int) -> Distribution:
    """The distribution, in seconds, of ``values_ps``, each ``counts`` times, and ``never`` times infinity."""
    total = int(counts.sum())
    if total + never == 0:
        return Distribution(None, None, None, None, None, None)
    points = [weighted_percentile(values_ps, counts, never, p) for p in REPORTED]
    mean = math.inf if never else exact_sum(values_ps, counts) / total
    return _in_seconds(mean, points)


def finite(value: float) -> float | None:
    """The value, or None (JSON's null) where it is infinite."""
    return value if math.isfinite(value) else None


def as_json(distribution: Distribution) -> dict[str, Any]:
    """Its figures by name."""
    return dict(distribution.__dict__)


def _in_seconds(mean: float, points: list[float]) -> Distribution:
    return Distribution(*(finite(value / PS_PER_S) for value in (mean, *points)))


def _as_float(value: np.int64 | np.float64) -> float:
    return math.inf if isinstance(value, np.integer) and value == INFINITE else float(value)
