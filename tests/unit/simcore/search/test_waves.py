"""The search against trying everything: the same frontiers and answers, whatever machines and power cost."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simcore.answer.result import study_result
from simcore.catalogue import price_book
from simcore.evaluation import Design, Evaluation
from simcore.frontier import Point
from simcore.frontier import dominators as beaten_by
from simcore.search.dominance import Held, dominators
from simcore.search.rate_grid import grid_rate
from simcore.search.waves import Candidates, Known, Wanted, first_wave, next_wave, screened_by
from simcore.spec import decode
from simcore.study import Context, next_designs, screened
from simcore.words import number
from tests.unit.simcore.questions import bounded, evaluation, told

FAMILIES = ["sarathi:dgx-h100", "vllm:dgx-h100", "vllm:dgx-a100", "splitwise:dgx-h100+dgx-a100"]
GRID = bounded(
    families=[*FAMILIES, "splitwise:dgx-h100+dgx-h100"],
    counts={"mixed": [1, 2, 5, 9, 14, 20, 30, 40], "prefill": [3, 9, 20, 26], "decode": [2, 8, 14, 30]},
    scheduler_options={"token_budgets": [128, 512, 2048]},
)
BOOK = price_book("list")
SETTINGS = settings(max_examples=60, deadline=None)


@st.composite
def grids(draw: st.DrawFn) -> tuple[Candidates, np.ndarray]:
    """Candidates of up to three machines with bounds, and capacities that keep to them."""
    count, kinds = draw(st.integers(1, 40)), draw(st.integers(1, 3))
    rows = draw(
        st.lists(st.lists(st.integers(0, 5), min_size=kinds, max_size=kinds), min_size=count, max_size=count).filter(
            lambda rows: all(map(any, rows))
        )
    )
    bound = np.array(draw(st.lists(st.integers(1, 12), min_size=count, max_size=count)), float)
    reached = np.array(draw(st.lists(st.sampled_from([0, 0.3, 0.7, 0.9, 1]), min_size=count, max_size=count)))
    lines = np.array(draw(st.lists(st.integers(0, 3), min_size=count, max_size=count)))
    machines = np.array(rows)
    return Candidates(lines, tuple((int(row.sum()),) for row in machines), machines, bound), bound * reached


def searched(candidates: Candidates, capacity: np.ndarray) -> Known:
    """``dominates`` says which were found to hold no less than their rival."""
    count = len(candidates)
    known = Known(np.zeros(count, bool), np.zeros(count), np.zeros(count, bool))
    wave = [Wanted(index, -1) for index in first_wave(candidates)]
    while wave:
        before = known.capacity.copy(), known.dominates.copy()
        for index, rival in ((wanted.index, wanted.rival) for wanted in wave):
            assert not known.evaluated[index]
            assert rival < 0 or before[1][rival]
            assert rival < 0 or (candidates.machines[rival] <= candidates.machines[index]).all()
            known.evaluated[index] = True
            known.dominates[index] = rival < 0 or capacity[index] >= before[0][rival]
            known.capacity[index] = capacity[index] if known.dominates[index] else before[0][rival]
        wave = next_wave(candidates, known)
    return known


def frontier(machines: np.ndarray, capacity: np.ndarray, each: np.ndarray, kept: np.ndarray) -> set[int]:
    """Those that hold something and are beaten by none when a machine costs so much."""
    points = [
        Point(str(i), float(machines[i] @ each), float(capacity[i])) for i in np.flatnonzero(kept & (capacity > 0))
    ]
    return {int(name) for name, by in beaten_by(points).items() if by is None}


@SETTINGS
@given(
    grids(), st.lists(st.integers(1, 9), min_size=3, max_size=3), st.lists(st.floats(0.2, 5), min_size=3, max_size=3)
)
def test_frontiers_are_those_of_trying_everything_at_any_price(grid, prices, factors):
    candidates, capacity = grid
    known = searched(candidates, capacity)
    kinds = candidates.machines.shape[1]
    for each in (np.array(prices[:kinds], float), np.array(prices[:kinds]) * factors[:kinds], np.ones(kinds)):
        everything = frontier(candidates.machines, capacity, each, np.ones(len(capacity), bool))
        assert frontier(candidates.machines, capacity, each, known.evaluated & known.dominates) == everything


@SETTINGS
@given(grids())
def test_a_design_is_either_evaluated_or_beaten_by_one_that_was(grid):
    candidates, capacity = grid
    known = searched(candidates, capacity)
    by = screened_by(candidates, known)
    assert set(by) == set(np.flatnonzero(~known.evaluated))
    for index, better in by.items():
        assert known.evaluated[better]
        assert known.dominates[better]
        assert (candidates.machines[better] <= candidates.machines[index]).all()
        assert capacity[better] > candidates.bound[index]


@SETTINGS
@given(grids())
def test_dominators_are_those_of_comparing_each_with_each(grid):
    candidates, capacity = grid
    held = Held.of(np.arange(len(capacity)), candidates.machines, capacity)
    found = dominators(candidates.machines, candidates.bound, held)
    for index, bound in enumerate(candidates.bound):
        fewer = (candidates.machines <= candidates.machines[index]).all(axis=1)
        best = capacity[fewer].max()
        assert (found[index] >= 0) == (best > bound)
        assert found[index] < 0 or capacity[found[index]] == best


def made_up(context: Context, seed: int) -> dict[str, Evaluation]:
    """Every candidate's evaluation: a share of its bound, drawn from the seed."""
    draws = np.random.default_rng(seed)
    bound = context.candidates.bound
    smooth = draws.uniform(0.4, 0.9, len(context.lines))[context.candidates.line]
    capacity = bound * smooth * draws.uniform(0.9, 1.1, len(bound))
    designs = [context.design(index) for index in range(len(bound))]
    return {d.design_id: evaluation(d, float(held)) for d, held in zip(designs, capacity, strict=True)}


def waves(context: Context, everything: dict[str, Evaluation]) -> Iterator[list[Design]]:
    done: dict[str, Evaluation] = {}
    while wave := next_designs(context, done):
        yield wave
        done |= {design.design_id: told(design, context, everything[design.design_id]) for design in wave}


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 2**32),
    st.sampled_from(["cost", "power", "machines", "throughput"]),
    st.lists(st.floats(0.2, 5), min_size=3, max_size=3),
)
def test_a_study_answers_as_if_it_had_tried_every_count_also_at_other_prices(seed, goal, factors):
    context = replace(GRID, spec=replace(GRID.spec, goal=goal, rate_req_per_s=30.0))
    everything = made_up(context, seed)
    every_design = [context.design(index) for index in range(len(context.candidates))]
    evaluated = [design for wave in waves(context, everything) for design in wave]
    done = {design.design_id: told(design, context, everything[design.design_id]) for design in evaluated}
    beaten = screened(context, done)
    assert len(evaluated) + len(beaten) == len(every_design)
    for prices in (BOOK, scaled(factors)):
        quick = study_result(
            context.spec, [*evaluated, *(d for d, _ in beaten)], done | {d.design_id: e for d, e in beaten}, prices
        )
        whole = study_result(context.spec, every_design, everything, prices)
        for kind in ("on_cost_frontier", "on_power_frontier"):
            assert {row.design_id for row in quick.rows if getattr(row, kind)} == {
                row.design_id for row in whole.rows if getattr(row, kind)
            }
        assert (quick.winner and quick.winner.design_id) == (whole.winner and whole.winner.design_id)


def scaled(factors: list[float]) -> object:
    """The list prices of the three machines, each times its own factor."""
    machines = ("dgx-a100", "dgx-h100", "dgx-h100-pcap")
    prices = [
        {"machine": machine, "usd_per_hour": str(float(BOOK.price(machine).usd_per_hour) * factor)}
        for machine, factor in zip(machines, factors, strict=True)
    ]
    return decode(type(BOOK), {"id": "x", "name": "x", "date": "", "prices": prices}, "prices")


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32), st.randoms(use_true_random=False))
def test_the_same_designs_are_evaluated_in_whatever_order_results_come(seed, chance):
    everything = made_up(GRID, seed)
    expected = {design.design_id for wave in waves(GRID, everything) for design in wave}
    done: dict[str, Evaluation] = {}
    while wanted := next_designs(GRID, done):
        some = chance.sample(wanted, chance.randint(1, len(wanted)))
        done |= {design.design_id: told(design, GRID, everything[design.design_id]) for design in some}
    assert set(done) == expected


def test_hopeless_designs_are_screened_with_the_reason_in_words():
    everything = made_up(GRID, 1)
    done = {d.design_id: told(d, GRID, everything[d.design_id]) for wave in waves(GRID, everything) for d in wave}
    design, found = next((d, e) for d, e in screened(GRID, done) if "128-token" in d.label)
    assert found.status == "screened"
    assert found.capacity_high > 0
    assert found.capacity_req_per_s == found.simulations == 0
    assert found.reason.startswith("holds at most ")
    assert "by the fluid bound" in found.reason
    assert found.reason.endswith("with no more of any machine or of power")
    row = study_result(GRID.spec, [design], {design.design_id: found}, BOOK).rows[0]
    assert (row.status, row.capacity_req_per_s, row.capacity_high, row.met) == (
        "screened",
        None,
        found.capacity_high,
        None,
    )


def test_a_design_that_fails_at_what_a_better_one_holds_is_screened_with_the_reason_in_words():
    everything = made_up(GRID, 1)
    beaten = [(d, told(d, GRID, everything[d.design_id])) for wave in waves(GRID, everything) for d in wave]
    design, found = next((d, e) for d, e in beaten if e.status == "screened")
    assert design.rival is not None
    assert not found.by_bound
    assert (found.simulations, found.requests_simulated, found.events) == (1, 500, 2500)
    assert everything[design.design_id].capacity_req_per_s < grid_rate(design.rival.k)
    assert found.reason == (
        f"fails at {number(grid_rate(design.rival.k))} requests/s in a simulation; {design.rival.label} holds that with"
        " no more of any machine or of power"
    )
    row = study_result(GRID.spec, [design], {design.design_id: found}, BOOK).rows[0]
    assert (row.capacity_req_per_s, row.capacity_high) == (None, grid_rate(design.rival.k - 1))


def test_where_drawn_power_is_limited_a_design_that_draws_too_much_screens_nobody():
    limited = bounded(
        families=FAMILIES[:2], counts={"mixed": [5, 9]}, limits={"power_limit_kw": 0.5, "power_kind": "drawn_mean"}
    )
    everything = made_up(limited, 1)
    tried = [design for wave in waves(limited, everything) for design in wave]
    assert len(tried) == len(limited.candidates)


@pytest.mark.parametrize("machines", [62, 7, 1])
def test_every_count_that_matters_ends_with_the_largest(machines):
    context = bounded(
        families=["sarathi:dgx-a100"], limits={"machines": machines}, goal="throughput", counts={"every": True}
    )
    counts = [count for (count,) in context.candidates.counts]
    assert counts[: min(machines, 7)] == list(range(1, min(machines, 7) + 1))
    assert counts[-1] == machines


def test_every_prefill_count_is_a_candidate_with_the_decode_pool_filled_up():
    context = bounded(families=["splitwise:dgx-h100+dgx-h100"], counts={"every": True}, goal="throughput")
    assert context.candidates.counts == tuple((prefill, 40 - prefill) for prefill in range(1, 40))


def test_the_bound_is_that_of_the_replication_that_may_hold_most():
    """Bootstrapped workloads have other mean requests: a design may hold more of one than of the trace itself."""
    alone, several = (
        bounded(families=FAMILIES[:1], counts={"mixed": [5]}, seeds=seeds) for seeds in ([0], [0, 1, 2, 3])
    )
    assert several.bound_of(0, (5,)) > alone.bound_of(0, (5,))
