"""REST v1 of the catalogue: rows with the provenance of each figure, and price books, as the pages show them; a team's
own are made, changed and deleted."""

from collections.abc import Mapping
from typing import Any

from django.http import Http404
from django.utils import timezone
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from planner.accounts.teams import writing_team
from planner.api.errors import Conflict
from planner.api.listing import Table
from planner.api.operation import RestView, body, given, operation
from planner.api.preconditions import PreconditionFailed, still, tagged
from planner.api.queries import choice_of, words_of
from planner.api.shapes import Shape, asked, keyed, maybe, one_of, page, text, told
from planner.api.shapes import unknown as no_such
from planner.catalogue import books as team_books
from planner.catalogue import editing
from planner.catalogue.api_books import BOOK, GIVEN_BOOK, NEW_BOOK, book_of, said_of_book
from planner.catalogue.books import Book, books
from planner.catalogue.columns import columns
from planner.catalogue.dependents import Dependent, dependents
from planner.catalogue.editing import StaleError, one_at_a_time
from planner.catalogue.listing import COLUMNS, SHOW, TITLES, Asked, book_lines, wanted
from planner.catalogue.models import USER, Figure
from planner.catalogue.row_form import STATUS_CHOICES, RowForm
from planner.catalogue.rows import OWN, PROVENANCE, Row, row_or_none
from planner.catalogue.services import price_book_for, unknown
from simcore.spec import SpecError

Json = dict[str, Any]
SAID = told("", **{name: text() for name in PROVENANCE})
FIGURE = told("", **SAID["properties"], own={"type": "boolean"}, shipped=maybe(SAID))
ORIGIN = one_of("shipped", "overridden", "own")
ROW = told("", id=text(), origin=ORIGIN, figures=keyed(FIGURE))
SORTS = sorted({"id", "name", *(column for table in COLUMNS.values() for column in table)})
ROWS = Table(
    filters=(
        words_of("q", "Words in the id or any figure."),
        choice_of("show", [name for name in SHOW if name], "Of what origin."),
        choice_of("sort", [f"{sign}{name}" for name in SORTS for sign in ("", "-")], "A column; `-`: the most first."),
    )
)
BOOKS = Table(filters=ROWS.filters[:2])
VALUE: Shape = {"type": ["string", "number", "boolean", "null"]}
PROVENANCE_GIVEN: dict[str, Shape] = {
    "source": text("Where the figures are from.", maxLength=500),
    "date": text("Of the source, as 2027-01-31; left out: today."),
    "status": one_of(*(name for name, _ in STATUS_CHOICES)),
}
FIGURES = keyed(VALUE, "Field → value in the field's unit.")
NEW_ROW = asked("", required=("id", "source", "figures"), id=text(), figures=FIGURES, **PROVENANCE_GIVEN)
GIVEN_ROW = asked("", required=("source", "figures"), figures=FIGURES, **PROVENANCE_GIVEN)


class Rows(RestView):
    """Rows of a table: accelerators, machines, fabrics or models; all at once unless `limit` asks for pages."""

    @operation("Rows of the catalogue", query=ROWS.query, answers={200: page(ROW)})
    def get(self, request: Request, table: str) -> Response:
        _known(table)
        column = given(request).get("sort", "").removeprefix("-")
        if column and column not in (*COLUMNS[table], "id", "name"):
            known = ", ".join(("id", "name", *COLUMNS[table]))
            raise ValidationError({"sort": [f"Found '{column}', expected one of {known} of {table}."]})
        found = ROWS.page(request, wanted(request.user, table, Asked.of(request.query_params)), lambda row: row.row_id)
        return found.answer(map(_row, found))

    @operation("A new row of the catalogue", body=NEW_ROW, answers={201: ROW}, headers={201: ("Location", "ETag")})
    def post(self, request: Request, table: str) -> Response:
        """A row of the team's own; all its figures have the source, date and status given."""
        _known(table)
        key = _saved(request, table, body(request))
        where = request.build_absolute_uri(f"{key}/")
        made = row_or_none(request.user, table, key)
        assert made is not None  # noqa: S101 - it was just saved
        return tagged(Response(_row(made), status=201, headers={"Location": where}))


class OneRow(RestView):
    """One row with the provenance of each figure."""

    def told(self, request: Request, table: str, row_id: str) -> Json:
        return _row(_found(request, table, row_id))

    @operation("One row of the catalogue", answers={200: ROW})
    def get(self, request: Request, table: str, row_id: str) -> Response:
        return Response(self.told(request, table, row_id))

    @operation(
        "Change a row of the catalogue", body=GIVEN_ROW, match="required", answers={200: ROW}, headers={200: ("ETag",)}
    )
    def put(self, request: Request, table: str, row_id: str) -> Response:
        """All its figures. Those that are another have the source, date and status given; of a shipped row they are the
        team's own, in place of what is shipped."""
        return self._changed(request, table, row_id, body(request))

    @operation("Change some figures", body=GIVEN_ROW, match="required", answers={200: ROW}, headers={200: ("ETag",)})
    def patch(self, request: Request, table: str, row_id: str) -> Response:
        """Figures that are left out stay; null takes one away."""
        said = body(request)
        texts = _found(request, table, row_id).texts
        return self._changed(request, table, row_id, {**said, "figures": {**texts, **said["figures"]}})

    @operation("Delete a row of the catalogue", match="taken", errors=(409,), answers={204: None})
    def delete(self, request: Request, table: str, row_id: str) -> Response:
        """A row of the team's own, unless something depends on it (409); of a shipped one, what the team says of it."""
        team, row = writing_team(request.user), _found(request, table, row_id)
        _refuse_used(row.name, dependents(request.user, table, row_id) if row.origin == OWN else [])
        with one_at_a_time(team):
            still(self, request, {"table": table, "row_id": row_id})
            if not editing.delete(team, request.user, row):
                raise Conflict(f"{row.name} is as it is shipped: there is nothing of your team's to delete.")
        return Response(status=204)

    def _changed(self, request: Request, table: str, row_id: str, said: Json) -> Response:
        _saved(request, table, said, _found(request, table, row_id))
        return tagged(Response(self.told(request, table, row_id)))


class PriceBooks(RestView):
    """Price books, all at once unless `limit` asks for pages."""

    @operation("Price books", query=BOOKS.query, answers={200: page(BOOK)})
    def get(self, request: Request) -> Response:
        lines = book_lines(books(request.user), Asked.of(request.query_params))
        found = BOOKS.page(request, [line.book for line in lines], lambda book: book.book.id)
        return found.answer(map(said_of_book, found))

    @operation("A new price book", body=NEW_BOOK, answers={201: BOOK}, headers={201: ("Location", "ETag")})
    def post(self, request: Request) -> Response:
        team, said = writing_team(request.user), body(request)
        with one_at_a_time(team):
            made = book_of(request.user, said["id"], said, is_new=True)
            team_books.write_book(team, request.user, made)
        where = request.build_absolute_uri(f"{made.id}/")
        return tagged(Response(said_of_book(books(request.user)[made.id]), status=201, headers={"Location": where}))


class OnePriceBook(RestView):
    """One price book."""

    def told(self, request: Request, book_id: str) -> Json:
        return said_of_book(_book(request, book_id))

    @operation("One price book", answers={200: BOOK})
    def get(self, request: Request, book_id: str) -> Response:
        return Response(self.told(request, book_id))

    @operation("Change a price book", body=GIVEN_BOOK, match="required", answers={200: BOOK}, headers={200: ("ETag",)})
    def put(self, request: Request, book_id: str) -> Response:
        """All of it; in place of a shipped book of that id it is the team's own."""
        team = writing_team(request.user)
        _book(request, book_id)
        with one_at_a_time(team):
            still(self, request, {"book_id": book_id})
            changed = book_of(request.user, book_id, body(request), is_new=False)
            team_books.write_book(team, request.user, changed)
        return tagged(Response(self.told(request, book_id)))

    @operation("Delete a price book", match="taken", errors=(409,), answers={204: None})
    def delete(self, request: Request, book_id: str) -> Response:
        """The team's own, unless a question names it (409); a shipped one of that id is as it is shipped again."""
        team, book = writing_team(request.user), _book(request, book_id)
        _refuse_used(book.book.name, dependents(request.user, "prices", book_id) if book.origin == OWN else [])
        with one_at_a_time(team):
            still(self, request, {"book_id": book_id})
            if not team_books.delete_book(team, request.user, book_id):
                raise Conflict(f"{book.book.name} is as it is shipped: there is nothing of your team's to delete.")
        return Response(status=204)


def _found(request: Request, table: str, row_id: str) -> Row:
    _known(table)
    row = row_or_none(request.user, table, row_id)
    if row is None:
        raise Http404(str(unknown(request.user, table, row_id)))
    return row


def _book(request: Request, book_id: str) -> Book:
    try:
        price_book_for(request.user, book_id)  # whose error names the nearest
    except SpecError as error:
        raise Http404(str(error)) from error
    return books(request.user)[book_id]


def _refuse_used(name: str, found: list[Dependent]) -> None:
    if found:
        named = "; ".join(f"{one.kind} {one.name}" for one in found)
        raise Conflict(f"{name} is kept, for it is used: {named}.")


def _saved(request: Request, table: str, said: Mapping[str, Any], row: Row | None = None) -> str:
    """By the page's own form, whose errors are those of ``figures``."""
    team, known = writing_team(request.user), columns(table)
    figures = {name: _text(value) for name, value in said["figures"].items()}
    if wrong := [name for name in figures if name not in known]:
        raise ValidationError({f"figures.{name}": [no_such(name, known)] for name in wrong})
    data = {
        **figures,
        "id": said.get("id", ""),
        "source": said["source"],
        "date": said.get("date") or timezone.now().date().isoformat(),
        "status": said.get("status") or USER,
        "seen": row.version if row else "",
    }
    form = RowForm(team, request.user, table, data, row=row)
    if not form.is_valid():
        raise ValidationError({_at(name, known): [str(one) for one in found] for name, found in form.errors.items()})
    try:
        return form.save()
    except StaleError:
        raise PreconditionFailed from None


def _at(name: str, known: Mapping[str, Any]) -> str:
    return f"figures.{name}" if name in known else "figures" if name == "__all__" else name


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else str(value)


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
