"""Percentiles of token gaps, read off their runs, are those of all gaps written out and sorted."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simcore.engine.fast import cluster as fast
from simcore.engine.fast import room
from simcore.engine.fast.gap_record import GapRecord
from simcore.engine.fast.gap_scale import BINS, start_of_bin
from simcore.engine.fast.gap_state import GapRun
from simcore.engine.fast.gaps import RunsOfGaps
from simcore.engine.fast.layout import fields_of
from simcore.engine.inputs import ClusterInputs
from simcore.engine.oracle import cluster as oracle
from simcore.engine.outputs import CountedGaps
from simcore.slo.distribution import gap_distribution_s, gap_percentiles
from tests.invariants.long_runs import long_run
from tests.invariants.strategies import clusters

COMPILED = settings(deadline=None)  # the first example compiles
gaps_of_any_size = st.integers(0, 300) | st.integers(0, 2**62) | st.integers(10**10, 10**11)
growths = st.just(0) | st.integers(0, 9) | st.integers(0, 10**9)
runs = st.lists(st.tuples(gaps_of_any_size, growths, st.integers(1, 40), st.integers(1, 9)), min_size=1, max_size=30)


STARTS = np.array([start_of_bin(place) for place in range(BINS)])


def of(rows: list[tuple[int, int, int, int]]) -> RunsOfGaps:
    """As the engine leaves them: gaps of one length counted, runs that grow not yet."""
    table, bins = np.array(rows, fields_of(GapRun)), np.zeros(BINS, np.int64)
    for first, growth, terms, count in rows:
        if terms == 1 or growth == 0:
            bins[np.searchsorted(STARTS, first, side="right") - 1] += terms * count
    return RunsOfGaps(table, 0, GapRecord(bins), never_again)


def never_again(record: GapRecord) -> RunsOfGaps:
    raise AssertionError("nothing is missing")


def written_out(rows: list[tuple[int, int, int, int]]) -> list[int]:
    return sorted(
        first + i * growth for first, growth, terms, count in rows for i in range(terms) for _ in range(count)
    )


@COMPILED
@given(runs, st.data())
def test_the_gap_of_a_rank_is_that_of_sorting_them_all(
    rows: list[tuple[int, int, int, int]], data: st.DataObject
) -> None:
    gaps, every = of(rows), written_out(rows)
    assert gaps.total == len(every)
    ranks = data.draw(st.lists(st.integers(1, len(every)), max_size=6))
    assert gaps.at_ranks([*ranks, 1, len(every)]) == [every[rank - 1] for rank in ranks] + [every[0], every[-1]]


@given(runs)
def test_distinct_gaps_are_counted_in_order(rows: list[tuple[int, int, int, int]]) -> None:
    distinct, counts = np.unique(written_out(rows), return_counts=True)
    gap_ps, gap_count = of(rows).counted()
    assert (gap_ps.tolist(), gap_count.tolist()) == (distinct.tolist(), counts.tolist())


def test_runs_are_merged_where_they_meet() -> None:
    gap_ps, gap_count = of([(7, 0, 1, 1), (3, 0, 1, 10), (7, 0, 1, 100), (9, 0, 1, 1000), (3, 2, 3, 1)]).counted()
    assert gap_ps.tolist() == [3, 5, 7, 9]
    assert gap_count.tolist() == [11, 1, 102, 1000]


@COMPILED
@given(clusters("sarathi"))
def test_both_engines_give_the_same_distribution(inputs: ClusterInputs) -> None:
    ours, theirs = fast.run(inputs), oracle.run(inputs)
    assert isinstance(theirs.gaps, CountedGaps)
    sum_ps = int((theirs.gap_ps * theirs.gap_count).sum())
    assert gap_distribution_s(ours.gaps, 3, sum_ps) == gap_distribution_s(theirs.gaps, 3, sum_ps)
    assert gap_distribution_s(ours.gaps, 0, sum_ps) == gap_distribution_s(theirs.gaps, 0, sum_ps)


@pytest.mark.parametrize("kind", ["sarathi", "vllm", "splitwise"])
def test_percentiles_are_the_same_where_there_is_little_room(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = long_run(kind, 0)
    whole = fast.run(inputs).gaps
    monkeypatch.setattr(room, "FIRST_GAPS", 0)
    monkeypatch.setattr(room, "most_runs", lambda memory: room.most_gaps(memory) + 100)
    simulated_again: list[GapRecord] = []
    thinned = fast.run(inputs).gaps
    assert isinstance(thinned, RunsOfGaps)
    assert not thinned.record.marks.all()
    assert len(thinned.runs) < len(whole.runs)
    assert thinned.total == whole.total
    again = thinned.again
    noting = replace(thinned, again=lambda record: simulated_again.append(record) or again(record))
    assert gap_distribution_s(noting, 0, 1) == gap_distribution_s(whole, 0, 1)
    elsewhere = [0.5, 12.5, 33.3, 66.0, 99.99]
    assert gap_percentiles(noting, 7, elsewhere) == gap_percentiles(whole, 7, elsewhere)
    assert simulated_again
    assert [column.tolist() for column in noting.counted()] == [column.tolist() for column in whole.counted()]
