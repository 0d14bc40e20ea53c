"""A quote and a rate as people and files write them, read alike by the forms and the imports.

Errors are ``SpecError``s: ``field: found …, expected …``.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection, Mapping
from decimal import Decimal, InvalidOperation
from typing import get_args

from planner.catalogue.columns import date_problem
from simcore.spec import OFFER_TERMS, USD, Break, Exchange, Offer, OfferTerm, PriceBook, SpecError, nearest, rate_of

TERM_WORDS: dict[OfferTerm, str] = {
    "on_demand": "by the hour",
    "reserved_1y": "reserved for 1 year",
    "reserved_3y": "reserved for 3 years",
    "owned": "bought",
}
PRICE_UNITS: dict[OfferTerm, str] = {
    "on_demand": "an hour",
    "reserved_1y": "an hour",
    "reserved_3y": "an hour",
    "owned": "a machine",
}
STANDING_WORDS = {"valid": "valid", "not_yet": "not valid yet", "expired": "expired"}
MOST = Decimal(10) ** 9
PLACES = 6
LONGEST_NAME, LONGEST_SOURCE = 100, 500
PERCENT = Decimal(100)
QUOTE_COLUMNS = (
    *("book", "machine", "term", "vendor", "quote", "valid_from", "valid_to", "currency", "price", "breaks"),
    *("discount_percent", "support_per_year", "source", "date"),
)
RATE_COLUMNS = ("book", "currency", "usd", "source", "date")
CURRENCY = re.compile(r"[A-Z]{3}", re.ASCII)


def quote_of(texts: Mapping[str, str], book: PriceBook, machines: Collection[str], today: str) -> Offer:
    """The quote that texts by ``QUOTE_COLUMNS`` say, for a book whose rates have its currency."""
    machine = texts.get("machine", "").strip()
    if machine not in machines:
        found = f"‘{machine[:60]}’" if machine else "nothing"
        raise SpecError(f"machine: found {found}, expected one of the catalogue’s machines{nearest(machine, machines)}")
    term = texts.get("term", "").strip()
    if term not in OFFER_TERMS:
        raise SpecError(f"term: found ‘{term[:60]}’, expected one of {', '.join(get_args(OfferTerm))}")
    currency = texts.get("currency", "").strip().upper() or USD
    rate_of(currency, book.rates)
    discount = _number(texts, "discount_percent", "0")
    if discount >= PERCENT:
        raise SpecError(f"discount_percent: found {discount:f}, expected from 0 to less than 100")
    return Offer(
        machine=machine,
        term=term,
        price=_number(texts, "price", above=True),
        vendor=_name(texts, "vendor"),
        quote=_name(texts, "quote"),
        currency=currency,
        discount=discount / PERCENT,
        breaks=_breaks(texts.get("breaks", "")),
        support_per_year=_number(texts, "support_per_year", "0"),
        valid_from=_day(texts, "valid_from"),
        valid_to=_day(texts, "valid_to"),
        source=_source(texts),
        date=_date(texts, today),
    )


def rate_from(texts: Mapping[str, str], today: str) -> Exchange:
    """The rate that texts by ``RATE_COLUMNS`` say."""
    currency = texts.get("currency", "").strip().upper()
    if not CURRENCY.fullmatch(currency) or currency == USD:
        raise SpecError(f"currency: found ‘{currency[:20]}’, expected three letters such as EUR, and not USD")
    usd = _number(texts, "usd", above=True, places=10)
    return Exchange(currency, usd, _date(texts, today), _source(texts))


def quote_texts(offer: Offer) -> dict[str, str]:
    """By ``QUOTE_COLUMNS``, but for the book."""
    return {
        "machine": offer.machine,
        "term": offer.term,
        "vendor": offer.vendor,
        "quote": offer.quote,
        "valid_from": offer.valid_from,
        "valid_to": offer.valid_to,
        "currency": offer.currency,
        "price": f"{offer.price:f}",
        "breaks": breaks_text(offer.breaks),
        "discount_percent": _plain(offer.discount * PERCENT),
        "support_per_year": _plain(offer.support_per_year),
        "source": offer.source,
        "date": offer.date,
    }


def rate_texts(rate: Exchange) -> dict[str, str]:
    """By ``RATE_COLUMNS``, but for the book."""
    return {"currency": rate.currency, "usd": f"{rate.usd:f}", "source": rate.source, "date": rate.date}


def breaks_text(breaks: Collection[Break]) -> str:
    """``8: 290000; 16: 270000``."""
    return "; ".join(f"{one.machines}: {one.price:f}" for one in breaks)


def _breaks(text: str) -> tuple[Break, ...]:
    found = []
    for part in filter(None, (part.strip() for part in re.split(r"[;\n]", text))):
        count, colon, price = part.partition(":")
        if not colon or not count.strip().isascii() or not count.strip().isdigit() or len(count.strip()) > 6:
            raise SpecError(f"breaks: found ‘{part[:60]}’, expected machines and a price, as 8: 290000; 16: 270000")
        if int(count) < 1:
            raise SpecError(f"breaks: found {int(count)} machines, expected at least 1")
        found.append(Break(int(count), _number({"breaks": price}, "breaks", above=True)))
    return tuple(found)


def _number(
    texts: Mapping[str, str], name: str, default: str = "", *, above: bool = False, places: int = PLACES
) -> Decimal:
    text = texts.get(name, "").strip() or default
    expected = f"a number {'above' if above else 'of at least'} 0, with at most {places} decimals, such as 290000.50"
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", text, re.ASCII):
        text = text.replace(",", "")
    try:
        number = Decimal(text) if text.isascii() and "_" not in text else Decimal("NaN")
    except InvalidOperation:
        number = Decimal("NaN")
    holds = number.is_finite() and 0 <= number <= MOST and number == round(number, places)
    if not holds or (above and not number):
        raise SpecError(f"{name}: found {f'‘{text[:60]}’' if text else 'nothing'}, expected {expected}")
    return Decimal(f"{number.normalize():f}")


def _name(texts: Mapping[str, str], name: str) -> str:
    text = texts.get(name, "").strip()
    if not 0 < len(text) <= LONGEST_NAME or not text.isprintable():
        what = {"vendor": "who offers it", "quote": "the quote’s number"}[name]
        found = f"{len(text)} characters" if text else "nothing"
        raise SpecError(f"{name}: found {found}, expected {what}, in at most {LONGEST_NAME} characters")
    return text


def _source(texts: Mapping[str, str]) -> str:
    text = texts.get("source", "").strip()
    if not 0 < len(text) <= LONGEST_SOURCE:
        found = f"{len(text)} characters" if text else "nothing"
        raise SpecError(f"source: found {found}, expected where it is from, in at most {LONGEST_SOURCE} characters")
    return text


def _date(texts: Mapping[str, str], today: str) -> str:
    text = texts.get("date", "").strip() or today
    if problem := date_problem(text):
        raise SpecError(f"date: {problem}")
    return text


def _day(texts: Mapping[str, str], name: str) -> str:
    text = texts.get(name, "").strip()
    try:
        if text:
            datetime.date.fromisoformat(text if len(text) == 10 else "")
    except ValueError:
        raise SpecError(f"{name}: found ‘{text[:20]}’, expected a day such as 2027-01-31") from None
    return text


def _plain(number: Decimal) -> str:
    return f"{number.normalize() + 0:f}" if number else ""
