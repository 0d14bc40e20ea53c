"""The gap of a rank among those of a bin, exact and without writing the runs out.

Only what the runs have in the bin is looked at: clipped to it, a run is a run again. That part is counted into 256
equal bins, clipped to the one in which the rank falls, and so on until all that is left is one gap: a few rounds, each
over a small part of the one before. Counts are whole numbers, so the gap found is the one that sorting all would give.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simcore.engine.fast.gap_bins import terms_below
from simcore.engine.fast.gap_scale import HIGHEST_BIT, start_of_bin
from simcore.engine.fast.gap_state import GapRun, gap_run_row
from simcore.engine.fast.jit import entry, step
from simcore.engine.fast.layout import address_of, leading_zeros, numbers

FINE_BITS = 8
FINE_BINS = 2**FINE_BITS


def gap_in_bin(runs: NDArray[Any], place: int, rank: int) -> int:
    """The gap that has this rank among those in a bin of the logarithmic scale."""
    low, high = start_of_bin(place), start_of_bin(place + 1)
    reaching = runs_between(address_of(runs), len(runs), low, high)
    part, bins = np.empty(reaching, runs.dtype), np.empty(FINE_BINS, np.int64)
    return gap_between(address_of(runs), len(runs), address_of(part), address_of(bins), low, high, rank)


@entry
def runs_between(runs: int, length: int, low: int, high: int) -> int:
    """How many runs have a gap of at least ``low`` and less than ``high``, or pass over them."""
    found = 0
    for i in range(length):
        run = gap_run_row(runs, i)
        found += int(run.first_ps < high and run.first_ps + run.growth_ps * (run.terms - 1) >= low)
    return found


@entry
def gap_between(runs: int, length: int, part: int, bins: int, low: int, high: int, rank: int) -> int:
    """Among gaps of at least ``low`` and less than ``high``. Addresses of tables: the runs, room for those that
    ``runs_between`` counts, and for ``FINE_BINS`` counts."""
    kept = clip(runs, length, part, low, high)
    while True:
        low, longest = high, 0
        for i in range(kept):
            run = gap_run_row(part, i)
            low = min(low, run.first_ps)
            longest = max(longest, run.first_ps + run.growth_ps * (run.terms - 1))
        if low == longest:
            return low
        shift = max(HIGHEST_BIT + 1 - FINE_BITS - leading_zeros(longest - low), 0)
        for i in range(FINE_BINS):
            numbers(bins)[i] = 0
        for i in range(kept):
            add_equal(bins, low, shift, gap_run_row(part, i))
        found = 0
        while numbers(bins)[found] < rank:
            rank -= numbers(bins)[found]
            found += 1
        low += found << shift
        kept = clip(part, kept, part, low, low + (1 << shift))


@step
def clip(runs: int, length: int, part: int, low: int, high: int) -> int:
    """What the runs have in [low, high), put into ``part`` (which may be where they are). Returns how many runs have
    anything there."""
    kept = 0
    for i in range(length):
        run = gap_run_row(runs, i)
        first, growth, terms = run.first_ps, run.growth_ps, run.terms
        if first >= high or first + growth * (terms - 1) < low:
            continue
        skipped, until = terms_below(run, low), terms_below(run, high)
        if skipped < until:
            clipped = gap_run_row(part, kept)
            clipped.first_ps, clipped.growth_ps = first + skipped * growth, growth
            clipped.terms, clipped.count = until - skipped, run.count
            kept += 1
    return kept


@step
def add_equal(bins: int, origin: int, shift: int, run: GapRun) -> None:
    """Count the gaps of a run into bins of ``1 << shift`` each from the origin on."""
    last = (run.first_ps + run.growth_ps * (run.terms - 1) - origin) >> shift
    current, counted = (run.first_ps - origin) >> shift, 0
    while current < last:
        below = terms_below(run, origin + (current + 1 << shift))
        numbers(bins)[current] += (below - counted) * run.count
        counted, current = below, current + 1
    numbers(bins)[last] += (run.terms - counted) * run.count
