"""REST v1 of the catalogue: rows with the provenance of each figure, and price books, as the pages show them. Read
only: rows are changed on the pages and by CSV."""

from typing import Any

from django.http import Http404
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from planner.catalogue.books import Book, books
from planner.catalogue.listing import TITLES, Asked, book_lines, wanted
from planner.catalogue.models import Figure
from planner.catalogue.rows import PROVENANCE, Row, row_or_none
from planner.catalogue.services import price_book_for, unknown
from simcore.spec import SpecError, encode


class Rows(APIView):
    """Rows of a table: accelerators, machines, fabrics or models; ``q``, ``show`` and ``sort`` as the page has them."""

    def get(self, request: Request, table: str) -> Response:
        _known(table)
        found = [_row(row) for row in wanted(request.user, table, Asked.of(request.query_params))]
        return Response({"count": len(found), "results": found})


class OneRow(APIView):
    """One row with the provenance of each figure."""

    def get(self, request: Request, table: str, row_id: str) -> Response:
        _known(table)
        row = row_or_none(request.user, table, row_id)
        if row is None:
            raise Http404(str(unknown(request.user, table, row_id)))
        return Response(_row(row))


class PriceBooks(APIView):
    """Price books."""

    def get(self, request: Request) -> Response:
        asked = Asked.of(request.query_params)
        found = [_book(line.book) for line in book_lines(books(request.user), asked)]
        return Response({"count": len(found), "results": found})


class OnePriceBook(APIView):
    """One price book."""

    def get(self, request: Request, book_id: str) -> Response:
        try:
            price_book_for(request.user, book_id)  # whose error names the nearest
        except SpecError as error:
            raise Http404(str(error)) from error
        return Response(_book(books(request.user)[book_id]))


def _known(table: str) -> None:
    if table not in TITLES:
        raise Http404(f"table: found '{table}', expected one of {', '.join(TITLES)}")


def _row(row: Row) -> dict[str, Any]:
    figures = {name: _figure(row, name, figure) for name, figure in row.figures.items()}
    return {"id": row.row_id, "origin": row.origin, "figures": figures}


def _figure(row: Row, name: str, figure: Figure) -> dict[str, Any]:
    """With the shipped figure that a team's own stands in for."""
    shipped = row.shipped.get(name) if name in row.own else None
    return {**_said(figure), "own": name in row.own, "shipped": _said(shipped) if shipped else None}


def _said(figure: Figure) -> dict[str, str]:
    return {name: getattr(figure, name) for name in PROVENANCE}


def _book(book: Book) -> dict[str, Any]:
    """Money as text, so that no reader rounds it."""
    prices = [
        {**encode(price), "usd_per_hour": str(price.usd_per_hour), "own": book.is_own(price.machine)}
        for price in book.book.prices
    ]
    said, today = book.book, timezone.now().date()
    quotes = [{"key": one.key, **encode(one), "standing": one.standing(today)} for one in said.offers]
    of = {"id": said.id, "name": said.name, "date": said.date, "origin": book.origin}
    return {**of, "prices": prices, "quotes": quotes, "rates": encode(said.rates)}
