"""Order statistics of token gaps, exact and without writing the runs out.

All runs are counted once into the bins of a logarithmic scale, 64 an octave. The bin in which a rank falls is known
then, and only what the runs have there is looked at: clipped to a bin, a run is a run again. That part is counted into
256 equal bins, clipped to one of them, and so on until all that is left is one gap: some four rounds, each over a small
part of the one before. Counts are whole numbers, so the gap found is the one that sorting all would give.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simcore.engine.fast.gap_state import MOST_COUNTED, GapRun, gap_run_row
from simcore.engine.fast.jit import entry, step
from simcore.engine.fast.layout import Int64, leading_zeros, numbers

OCTAVE_BITS = 6
BINS = 2**OCTAVE_BITS * 58
"""Up to 2**63, where time ends."""
HIGHEST_BIT = 63
END_OF_TIME = (1 << HIGHEST_BIT) - 1
FINE_BITS = 8
FINE_BINS = 2**FINE_BITS
MET_BITS = 12
MET = 2**MET_BITS
LOGARITHMIC = -1
"""In place of the width of equal bins, as a power of two."""


def count_below(runs: NDArray[Any], bound_ps: int) -> int:
    """How many gaps of the runs are shorter."""
    return gaps_below(runs.ctypes.data, len(runs), bound_ps)


def count_bins(runs: NDArray[Any]) -> Int64:
    """How many gaps each logarithmic bin has."""
    bins = np.zeros(BINS, np.int64)
    count_into(runs.ctypes.data, len(runs), bins.ctypes.data)
    return bins


def keep_runs(runs: NDArray[Any], spans: Sequence[tuple[int, int]]) -> int:
    """Move the runs that reach into a span [low, high) to the front, those of one and the same gap mostly merged.
    Returns how many they are."""
    met, edges = np.full(MET, -1), np.array(spans, np.int64)
    return keep_reaching(runs.ctypes.data, len(runs), edges.ctypes.data, len(edges), met.ctypes.data)


def gaps_of_ranks(runs: NDArray[Any], bins: Int64, ranks: Sequence[int]) -> list[int]:
    """The gaps that have these ranks, of runs whose gaps ``bins`` counts."""
    upto = np.cumsum(bins)
    places = np.searchsorted(upto, ranks, side="left").tolist()
    return [
        gap_of_rank(runs, start_of_bin(place), start_of_bin(place + 1), rank - int(upto[place] - bins[place]))
        for place, rank in zip(places, ranks, strict=True)
    ]


def gap_of_rank(runs: NDArray[Any], low_ps: int, high_ps: int, rank: int) -> int:
    """The gap that has this rank among those of at least ``low_ps`` and less than ``high_ps``."""
    part, bins = np.empty(len(runs), runs.dtype), np.empty(FINE_BINS, np.int64)
    return gap_between(runs.ctypes.data, len(runs), part.ctypes.data, bins.ctypes.data, low_ps, high_ps, rank)


@entry
def gaps_below(runs: int, length: int, bound_ps: int) -> int:
    """``count_below``. Address of the runs."""
    total = 0
    for i in range(length):
        run = gap_run_row(runs, i)
        total += terms_below(run, bound_ps) * run.count
    return total


@entry
def count_into(runs: int, length: int, bins: int) -> None:
    """Add the gaps of the runs to the counts of the logarithmic bins. Addresses of tables."""
    for i in range(length):
        add_run(bins, 0, LOGARITHMIC, gap_run_row(runs, i))


@entry
def keep_reaching(runs: int, length: int, spans: int, spans_kept: int, met: int) -> int:
    """``keep_runs``. Addresses of tables: the runs, the edges of the spans, and places by a part of the gap's digits:
    where a run of one gap was put last."""
    kept = 0
    for i in range(length):
        run = gap_run_row(runs, i)
        first, growth, terms, count = run.first_ps, run.growth_ps, run.terms, run.count
        last = first + growth * (terms - 1)
        if not reaches(spans, spans_kept, first, last):
            continue
        if first == last and terms * count <= MOST_COUNTED:
            place = (first ^ first >> MET_BITS ^ first >> 2 * MET_BITS) & (MET - 1)
            if is_merged(runs, numbers(met)[place], first, terms * count):
                continue
            numbers(met)[place] = kept
            growth, terms, count = 0, 1, terms * count
        moved = gap_run_row(runs, kept)
        moved.first_ps, moved.growth_ps, moved.terms, moved.count = first, growth, terms, count
        kept += 1
    return kept


@step
def reaches(spans: int, spans_kept: int, first_ps: int, last_ps: int) -> bool:
    """Whether any of the spans is met between two gaps."""
    met = False
    for i in range(spans_kept):
        met = met or (first_ps < numbers(spans)[2 * i + 1] and numbers(spans)[2 * i] <= last_ps)
    return met


@step
def is_merged(runs: int, place: int, gap_ps: int, count: int) -> bool:
    """Whether so many times this gap could be added to the run at a place."""
    if place < 0:
        return False
    run = gap_run_row(runs, place)
    if run.first_ps != gap_ps or run.count + count > MOST_COUNTED:
        return False
    run.count += count
    return True


@entry
def gap_between(runs: int, length: int, part: int, bins: int, low: int, high: int, rank: int) -> int:
    """``gap_of_rank``. Addresses of tables: the runs, room for as many, and for ``FINE_BINS`` counts."""
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
            add_run(bins, low, shift, gap_run_row(part, i))
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
def add_run(bins: int, origin: int, shift: int, run: GapRun) -> None:
    """Count the gaps of a run into the bins that it passes through."""
    last = bin_of(run.first_ps + run.growth_ps * (run.terms - 1), origin, shift)
    current, counted = bin_of(run.first_ps, origin, shift), 0
    while current < last:
        below = terms_below(run, start_of(current + 1, origin, shift))
        numbers(bins)[current] += (below - counted) * run.count
        counted, current = below, current + 1
    numbers(bins)[last] += (run.terms - counted) * run.count


@step
def terms_below(run: GapRun, bound: int) -> int:
    """How many gaps of a run are shorter than that."""
    if bound <= run.first_ps:
        return 0
    if run.first_ps + run.growth_ps * (run.terms - 1) < bound:
        return run.terms
    return (bound - run.first_ps - 1) // run.growth_ps + 1


@step
def bin_of(gap_ps: int, origin: int, shift: int) -> int:
    """The bin of a gap: of equal ones from the origin on, or of the logarithmic scale.

    There an octave [2**k, 2**(k + 1)) has 64 equal bins, and below 128 each picosecond its own.
    """
    if shift != LOGARITHMIC:
        return (gap_ps - origin) >> shift
    octave = max(HIGHEST_BIT - OCTAVE_BITS - leading_zeros(gap_ps), 0)
    return (octave << OCTAVE_BITS) + (gap_ps >> octave)


@step
def start_of(place: int, origin: int, shift: int) -> int:
    """The least gap of a bin."""
    return origin + (place << shift) if shift != LOGARITHMIC else start_of_logarithmic(place)


def start_of_bin(place: int) -> int:
    """The least gap of a logarithmic bin; of the one after the last: the end of time."""
    octave = max((place >> OCTAVE_BITS) - 1, 0)
    return min((place - (octave << OCTAVE_BITS)) << octave, END_OF_TIME)


start_of_logarithmic = step(start_of_bin)
