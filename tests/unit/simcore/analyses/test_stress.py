"""Purchases under other futures, over a lab whose capacities follow a rule."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from planner.analyses.shown import shown
from simcore.analyses import Subject, analyse, stress
from simcore.analyses.bought import most_held
from simcore.analyses.regret import Named, sentences
from simcore.catalogue import resolve_machine
from simcore.evaluation import Evaluation
from simcore.fleet import pool_machines
from simcore.fluid.workload_statistics import WorkloadStatistics
from simcore.spec import Case, SpecError
from simcore.study import load_trace
from simcore.traces.stretch import stretched
from tests.unit.simcore.analyses.subjects import held, subject

PER_MACHINE = {"sarathi": {"dgx-h100": 0.4, "dgx-a100": 0.2}, "splitwise": {"dgx-h100": 1.0, "dgx-a100": 0.6}}
"""Less than the fluid bounds."""


class Rule:
    """A machine holds so many requests/s in each role; outputs of twice the length halve what decodes hold."""

    def __init__(self, statistics: WorkloadStatistics, trace: Any, outputs: float = 1.0) -> None:
        self.statistics, self.trace, self.outputs, self.asked = statistics, trace, outputs, []

    def with_lengths(self, prompts: float, outputs: float) -> "Rule":
        other = stretched(self.trace, prompts, outputs)
        return Rule(WorkloadStatistics.of(other), other, outputs)

    def _most(self, case: Case) -> float:
        kind = "splitwise" if case.scheduler.kind == "splitwise" else "sarathi"
        each = []
        for pool in case.pools:
            name = resolve_machine(pool.machine).id.removesuffix("-pcap")
            slower = self.outputs if pool.role != "prefill" else 1.0
            each.append(pool_machines(pool) * PER_MACHINE[kind][name] / slower)
        return min(each)

    def holds(self, case: Case, rate_req_per_s: float) -> bool:
        return self._most(case) >= rate_req_per_s

    def capacity(self, case: Case) -> Evaluation:
        self.asked.append(case)
        return held(self._most(case))


@pytest.fixture
def asked() -> tuple[Subject, Rule]:
    found = subject()
    trace = load_trace(found.result.spec)
    return found, Rule(WorkloadStatistics.of(trace), trace)


def told(asked: tuple[Subject, Rule], **parameters: Any) -> dict[str, Any]:
    quiet = {"prompts": [], "slo_multipliers": [], "rates": [], "models": ["bloom-176b"], "outputs": [2.0]}
    return analyse("stress", asked[0], asked[1], {**quiet, **parameters})


def test_machines_of_one_kind_are_divided_anew(asked: tuple[Subject, Rule]) -> None:
    lab = asked[1]
    ways = [c for c in stress._ways(asked[0].result.spec) if c.scheduler.kind == "splitwise"]
    alike = [replace(way, pools=(way.pools[0], replace(way.pools[1], machine=way.pools[0].machine))) for way in ways]
    best = most_held(lab, {"dgx-h100": 10}, alike)
    assert best.case is not None
    assert [pool_machines(pool) for pool in best.case.pools] == [5, 5]
    assert best.capacity_req_per_s == 5.0


def test_capacity_lost_is_against_the_same_machines_run_best_today(asked: tuple[Subject, Rule]) -> None:
    found = told(asked)
    today, longer = found["futures"][0], found["futures"][1]
    assert (today["future"], longer["future"]) == ("today", "outputs × 2")
    assert all(of["lost"] == 0 for of in today["of"])
    together = next(i for i, p in enumerate(found["purchases"]) if list(p["machines"]) == ["dgx-h100"])
    assert longer["of"][together]["lost"] == pytest.approx(0.5)


def test_regret_is_what_the_future_costs_over_the_best_of_the_purchases(asked: tuple[Subject, Rule]) -> None:
    found = told(asked)
    for future in found["futures"]:
        regrets = [of["regret_usd_per_month"] for of in future["of"]]
        assert min(regrets) == 0
        for of, purchase in zip(future["of"], found["purchases"], strict=True):
            more = max(1.0, future["rate_req_per_s"] / of["capacity_req_per_s"])
            assert of["usd_per_month"] == pytest.approx(purchase["usd_per_month"] * more)
    for i, purchase in enumerate(found["purchases"]):
        worst = max(future["of"][i]["regret_usd_per_month"] for future in found["futures"])
        assert purchase["worst_regret_usd_per_month"] == worst


def test_a_higher_rate_needs_no_simulation(asked: tuple[Subject, Rule]) -> None:
    told(asked)
    before = len(asked[1].asked)
    found = told((asked[0], asked[1]), rates=[2.0])
    assert len(asked[1].asked) == 2 * before
    rate = found["futures"][-1]
    assert rate["future"] == "rate × 2"
    assert rate["rate_req_per_s"] == 140
    assert [of["capacity_req_per_s"] for of in rate["of"]] == [
        of["capacity_req_per_s"] for of in found["futures"][0]["of"]
    ]


def test_the_least_worst_regret_is_named_beside_the_cheapest(asked: tuple[Subject, Rule]) -> None:
    first = told(asked)["sentences"][0]
    assert "least worst regret" in first
    assert "Cheapest today is" in first or "The cheapest, " in first


def test_another_model_is_run_by_the_roofline_where_times_were_measured_of_one(asked: tuple[Subject, Rule]) -> None:
    given = stress.Parameters(prompts=(), outputs=(), slo_multipliers=(), rates=(), models=("llama-3.1-70b",))
    ways = stress.task(asked[0], given).futures[1].ways
    assert {way.latency.source for way in ways} == {"roofline"}
    assert {way.model.id for way in ways} == {"llama-3.1-70b"}  # type: ignore[union-attr]


def test_the_model_left_out_is_the_nearest_in_weights(asked: tuple[Subject, Rule]) -> None:
    found = told(asked, models=[])
    assert found["futures"][-1]["future"] == "Falcon 180B instead"


def test_an_unknown_model_is_named(asked: tuple[Subject, Rule]) -> None:
    with pytest.raises(SpecError, match="llama-70b"):
        told(asked, models=["llama-70b"])


def test_prices_are_applied_when_it_is_read(asked: tuple[Subject, Rule]) -> None:
    found, (study, lab) = told(asked), asked
    twice = replace(study.result.book, prices=tuple(
        replace(price, usd_per_hour=price.usd_per_hour * Decimal(2)) for price in study.result.book.prices
    ))  # fmt: skip
    other = told((replace(study, result=replace(study.result, book=twice)), lab))
    assert [p["usd_per_month"] for p in other["purchases"]] == [2 * p["usd_per_month"] for p in found["purchases"]]


def test_the_section_has_a_table_of_purchases_and_one_of_each(asked: tuple[Subject, Rule]) -> None:
    found = told(asked)
    tables = shown("stress", found).tables
    assert len(tables) == 1 + len(found["purchases"])
    assert tables[1].rows[0].cells[0].text == "today"


def test_more_machines_never_hold_less_though_a_bound_promises_more_of_another_way(asked: tuple[Subject, Rule]) -> None:
    ways = stress._ways(asked[0].result.spec)
    alone = most_held(asked[1], {"dgx-h100": 3}, ways).capacity_req_per_s
    assert alone == pytest.approx(1.2)
    both = most_held(asked[1], {"dgx-h100": 3, "dgx-a100": 1}, ways)  # split: 1 DGX A100 decodes 0.6
    assert both.capacity_req_per_s == pytest.approx(alone)


def test_what_loses_most_is_named_where_another_was_named_last() -> None:
    purchases = [
        {"purchase": "24", "usd_per_month": 24.0, "worst_regret_usd_per_month": 9.0, "worst_future": "prompts × 2"},
        {"purchase": "27", "usd_per_month": 27.0, "worst_regret_usd_per_month": 3.0, "worst_future": "today"},
    ]
    named = [Named("today", 0, 1.0), Named("prompts × 2", 1, 1.0)]
    table = [[{"lost": 0.0}, {"lost": 0.0}], [{"lost": 0.5}, {"lost": 0.25}]]
    assert sentences(purchases, table, named)[1].startswith("The cheapest loses most with prompts × 2: 50 %")
    both = [purchases[0] | {"worst_regret_usd_per_month": 1.0}, purchases[1]]
    assert sentences(both, table, named)[1].startswith("It loses most with prompts × 2: 50 %")
