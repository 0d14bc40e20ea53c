from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore.economics.annuity import annuity, monthly_rate, present_value

RATES = st.decimals("0.0001", "0.05", places=6)


def test_a_loan_by_the_pocket_calculator():
    # 300,000 over 48 months at 0.5 % a month: the tables say a factor of 0.0234850
    assert annuity(Decimal(300_000), Decimal(0), Decimal("0.005"), 48) == pytest.approx(
        Decimal("7045.51"), abs=Decimal("0.01")
    )


def test_without_interest_it_is_an_even_share():
    assert annuity(Decimal(300_000), Decimal(60_000), Decimal(0), 48) == Decimal(5000)


def test_a_small_rate_comes_near_to_none():
    near = annuity(Decimal(300_000), Decimal(60_000), Decimal("1e-9"), 48)
    assert near == pytest.approx(Decimal(5000), abs=Decimal("0.02"))


def test_twelve_months_compound_to_the_year():
    assert (1 + monthly_rate(Decimal("0.08"))) ** 12 == pytest.approx(Decimal("1.08"), rel=Decimal("1e-20"))


@given(st.decimals(1, 10**8, places=2), st.decimals(0, 1, places=3), RATES, st.integers(1, 120))
def test_an_annuity_is_worth_what_it_pays_for(principal, share, rate, periods):
    residual = principal * share
    payment = annuity(principal, residual, rate, periods)
    flow = [Decimal(0)] + [payment] * periods
    flow[-1] += residual
    assert present_value(flow, rate) == pytest.approx(principal, rel=Decimal("1e-15"))


def test_what_is_paid_now_is_worth_itself():
    assert present_value([Decimal(5), Decimal(10), Decimal(20)], Decimal(1)) == Decimal(15)
