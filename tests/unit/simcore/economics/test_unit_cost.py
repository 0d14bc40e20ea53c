from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore.economics.assumptions import Facility, TokenPrice
from simcore.economics.break_even import against_api, break_even_month, break_even_use
from simcore.economics.carbon import energy
from simcore.economics.cost_sheet import cost_sheet
from simcore.economics.lines import total
from simcore.economics.unit_cost import unit_cost, unit_costs
from tests.unit.simcore.economics.plans import PHYSICS, D, assumed, over, owned

LINES = cost_sheet([PHYSICS], D(10), assumed(demand=over(1))).lines("cash")
"""89,280.00: prefill 26,784.00, decode 62,496.00; 744 h."""


def test_each_pool_is_what_its_phase_costs():
    found = unit_cost(PHYSICS, LINES, 744, "slo_capacity", D(12), "accelerator_time")
    of_input, cached, of_output = found.tokens
    assert (found.idle_usd, of_input.usd, cached.usd, of_output.usd) == (0, D("26784.00"), 0, D("62496.00"))
    # 12 req/s × 3,600 × 744 = 32,140,800 requests × 1,000 and 250 tokens
    assert (of_input.tokens, of_output.tokens) == (D("32140800000"), D("8035200000"))
    assert of_input.usd_per_million == D("0.833333")
    assert of_output.usd_per_million == D("7.777778")
    assert found.per_accelerator_usd == D("2790")


def test_idle_is_a_line_of_its_own_below_capacity():
    found = unit_cost(PHYSICS, LINES, 744, "duty_cycle", D(3), "tokens")
    assert found.idle_usd == D("66960.00")  # three quarters
    of_input = found.tokens[0]
    assert of_input.with_idle_usd_per_million == pytest.approx(4 * of_input.usd_per_million, abs=D("0.00001"))


def test_at_saturation_the_same_cost_serves_more():
    by_load = {one.load: one for one in unit_costs(PHYSICS, LINES, 744, D(5), "price_ratio")}
    assert list(by_load) == ["saturation", "slo_capacity", "duty_cycle"]
    prices = [one.tokens[2].with_idle_usd_per_million for one in by_load.values()]
    assert prices == sorted(prices)
    never_simulated = unit_costs(replace(PHYSICS, saturation_req_per_s=None), LINES, 744, D(5), "tokens")
    assert [one.load for one in never_simulated] == ["slo_capacity", "duty_cycle"]


@given(
    st.decimals("0.001", 20, places=3), st.sampled_from(["accelerator_time", "tokens", "price_ratio"]),
    st.integers(0, 4000), st.integers(0, 4000), st.integers(1, 4000),
)  # fmt: skip
def test_parts_add_up_to_the_cent(rate: Decimal, allocation, prompt, cached, output):
    physics = replace(PHYSICS, input_tokens=D(prompt), cached_input_tokens=D(cached), output_tokens=D(output))
    found = unit_cost(physics, LINES, 744, "duty_cycle", rate, allocation)
    assert sum(one.usd for one in found.tokens) + found.idle_usd == found.total_usd == total(LINES)


def test_from_which_use_on_it_pays_to_have_the_machines():
    found = break_even_use([PHYSICS], D(10), assumed(demand=over(1)), "reserved_3y")
    # (22 + 3 × 15) × 730 h against (36 + 3 × 28) × 744 h
    assert found.held_usd == pytest.approx(D(48910), abs=D("0.01"))
    assert found.share_of_hours == pytest.approx(D("0.547827061"), abs=D("1e-8"))


def test_by_which_month_a_purchase_has_paid_itself_back():
    bare = replace(owned(residual_share=D(0)), facility=assumed().facility, overheads=assumed().overheads)
    found = break_even_month([PHYSICS], D(10), replace(bare, demand=over(12)), "owned")
    # 660,000 and 1,000 a month against 89,280 in January: 673,920 against 667,000 would be June's 651,... to August
    rent = [31, 28, 31, 30, 31, 30, 31, 31]
    paid = [660_000 + 1000 * k for k in range(1, 9)]
    cumulative = [sum(rent[: k + 1]) * 24 * 120 for k in range(8)]
    first = next(k for k in range(8) if paid[k] <= cumulative[k])
    assert str(found.month) == f"2027-{first + 1:02d}"
    never = break_even_month([PHYSICS], D(10), replace(bare, demand=over(3)), "owned")
    assert never.month is None


def test_against_an_api_by_the_pocket_calculator():
    found = against_api(PHYSICS, LINES, 744, D(10), TokenPrice(D("0.50"), D("1.50"), D("0.05")))
    # 26,784,000 requests: 26,784, 5,356.8 and 6,696 million tokens
    assert found.api_usd == D("13392.00") + D("267.84") + D("10044.00")
    assert found.own_usd == D("89280.00")
    assert found.break_even_req_per_s == pytest.approx(D(10) * D("89280") / D("23703.84"), abs=D("1e-6"))
    assert not found.within_capacity
    assert found.break_even_tokens_per_day == pytest.approx(found.break_even_req_per_s * 1450 * 86400, rel=D("1e-8"))
    free = against_api(PHYSICS, LINES, 744, D(10), TokenPrice(D(0), D(0)))
    assert (free.api_usd, free.break_even_req_per_s) == (0, None)


def test_energy_and_carbon_of_a_month():
    site = Facility(pue=D("1.25"), kg_co2e_per_kwh=D("0.35"), carbon_source="grid mix 2025")
    found = energy(PHYSICS, D(5), 744, site)
    # 6 kW idle and half of 10
    assert (found.it_kwh, found.facility_kwh, found.kg_co2e) == (D(8184), D(10230), D("3580.5"))
    assert energy(PHYSICS, D(5), 744, Facility()).kg_co2e is None


@pytest.mark.parametrize("allocation", ["accelerator_time", "tokens", "price_ratio"])
def test_a_month_that_gives_back_more_than_it_costs_and_one_that_costs_nothing_add_up_too(allocation):
    sold = cost_sheet([PHYSICS], D(10), replace(owned(life_months=1, residual_share=D("0.9")), demand=over(1)))
    lines = [line for line in sold.lines("cash") if line.category != "capital"]
    assert total(lines) < 0
    for each in (lines, [], LINES[:0]):
        found = unit_cost(PHYSICS, each, 744, "duty_cycle", D(5), allocation)
        assert sum(one.usd for one in found.tokens) + found.idle_usd == total(each)


def test_machines_that_were_never_busy_have_a_price_by_tokens():
    idle = tuple(replace(pool, prefill=D(0), decode=D(0)) for pool in PHYSICS.pools)
    found = unit_cost(replace(PHYSICS, pools=idle), LINES, 744, "duty_cycle", D(5), "accelerator_time")
    assert found.tokens[0].usd > 0
