"""Token gaps as they come: counted in their bin, and their runs kept.

Most gaps have come before: iterations of so many tokens take the same time again and again. ``gap_places`` says, by a
part of a gap's digits, which run had such a gap last; if that run still has it, it counts the new ones too. So few runs
are kept, in the caches. A place is only a guess, and may be of a run that is gone: what counts is what stands there.
"""

from __future__ import annotations

from simcore.engine.fast.gap_scale import bin_of
from simcore.engine.fast.gap_state import MOST_COUNTED, GapRun, gap_run_at, place_by_digits
from simcore.engine.fast.jit import step
from simcore.engine.fast.layout import numbers, smalls
from simcore.engine.fast.state import Cluster


@step
def note_gaps_of_run(cluster: Cluster, first_ps: int, growth_ps: int, terms: int, count: int) -> None:
    """So many members have gaps that grow from the first one by as much each time. A run that grows is counted later,
    with many others (``gap_bins.py``), and kept until then."""
    if growth_ps > 0 and terms > 1:
        add_run(cluster, first_ps, growth_ps, terms, count)
        return
    counted = numbers(cluster.gap_bins)[bin_of(first_ps)] + terms * count
    numbers(cluster.gap_bins)[bin_of(first_ps)] = counted
    if counted >= 0:  # the bin is marked
        keep_gaps(cluster, first_ps, terms, count)


@step
def count_gap(cluster: Cluster, gap_ps: int) -> None:
    """One gap."""
    note_gaps_of_run(cluster, gap_ps, 0, 1, 1)


@step
def keep_gaps(cluster: Cluster, gap_ps: int, terms: int, count: int) -> None:
    """Gaps of one length: with those of the run that had it last, or as a run."""
    place = place_by_digits(gap_ps)
    last = smalls(cluster.gap_places)[place]
    if last < cluster.gap_runs and may_count(gap_run_at(cluster, last), gap_ps, terms * count):
        gap_run_at(cluster, last).count += terms * count
    elif terms * count <= MOST_COUNTED:
        smalls(cluster.gap_places)[place] = cluster.gap_runs
        add_run(cluster, gap_ps, 0, 1, terms * count)
    else:
        add_run(cluster, gap_ps, 0, terms, count)


@step
def may_count(run: GapRun, gap_ps: int, count: int) -> bool:
    """Whether so many gaps of a length may be counted with those of a run."""
    return run.terms == 1 and run.first_ps == gap_ps and run.count + count <= MOST_COUNTED


@step
def add_run(cluster: Cluster, first_ps: int, growth_ps: int, terms: int, count: int) -> None:
    """A new row."""
    run = gap_run_at(cluster, cluster.gap_runs)
    run.first_ps, run.growth_ps, run.terms, run.count = first_ps, growth_ps, terms, count
    cluster.gap_runs += 1
