"""A price book as REST v1 tells and takes it. What GET tells may be sent back: what follows from the rest is told,
and not taken."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from django.utils import timezone
from rest_framework.exceptions import ValidationError

from planner.accounts.owned import Visitor
from planner.api.shapes import Shape, asked, flag, many, one_of, text, told, with_more
from planner.api.shapes_of import asked_of, told_of
from planner.catalogue.book_form import book_id_problem, price_of
from planner.catalogue.books import Book, book_or_none, converted
from planner.catalogue.columns import date_problem
from planner.catalogue.plans import provenance_problem
from planner.catalogue.quote_fields import QUOTE_COLUMNS, breaks_text, quote_of, rate_from
from planner.catalogue.row_form import sentence
from planner.catalogue.services import names_of
from simcore.spec import USD, Break, Exchange, Offer, Price, PriceBook, SpecError, decode, encode, nearest

Json = dict[str, Any]
Given = Mapping[str, Any]
PRICE = with_more(told_of(Price), own=flag())
QUOTE = with_more(told_of(Offer), key=text(), standing=one_of("valid", "not_yet", "expired"))
RATE = told_of(Exchange)
ORIGIN = one_of("shipped", "overridden", "own")
BOOK = told(
    "",
    id=text(),
    name=text(),
    date=text(),
    origin=ORIGIN,
    prices=many(PRICE),
    quotes=many(QUOTE),
    rates=many(RATE),
)
MOST_PRICES = 1000
PRICE_WORDS = "dollars an hour above 0, at most 1,000,000, with at most 4 decimals, such as 36.50"
AS_TOLD = "Told, not taken."


def _beside(shape: Shape, **told_too: Shape) -> Shape:
    """What may be sent, and what GET tells beside it."""
    return {**shape, "properties": {**shape["properties"], **told_too}}


GIVEN_PRICE = _beside(
    asked_of(Price, "`usd_per_hour`, or `local_per_hour` in a currency of `rates`."), own=flag(AS_TOLD)
)
GIVEN_PRICE["required"] = ["machine", "source"]
GIVEN: Json = {
    "name": text(maxLength=100, minLength=1),
    "date": text("As 2027-01-31.", minLength=1),
    "prices": many(GIVEN_PRICE, maxItems=MOST_PRICES),
}
BESIDE: Json = {
    "quotes": many(
        _beside(asked_of(Offer, "A vendor's."), key=text(AS_TOLD), standing=text(AS_TOLD)),
        "Left out: they stay.",
        maxItems=MOST_PRICES,
    ),
    "rates": many(asked_of(Exchange), "Of currencies; left out: they stay.", maxItems=200),
}
GIVEN_BOOK = asked("", required=GIVEN, **GIVEN, **BESIDE, id=text(AS_TOLD), origin=text(AS_TOLD))
NEW_BOOK = asked("", required=("id", *GIVEN), id=text(maxLength=50), **GIVEN, **BESIDE)


def said_of_book(book: Book) -> Json:
    """Money as text, so that no reader rounds it."""
    said, today = book.book, timezone.now().date()
    prices = [
        {**encode(price), "usd_per_hour": str(price.usd_per_hour), "own": book.is_own(price.machine)}
        for price in said.prices
    ]
    quotes = [{"key": one.key, **encode(one), "standing": one.standing(today)} for one in said.offers]
    of = {"id": said.id, "name": said.name, "date": said.date, "origin": book.origin}
    return {**of, "prices": prices, "quotes": quotes, "rates": encode(said.rates)}


def book_of(user: Visitor, book_id: str, said: Given, *, is_new: bool) -> PriceBook:
    """The book that a body says; 400 names what is wrong with which field, of every row."""
    known = book_or_none(user, book_id)
    wrong = _of_itself(book_id, said, known, is_new=is_new)
    today = timezone.now().date().isoformat()
    machines = [key for key, _ in names_of(user, "machines")]
    before = known.book if known else PriceBook(book_id, "", "", ())
    machines += [*(one.machine for one in before.prices), *(one.machine for one in before.offers)]
    rates = before.rates
    if "rates" in said:
        rates = _each("rates", said["rates"], wrong, lambda one: rate_from(_texts(one), today))
    bare = PriceBook(book_id, said["name"].strip(), said["date"], (), rates=rates)
    prices = _each("prices", said["prices"], wrong, lambda one: _price({"date": today, **one}, machines, rates))
    quotes = before.offers
    if "quotes" in said:
        quotes = _each("quotes", said["quotes"], wrong, lambda one: quote_of(_quote_texts(one), bare, machines, today))
    _once("prices", [one.machine for one in prices], wrong)
    _once("quotes", [one.key for one in quotes], wrong)
    _once("rates", [one.currency for one in rates], wrong)
    lacking = {one.currency for one in (*prices, *quotes)} - {USD, *(one.currency for one in rates)}
    if lacking and not wrong:
        wrong["rates"] = [f"Found none of {', '.join(sorted(lacking))}, which prices or quotes are in."]
    if wrong:
        raise ValidationError(wrong)
    return PriceBook(book_id, bare.name, bare.date, prices, offers=quotes, rates=rates)


def _of_itself(book_id: str, said: Given, known: Book | None, *, is_new: bool) -> dict[str, list[str]]:
    wrong: dict[str, list[str]] = {}
    if is_new and (problem := book_id_problem(book_id)):
        wrong["id"] = [sentence(problem)]
    elif is_new and known:
        wrong["id"] = [f"Found ‘{book_id}’ in the catalogue already; expected another id."]
    elif said.get("id", book_id) != book_id:
        wrong["id"] = [f"Found ‘{said['id']}’, expected ‘{book_id}’, whose address this is."]
    if not said["name"].isprintable():
        wrong["name"] = ["Found a character that cannot be seen, expected text that reads as it is stored."]
    if problem := date_problem(said["date"]):
        wrong["date"] = [sentence(problem)]
    if not said["prices"]:
        wrong["prices"] = ["Found no price; expected one at least."]
    return wrong


def _each(name: str, rows: list[Given], wrong: dict[str, list[str]], made: Callable[[Given], Any]) -> tuple[Any, ...]:
    """What is made of each row; what cannot be is named by its place and field."""
    found = []
    for place, row in enumerate(rows):
        try:
            found.append(made(row))
        except SpecError as error:
            field, colon, words = str(error).partition(": ")
            plain = colon and field.isidentifier()
            at = f"{name}[{place}].{field}" if plain else f"{name}[{place}]"
            wrong.setdefault(at, []).append(sentence(words if plain else str(error)))
    return tuple(found)


def _once(name: str, keys: list[str], wrong: dict[str, list[str]]) -> None:
    twice = [key for key in dict.fromkeys(keys) if keys.count(key) > 1]
    if twice:
        wrong.setdefault(name, []).append(f"Found {twice[0]} more than once, expected each once.")


def _price(row: Given, machines: Collection[str], rates: tuple[Exchange, ...]) -> Price:
    machine, usd = row["machine"], row.get("usd_per_hour")
    if machine not in machines:
        words = f"expected one of the catalogue's machines{nearest(machine, machines)}"
        raise SpecError(f"machine: found ‘{machine[:60]}’, {words}")
    if problem := provenance_problem(row["source"], row["date"], row.get("status", "user")):
        raise SpecError(problem)
    if row.get("local_per_hour") is None and row.get("currency", USD) != USD:
        raise SpecError(f"local_per_hour: found nothing, expected what it costs in {row['currency'][:20]}")
    if row.get("local_per_hour") is not None:
        usd = "1"  # as its rate says, below
        if row.get("currency", USD) == USD:
            raise SpecError("currency: found USD with local_per_hour, expected the currency that it is in")
    elif usd is None or price_of(str(usd)) is None:
        raise SpecError(f"usd_per_hour: found ‘{str(usd)[:60]}’, expected {PRICE_WORDS}")
    taken = {name: value for name, value in row.items() if name != "own"}
    return converted(decode(Price, {**taken, "usd_per_hour": usd}), rates)


def _texts(row: Given) -> dict[str, str]:
    return {name: "" if value is None else str(value) for name, value in row.items()}


def _quote_texts(row: Given) -> dict[str, str]:
    """As an import's columns have them."""
    taken = {name: value for name, value in row.items() if name not in ("key", "standing")}
    found = decode(Offer, {"price": "1", **taken})  # the forms of its fields
    texts = {name: text for name, text in _texts(taken).items() if name in QUOTE_COLUMNS}
    breaks: tuple[Break, ...] = found.breaks
    return texts | {"breaks": breaks_text(breaks), "discount_percent": f"{found.discount * 100:f}"}
