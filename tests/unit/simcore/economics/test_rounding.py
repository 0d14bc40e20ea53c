from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore.economics.rounding import CENT, cents, quantised, running_cents, shared_cents

AMOUNTS = st.decimals(-(10**9), 10**9, places=6)
WEIGHTS = st.lists(st.decimals(0, 10**6, places=4), min_size=1, max_size=12).filter(any)


@pytest.mark.parametrize(
    ("figure", "digits"),
    [(61234.56789012, "61234.5679"), (0.0123456789012, "0.0123456789"), (7e12, "7E+12"), (0.0, "0"), (2.5, "2.5")],
)
def test_physics_enters_with_nine_significant_digits(figure, digits):
    assert quantised(figure) == Decimal(digits)


def test_a_quantised_figure_is_quantised_to_itself():
    assert quantised(float(quantised(1 / 3))) == quantised(1 / 3) == Decimal("0.333333333")


@pytest.mark.parametrize(("amount", "rounded"), [("0.125", "0.12"), ("0.135", "0.14"), ("-0.125", "-0.12")])
def test_half_a_cent_goes_to_the_even_one(amount, rounded):
    assert cents(Decimal(amount)) == Decimal(rounded)


@given(st.lists(AMOUNTS, max_size=60))
def test_periods_add_up_to_the_rounded_total(amounts):
    lines = running_cents(amounts)
    assert sum(lines) == cents(sum(amounts, Decimal(0)))
    assert all(abs(line - amount) <= CENT for line, amount in zip(lines, amounts, strict=True))


@given(AMOUNTS, WEIGHTS)
def test_parts_add_up_to_the_total_and_none_is_off_by_a_cent(amount, weights):
    total = cents(amount)
    shares = shared_cents(total, weights)
    assert sum(shares) == total
    for share, weight in zip(shares, weights, strict=True):
        assert abs(share - total * weight / sum(weights)) < CENT


def test_the_cents_left_go_to_the_largest_remainders_and_the_earlier_of_equals():
    thirds = [Decimal(1)] * 3
    assert shared_cents(Decimal("1.00"), thirds) == [Decimal("0.34"), Decimal("0.33"), Decimal("0.33")]
    assert shared_cents(Decimal("0.05"), [Decimal(1), Decimal(3)]) == [Decimal("0.01"), Decimal("0.04")]


@pytest.mark.parametrize("weights", [["0", "0"], ["-1", "2"]])
def test_weights_that_share_nothing_are_refused(weights):
    with pytest.raises(ValueError, match="expected none below zero and one above"):
        shared_cents(Decimal(1), [Decimal(weight) for weight in weights])
