from decimal import Decimal

import pytest

from simcore.economics.hourly import req_per_usd, usd_per_hour, usd_per_month
from simcore.spec import Price, PriceBook, SpecError

BOOK = PriceBook("paper", "Paper", "2023", (Price("dgx-a100", Decimal("17.68")), Price("dgx-h100", Decimal("38.08"))))


def test_splitwise_ha_costs_what_the_sum_of_its_machines_costs():
    assert usd_per_hour({"dgx-h100": 25, "dgx-a100": 26}, BOOK) == Decimal("1411.68")


def test_a_month_is_730_hours():
    assert usd_per_month(Decimal("1411.68")) == Decimal("1030526.40")


def test_requests_a_dollar():
    assert req_per_usd(70, Decimal("1411.68")) == pytest.approx(178.51, abs=0.01)


def test_a_machine_without_a_price_is_named_with_the_nearest():
    with pytest.raises(SpecError, match=r"no price for 'dgx-h200'.*nearest: 'dgx-h100'"):
        usd_per_hour({"dgx-h200": 1}, BOOK)
