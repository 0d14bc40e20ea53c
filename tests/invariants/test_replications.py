"""A study of several seeds runs the others for close designs only: the same answer as running all seeds for every
design, by fewer simulations. Real simulations of a small grid."""

from __future__ import annotations

import random

import pytest

from simcore.answer.result import study_result
from simcore.catalogue import price_book
from simcore.evaluate import capacity, evaluate, required
from simcore.evaluation import Design, Evaluation
from simcore.search.replications import by_first_seed, merged
from simcore.study import Context, context, load_trace, next_designs
from tests.unit.simcore.questions import question

SEEDS = (0, 1, 2)
BOOK = price_book("list")
Done = dict[str, Evaluation]


@pytest.fixture(autouse=True)
def short_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simcore.capacity.probes.SHORT_REQUESTS", 200)
    monkeypatch.setattr("simcore.search.offered_load.LEAST_REQUESTS", 1000)
    monkeypatch.setattr("simcore.search.offered_load.LEAST_SECONDS", 10)


def small(**changes: object) -> Context:
    mix = {"mix": "conversation", "rate_req_per_s": 5, "requests": 2000, "seed": 1}
    spec = question(
        **{
            "workload": {"synthetic": mix},
            "rate_req_per_s": 8.0,
            "families": ["sarathi:dgx-h100", "vllm:dgx-h100", "sarathi:dgx-a100"],
            "counts": {"mixed": [1, 2, 4, 6, 9]},
            "arrivals": "poisson",
            "seeds": SEEDS,
        }
        | changes
    )
    return context(spec, load_trace(spec))


def searched(asked: Context, chance: random.Random | None = None) -> Done:
    done: Done = {}
    while wave := next_designs(asked, done):
        some = chance.sample(wave, chance.randint(1, len(wave))) if chance else wave
        done |= {design.design_id: evaluate(design, asked) for design in some}
    return done


def whole(asked: Context, design: Design) -> Evaluation:
    """All seeds of it."""
    first = capacity(design, asked, design.case.seed)
    if first.wants_run(asked.spec.rate_req_per_s):
        first = first.with_required(required(design, asked, asked.spec.rate_req_per_s))
    return merged(first, SEEDS, [capacity(design, asked, seed) for seed in SEEDS[1:]])


def test_the_answer_is_that_of_all_seeds_for_every_design_by_fewer_simulations() -> None:
    asked = small()
    designs = [asked.design(index) for index in range(len(asked.candidates))]
    done, everything = searched(asked), {design.design_id: whole(asked, design) for design in designs}
    replicated = {name for name, found in done.items() if found.replications}
    assert 0 < len(replicated) < len(designs)
    for name in replicated:
        assert done[name].replications == everything[name].replications
        assert (done[name].capacity_low, done[name].capacity_high) == (
            everything[name].capacity_low,
            everything[name].capacity_high,
        )
    quick, slow = (study_result(asked.spec, designs, found, BOOK) for found in (done, everything))
    assert quick.winner is not None
    assert slow.winner is not None
    assert quick.winner.design_id == slow.winner.design_id
    spent, all_of_it = (sum(found.simulations for found in some.values()) for some in (done, everything))
    assert spent < 0.7 * all_of_it


def test_other_seeds_are_asked_last_of_what_one_seed_has_told_whatever_the_order_of_results() -> None:
    asked = small()
    expected = searched(asked)
    assert searched(asked, random.Random(3)) == expected
    alone = searched(small(seeds=SEEDS[:1]))
    assert not any(found.replications for found in alone.values())
    for name, found in expected.items():
        if found.replications and alone[name].status == "evaluated":
            assert by_first_seed(found).capacity_req_per_s == alone[name].capacity_req_per_s
