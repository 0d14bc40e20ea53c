"""Pages of the catalogue that show: the lists, a row, a price book; and a new model out of its config.json."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from planner.accounts.teams import working_team, writing_team
from planner.catalogue.books import books
from planner.catalogue.display import age
from planner.catalogue.edit_views import book_for, known_table, row_for
from planner.catalogue.forms import ModelForm
from planner.catalogue.listing import SHOW, TITLES, Asked, book_lines, overview, table_of
from planner.catalogue.quote_lines import QuoteLine
from planner.catalogue.row_page import DEGREES, row_page
from planner.catalogue.services import names_of


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    page = overview(request.user, Asked.of(request.GET))
    return _list(request, {"tables": page.tables, "books": page.books, "books_total": page.books_total}, page.asked)


@require_safe
def table(request: HttpRequest, table: str) -> HttpResponse:
    asked = Asked.of(request.GET)
    return _list(request, {"tables": [table_of(request.user, known_table(table), asked)], "only": table}, asked)


@require_safe
def prices(request: HttpRequest) -> HttpResponse:
    asked, every = Asked.of(request.GET), books(request.user)
    page = {"books": book_lines(every, asked), "books_total": len(every), "only": "prices"}
    return _list(request, page, asked)


@require_safe
def row(request: HttpRequest, table: str, row_id: str) -> HttpResponse:
    found = row_for(request, table, row_id)
    context = {"page": row_page(request.user, found), "may_add": _may_add(request), "degrees": DEGREES}
    return render(request, "catalogue/row.html", context)


@require_safe
def price_book(request: HttpRequest, book_id: str) -> HttpResponse:
    book = book_for(request, book_id)
    names = dict(names_of(request.user, "machines"))
    lines = [
        (price, names.get(price.machine, ""), book.was(price.machine), book.is_own(price.machine))
        for price in book.book.prices
    ]
    today = timezone.now().date()
    quotes = [QuoteLine(offer, names.get(offer.machine, ""), today) for offer in book.book.offers]
    context = {"book": book, "age": age(book.book.date, today), "lines": lines, "quotes": quotes}
    context |= {"may_add": _may_add(request), "expired": [line for line in quotes if line.problem]}
    return render(request, "catalogue/price_book.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def new_model(request: HttpRequest) -> HttpResponse:
    """A model out of a Hugging Face config.json: first shown with its checks, then saved."""
    team = writing_team(request.user)
    form = ModelForm(team, request.user, request.POST or None, request.FILES or None)  # type: ignore[arg-type]
    if form.is_bound and form.is_valid() and "save" in request.POST and (row_id := form.save()):
        messages.success(request, f"{form.imported.model.name} is saved: questions can choose it.")
        return redirect("catalogue:row", "models", row_id)
    status = 422 if form.is_bound and form.errors else 200
    return render(request, "catalogue/new_model.html", {"form": form, "report": form.report()}, status=status)


def _list(request: HttpRequest, page: dict[str, object], asked: Asked) -> HttpResponse:
    context = page | {"asked": asked, "show": SHOW, "titles": TITLES, "may_add": _may_add(request)}
    return render(request, "catalogue/index.html", context)


def _may_add(request: HttpRequest) -> bool:
    return working_team(request.user) is not None
