"""Three plans by the pocket calculator, and what must hold of any."""

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore.economics.assumptions import Assumptions, Facility, Ownership, Terms
from simcore.economics.cash_flow import cash_flow, left_by_schedule, reconciled
from simcore.economics.cost_sheet import bridge, cost_sheet, screen_month
from simcore.economics.lines import CostLine, product, total
from simcore.economics.schedules import discount_rate, value
from simcore.spec import SpecError
from tests.unit.simcore.economics.plans import A100, H100, LARGER, PHYSICS, D, assumed, over, owned


def _of(lines: list[CostLine], category: str, period: str = "2027-01") -> dict[str, Decimal]:
    return {line.pool: line.amount_usd for line in lines if line.category == category and line.period == period}


def test_machines_by_the_hour_in_a_month_of_31_days():
    sheet = cost_sheet([PHYSICS], D(10), assumed(demand=over(2)))
    lines = sheet.lines("cash")
    assert _of(lines, "on_demand") == {"prefill": D("26784.00"), "decode": D("62496.00")}  # 744 × 36; 3 × 744 × 28
    assert _of(lines, "on_demand", "2027-02") == {"prefill": D("24192.00"), "decode": D("56448.00")}  # 672 h
    assert total(lines) == D("169920.00")
    assert lines[0].formula == "1 machines × 744 h × $36/h"
    assert lines[0].rows == ("prices/list/dgx-h100",)


def test_owned_machines_by_the_pocket_calculator():
    sheet = cost_sheet([PHYSICS], D(10), replace(owned(), demand=over(1, duty_cycle=D("0.5"))))
    book = sheet.lines("book")
    # (300,000 - 30,000) / 48; 3 × (120,000 - 12,000) / 48
    assert _of(book, "capital") == {"prefill": D("5625.00"), "decode": D("6750.00")}
    # 11 kW at half the rate: idle 6 + half of 10; × 744 h = 8,184 kWh × 0.08; a quarter of it more for cooling
    assert _of(book, "power") == {"facility": D("654.72")}
    assert _of(book, "cooling") == {"facility": D("163.68")}
    assert _of(book, "colocation") == {"facility": D("4200.00")}  # 28 kW × 150
    assert _of(book, "licence") == {"prefill": D("3000.00"), "decode": D("9000.00")}  # 8 and 24 × 375
    assert _of(book, "support") == {"prefill": D("1000.00")}
    assert _of(book, "staff") == {"shared": D("20000.00")}
    assert total(book) == D("50393.40")


def test_reserved_for_a_year_with_a_part_upfront():
    terms = Terms(base="reserved_1y", base_share=D("0.7"), upfront_share=D("0.5"))
    sheet = cost_sheet([PHYSICS], D(10), assumed(terms=terms, demand=over(12)))
    # 0.7 of 1 machine is none; of 3 are 2: 2 × 20 × 8,760 = 350,400
    cash, book = sheet.lines("cash"), sheet.lines("book")
    assert _of(book, "reserved") == {"decode": D("29200.00")}
    assert total(line for line in book if line.category == "reserved") == D("350400.00")
    upfront, first = (line.amount_usd for line in cash if line.category == "reserved" and line.period == "2027-01")
    assert (upfront, first) == (D("175200.00"), D("14600.00"))
    assert _of(cash, "on_demand") == {"prefill": D("26784.00"), "decode": D("20832.00")}
    assert reconciled(sheet).left_usd == 0


def test_traffic_grows_into_the_next_step_which_is_ordered_ahead():
    grows = replace(owned(lead_months=4, install_months=2), demand=over(12, growth_per_month=D("0.05")))
    sheet = cost_sheet([PHYSICS, LARGER], D(10), grows)
    # 10 × 1.05^4 = 12.155 is the first above 12: May
    later = [one for one in sheet.timeline.tranches if str(one.in_service) == "2027-05"]
    assert [(one.role, one.machines, str(one.delivered), str(one.ordered)) for one in later] == [
        ("prefill", 1, "2027-03", "2026-11"),
        ("decode", 2, "2027-03", "2026-11"),
    ]
    assert _of(sheet.lines("cash"), "capital", "2027-03") == {"prefill": D("300000.00"), "decode": D("240000.00")}
    flow = cash_flow(sheet).months
    assert (str(flow[0].month), flow[0].paid_usd) == ("2026-11", D("660000.00"))  # the first machines, two months ahead


def test_months_that_no_step_holds_are_named_and_not_invented():
    sheet = cost_sheet([PHYSICS], D(10), assumed(demand=over(12, growth_per_month=D("0.05"))))
    assert str(sheet.timeline.uncovered) == "2027-05"
    assert [str(need.month) for need in sheet.timeline.needs][-1] == "2027-04"


def test_a_term_that_has_no_price_is_named():
    unpriced = replace(A100, capex_usd=None)
    with pytest.raises(SpecError, match=r"machines: 'dgx-a100' has no capex_usd"):
        cost_sheet([PHYSICS], D(10), replace(owned(), machines=(H100, unpriced)))
    with pytest.raises(SpecError, match=r"found no cost of 'dgx-a100', expected one of dgx-h100"):
        cost_sheet([PHYSICS], D(10), replace(owned(), machines=(H100,)))


def test_the_month_of_the_screen_is_730_hours_of_all_machines():
    lines = screen_month(PHYSICS, assumed(facility=Facility("all", D("1.5"), D("0.1"))))
    # 36 + 3 × 28 = 120 an hour; 16 kW × 1.5 × 0.1
    assert total(lines) == D(120) * 730 + D("2.4") * 730
    assert {line.period for line in lines} == {"730 h"}


def test_the_bridge_leads_from_the_screen_to_the_calendar():
    prices = assumed()
    sheet = cost_sheet([PHYSICS], D(10), replace(owned(), demand=over(3, duty_cycle=D("0.5"))))
    steps = bridge(PHYSICS, prices, sheet, "book", place=1)
    assert sum(step.usd for step in steps[:-1]) == steps[-1].usd
    assert (steps[0].usd, steps[1].usd) == (D("87600.00"), D(120) * (672 - 730))


OWNERS = st.builds(
    lambda life, residual, lead, install: owned(
        life_months=life, residual_share=residual, lead_months=lead, install_months=install
    ),
    st.integers(1, 60), st.decimals(0, 1, places=2), st.integers(0, 12), st.integers(0, 6),
)  # fmt: skip
RENTERS = st.builds(
    lambda term, share, upfront: assumed(terms=Terms(term, share, upfront), annual_discount_rate=D("0.1")),
    st.sampled_from(["on_demand", "reserved_1y", "reserved_3y"]),
    st.decimals(0, 1, places=2),
    st.decimals(0, 1, places=2),
)
GROWN = st.decimals("-0.05", "0.05", places=3)


@given(OWNERS | RENTERS, GROWN, st.integers(1, 48))
def test_paid_is_booked_and_left(assumptions: Assumptions, growth: Decimal, months: int):
    sheet = cost_sheet([PHYSICS, LARGER], D(10), replace(assumptions, demand=over(months, growth_per_month=growth)))
    found = reconciled(sheet)
    after = sheet.timeline.needs[-1].month.plus(1)
    left = sum((left_by_schedule(plan, after) for plan in sheet.schedules), D(0))
    assert found.paid_usd - found.booked_usd == found.left_usd
    assert abs(found.left_usd - left) <= D("0.02") * len(sheet.schedules)


@given(OWNERS | RENTERS)
def test_over_a_life_the_views_reconcile(assumptions: Assumptions):
    sheet = cost_sheet([PHYSICS], D(10), replace(assumptions, demand=over(1)))
    rate = discount_rate(assumptions)
    for plan in sheet.schedules:
        assert abs(plan.book() * plan.months - sum(paid.amount_usd for paid in plan.payments)) < D("1e-15")
        paid = value(plan.payments, rate, plan.in_service)
        due, worth = plan.economic(rate), D(0)
        for place in range(1, plan.months + 1):
            worth += due / (1 + rate) ** place
        assert abs(worth - paid) < D("1e-12")


@given(OWNERS | RENTERS, GROWN)
def test_an_amount_is_its_quantity_times_its_price(assumptions: Assumptions, growth: Decimal):
    sheet = cost_sheet([PHYSICS, LARGER], D(10), replace(assumptions, demand=over(14, growth_per_month=growth)))
    for view in ("cash", "book", "economic"):
        for line in sheet.lines(view):
            off = abs(line.amount_usd - product(line.quantity, line.unit_price_usd))
            assert off <= (D("0.01") if line.unit in ("month", "payment") else 0)


def test_the_discounted_cash_of_one_purchase():
    bare = replace(owned(), overheads=assumed().overheads, facility=assumed().facility, demand=over(2))
    bare = replace(bare, machines=(replace(H100, support_usd_per_year=D(0)), A100), ownership=Ownership(2))
    sheet = cost_sheet([PHYSICS], D(10), bare)
    assert cash_flow(sheet).npv_usd == D("660000.00")  # paid at the start of the first month, no residual
