from dataclasses import replace
from decimal import Decimal
from math import inf

import pytest

from simcore.answer.result import study_result
from simcore.catalogue import price_book
from simcore.economics.hourly import HOURS_PER_MONTH
from simcore.spec import AbsoluteSlo, AttainmentSlo, Limit, SlowdownSlo, SpecError
from simcore.what_if.changes import Changes, changed, scaled_slo, what_if
from simcore.what_if.untried import Untried
from simcore.what_if.words import caveats, outcome
from tests.unit.simcore.questions import asked, explored, question

EACH = {"sarathi:dgx-h100": (2.0,), "splitwise:dgx-h100+dgx-a100": (6.0, 4.0)}
BOOK = price_book("splitwise-2023")


def base(**changes):
    context = asked(**changes)
    designs, done = explored(context, EACH)
    return study_result(context.spec, designs, done, BOOK)


def rows_of(result):
    """What the chart and the table show; without what follows from the run at the required rate."""
    return {row.design_id: (row.usd_per_hour, row.capacity_req_per_s, row.met) for row in result.rows}


def test_no_change_is_the_study_itself():
    asked_ = base()
    found = what_if(asked_, Changes())
    assert found.result is asked_
    assert not found.simulates
    assert not Changes()


def test_naming_what_is_so_already_changes_nothing():
    asked_ = base()
    same = Changes(70.0, 1.0, {"dgx-h100": BOOK.price("dgx-h100").usd_per_hour}, Decimal(0), 1.25, 408.0, inf)
    found = what_if(asked_, replace(same, pue=asked_.spec.pue))
    assert found.result is asked_
    assert not found.changes


def test_changed_prices_say_what_a_study_at_those_prices_says():
    context = asked()
    designs, done = explored(context, EACH)
    dear = {"dgx-a100": Decimal(100), "dgx-h100": Decimal(10)}
    prices = tuple(replace(p, usd_per_hour=dear.get(p.machine, p.usd_per_hour)) for p in BOOK.prices)
    asked_anew = study_result(context.spec, designs, done, replace(BOOK, prices=prices))
    found = what_if(study_result(context.spec, designs, done, BOOK), Changes(usd_per_hour=dear))
    assert found.result.winner.family == "sarathi:dgx-h100"
    assert found.result.rows == asked_anew.rows
    assert found.result.winner == asked_anew.winner


def test_changed_limits_say_what_a_study_within_them_says():
    context = asked()
    designs, done = explored(context, EACH)
    whole = study_result(context.spec, designs, done, BOOK)
    found = what_if(whole, Changes(power_limit_kw=200.0, usd_per_month=400_000.0))
    limits = replace(context.spec.limits, power_limit_kw=200.0, usd_per_month=400_000.0)
    assert found.result.rows == study_result(replace(context.spec, limits=limits), designs, done, BOOK).rows
    assert whole.winner is not None
    assert found.result.winner is None
    assert what_if(whole, Changes(power_limit_kw=inf)).result.spec.limits.power_limit_kw is None


def test_at_another_rate_what_holds_it_by_its_capacity_meets_the_question():
    found = what_if(base(), Changes(rate_req_per_s=50.0))
    assert not found.rate_is_simulated
    assert found.result.winner.capacity_req_per_s >= 50
    evaluated = [row for row in found.result.rows if row.status == "evaluated"]
    within = [row for row in evaluated if row.nameplate_w <= 408_000]
    assert all(row.met == (row.capacity_req_per_s >= 50) for row in within)
    assert all(e.at_required is None for e in found.result.evaluations.values() if e.status == "evaluated")


def test_what_holds_the_studys_rate_holds_all_below_it_though_its_capacity_was_found_just_under():
    asked_ = base()
    held = asked_.winner.design_id
    near = replace(asked_.evaluations[held], capacity_req_per_s=69.5)
    asked_ = replace(asked_, evaluations={**asked_.evaluations, held: near})
    assert near.holds(70.0)
    for rate in (69.9, 69.6, 60.0):
        assert what_if(asked_, Changes(rate_req_per_s=rate)).result.row(held).met
    assert not what_if(asked_, Changes(rate_req_per_s=70.1)).result.row(held).met


def test_just_beyond_what_is_held_it_is_said_that_a_run_at_the_rate_decides():
    asked_ = base()
    within = [row for row in asked_.rows if row.status == "evaluated" and row.nameplate_w <= 408_000]
    most = max(row.capacity_req_per_s for row in within)
    label = next(row.label for row in asked_.rows if row.capacity_req_per_s == most)
    found = what_if(asked_, Changes(rate_req_per_s=most * 1.005))
    assert found.result.winner is None
    assert any(said.startswith(f"{label}'s capacity is less than 1 % under") for said in caveats(found, Untried()))
    beyond = what_if(asked_, Changes(rate_req_per_s=most * 1.02))
    assert not any("less than 1 %" in said for said in caveats(beyond, Untried()))


def test_a_tariff_adds_drawn_power_times_pue_to_what_machines_cost():
    asked_ = base()
    found = what_if(asked_, Changes(usd_per_kwh=Decimal("0.10"), pue=1.5))
    for before in asked_.rows:
        after = found.result.row(before.design_id)
        run = asked_.evaluations[before.design_id].at_required
        drawn_w = run.mean_w if run else 0.0
        more = float(after.usd_per_hour - before.usd_per_hour)
        assert more == pytest.approx(drawn_w / 1000 * 1.5 * 0.10, abs=1e-6)
    free = what_if(asked_, Changes(pue=1.5))
    assert [row.usd_per_hour for row in free.result.rows] == [row.usd_per_hour for row in asked_.rows]


def test_a_budget_counts_electricity_where_that_is_paid_apart():
    asked_ = base()
    month = float(asked_.winner.usd_per_hour) * HOURS_PER_MONTH
    tight = Changes(usd_per_month=month)
    assert what_if(asked_, tight).result.winner == asked_.winner
    assert what_if(asked_, replace(tight, usd_per_kwh=Decimal(1))).result.winner != asked_.winner


def test_another_slo_is_said_to_need_a_simulation_and_leaves_the_answer():
    asked_ = base()
    found = what_if(asked_, Changes(slo_multiplier=1.2, usd_per_hour={"dgx-a100": Decimal(100)}))
    assert found.simulates == ("slo_multiplier",)
    assert found.result.spec.slo == asked_.spec.slo
    assert found.result.winner.family == "sarathi:dgx-h100"
    assert changed(asked_.spec, found.changes).slo == SlowdownSlo(multiplier=1.2)
    words = "not known before it is simulated; by the limits as they were asked, now Sarathi on"
    assert words in outcome(found)


def test_every_kind_of_slo_is_scaled():
    assert scaled_slo(AttainmentSlo(0.4, 0.05), 2.0) == AttainmentSlo(0.8, 0.1)
    limits = (Limit("tbt_s", 99, 0.1), Limit("ttft_s", 99, limit_x_decode=5.0))
    assert scaled_slo(AbsoluteSlo(limits), 0.5) == AbsoluteSlo(
        (Limit("tbt_s", 99, 0.05), Limit("ttft_s", 99, limit_x_decode=2.5))
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (Changes(rate_req_per_s=0.0), "rate_req_per_s: found 0"),
        (Changes(rate_req_per_s=float("nan")), "rate_req_per_s: found nan"),
        (Changes(slo_multiplier=-1.0), "slo_multiplier: found -1"),
        (Changes(usd_per_hour={"dgx-h200x": Decimal(1)}), "found 'dgx-h200x'"),
        (Changes(usd_per_hour={"dgx-h100": Decimal(0)}), "usd_per_hour: found 0 for dgx-h100"),
        (Changes(usd_per_hour={"dgx-h100": Decimal("nan")}), "usd_per_hour: found NaN for dgx-h100"),
        (Changes(usd_per_hour={"dgx-h100": Decimal("1e30")}), "usd_per_hour: found 1E\\+30 for dgx-h100"),
        (Changes(usd_per_hour={"dgx-h100": Decimal("1e-30")}), "usd_per_hour: found 1E-30 for dgx-h100"),
        (Changes(usd_per_kwh=Decimal(-1)), "usd_per_kwh: found -1"),
        (Changes(usd_per_kwh=Decimal("1e50")), "usd_per_kwh: found 1E\\+50"),
        (Changes(pue=0.9), "pue: found 0.9"),
        (Changes(power_limit_kw=0.0), "power_limit_kw: found 0"),
        (Changes(usd_per_month=-5.0), "usd_per_month: found -5"),
    ],
)
def test_a_value_that_no_question_may_have_is_refused_by_name(changes, said):
    with pytest.raises(SpecError, match=said):
        what_if(base(), changes)


def test_changes_leave_the_question_as_it_was():
    spec = question()
    changed(spec, Changes(rate_req_per_s=10.0, pue=2.0))
    assert spec == question()
