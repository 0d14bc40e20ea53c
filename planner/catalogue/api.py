"""REST v1 of the catalogue: rows with the provenance of each figure, and price books. Read only."""

from typing import Any

from django.http import Http404
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from planner.catalogue.models import Figure, FigureOverride
from planner.catalogue.page import TITLES
from planner.catalogue.services import figures_of, price_book_for, price_books_for, rows_of
from simcore.spec import PriceBook, SpecError, encode

PROVENANCE = ("value", "unit", "source", "date", "status")


class Rows(APIView):
    """All rows of a table: accelerators, machines or models."""

    def get(self, request: Request, table: str) -> Response:
        _known(table)
        rows = [_row(row_id, figures) for row_id, figures in rows_of(request.user, table).items()]
        return Response({"count": len(rows), "results": rows})


class Row(APIView):
    """One row with the provenance of each figure."""

    def get(self, request: Request, table: str, row_id: str) -> Response:
        _known(table)
        try:
            return Response(_row(row_id, figures_of(request.user, table, row_id)))
        except SpecError as error:
            raise Http404(str(error)) from error


class PriceBooks(APIView):
    """All price books."""

    def get(self, request: Request) -> Response:
        books = [_book(book) for book in price_books_for(request.user).values()]
        return Response({"count": len(books), "results": books})


class OnePriceBook(APIView):
    """One price book."""

    def get(self, request: Request, book_id: str) -> Response:
        try:
            return Response(_book(price_book_for(request.user, book_id)))
        except SpecError as error:
            raise Http404(str(error)) from error


def _known(table: str) -> None:
    if table not in TITLES:
        raise Http404(f"table: found '{table}', expected one of {', '.join(TITLES)}")


def _row(row_id: str, figures: list[Figure]) -> dict[str, Any]:
    return {"id": row_id, "figures": {figure.field: _figure(figure) for figure in figures}}


def _figure(figure: Figure) -> dict[str, Any]:
    own = isinstance(figure, FigureOverride)
    return {**{name: getattr(figure, name) for name in PROVENANCE}, "own": own}


def _book(book: PriceBook) -> dict[str, Any]:
    """Money as text, so that no reader rounds it."""
    prices = [{**encode(price), "usd_per_hour": str(price.usd_per_hour)} for price in book.prices]
    return {"id": book.id, "name": book.name, "date": book.date, "prices": prices}
