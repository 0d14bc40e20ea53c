"""Pages of the catalogue: read only."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from planner.catalogue.page import TITLES, overview, row_page
from planner.catalogue.services import price_book_for
from simcore.spec import SpecError


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    return render(request, "catalogue/index.html", {"page": overview(request.user)})


@require_safe
def row(request: HttpRequest, table: str, row_id: str) -> HttpResponse:
    if table not in TITLES:
        raise Http404(f"table: found '{table}', expected one of {', '.join(TITLES)}")
    try:
        page = row_page(request.user, table, row_id)
    except SpecError as error:
        raise Http404(str(error)) from error
    return render(request, "catalogue/row.html", {"page": page})


@require_safe
def price_book(request: HttpRequest, book_id: str) -> HttpResponse:
    try:
        book = price_book_for(request.user, book_id)
    except SpecError as error:
        raise Http404(str(error)) from error
    return render(request, "catalogue/price_book.html", {"book": book})
