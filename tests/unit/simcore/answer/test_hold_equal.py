from dataclasses import replace
from decimal import Decimal

import pytest

from simcore.answer.hold_equal import baselines, comparison_json, hold_equal
from simcore.answer.result import study_result
from simcore.catalogue import price_book
from simcore.shortfalls import machines
from tests.unit.simcore.questions import asked, explored

EACH = {"sarathi:dgx-h100": (2.0,), "splitwise:dgx-h100+dgx-a100": (6.0, 4.0), "sarathi:dgx-a100": (0.5,)}
CONTEXT = asked(families=list(EACH))
RESULT = study_result(CONTEXT.spec, *explored(CONTEXT, EACH), price_book("splitwise-2023"))
BASE = next(row for row in RESULT.rows if row.family == "sarathi:dgx-h100" and row.met)
USES = {
    "cost": lambda row: float(row.usd_per_hour),
    "power": lambda row: row.nameplate_w,
    "machines": machines,
}


@pytest.mark.parametrize("by", list(USES))
def test_each_family_is_shown_by_what_holds_most_with_no_more_of_what_is_held_equal(by):
    found = hold_equal(RESULT, by, BASE, "nameplate")
    use = USES[by]
    able = [row for row in RESULT.rows if row.capacity_req_per_s and use(row) <= use(BASE) * (1 + 1e-9)]
    for bar in found.bars:
        of_family = [row for row in able if row.family == bar.row.family]
        expected = BASE if bar.row.family == BASE.family else max(of_family, key=lambda row: row.capacity_req_per_s)
        assert bar.row.capacity_req_per_s == expected.capacity_req_per_s
        assert bar.ratio == pytest.approx(bar.row.capacity_req_per_s / BASE.capacity_req_per_s)
        assert bar.low <= bar.ratio <= bar.high
        assert bar.used == use(bar.row)
    assert [bar.ratio for bar in found.bars] == sorted((bar.ratio for bar in found.bars), reverse=True)
    assert {bar.row.family for bar in found.bars} | set(found.without) == set(EACH)


def test_at_equal_rate_each_family_is_shown_by_what_costs_least_of_what_holds_it():
    found = hold_equal(RESULT, "rate", BASE, "nameplate")
    best = {bar.row.family: bar for bar in found.bars}
    split = best["splitwise:dgx-h100+dgx-a100"]
    holding = [row for row in RESULT.rows if row.family == split.row.family and (row.capacity_req_per_s or 0) >= 70]
    assert split.row.usd_per_hour == min(row.usd_per_hour for row in holding)
    assert split.ratio == pytest.approx(float(split.row.usd_per_hour / BASE.usd_per_hour))
    assert split.ratio < 1
    assert found.bars[0] is split
    assert best[BASE.family].ratio == best[BASE.family].low == best[BASE.family].high == 1
    assert "sarathi:dgx-a100" in found.without


def test_the_baseline_proposed_is_the_best_co_located_design_that_meets_the_question():
    first = baselines(RESULT, "cost")[0]
    assert first.family == "sarathi:dgx-h100"
    assert first in RESULT.best_by_family
    assert RESULT.winner.family.startswith("splitwise")


def test_where_nothing_meets_the_question_capacities_can_be_compared_all_the_same():
    context = asked(families=list(EACH), limits={"usd_per_month": 1000.0})
    nothing = study_result(context.spec, *explored(context, EACH), price_book("splitwise-2023"))
    assert nothing.winner is None
    assert baselines(nothing, "rate") == []
    offered = baselines(nothing, "power")
    assert {row.family for row in offered} == set(EACH)
    assert hold_equal(nothing, "power", offered[0], "provisioned").bars


def test_watts_that_are_held_equal_are_of_the_kind_asked_for():
    drawn = hold_equal(RESULT, "power", BASE, "drawn_mean")
    assert drawn.equal == BASE.mean_w
    assert all(bar.used == bar.row.mean_w for bar in drawn.bars)


def test_a_family_tried_with_a_part_of_what_is_held_equal_holds_at_least_that():
    """With 35 of BASE's machines others are not told by one machine of theirs."""
    few = {row.design_id for row in RESULT.rows if row.family == "sarathi:dgx-a100" and (row.mixed_machines or 0) > 2}
    rows = tuple(row for row in RESULT.rows if row.design_id not in few)
    smallest = min(row.mixed_machines for row in RESULT.rows if row.family == "sarathi:dgx-a100")
    one = replace(next(row for row in rows if row.family == "sarathi:dgx-h100"), family="sarathi:dgx-a100")
    small = replace(one, design_id="f00", mixed_machines=1, usd_per_hour=Decimal(18), capacity_req_per_s=0.5)
    found = hold_equal(replace(RESULT, rows=(*rows, small)), "cost", BASE, "nameplate")
    bars = {bar.row.family: bar for bar in found.bars}
    assert smallest > 2
    assert bars["sarathi:dgx-a100"].is_least
    assert not bars[BASE.family].is_least


def test_what_uses_nearly_all_is_the_family_s_best():
    found = hold_equal(RESULT, "machines", BASE, "nameplate")
    for bar in found.bars:
        assert bar.is_least == (bar.used < 0.9 * found.equal), bar.row.label


def test_the_comparison_that_a_question_asks_for_goes_with_its_answer():
    assert comparison_json(RESULT) is None
    asked = replace(RESULT, spec=replace(RESULT.spec, hold_equal="machines"))
    found = comparison_json(asked)
    base = baselines(asked, "machines")[0]
    assert found["by"] == "machines"
    assert found["baseline"] == {"design_id": base.design_id, "label": base.label}
    assert {one["family"]: one["of_baseline"] for one in found["families"]}[base.family] == 1.0
    assert [one["label"] for one in found["families"]] == [
        bar.row.label for bar in hold_equal(asked, "machines", base, "nameplate").bars
    ]
