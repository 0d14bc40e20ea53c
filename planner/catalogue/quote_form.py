"""The forms of a quote and of an exchange rate in a price book."""

from typing import Any

from django import forms
from django.utils import timezone

from planner.accounts.models import Team, User
from planner.catalogue.books import Book, book_or_none, with_offer, with_rates, without_offer, write_book
from planner.catalogue.editing import StaleError, one_at_a_time
from planner.catalogue.quote_fields import TERM_WORDS, quote_of, quote_texts, rate_from, rate_texts
from planner.catalogue.row_form import sentence
from planner.catalogue.services import names_of
from simcore.spec import Exchange, Offer, PriceBook, SpecError


class _BesidePrices(forms.Form):
    """Of something that stands in a book beside its prices: read as an import reads it, saved as the whole book."""

    seen = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, team: Team, user: User, book: Book, texts: dict[str, str], data: Any = None) -> None:
        super().__init__(data, initial={"seen": book.version, **texts})
        self.label_suffix = ""
        self.team, self.user, self.book = team, user, book
        self.today = timezone.now().date().isoformat()
        self.fields["date"].initial = self.fields["date"].initial or self.today

    def read(self, texts: dict[str, str]) -> Any:
        """SpecError names the field."""
        raise NotImplementedError

    def changed(self, book: PriceBook) -> PriceBook:
        """The book with what was read."""
        raise NotImplementedError

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or self.cleaned_data
        if self.errors:
            return data
        try:
            self.found = self.read({name: str(value or "") for name, value in data.items()})
            self.changed(self.book.book)
        except SpecError as error:
            name, _, words = str(error).partition(": ")
            self.add_error(name if name in self.fields else None, sentence(words or name))
        return data

    def save(self) -> str:
        """The book's id. StaleError where somebody else changed it in between."""
        book_id = self.book.book.id
        with one_at_a_time(self.team):
            now = book_or_none(self.user, book_id)
            if now is None or now.version != self.cleaned_data["seen"]:
                raise StaleError
            write_book(self.team, self.user, self.changed(now.book))
        return book_id


class QuoteForm(_BesidePrices):
    """``offer`` is changed; without it a new one is made."""

    machine = forms.ChoiceField()
    term = forms.ChoiceField(choices=list(TERM_WORDS.items()), label="How it is bought")
    vendor = forms.CharField(required=False)
    quote = forms.CharField(required=False, label="Number of the quote")
    valid_from = forms.CharField(required=False, label="Valid from")
    valid_to = forms.CharField(required=False, label="Valid to")
    currency = forms.ChoiceField()
    price = forms.CharField(required=False, label="Price before discount")
    breaks = forms.CharField(required=False, label="Instead from so many machines on")
    discount_percent = forms.CharField(required=False, label="Discount, %")
    support_per_year = forms.CharField(required=False, label="Support a year, of a bought machine")
    source = forms.CharField(required=False)
    date = forms.CharField(required=False, label="Date of the source")

    def __init__(self, team: Team, user: User, book: Book, data: Any = None, offer: Offer | None = None) -> None:
        super().__init__(team, user, book, quote_texts(offer) if offer else {}, data)
        self.offer = offer
        machines = dict(names_of(user, "machines"))
        if offer:
            machines.setdefault(offer.machine, offer.machine)
        self.fields["machine"].choices = [(key, f"{name} ({key})") for key, name in machines.items()]  # type: ignore[attr-defined]
        currencies = ["USD", *(rate.currency for rate in book.book.rates)]
        self.fields["currency"].choices = [(one, one) for one in currencies]  # type: ignore[attr-defined]
        self.machines = machines

    def read(self, texts: dict[str, str]) -> Offer:
        return quote_of(texts, self.book.book, self.machines, self.today)

    def changed(self, book: PriceBook) -> PriceBook:
        found: Offer = self.found
        was = self.offer.key if self.offer else ""
        if found.key != was and any(one.key == found.key for one in book.offers):
            raise SpecError(f"quote: found {found.name} for {found.machine} in the book already, expected another")
        return with_offer(without_offer(book, was), found)


class RateForm(_BesidePrices):
    """``rate`` is changed; without it a new one is made."""

    currency = forms.CharField(required=False)
    usd = forms.CharField(required=False, label="One of it is, in USD")
    source = forms.CharField(required=False)
    date = forms.CharField(required=False, label="Date of the rate")

    def __init__(self, team: Team, user: User, book: Book, data: Any = None, rate: Exchange | None = None) -> None:
        super().__init__(team, user, book, rate_texts(rate) if rate else {}, data)
        self.rate = rate
        if rate:
            self.fields["currency"].disabled = True

    def read(self, texts: dict[str, str]) -> Exchange:
        return rate_from(texts, self.today)

    def changed(self, book: PriceBook) -> PriceBook:
        if self.rate is None and any(one.currency == self.found.currency for one in book.rates):
            raise SpecError(f"currency: found {self.found.currency} in the book already, expected another")
        return with_rates(book, [self.found])
