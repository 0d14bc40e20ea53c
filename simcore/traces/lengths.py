"""Lengths described by a few figures: percentiles, or a log-normal distribution.

Between two percentiles ln(tokens) is linear in the normal quantile of the share, so that two of them are a log-normal
distribution and more bend it; beyond the outer ones their segment goes on. What comes of it is a distribution function
at whole token counts, in parts of 10^9, from which lengths are drawn as from the shipped mixes' tables.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from statistics import NormalDist
from typing import Any

import numpy as np

from simcore.spec.decode import SpecError, bounded
from simcore.traces.mixes import PARTS, Lengths
from simcore.traces.trace import MAX_TOKENS

NORMAL = NormalDist()
TAIL_SHARE = 1e-6
"""Of requests longer than the longest that is drawn, where no ``most`` is given."""
EVERY_TOKEN_TO, KNOTS = 64, 400


@dataclass(frozen=True)
class LengthSpec:
    """``percentiles``, or ``sigma`` (of ln tokens) with ``median`` or ``mean``; within ``least`` and ``most``."""

    percentiles: dict[str, Any] | None = None
    """Tokens by percentile: {"50": 1020, "99": 4142}. One alone: all requests have that length."""
    median: float | None = bounded(None, least=1, most=MAX_TOKENS)
    mean: float | None = bounded(None, least=1, most=MAX_TOKENS)
    sigma: float | None = bounded(None, least=0, most=5)
    least: int = bounded(1, least=1, most=MAX_TOKENS)
    most: int | None = bounded(None, least=1, most=MAX_TOKENS)

    def __post_init__(self) -> None:
        centres = [name for name in ("median", "mean") if getattr(self, name) is not None]
        if (self.percentiles is None) == (self.sigma is None):
            raise SpecError("percentiles: give exactly one of percentiles and sigma (with median or mean)")
        if self.percentiles is not None and centres:
            raise SpecError(f"{centres[0]}: found with percentiles, expected it with sigma alone")
        if self.sigma is not None and len(centres) != 1:
            raise SpecError("median: give exactly one of median and mean with sigma")
        if self.most is not None and self.most < self.least:
            raise SpecError(f"most: found {self.most}, expected at least {self.least}, which least is")
        self._check_within()

    def _check_within(self) -> None:
        most = MAX_TOKENS if self.most is None else self.most
        for key, tokens in self.points:
            if not self.least <= tokens <= most:
                name = "median" if self.sigma is not None else f"percentiles.{key:g}"
                raise SpecError(f"{name}: found {tokens:g}, expected {self.least} to {most}")

    @cached_property
    def points(self) -> tuple[tuple[float, float], ...]:
        """Percentiles and their tokens in order; of a log-normal its median."""
        if self.sigma is not None:
            centre = self.median if self.median is not None else (self.mean or 1) * math.exp(-(self.sigma**2) / 2)
            return ((50.0, max(centre, 1.0)),)
        return _points(self.percentiles or {})

    @cached_property
    def table(self) -> Lengths:
        """The distribution function at whole tokens."""
        shape = _Shape(self.points, self.sigma)
        most = self.most or min(MAX_TOKENS, shape.longest())
        given = {int(tokens) - before for _, tokens in self.points for before in (0, 1)}
        inner = sorted(token for token in _knots(self.least, most) | given if self.least <= token < most)
        parts = [min(round(shape.share(token) * PARTS), PARTS) for token in inner]
        return Lengths(
            np.array([self.least - 1, *inner, most], dtype=np.int64), np.array([0, *parts, PARTS], dtype=np.int64)
        )


def _points(percentiles: dict[str, Any]) -> tuple[tuple[float, float], ...]:
    found = sorted((_percentile(key), _tokens(key, tokens)) for key, tokens in percentiles.items())
    if not found:
        raise SpecError("percentiles: found none, expected at least one")
    for (lower, fewer), (higher, more) in pairwise(found):
        if lower == higher:
            raise SpecError(f"percentiles.{higher:g}: found twice, expected it once")
        if more < fewer:
            raise SpecError(f"percentiles.{higher:g}: found {more:g}, expected at least {fewer:g}, P{lower:g}'s")
    return tuple(found)


def _percentile(key: str) -> float:
    try:
        percentile = float(str(key).lower().removeprefix("p"))
    except ValueError:
        percentile = math.nan
    if not 0 < percentile < 100:
        raise SpecError(f"percentiles.{key}: found {key!r}, expected a percentile between 0 and 100")
    return percentile


def _tokens(key: str, tokens: Any) -> float:
    if isinstance(tokens, bool) or not isinstance(tokens, int | float) or tokens != tokens // 1:
        raise SpecError(f"percentiles.{key}: found {tokens!r}, expected a whole number of tokens")
    return float(tokens)


def _knots(least: int, most: int) -> set[int]:
    """Every small count, then equal steps of ln tokens."""
    if most - least <= KNOTS:
        return set(range(least, most + 1))
    steps = {round(math.exp(math.log(most) * step / KNOTS)) for step in range(KNOTS + 1)}
    return {token for token in steps | set(range(least, least + EVERY_TOKEN_TO)) if token >= least}


class _Shape:
    """The share of requests with at most so many tokens, before least and most."""

    def __init__(self, points: Sequence[tuple[float, float]], sigma: float | None) -> None:
        by_tokens: dict[float, list[float]] = {}
        for percentile, tokens in points:
            by_tokens.setdefault(tokens, []).append(NORMAL.inv_cdf(percentile / 100))
        self.logs = [math.log(tokens) for tokens in by_tokens]
        self.tokens = list(by_tokens)
        self.below = [quantiles[0] for quantiles in by_tokens.values()]
        self.upto = [quantiles[-1] for quantiles in by_tokens.values()]
        self.slope = None if sigma is None else 1 / max(sigma, 1e-9)
        self.constant = len(self.tokens) == 1 and not sigma

    def longest(self) -> int:
        """Tokens that all but TAIL_SHARE of requests do not exceed."""
        if self.constant:
            return round(self.tokens[0])
        beyond = NORMAL.inv_cdf(1 - TAIL_SHARE) - self.upto[-1]
        log = self.logs[-1] + max(beyond, 0) / self._slope(len(self.logs) - 2)
        return math.ceil(math.exp(min(log, math.log(MAX_TOKENS))))

    def share(self, token: int) -> float:
        """Exactly the percentile at a token that one is given for."""
        if self.constant:
            return float(token >= self.tokens[0])
        at = bisect_right(self.tokens, token) - 1
        if at >= 0 and self.tokens[at] == token:
            return NORMAL.cdf(self.upto[at])
        log = math.log(token)
        if at < 0:
            return NORMAL.cdf(self.below[0] - (self.logs[0] - log) * self._slope(0))
        return NORMAL.cdf(self.upto[at] + (log - self.logs[at]) * self._slope(at))

    def _slope(self, segment: int) -> float:
        """Of the normal quantile over ln tokens, in the segment or the outer one nearest to it."""
        if self.slope is not None:
            return self.slope
        at = min(max(segment, 0), len(self.logs) - 2)
        return (self.below[at + 1] - self.upto[at]) / (self.logs[at + 1] - self.logs[at])
