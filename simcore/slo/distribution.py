"""Percentiles as everywhere in Phaseplan: the inverse empirical CDF, +infinity included."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simcore.latency.curve import PS_PER_S
from simcore.slo.latencies import INFINITE, PIECE, TokenGaps, pieces

Numbers = NDArray[np.int64] | NDArray[np.float64]

REPORTED = (50, 90, 95, 99, 100)

HALF_BITS = 32
MANTISSA_BITS = 52
INT64_SAFE = 2**62
FEW = 2048
ALIKE_SHARE = 16
"""More than one in so many are as small as the least,"""
LOOKED_AT = 1024
"""of so many, or twice as many, that are looked at."""


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
    numerator, denominator = _share(percentile)
    return max(-(-numerator * count // denominator), 1)


@cache
def _share(percentile: float) -> tuple[int, int]:
    """Of all values, as a whole ratio."""
    share = Fraction(repr(percentile)) / 100
    return share.numerator, share.denominator


def percentile(values: Numbers, p: float) -> float:
    """Inverse empirical CDF: the least value that at least p % of the values do not exceed.

    ``INFINITE`` counts as infinity. No values: 0 (nothing was late).
    """
    return percentiles(values, (p,))[0]


def percentiles(values: Numbers, wanted: Sequence[float]) -> list[float]:
    """``percentile`` for several percentiles at once; exact, with partial sorts."""
    return percentiles_of_own(values.copy(), wanted)


def percentiles_of_own(values: Numbers, wanted: Sequence[float]) -> list[float]:
    """``percentiles`` of values that nobody else needs: they are put in another order."""
    if len(values) == 0:
        return [0.0] * len(wanted)
    positions = [rank(p, len(values)) - 1 for p in wanted]
    put_in_place(values, sorted(set(positions)))
    return [_as_float(values[position]) for position in positions]


def put_in_place(values: Numbers, positions: Sequence[int]) -> None:
    """Order the values as far as these positions (increasing) take it: one after the other, which NumPy does several
    times as fast as all at once; but where many are alike, such as waits of 0, or few in all, it is quicker to sort
    them."""
    looked_at = values[:: max(len(values) // LOOKED_AT, 1)]
    if len(values) < FEW or np.count_nonzero(looked_at == looked_at.min()) * ALIKE_SHARE > len(looked_at):
        values.sort()
        return
    start = 0
    for position in positions:
        values[start:].partition(position - start)
        start = position + 1


def gap_percentiles(gaps: TokenGaps, never: int, wanted: Sequence[float]) -> list[float]:
    """Inverse empirical CDF of all gaps, ``never`` of them infinite."""
    total = gaps.total + never
    ranks = [rank(p, total) for p in wanted]
    came = [place for place in ranks if place <= gaps.total] if total else []
    found = dict(zip(came, gaps.at_ranks(came), strict=True)) if came else {}
    return [float(found[place]) if place in found else math.inf for place in ranks] if total else [0.0] * len(wanted)


def exact_sum(values: NDArray[np.int64]) -> int:
    """The sum of whole numbers, whatever its size."""
    if len(values) <= PIECE:
        return _exact_sum(values)
    return sum(_exact_sum(values[piece]) for piece in pieces(len(values)))


def _exact_sum(values: NDArray[np.int64]) -> int:
    """Where one int64 might overflow, its halves apart: there is room for 2**31 of each."""
    if len(values) == 0 or len(values) * max(int(values.max()), -int(values.min())) < INT64_SAFE:
        return int(values.sum())
    return (int((values >> HALF_BITS).sum()) << HALF_BITS) + int((values & (1 << HALF_BITS) - 1).sum())


def exact_float_sum(values: NDArray[np.float64]) -> float:
    """The sum, rounded once: the last bits of a plain floating sum depend on its order, so on the machine.

    Of whole numbers and, where no value is so small that it has bits below 2**-52, of their fractions.
    """
    total = 0
    for piece in pieces(len(values)):
        part = values[piece]
        least, most = float(part.min()), float(part.max())
        if max(-least, most) >= INT64_SAFE:
            return math.fsum(values)
        whole = part.astype(np.int64)
        fractions = (part - whole) * (1 << MANTISSA_BITS)
        if least < 1.0 and np.any(fractions != np.floor(fractions)):
            return math.fsum(values)
        total += (exact_sum(whole) << MANTISSA_BITS) + exact_sum(fractions.astype(np.int64))
    return total / (1 << MANTISSA_BITS)


def mean_of(values: Numbers) -> float:
    """The mean of at least one value, from the exact sum and so the same everywhere."""
    if np.issubdtype(values.dtype, np.integer):
        return exact_sum(values.astype(np.int64, copy=False)) / len(values)
    return exact_float_sum(values.astype(np.float64, copy=False)) / len(values)


def distribution_s(values_ps: Numbers) -> Distribution:
    """The distribution, in seconds, of times in picoseconds, which it puts in another order."""
    if len(values_ps) == 0:
        return Distribution(None, None, None, None, None, None)
    points = percentiles_of_own(values_ps, REPORTED)
    mean = math.inf if math.isinf(points[-1]) else mean_of(values_ps)
    return in_seconds(mean, points)


def gap_distribution_s(gaps: TokenGaps, never: int, sum_ps: int) -> Distribution:
    """The distribution, in seconds, of all gaps, ``never`` of them infinite; ``sum_ps``: of all where none is."""
    if gaps.total + never == 0:
        return Distribution(None, None, None, None, None, None)
    mean = math.inf if never else sum_ps / gaps.total
    return in_seconds(mean, gap_percentiles(gaps, never, REPORTED))


def finite(value: float) -> float | None:
    """The value, or None (JSON's null) where it is infinite."""
    return value if math.isfinite(value) else None


def as_json(distribution: Distribution) -> dict[str, Any]:
    """Its figures by name."""
    return dict(distribution.__dict__)


def in_seconds(mean: float, points: Sequence[float]) -> Distribution:
    """By its mean and ``REPORTED`` in picoseconds."""
    return Distribution(*(finite(value / PS_PER_S) for value in (mean, *points)))


def _as_float(value: np.int64 | np.float64) -> float:
    return math.inf if isinstance(value, np.integer) and value == INFINITE else float(value)
