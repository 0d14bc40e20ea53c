"""Quotes and exchange rates of a price book: add, change, delete. A shipped book becomes the team's own by it."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from planner.accounts.teams import writing_team
from planner.catalogue.books import Book, uses_of, without_offer, without_rate, write_book
from planner.catalogue.edit_views import STALE, book_for
from planner.catalogue.editing import StaleError, one_at_a_time
from planner.catalogue.quote_form import QuoteForm, RateForm
from simcore.spec import Exchange, Offer


@require_http_methods(["GET", "HEAD", "POST"])
def add_quote(request: HttpRequest, book_id: str) -> HttpResponse:
    book = book_for(request, book_id)
    form = QuoteForm(writing_team(request.user), request.user, book, request.POST or None)  # type: ignore[arg-type]
    return _answer(request, form, book, "catalogue/quote_form.html", {})


@require_http_methods(["GET", "HEAD", "POST"])
def edit_quote(request: HttpRequest, book_id: str, key: str) -> HttpResponse:
    book = book_for(request, book_id)
    offer = _offer(book, key)
    form = QuoteForm(writing_team(request.user), request.user, book, request.POST or None, offer)  # type: ignore[arg-type]
    return _answer(request, form, book, "catalogue/quote_form.html", {"offer": offer})


@require_POST
def delete_quote(request: HttpRequest, book_id: str, key: str) -> HttpResponse:
    """Questions and costs that chose it keep it as it was."""
    team = writing_team(request.user)
    with one_at_a_time(team):
        book = book_for(request, book_id)
        offer = _offer(book, key)
        write_book(team, request.user, without_offer(book.book, key))  # type: ignore[arg-type]
    messages.success(request, f"{offer.name} is deleted.")
    return redirect("catalogue:price_book", book_id)


@require_http_methods(["GET", "HEAD", "POST"])
def add_rate(request: HttpRequest, book_id: str) -> HttpResponse:
    book = book_for(request, book_id)
    form = RateForm(writing_team(request.user), request.user, book, request.POST or None)  # type: ignore[arg-type]
    return _answer(request, form, book, "catalogue/rate_form.html", {})


@require_http_methods(["GET", "HEAD", "POST"])
def edit_rate(request: HttpRequest, book_id: str, currency: str) -> HttpResponse:
    book = book_for(request, book_id)
    rate = _rate(book, currency)
    form = RateForm(writing_team(request.user), request.user, book, request.POST or None, rate)  # type: ignore[arg-type]
    return _answer(request, form, book, "catalogue/rate_form.html", {"rate": rate})


@require_POST
def delete_rate(request: HttpRequest, book_id: str, currency: str) -> HttpResponse:
    """Not while a price or a quote is in it."""
    team = writing_team(request.user)
    with one_at_a_time(team):
        book = book_for(request, book_id)
        _rate(book, currency)
        if used := uses_of(book.book, currency):
            words = (
                f"{used} price{'s' if used > 1 else ''} and quotes of the book are in {currency}: change them first."
            )
            messages.error(request, words)
        else:
            write_book(team, request.user, without_rate(book.book, currency))  # type: ignore[arg-type]
            messages.success(request, f"The rate of {currency} is deleted.")
    return redirect("catalogue:price_book", book_id)


def _answer(
    request: HttpRequest, form: QuoteForm | RateForm, book: Book, template: str, context: dict[str, Any]
) -> HttpResponse:
    if form.is_bound and form.is_valid():
        try:
            form.save()
        except StaleError:
            messages.error(request, STALE)
            return redirect(request.get_full_path())
        messages.success(request, "Saved.")
        return redirect("catalogue:price_book", book.book.id)
    return render(request, template, {"form": form, "book": book, **context}, status=422 if form.is_bound else 200)


def _offer(book: Book, key: str) -> Offer:
    found = next((one for one in book.book.offers if one.key == key), None)
    if found is None:
        raise Http404("No such quote.")
    return found


def _rate(book: Book, currency: str) -> Exchange:
    found = next((one for one in book.book.rates if one.currency == currency), None)
    if found is None:
        raise Http404("No such rate.")
    return found
