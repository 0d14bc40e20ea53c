"""Token gaps as they come: counted in their bin, and their runs kept."""

from __future__ import annotations

from simcore.engine.fast.gap_scale import bin_of
from simcore.engine.fast.gap_state import MOST_COUNTED, GapRun, gap_run_at
from simcore.engine.fast.jit import step
from simcore.engine.fast.layout import numbers
from simcore.engine.fast.state import Cluster

LOOKED_BACK = 3
SIGN_BIT = 63


@step
def note_gaps_of_run(cluster: Cluster, first_ps: int, growth_ps: int, terms: int, count: int) -> None:
    """So many members have gaps that grow from the first one by as much each time. A run that grows is counted later,
    with many others (``gap_bins.py``), and kept until then."""
    run = gap_run_at(cluster, cluster.gap_runs)
    run.first_ps, run.growth_ps, run.terms, run.count = first_ps, growth_ps, terms, count
    cluster.gap_runs += 1
    if growth_ps == 0 or terms == 1:
        counted = numbers(cluster.gap_bins)[bin_of(first_ps)] + terms * count
        numbers(cluster.gap_bins)[bin_of(first_ps)] = counted
        cluster.gap_runs += counted >> SIGN_BIT  # less 1 if the bin is not marked: the next run takes its place


@step
def count_gap(cluster: Cluster, gap_ps: int) -> None:
    """One gap, with those of the last runs that are like it: members of up to so many micro-batches in turn."""
    for place in range(cluster.gap_runs - 1, max(cluster.gap_runs - 1 - LOOKED_BACK, -1), -1):
        if is_another_of(gap_run_at(cluster, place), gap_ps):
            gap_run_at(cluster, place).count += 1
            numbers(cluster.gap_bins)[bin_of(gap_ps)] += 1
            return
    note_gaps_of_run(cluster, gap_ps, 0, 1, 1)


@step
def is_another_of(run: GapRun, gap_ps: int) -> bool:
    """Whether a gap may be counted with those of a run."""
    return run.terms == 1 and run.first_ps == gap_ps and run.count < MOST_COUNTED
