"""Quotes that a study's costs may choose: of the price book that the study keeps, and of the books as they are today.

What was chosen is kept with the assumptions as it was, its rate with it. It goes on holding whatever becomes of the
book; how it stands on the study's own day and today is said.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date
from typing import Any

from django.utils import timezone

from planner.accounts.owned import Guest, Visitor
from planner.catalogue.quote_fields import PRICE_UNITS, TERM_WORDS
from planner.catalogue.quote_lines import STUDY_DAY, TODAY, not_standing
from planner.catalogue.services import price_books_for
from planner.studies.models import Study
from planner.studies.stored import prices_of
from simcore.economics.assumptions import Assumptions
from simcore.economics.offers import Said, quotes_said, standing_words
from simcore.economics.taken import Chosen, choose
from simcore.spec import PriceBook, SpecError, encode


def token(chosen: Chosen) -> str:
    """What the form says for it: another as soon as anything of it is another."""
    return hashlib.sha256(json.dumps(encode(chosen), sort_keys=True).encode()).hexdigest()[:12]


Offered = Mapping[str, Chosen]
"""By token."""


def offered(user: Visitor, study: Study, assumptions: Assumptions) -> Offered:
    """Of the study's machines: what was chosen, the quotes of the study's own book, those of today's books."""
    machines = {one.machine for one in assumptions.machines}
    books = [prices_of(study), *(() if isinstance(user, Guest) else price_books_for(user).values())]
    every = [*(chosen for one in assumptions.machines for chosen in one.quotes), *_of_books(books)]
    return {token(one): one for one in every if one.offer.machine in machines}


def choices(found: Offered, machine: str, term: str, book_id: str, day: date) -> list[tuple[str, str]]:
    """The options of a term of a machine: the first is the price that is entered, or the book's."""
    options = [
        (key, _words(one, book_id, day))
        for key, one in found.items()
        if (one.offer.machine, one.offer.term) == (machine, term)
    ]
    first = "price book’s, or as entered" if term == "on_demand" else "as entered"
    return [("", first), *options] if options else []


def day_of(study: Study) -> date:
    """On which the study was asked, UTC."""
    return study.created_at.astimezone(UTC).date()


@dataclass(frozen=True)
class QuoteSaid:
    """A quote that the costs use, as the page tells it."""

    said: Said
    study_day: date
    today: date

    @property
    def problems(self) -> list[str]:
        """Why it did not hold on the study's day, or does not today; of one reason once."""
        return not_standing(self.said.taken.offer, {STUDY_DAY: self.study_day, TODAY: self.today})

    @property
    def usd(self) -> tuple[str, str, str]:
        """Before discount, after, and a year's support."""
        took = self.said.taken
        return (f"{took.list_usd:,f}", f"{took.net_usd:,f}", f"{took.support_usd:,f}" if took.support_usd else "")

    @property
    def unit(self) -> str:
        return PRICE_UNITS[self.said.taken.offer.term]

    @property
    def term(self) -> str:
        return TERM_WORDS[self.said.taken.offer.term]

    @property
    def discount(self) -> str:
        discount = self.said.taken.offer.discount
        return f"{(discount * 100).normalize() + 0:f} %" if discount else ""

    @property
    def before(self) -> str:
        """In its own currency, of one."""
        took = self.said.taken
        return f"{took.offer.before_discount(took.machines):,f} {took.offer.currency}"


def said(study: Study, assumptions: Assumptions) -> list[QuoteSaid]:
    """Of assumptions whose quotes have been counted (``CostSheet.assumptions``)."""
    day, today = day_of(study), timezone.now().date()
    return [QuoteSaid(one, day, today) for one in quotes_said(assumptions, day)]


def as_json(study: Study, assumptions: Assumptions) -> list[dict[str, Any]]:
    """For files: as each quote stood on the study's day, and until when it holds, so that the bytes stay."""
    return [
        {
            "machine": one.machine,
            "row": one.row,
            "name": one.taken.offer.name,
            "standing": one.standing,
            "judged_on": day_of(study).isoformat(),
            "machines": one.taken.machines,
            "list_usd": f"{one.taken.list_usd:f}",
            "net_usd": f"{one.taken.net_usd:f}",
            "support_usd_per_year": f"{one.taken.support_usd:f}",
            "offer": encode(one.taken.offer),
            "exchange": encode(one.taken.chosen.exchange),
        }
        for one in quotes_said(assumptions, day_of(study))
    ]


def _of_books(books: Iterable[PriceBook]) -> Iterable[Chosen]:
    for book in books:
        for offer in book.offers:
            try:
                yield choose(offer, book)
            except SpecError:  # a kept book whose rate is not with it: it cannot be counted
                continue


def _words(chosen: Chosen, book_id: str, day: date) -> str:
    offer = chosen.offer
    book = "" if chosen.book == book_id else f", in {chosen.book}"
    standing = standing_words(offer, day, TODAY)
    price = f"{offer.price:,f} {offer.currency}"
    less = f" less {(offer.discount * 100).normalize() + 0:f} %" if offer.discount else ""
    until = f", to {offer.valid_to}" if offer.valid_to and not standing else ""
    return f"{offer.name}{book}: {price}{less}{until}{f' ({standing})' if standing else ''}"
