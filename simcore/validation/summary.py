"""Comparisons in groups: how far off, and to which side."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from simcore.validation.comparison import Comparison

WORST = 5
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Errors:
    """Of one group of comparisons."""

    count: int
    mape: float
    median: float
    """Signed: above 0, predictions are too long (or too much)."""
    spread: float
    """Standard deviation of the signed errors."""
    p90: float
    """Of absolute errors."""
    worst: tuple[Comparison, ...]


def errors_of(found: Sequence[Comparison]) -> Errors:
    """Of at least one comparison."""
    signed = [one.error for one in found]
    absolute = sorted(map(abs, signed))
    worst = sorted(found, key=lambda one: (-abs(one.error), one.row))[:WORST]
    at = min(-(-9 * len(absolute) // 10), len(absolute)) - 1
    return Errors(
        len(found), statistics.fmean(absolute), statistics.median(signed), statistics.pstdev(signed), absolute[at],
        tuple(worst),
    )  # fmt: skip


def grouped(found: Iterable[Comparison], key: Callable[[Comparison], Key]) -> dict[Key, list[Comparison]]:
    """In order of first appearance."""
    groups: dict[Key, list[Comparison]] = {}
    for one in found:
        groups.setdefault(key(one), []).append(one)
    return groups
