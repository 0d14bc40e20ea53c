"""Where the engine keeps token gaps: as runs (drawn in ``gaps.py``)."""

from __future__ import annotations

from simcore.engine.fast.jit import step
from simcore.engine.fast.layout import Small, row_of
from simcore.engine.fast.state import Cluster


class GapRun:
    """So many requests have so many gaps, each longer than the one before by the same."""

    first_ps: int
    growth_ps: int
    terms: Small
    """At most a request's tokens."""
    count: Small
    """At most ``MOST_COUNTED``."""


MOST_COUNTED = 2**31 - 1
gap_run_row = row_of(GapRun)

PLACE_BITS = 12
PLACES = 1 << PLACE_BITS


@step
def place_by_digits(gap_ps: int) -> int:
    """Where it is noted which run has a gap: below ``PLACES``, by a part of its digits."""
    return (gap_ps ^ gap_ps >> PLACE_BITS ^ gap_ps >> 2 * PLACE_BITS) & (PLACES - 1)


@step
def gaps_may_lack(cluster: Cluster) -> bool:
    """Whether the gaps of one event, of two replicas at most, may be more than there is room for."""
    return cluster.gap_runs + 4 * (cluster.most_members + 1) > cluster.gap_room


@step
def gap_run_at(cluster: Cluster, place: int) -> GapRun:
    """A run of gaps by its place."""
    return gap_run_row(cluster.gaps, place)
