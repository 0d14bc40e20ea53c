"""Runs of token gaps by the bins that they reach into: counted, and those picked out that reach into marked ones.

Gaps of one length are counted when they are noted; runs that grow are only when they are looked at, for most pass
through several bins.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simcore.engine.fast.gap_scale import bin_of, start_of
from simcore.engine.fast.gap_state import MOST_COUNTED, PLACES, GapRun, gap_run_row, place_by_digits
from simcore.engine.fast.jit import entry, step
from simcore.engine.fast.layout import Int64, address_of, numbers


def count_growing(runs: NDArray[Any], bins: Int64) -> None:
    """Add the gaps of runs that grow to the counts."""
    count_growing_into(address_of(runs), len(runs), address_of(bins))


def pick_marked(runs: NDArray[Any], bins: Int64, picked: NDArray[Any]) -> int:
    """Put the runs that reach into a marked bin (not below 0) into ``picked``, which may be their own table; those of
    one and the same gap are mostly merged. Returns how many they are."""
    met = np.full(PLACES, -1)
    return pick_reaching(address_of(runs), len(runs), address_of(bins), address_of(picked), address_of(met))


@entry
def count_growing_into(runs: int, length: int, bins: int) -> None:
    """``count_growing``. Addresses of tables."""
    for i in range(length):
        run = gap_run_row(runs, i)
        if grows(run):
            add_run(run, bins)


@entry
def pick_reaching(runs: int, length: int, bins: int, picked: int, met: int) -> int:
    """``pick_marked``. Addresses of tables; ``met``: where a run of one gap was put last, by ``place_by_digits``."""
    kept = 0
    for i in range(length):
        run = gap_run_row(runs, i)
        first, growth, terms, count = run.first_ps, run.growth_ps, run.terms, run.count
        if not reaches(run, bins):
            continue
        if not grows(run) and terms * count <= MOST_COUNTED:
            place = place_by_digits(first)
            if is_merged(picked, numbers(met)[place], first, terms * count):
                continue
            numbers(met)[place] = kept
            growth, terms, count = 0, 1, terms * count
        moved = gap_run_row(picked, kept)
        moved.first_ps, moved.growth_ps, moved.terms, moved.count = first, growth, terms, count
        kept += 1
    return kept


@step
def grows(run: GapRun) -> bool:
    """Whether a run has gaps of several lengths."""
    return run.terms > 1 and run.growth_ps > 0


@step
def add_run(run: GapRun, bins: int) -> None:
    """Count the gaps of a run into the bins that it passes through."""
    last = bin_of(run.first_ps + run.growth_ps * (run.terms - 1))
    current, counted = bin_of(run.first_ps), 0
    while current < last:
        below = terms_below(run, start_of(current + 1))
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
def reaches(run: GapRun, bins: int) -> bool:
    """Whether a run has a gap in a marked bin, or passes over one."""
    place = bin_of(run.first_ps)
    if numbers(bins)[place] >= 0:
        return True
    last = bin_of(run.first_ps + run.growth_ps * (run.terms - 1))
    while place < last:
        place += 1
        if numbers(bins)[place] >= 0:
            return True
    return False


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
