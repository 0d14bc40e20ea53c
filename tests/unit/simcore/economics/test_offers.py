"""Quotes in a plan: the break that its machines reach, the discount, the rate, and how they stand on a day."""

from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from simcore.economics.assumptions import Ownership, Terms
from simcore.economics.break_even import break_even_use
from simcore.economics.cash_flow import cash_flow
from simcore.economics.cost_sheet import cost_sheet
from simcore.economics.lines import total
from simcore.economics.offers import break_count, quotes_said, standing_words, without_discounts
from simcore.economics.taken import Chosen, choose, taken
from simcore.spec import Break, Exchange, Offer, PriceBook, SpecError, decode, encode
from tests.unit.simcore.economics.plans import A100, H100, PHYSICS, assumed, over

D = Decimal
QUOTE = Offer(
    "dgx-h100", "owned", D(310_000), "Acme", "Q-17", "EUR", D("0.1"), (Break(8, D(290_000)), Break(16, D(270_000))),
    D(10_000), "2026-12-01", "2027-01-31",
)  # fmt: skip
EUR = Exchange("EUR", D("1.08"), "2027-01-10", "ECB reference rate")
OF_A100 = Offer(
    "dgx-a100", "owned", D(118_000), "Acme", "Q-18", "EUR", D("0.05"), (Break(3, D(110_000)),), D(2_400),
    valid_to="2027-01-31",
)  # fmt: skip


@pytest.mark.parametrize(("machines", "euro"), [(7, 310_000), (8, 290_000), (15, 290_000), (40, 270_000)])
def test_a_quantity_reaches_its_break(machines, euro):
    found = taken(Chosen(QUOTE, "team", EUR), machines)
    assert found.list_usd == D(euro) * D("1.08")
    assert found.net_usd == D(euro) * D("0.972")
    assert found.support_usd == D(10_800)
    assert found.words == f" ({euro:,} EUR less 10 % × 1.08)"


def test_a_price_is_converted_once_and_rounded_to_a_millionth_at_the_end():
    odd = replace(QUOTE, price=D("33.333333"), discount=D("0.125"), breaks=())
    found = taken(Chosen(odd, "team", replace(EUR, usd=D("1.0837"))), 1)
    assert found.net_usd == D("31.607916")  # 33.333333 × 0.875 × 1.0837 = 31.60791635…


@pytest.mark.parametrize(
    ("day", "standing", "words"),
    [
        ("2026-11-30", "not_yet", "not valid before 2026-12-01, after 2026-11-30 (today)"),
        ("2026-12-01", "valid", ""),
        ("2027-01-31", "valid", ""),
        ("2027-02-01", "expired", "expired on 2027-01-31, before 2027-02-01 (today)"),
    ],
)
def test_a_quote_holds_from_its_first_to_its_last_day(day, standing, words):
    assert QUOTE.standing(date.fromisoformat(day)) == standing
    assert standing_words(QUOTE, date.fromisoformat(day), "today") == words


def test_an_owned_plan_by_the_pocket_calculator():
    """docs/worked-example.md."""
    machines = (H100, replace(A100, quotes=(Chosen(OF_A100, "team", EUR),)))
    plan = assumed(machines=machines, terms=Terms("owned"), ownership=Ownership(48, D("0.1")), demand=over(1))
    sheet = cost_sheet([PHYSICS], D(10), plan)
    lines = {(line.category, line.machine): line for line in sheet.lines("book")}
    # 3 machines reach the break of 3: 110,000 EUR × 0.95 × 1.08 = 112,860; 3 × 112,860 × 0.9 ÷ 48
    capital = lines["capital", "dgx-a100"]
    assert capital.amount_usd == D("6348.38")  # 6,348.375, half to even
    assert capital.formula.startswith("(3 machines × $112,860 (110,000 EUR less 5 % × 1.08) less a residual of 0.1")
    assert capital.rows[0] == f"team/quotes/{OF_A100.key}"
    # 2,400 EUR × 1.08 = 2,592 a year; 3 × 216 a month
    assert lines["support", "dgx-a100"].amount_usd == D("648.00")
    assert lines["support", "dgx-a100"].rows == (f"team/quotes/{OF_A100.key}",)
    assert lines["capital", "dgx-h100"].amount_usd == D("5625.00")
    assert lines["capital", "dgx-h100"].rows[0] == "assumptions.machines.dgx-h100.capex_usd"
    assert total(sheet.lines("book")) == D("6348.38") + D("648.00") + D("5625.00") + D("1000.00")
    # 300,000 + 338,580 at the start, 1,000 + 648 at the end of the month
    assert cash_flow(sheet).months[0].paid_usd == D("640228.00")
    (said,) = quotes_said(sheet.assumptions, date(2027, 2, 1))
    assert (said.standing, said.taken.list_usd, said.taken.net_usd) == ("expired", D(118_800), D(112_860))
    before = cost_sheet([PHYSICS], D(10), without_discounts(plan)).lines("book")
    assert {(line.category, line.machine): line.amount_usd for line in before}["capital", "dgx-a100"] == D("6682.50")


@pytest.mark.parametrize(
    ("terms", "term", "count"),
    [
        (Terms("owned"), "owned", 3),
        (Terms("owned", D("0.7")), "owned", 2),  # of three, rounded down
        (Terms("owned", D("0.7")), "on_demand", 1),
        (Terms("owned", D("0.2")), "owned", 3),  # none is bought: all, as in a comparison
        (Terms(), "on_demand", 3),
        (Terms(), "reserved_3y", 3),
    ],
)
def test_the_machines_under_a_term_pick_the_break(terms, term, count):
    assert break_count(PHYSICS, "dgx-a100", term, terms) == count


def test_break_even_takes_the_break_of_all_machines():
    some = assumed(
        machines=(H100, replace(A100, quotes=(Chosen(OF_A100, "team", EUR),))), terms=Terms("owned", D("0.7"))
    )
    every = replace(some, terms=Terms("owned"))
    of = [break_even_use([PHYSICS], D(10), plan, "owned").held_usd for plan in (some, every)]
    assert of[0] == of[1]


def test_a_quote_by_the_hour_stands_before_the_books_price():
    quote = Offer("dgx-h100", "on_demand", D("30.5"), "Acme", "Q-3")
    plan = assumed(machines=(replace(H100, quotes=(Chosen(quote, "team"),)), A100), demand=over(1))
    line = cost_sheet([PHYSICS], D(10), plan).lines("cash")[0]
    assert (line.amount_usd, line.rows) == (D("22692.00"), (f"team/quotes/{quote.key}",))  # 744 × 30.5
    assert line.formula == "1 machines × 744 h × $30.5/h"


def test_a_currency_without_a_rate_is_named():
    book = PriceBook("team", "Ours", "2027", (), rates=(Exchange("GBP", D("1.27")),))
    with pytest.raises(SpecError, match=r"currency: found 'EUR', which has no rate: expected one of USD, GBP"):
        choose(QUOTE, book)
    assert choose(QUOTE, replace(book, rates=(EUR,))) == Chosen(QUOTE, "team", EUR)


def test_a_quotes_key_is_of_what_it_is_not_of_what_it_says():
    assert QUOTE.key == replace(QUOTE, price=D(1), valid_to="").key
    assert QUOTE.key != replace(QUOTE, quote="Q-18").key
    assert decode(Offer, encode(QUOTE)) == QUOTE


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
        ({"price": -1}, "price: found -1, expected more than 0"),
    ],
)
def test_what_is_no_offer_is_refused(change, words):
    with pytest.raises(SpecError, match=words):
        decode(Offer, {"machine": "dgx-h100", "term": "owned", "price": "300000", **change})
