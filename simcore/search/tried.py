"""What is known of a line's counts, simulated or proven, and what is to be asked of them next."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from math import ceil

from simcore.search.counts import Counts
from simcore.search.enough import Enough

OVERSHOOT = 1.03
"""When growing towards the rate, aim a little above it."""


@dataclass(frozen=True)
class Tried:
    """What is known of counts that were simulated."""

    holds: bool
    """The required rate."""
    capacity_req_per_s: float | None
    """None where that was not asked."""
    binding_pool: str = ""

    @property
    def held_req_per_s(self) -> float:
        """The capacity as far as it is known."""
        return self.capacity_req_per_s or 0.0


@dataclass(frozen=True)
class Proven:
    """What is known of counts without simulating them."""

    cannot: Callable[[Counts], bool]
    """They do not hold the required rate."""
    beaten: Callable[[Counts], bool]
    """An evaluated design holds more with no more of any machine, or one of the family holds the rate with fewer."""
    fewest_able: Callable[[int], int]
    """Of two pools: the fewest of the second that may hold it beside so many of the first."""
    told: Container[Counts]
    """Beaten by what a run has said."""
    enough: Enough
    """Of two pools: what is known to hold the rate."""


@dataclass(frozen=True)
class Step:
    """The next counts of a line to ask for; both empty when it is done."""

    at_rate: tuple[Counts, ...] = ()
    """Whether they hold the required rate."""
    whole: tuple[Counts, ...] = ()
    """What they can hold."""


def holding(tried: Mapping[Counts, Tried]) -> list[Counts]:
    """Those that hold the rate, in order."""
    return sorted(counts for counts, found in tried.items() if found.holds)


def failing(tried: Mapping[Counts, Tried]) -> list[Counts]:
    """Those that do not."""
    return sorted(counts for counts, found in tried.items() if not found.holds)


def fewest(tried: Mapping[Counts, Tried]) -> list[Counts]:
    """Those of which no other holds the rate with no more in any pool."""
    every = holding(tried)
    return [
        counts
        for counts in every
        if not any(other != counts and all(o <= c for o, c in zip(other, counts, strict=True)) for other in every)
    ]


def lacks_capacity(tried: Mapping[Counts, Tried], counts: Counts) -> bool:
    """Whether what they can hold was not asked."""
    return counts not in tried or tried[counts].capacity_req_per_s is None


def grown(count: int, held_req_per_s: float, rate_req_per_s: float) -> int:
    """Machines that would hold the rate if capacity grew in proportion; the same count where none helps."""
    if held_req_per_s <= 0:
        return count
    return max(count + 1, ceil(count * rate_req_per_s / held_req_per_s * OVERSHOOT))
