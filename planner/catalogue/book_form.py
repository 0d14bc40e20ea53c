"""The form of a price book: a price for each machine of the catalogue, empty where it has none."""

import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import Any

from django import forms
from django.utils import timezone

from planner.accounts.models import Team, User
from planner.catalogue.books import Book, book_or_none, converted, write_book
from planner.catalogue.columns import date_problem
from planner.catalogue.editing import StaleError, id_problem, one_at_a_time
from planner.catalogue.row_form import ID, LONGEST_SOURCE, STATUS_CHOICES, USER, sentence
from planner.catalogue.services import names_of
from planner.catalogue.typed import stored
from planner.plain_text import NameField
from simcore.spec import USD, Exchange, Price, PriceBook, SpecError

KINDS = [("on_demand", "on demand"), ("reserved", "reserved"), ("owned", "owned")]
MOST_USD = 1_000_000
LONGEST_ID = 50
PRICE_WORDS = (
    "dollars an hour for the whole machine above 0, at most 1,000,000, with at most 4 decimals, such as 36.50,"
    " or an amount in a currency that the book has a rate for, such as 33.50 EUR"
)
IN_CURRENCY = re.compile(r"(.*?)\s*([A-Za-z]{3})", re.ASCII)


class BookForm(forms.Form):
    """``book`` is changed; with ``like`` instead, or with neither, a new book is made."""

    name = NameField(max_length=100)
    day = forms.CharField(label="Date of the book", max_length=10)
    source = forms.CharField(
        max_length=LONGEST_SOURCE,
        error_messages={"required": "Found nothing, expected where the prices are from: an offer, a price list."},
    )
    date = forms.CharField(label="Date of the source", max_length=10)
    status = forms.ChoiceField(choices=STATUS_CHOICES, initial=USER)
    seen = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(
        self, team: Team, user: User, data: Any = None, *, book: Book | None = None, like: Book | None = None
    ) -> None:
        super().__init__(data)
        self.label_suffix = ""
        self.team, self.user, self.book, self.like = team, user, book, like
        base = book or like
        today = timezone.now().date().isoformat()
        self.fields["date"].initial = today
        self.fields["seen"].initial = book.version if book else ""
        self.fields["name"].initial = book.book.name if book else f"{like.book.name}, ours" if like else ""
        self.fields["day"].initial = base.book.date if base else today
        if book is None:
            self.fields[ID] = forms.CharField(label="Id", max_length=50)
        self.machines = dict(names_of(user, "machines"))
        for price in base.book.prices if base else ():
            self.machines.setdefault(price.machine, price.machine)  # of a machine that the catalogue has no more
        for machine, name in self.machines.items():
            was = base.price(machine) if base else None
            self.fields[f"usd:{machine}"] = forms.CharField(
                label=f"{name}, dollars an hour", required=False, initial=price_text(was) if was else ""
            )
            self.fields[f"kind:{machine}"] = forms.ChoiceField(
                label=f"{name}, how it is bought",
                choices=KINDS,
                required=False,
                initial=was.kind if was else KINDS[0][0],
            )

    @property
    def lines(self) -> list[tuple[str, str, Any, Any]]:
        """Machine, its name, and the fields of its price."""
        return [(m, name, self[f"usd:{m}"], self[f"kind:{m}"]) for m, name in self.machines.items()]

    def clean_id(self) -> str:
        book_id: str = self.cleaned_data[ID].strip()
        if problem := book_id_problem(book_id):
            raise forms.ValidationError(sentence(problem))
        if book_or_none(self.user, book_id):
            raise forms.ValidationError(f"Found ‘{book_id}’ in the catalogue already; expected another id.")
        return book_id

    def clean_date(self) -> str:
        return _day(self.cleaned_data["date"])

    def clean_day(self) -> str:
        return _day(self.cleaned_data["day"])

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or self.cleaned_data
        self.prices: list[Price] = []
        for machine in self.machines:
            text = stored(str(data.get(f"usd:{machine}") or ""), "USD")
            if text:
                self._price(machine, text, data)
        if not self.errors and not self.prices:
            self.add_error(None, "Found no price; expected one at least.")
        return data

    def _price(self, machine: str, text: str, data: dict[str, Any]) -> None:
        base = self.book or self.like
        try:
            typed = typed_price(machine, text, base.book.rates if base else ())
        except SpecError as error:
            self.add_error(f"usd:{machine}", sentence(str(error)))
            return
        was = base.price(machine) if base else None
        kind: Any = data.get(f"kind:{machine}") or KINDS[0][0]
        said = (typed.usd_per_hour, typed.currency, typed.local_per_hour, kind)
        if was is not None and (was.usd_per_hour, was.currency, was.local_per_hour, was.kind) == said:
            self.prices.append(was)
        elif not {"source", "date", "status"} - set(data):
            of = {"source": data["source"].strip(), "date": data["date"], "status": data["status"]}
            self.prices.append(replace(typed, kind=kind, **of))

    def save(self) -> str:
        """The saved book's id. StaleError where somebody else changed it in between."""
        data = self.cleaned_data
        book_id: str = self.book.book.id if self.book else data[ID]
        with one_at_a_time(self.team):
            now = book_or_none(self.user, book_id)
            if (now.version if now else "") != data["seen"]:
                raise StaleError
            base = self.book or self.like
            beside: Any = {"offers": base.book.offers, "rates": base.book.rates} if base else {}
            book = PriceBook(book_id, data["name"], data["day"], tuple(self.prices), **beside)
            write_book(self.team, self.user, book)
        return book_id


def book_id_problem(book_id: str) -> str:
    """What is wrong with a new book's id; empty where nothing is."""
    if len(book_id) > LONGEST_ID:
        return f"found {len(book_id)} characters, expected at most {LONGEST_ID}"
    return id_problem(book_id)


def price_text(price: Price) -> str:
    """As it is typed: in its own currency."""
    return str(price.usd_per_hour) if price.local_per_hour is None else f"{price.local_per_hour} {price.currency}"


def typed_price(machine: str, text: str, rates: Sequence[Exchange]) -> Price:
    """``36.50``, or ``33.50 EUR`` converted by the book's rate; SpecError says what is wrong."""
    match = IN_CURRENCY.fullmatch(text)
    currency = match[2].upper() if match else USD
    amount = price_of(match[1].replace(",", "") if match and currency != USD else text)
    if amount is None:
        raise SpecError(f"found ‘{text[:60]}’, expected {PRICE_WORDS}")
    if currency == USD:
        return Price(machine, amount)
    return converted(Price(machine, amount, currency=currency, local_per_hour=amount), rates)


def price_of(text: str) -> Decimal | None:
    """Dollars as the database keeps them; None where the text is not that."""
    try:
        usd = Decimal(text) if text.isascii() and "_" not in text else Decimal("NaN")
    except InvalidOperation:
        return None
    holds = usd.is_finite() and 0 < usd <= MOST_USD and usd == round(usd, 4)
    return usd if holds else None


def _day(text: str) -> str:
    if problem := date_problem(text.strip()):
        raise forms.ValidationError(sentence(problem))
    return text.strip()
