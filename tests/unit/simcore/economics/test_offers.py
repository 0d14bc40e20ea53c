from datetime import date
from decimal import Decimal

import pytest

from simcore.economics.offers import Break, Exchange, Offer, priced
from simcore.spec import SpecError, decode

D = Decimal
DAY = date(2027, 1, 15)
LIST = Offer("dgx-h100", "on_demand", D(36), row="prices/list/dgx-h100")
QUOTE = Offer(
    "dgx-h100", "purchase", D(310_000), "EUR", D("0.1"), (Break(8, D(290_000)), Break(16, D(270_000))), D(10_000),
    "Acme", "Q-17", "2026-12-01", "2027-01-31",
)  # fmt: skip
EUR = Exchange("EUR", D("1.08"), "2027-01-10", "ECB reference rate")


@pytest.mark.parametrize(("machines", "euro"), [(7, 310_000), (8, 290_000), (15, 290_000), (40, 270_000)])
def test_a_quantity_reaches_its_break(machines, euro):
    found = priced([LIST, QUOTE], [EUR], "dgx-h100", machines, DAY)
    assert found.taken["purchase"].list_usd == D(euro) * D("1.08")
    assert found.cost.capex_usd == D(euro) * D("0.972")
    assert found.cost.support_usd_per_year == D(10_800)
    assert found.cost.on_demand_usd_per_hour == D(36)
    assert found.cost.reserved_1y_usd_per_hour is None


@pytest.mark.parametrize(
    ("day", "standing"),
    [("2026-11-30", "not_yet"), ("2026-12-01", "valid"), ("2027-01-31", "valid"), ("2027-02-01", "expired")],
)
def test_a_quote_holds_from_its_first_to_its_last_day(day, standing):
    found = priced([LIST, QUOTE], [EUR], "dgx-h100", 1, date.fromisoformat(day))
    assert QUOTE.standing(date.fromisoformat(day)) == standing
    assert ("purchase" in found.taken) == (standing == "valid")
    assert [one for _, one in found.not_used] == ([] if standing == "valid" else [standing])


def test_a_quote_stands_before_a_list_price_and_the_cheaper_quote_before_the_other():
    quotes = [Offer("dgx-h100", "on_demand", D(price), quote=f"Q-{price}") for price in (41, 40)]
    found = priced([LIST, *quotes], [], "dgx-h100", 1, DAY)
    assert found.taken["on_demand"].offer.name == "Quote Q-40"


def test_a_currency_without_a_rate_is_named():
    with pytest.raises(
        SpecError, match=r"Quote Q-17 of Acme, valid to 2027-01-31 for 'dgx-h100' is in EUR.*of USD, GBP"
    ):
        priced([QUOTE], [Exchange("GBP", D("1.27"))], "dgx-h100", 1, DAY)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"valid_to": "2027-02-30"}, "valid_to: found '2027-02-30', expected a day such as 2027-01-31"),
        ({"valid_from": "2027-02-01", "valid_to": "2027-01-31"}, "expected no day before valid_from"),
        (
            {"breaks": [{"machines": 8, "price": 1}, {"machines": 8, "price": 2}]},
            "expected each more than the one before",
        ),
        ({"discount": "1.2"}, "discount: found 1.2, expected at most 1"),
        ({"price": -1}, "price: found -1, expected at least 0"),
    ],
)
def test_what_is_no_offer_is_refused(change, words):
    with pytest.raises(SpecError, match=words):
        decode(Offer, {"machine": "dgx-h100", "term": "purchase", "price": "300000", **change})
