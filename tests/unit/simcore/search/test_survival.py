"""Machines that may be lost: the search's answer against trying every count, with made-up capacities."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from decimal import Decimal
from itertools import product

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from simcore.answer.measure import measure_of
from simcore.answer.result import StudyResult, study_result
from simcore.catalogue import price_book
from simcore.economics.hourly import usd_per_hour
from simcore.evaluation import Design, Evaluation
from simcore.fleet import machine_counts, pool_machines
from simcore.search.context import Context
from simcore.search.counts import Counts
from simcore.spec import encode
from simcore.spec.revive import revive
from simcore.study import next_designs, screened
from simcore.survival import Lost, left
from simcore.what_if.changes import Changes, repriced, what_if
from simcore.what_if.untried import untried
from tests.unit.simcore.questions import bounded, evaluation, question, told

H100, A100 = "dgx-h100", "dgx-a100"
MIXED, SAME, TURNED = f"splitwise:{H100}+{A100}", f"splitwise:{H100}+{H100}", f"splitwise:{A100}+{H100}"
ALONE, OLD = f"sarathi:{H100}", f"sarathi:{A100}"
BOOK = price_book("list")
MOST, RATE = 20, 20.0
FOUND = (Phase.explicit, Phase.reuse, Phase.generate)
"""An example is a table of all counts: a smaller one says no more, and takes minutes to find."""


@st.composite
def boundaries(draw: st.DrawFn) -> np.ndarray:
    """What every pair of counts holds: more machines of either pool hold no less, in steps of any form."""
    first, second = draw(st.floats(1, 9)), draw(st.floats(1, 9))
    p, d = np.meshgrid(np.arange(MOST + 1), np.arange(MOST + 1), indexing="ij")
    form = draw(st.sampled_from(["pools", "line", "round", "steps"]))
    if form == "pools":
        held = np.minimum(p * first, d * second)
    elif form == "line":
        held = p * first + d * second
    elif form == "round":
        held = np.sqrt(p * first * d * second)
    else:
        drawn = np.random.default_rng(draw(st.integers(0, 2**32))).exponential(size=p.shape) * draw(st.floats(1, 20))
        held = np.maximum.accumulate(np.maximum.accumulate(drawn, axis=0), axis=1)
    return np.where((p > 0) & (d > 0), held, 0.0)


HELD = st.fixed_dictionaries({MIXED: boundaries(), TURNED: boundaries(), SAME: boundaries(),
                              ALONE: st.floats(0.7, 4), OLD: st.floats(0.7, 4)})  # fmt: skip
PRICES = st.fixed_dictionaries({H100: st.integers(5, 80), A100: st.integers(5, 80)})


def capacity(family: str, counts: Counts, held) -> float:
    if min(counts) <= 0:
        return 0.0
    if len(counts) == 1:
        return counts[0] * held[family]
    return float(held[family][min(counts[0], MOST), min(counts[1], MOST)])


def survived(family: str, counts: Counts, held, failures: int) -> float:
    """By brute force: the least over all ways to lose so many machines."""
    ways = product(range(failures + 1), repeat=len(counts))
    return min(
        capacity(family, tuple(count - gone for count, gone in zip(counts, lost, strict=True)), held)
        for lost in ways
        if sum(lost) == failures
    )


class Loosely(Context):
    """With a bound for the made-up capacities, as far above them as fluid bounds are."""

    held: object = None

    def bound_of(self, place: int, counts: Counts) -> float:
        return 1.3 * survived(self.lines[place].family, counts, self.held, self.spec.failures)


def context_of(held, **changes) -> Context:
    limits = {"machines": MOST, **changes.pop("limits", {})}
    found = bounded(families=[ALONE, OLD, MIXED, TURNED, SAME], rate_req_per_s=RATE, limits=limits, **changes)
    made = Loosely(**{field.name: getattr(found, field.name) for field in fields(found)})
    object.__setattr__(made, "held", held)
    return made


def counts_of(design: Design, lost: Lost = ()) -> Counts:
    case = left(design.case, lost)
    return tuple(pool_machines(pool) for pool in case.pools)


def searched(held, most_waves: int = 400, **changes) -> tuple[Context, StudyResult]:
    context = context_of(held, **changes)
    designs: dict[str, Design] = {}
    done: dict[str, Evaluation] = {}
    for _ in range(most_waves):
        if not (wave := next_designs(context, done)):
            break
        for design in wave:

            def less(lost: Lost, design: Design = design) -> Evaluation:
                return evaluation(design, capacity(design.family, counts_of(design, lost), held), "decode", RATE)

            designs[design.design_id] = design
            found = told(design, context, less(()), less)
            done[design.design_id] = revive(Evaluation, encode(found))  # as a study's row keeps it
    else:
        raise AssertionError(f"the search goes on after {most_waves} waves")
    for design, known in screened(context, done):
        designs[design.design_id], done[design.design_id] = design, known
    return context, study_result(context.spec, list(designs.values()), done, BOOK)


def surviving(context: Context, held) -> list[Counter[str]]:
    """The machines of every count within the limits that goes on holding the rate."""
    return [
        sum((Counter({pool.machine.id: n}) for pool, n in zip(line.pools, counts, strict=True)), Counter())
        for line in context.lines
        for counts in product(range(1, MOST + 1), repeat=len(line.pools))
        if sum(counts) <= MOST and survived(line.family, counts, held, context.spec.failures) >= RATE
    ]


@pytest.mark.parametrize("failures", [0, 1, 2])
@pytest.mark.parametrize("goal", ["cost", "machines"])
@settings(max_examples=6, deadline=None, phases=FOUND)
@given(held=HELD, books=st.lists(PRICES, min_size=2, max_size=2))
def test_the_answer_is_the_cheapest_of_all_counts_that_go_on_holding_the_rate(goal, failures, held, books):
    context, result = searched(held, goal=goal, failures=failures)
    every = surviving(context, held)
    for prices in books:
        changes = Changes(usd_per_hour={name: Decimal(usd) for name, usd in prices.items()})
        found, book = what_if(result, changes), repriced(BOOK, changes)
        figures = [sum(used.values()) if goal == "machines" else float(usd_per_hour(used, book)) for used in every]
        winner = found.result.winner
        assert (winner is None) == (not figures)
        assert not figures or measure_of(found.result).figure(winner) == pytest.approx(min(figures), rel=1e-12)
        assert untried(context, found).count == 0


@pytest.mark.parametrize("failures", [1, 2])
@settings(max_examples=6, deadline=None, phases=FOUND)
@given(held=HELD)
def test_whatever_is_shown_is_of_what_is_left(failures, held):
    """Frontiers, dominance and what is met: all by what is held whichever machines are lost."""
    _, result = searched(held, failures=failures)
    by_id = {row.design_id: row for row in result.rows}
    for row in result.rows:
        design = result.designs[row.design_id]
        least = survived(row.family, counts_of(design), held, failures)
        if row.status == "evaluated":
            assert row.capacity_req_per_s == least
            assert row.capacity_all_machines_req_per_s == capacity(row.family, counts_of(design), held)
            assert result.holds(row.design_id, RATE) == (least >= RATE)
            assert not row.met or least >= RATE
        elif row.status == "screened" and not result.evaluations[row.design_id].held_required:
            assert row.capacity_high >= least * 0.99
        for beaten_by in filter(None, (row.cost_dominated_by, row.power_dominated_by)):
            assert by_id[beaten_by].capacity_req_per_s >= row.capacity_req_per_s


@settings(max_examples=6, deadline=None, phases=FOUND)
@given(held=HELD)
def test_the_most_is_the_most_that_is_held_after_the_loss(held):
    context, result = searched(held, goal="throughput", failures=1, counts={"every": True})
    most = max(
        survived(line.family, counts, held, 1)
        for line in context.lines
        for counts in product(range(1, MOST + 1), repeat=len(line.pools))
        if sum(counts) <= MOST
    )
    if most >= RATE:
        assert result.winner.capacity_req_per_s == pytest.approx(most, rel=0.01)


def test_designs_have_the_same_ids_and_keys_whatever_may_be_lost():
    plain, careful = (bounded(failures=failures) for failures in (0, 2))
    assert plain.member(0, (9,)).design_id == careful.member(0, (9,)).design_id
    assert machine_counts(left(careful.member(0, (9,)).case, (2,))) == {H100: 7}
    assert question(failures=0) == question()


def flat() -> dict:
    """Ten requests/s a machine where the fewer of the two pools bind, two a machine alone."""
    counts = np.arange(MOST + 1)
    held = np.minimum.outer(counts, counts) * 10.0
    return {MIXED: held, TURNED: held, SAME: held, ALONE: 2.0, OLD: 2.0}


def test_counts_that_leave_a_pool_empty_hold_nothing_and_the_search_ends():
    _, result = searched(flat(), failures=1, counts={"prefill": [1, 2, 3], "decode": [1, 3], "mixed": [1, 2, 11]})
    rows = {row.label: row for row in result.rows if row.family == MIXED}
    alone = rows["1 DGX H100 prefill + 3 DGX A100 decode"]
    assert (alone.status, alone.met, alone.capacity_req_per_s) in (("evaluated", False, 0.0), ("screened", None, None))
    assert rows["3 DGX H100 prefill + 3 DGX A100 decode"].met
    two = rows["2 DGX H100 prefill + 3 DGX A100 decode"]
    assert two.reason.startswith("holds 20 requests/s with all machines; with 1 prefill machine lost 10 ")
    assert two.worst_loss == "1 prefill machine lost"


def test_what_is_named_beside_the_search_is_told_whatever_it_leaves():
    also = [{"family": MIXED, "counts": [1, 1]}, {"family": MIXED, "counts": [5, 5]}]
    _, result = searched(flat(), failures=2, also=also)
    labels = {row.label: row for row in result.rows}
    assert not labels["1 DGX H100 prefill + 1 DGX A100 decode"].met
    assert labels["5 DGX H100 prefill + 5 DGX A100 decode"].met


@pytest.mark.parametrize("changes", [{"size_to": "lower_bound"}, {"seeds": [0, 1]}, {"goal": "power"}])
def test_it_ends_with_every_other_way_to_ask(changes):
    _, result = searched(flat(), failures=1, **changes)
    assert result.winner.met
    assert result.winner.capacity_req_per_s >= RATE


def test_where_a_replica_spans_machines_each_lost_one_takes_another_replica():
    spanning = {"tensor_parallel": 8, "pipeline_parallel": 2, "token_budget": 512}
    context = bounded(latency={"source": "roofline"}, scheduler_options=spanning, failures=2, families=[ALONE])
    case = context.member(0, (8,)).case
    assert [pool_machines(left(case, (lost,)).pools[0]) for lost in (1, 2, 3)] == [6, 4, 2]
    assert left(case, (4,)) is None
    assert context.bound_of(0, (4,)) == 0.0
    assert min(counts[0] for counts in context.candidates.counts) >= 6
