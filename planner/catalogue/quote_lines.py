"""A quote as the pages show it, on a day."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date

from planner.catalogue.quote_fields import PRICE_UNITS, STANDING_WORDS, TERM_WORDS
from simcore.economics.offers import standing_words
from simcore.spec import Offer, PriceBook

STUDY_DAY, TODAY = "the study’s day", "today"


@dataclass(frozen=True)
class QuoteLine:
    """One row of a book's quotes."""

    offer: Offer
    machine: str
    """Its name; empty where the catalogue has it no more."""
    today: date

    @property
    def term(self) -> str:
        return TERM_WORDS[self.offer.term]

    @property
    def unit(self) -> str:
        return PRICE_UNITS[self.offer.term]

    @property
    def standing(self) -> str:
        return STANDING_WORDS[self.offer.standing(self.today)]

    @property
    def problem(self) -> str:
        """Why it does not hold today; empty where it does."""
        return standing_words(self.offer, self.today, "today")

    @property
    def prices(self) -> list[tuple[str, str, str]]:
        """From how many machines on, before discount, after."""
        steps = [(1, self.offer.price), *((one.machines, one.price) for one in self.offer.breaks)]
        left = 1 - self.offer.discount
        return [
            (f"from {count}" if len(steps) > 1 else "", f"{price:,f}", f"{(price * left).normalize():,f}")
            for count, price in steps
        ]

    @property
    def support(self) -> str:
        """A year's; empty where there is none."""
        return f"{self.offer.support_per_year:,f} {self.offer.currency}" if self.offer.support_per_year else ""

    @property
    def discount(self) -> str:
        return f"{(self.offer.discount * 100).normalize():f} %" if self.offer.discount else ""

    @property
    def valid(self) -> str:
        first, last = self.offer.valid_from, self.offer.valid_to
        return f"{first or 'always'} to {last or 'open'}" if first or last else "no end given"


def not_standing(offer: Offer, days: Mapping[str, date]) -> list[str]:
    """Why it does not hold on each of the days, by what they are; days that are one are said as one."""
    names: dict[date, list[str]] = {}
    for what, day in days.items():
        names.setdefault(day, []).append(what)
    told = (standing_words(offer, day, " and ".join(of)) for day, of in names.items())
    return [words for words in told if words]


def not_holding(book: PriceBook, machines: Iterable[str], days: Mapping[str, date]) -> list[str]:
    """Sentences about the book's quotes for these machines that do not hold on a day; ``days`` by what they are."""
    wanted, found = set(machines), []
    for offer in book.offers:
        words = not_standing(offer, days)
        if offer.machine in wanted and words:
            found.append(f"{book.name}: {offer.name} for {offer.machine} {' and '.join(words)}.")
    return found
