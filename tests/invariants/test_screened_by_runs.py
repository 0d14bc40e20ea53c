"""A study that asks of many designs only whether they hold what a better one does, against one that finds every
design's capacity: the same frontiers and answer, also at other prices. Real simulations of small grids."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

import pytest

from simcore.answer.result import study_result
from simcore.capacity.probes import Prober
from simcore.capacity.rate_search import DECIDING
from simcore.catalogue import price_book
from simcore.evaluate import capacity, evaluate, required
from simcore.evaluation import Design, Evaluation
from simcore.search.rate_grid import grid_at_most, grid_rate
from simcore.spec import PriceBook
from simcore.study import Context, context, load_trace, next_designs, screened
from tests.unit.simcore.questions import question
from tests.unit.simcore.search.test_waves import scaled

BOOK = price_book("list")
FAMILIES = ["sarathi:dgx-h100", "vllm:dgx-h100", "vllm:dgx-a100", "splitwise:dgx-h100+dgx-a100"]
Done = dict[str, Evaluation]


@pytest.fixture(autouse=True)
def short_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simcore.capacity.probes.SHORT_REQUESTS", 40)
    monkeypatch.setattr("simcore.search.offered_load.LEAST_REQUESTS", 200)
    monkeypatch.setattr("simcore.search.offered_load.LEAST_SECONDS", 10)


def small(seed: int, **changes: object) -> Context:
    mix = {"mix": "conversation", "rate_req_per_s": 5, "requests": 400, "seed": seed}
    spec = question(
        workload={"synthetic": mix},
        rate_req_per_s=5.0,
        families=FAMILIES,
        counts={"mixed": [1, 2, 3, 5], "prefill": [1, 2, 3], "decode": [1, 2, 4]},
        scheduler_options={"token_budgets": [256, 512]},
        **changes,
    )
    return context(spec, load_trace(spec))


def waves(asked: Context) -> Iterator[tuple[list[Design], Done]]:
    """Each wave with what was known when it was chosen."""
    done: Done = {}
    while wave := next_designs(asked, done):
        yield wave, done
        done = done | {design.design_id: evaluate(design, asked) for design in wave}
    yield [], done


def searched(asked: Context) -> Done:
    return list(waves(asked))[-1][1]


def whole(asked: Context, design: Design) -> Evaluation:
    found = capacity(design, asked, design.case.seed)
    return (
        found.with_required(required(design, asked, asked.spec.rate_req_per_s))
        if found.status == "evaluated"
        else found
    )


def answers(asked: Context, done: Mapping[str, Evaluation], prices: PriceBook) -> tuple[object, ...]:
    every = [asked.design(index) for index in range(len(asked.candidates))]
    result = study_result(asked.spec, every, done, prices)
    on = [[row.design_id for row in result.rows if row.on_cost_frontier]]
    on += [[row.design_id for row in result.rows if row.on_power_frontier]]
    return (*on, result.winner and result.winner.design_id)


def by_run(done: Done) -> list[str]:
    return [name for name, found in done.items() if found.status == "screened" and not found.by_bound]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_frontiers_and_answer_are_those_of_finding_every_capacity_at_any_prices(seed):
    asked = small(seed)
    done = searched(asked)
    every = [asked.design(index) for index in range(len(asked.candidates))]
    everything = {design.design_id: whole(asked, design) for design in every}
    assert by_run(done)
    for name, found in done.items():
        if found.status == "screened":
            assert everything[name].capacity_req_per_s <= found.capacity_high
        else:
            assert everything[name].capacity_req_per_s == found.capacity_req_per_s
    drawn = random.Random(seed)
    quick = done | {design.design_id: found for design, found in screened(asked, done)}
    for prices in (BOOK, *(scaled([drawn.uniform(0.2, 5) for _ in range(3)]) for _ in range(20))):
        assert answers(asked, quick, prices) == answers(asked, everything, prices)


@pytest.mark.parametrize("seed", [4, 8])
def test_what_a_run_screens_holds_no_more_than_stated_by_plain_bisection(seed):
    asked = small(seed)
    rivals = {design.design_id: design for wave, _ in waves(asked) for design in wave}
    done = searched(asked)
    assert by_run(done)
    for name in by_run(done):
        design, prober = rivals[name], Prober.of(rivals[name].case, asked.trace, asked.spec.seeds[0])
        low, high = grid_at_most(0.01), grid_at_most(200.0)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if prober.pressure(middle, DECIDING) <= 1 else (low, middle)
        assert grid_rate(low) <= done[name].capacity_high
        assert done[name].capacity_high == grid_rate(design.rival.k - 1)
        assert (done[name].simulations, done[name].status) == (1, "screened")
        assert done[name].requests_simulated > 0
        assert done[name].events > 0


def test_a_rival_uses_no_more_of_any_machine_and_holds_its_rate_and_comes_from_an_earlier_wave():
    asked = small(1)
    places = {asked.design(index).design_id: index for index in range(len(asked.candidates))}
    seen = 0
    for wave, done in waves(asked):
        for design in wave:
            if design.rival is None:
                continue
            seen += 1
            (rival,) = [
                name for name in done if asked.design(places[name]).label == design.rival.label
                and done[name].status == "evaluated"
                and grid_at_most(done[name].capacity_req_per_s) == design.rival.k
            ]  # fmt: skip
            machines = asked.candidates.machines
            assert (machines[places[rival]] <= machines[places[design.design_id]]).all()
    assert seen > 0


def test_the_order_in_which_a_wave_is_done_changes_no_bit():
    asked = small(2)
    expected, drawn = searched(asked), random.Random(2)
    done: Done = {}
    while wave := next_designs(asked, done):
        some = drawn.sample(wave, drawn.randint(1, len(wave)))
        done |= {design.design_id: evaluate(design, asked) for design in some}
    assert done == expected
