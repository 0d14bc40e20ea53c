"""A team's own rows and price books: add, change, clone, take back, delete."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from planner.accounts.teams import writing_team
from planner.catalogue import books, editing
from planner.catalogue.book_form import BookForm
from planner.catalogue.books import Book, book_or_none
from planner.catalogue.dependents import Dependent, dependents
from planner.catalogue.editing import StaleError, one_at_a_time
from planner.catalogue.listing import TITLES
from planner.catalogue.row_form import RowForm
from planner.catalogue.rows import OWN, Row, row_or_none

STALE = (
    "Somebody changed it since you opened this page: nothing of yours was saved."
    " What it says now is shown; change it again if you still want to."
)
Form = RowForm | BookForm


def known_table(table: str) -> str:
    """The table's name; 404 where there is none."""
    if table not in TITLES:
        raise Http404(f"table: found '{table}', expected one of {', '.join(TITLES)}")
    return table


def row_for(request: HttpRequest, table: str, row_id: str) -> Row:
    """The row as the visitor sees it; 404 where there is none."""
    row = row_or_none(request.user, known_table(table), row_id)
    if row is None:
        raise Http404("No such row.")
    return row


def book_for(request: HttpRequest, book_id: str) -> Book:
    """The book as the visitor sees it; 404 where there is none."""
    book = book_or_none(request.user, book_id)
    if book is None:
        raise Http404("No such price book.")
    return book


@require_http_methods(["GET", "HEAD", "POST"])
def add(request: HttpRequest, table: str) -> HttpResponse:
    """A new row, from nothing or like another."""
    team, name = writing_team(request.user), request.GET.get("like")
    like = row_for(request, table, name) if name else None
    form = RowForm(team, request.user, known_table(table), request.POST or None, like=like)  # type: ignore[arg-type]
    return _row_answer(request, form, table, {"like": like})


@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, table: str, row_id: str) -> HttpResponse:
    team, row = writing_team(request.user), row_for(request, table, row_id)
    form = RowForm(team, request.user, table, request.POST or None, row=row)  # type: ignore[arg-type]
    return _row_answer(request, form, table, {"row": row})


@require_POST
def restore(request: HttpRequest, table: str, row_id: str) -> HttpResponse:
    """Back to the shipped figure, or to all shipped figures of the row."""
    team, row = writing_team(request.user), row_for(request, table, row_id)
    with one_at_a_time(team):
        done = editing.restore(team, request.user, row, request.POST.get("field", ""))  # type: ignore[arg-type]
    _say(request, bool(done), "Back to what is shipped.", "Found nothing of your team's to take back.")
    return redirect("catalogue:row", table, row_id)


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, table: str, row_id: str) -> HttpResponse:
    """What depends on the row, and then its deletion; a shipped row only loses what the team says of it."""
    team, row = writing_team(request.user), row_for(request, table, row_id)
    found = dependents(request.user, table, row_id) if row.origin == OWN else []
    blocked = any(one.blocks for one in found)
    if request.method == "POST" and not blocked:
        with one_at_a_time(team):
            done = editing.delete(team, request.user, row)  # type: ignore[arg-type]
        _say(request, bool(done), f"{row.name} is {_gone(row.origin)}.", "Found nothing of your team's to delete.")
        return redirect("catalogue:table", table) if row.origin == OWN else redirect("catalogue:row", table, row_id)
    context = {"name": row.name, "back": ("catalogue:row", table, row_id), "kept": row.origin != OWN}
    return _ask_delete(request, context | {"table": table, "row_id": row_id}, found)


@require_http_methods(["GET", "HEAD", "POST"])
def add_book(request: HttpRequest) -> HttpResponse:
    team, name = writing_team(request.user), request.GET.get("like")
    like = book_for(request, name) if name else None
    return _book_answer(request, BookForm(team, request.user, request.POST or None, like=like), {"like": like})  # type: ignore[arg-type]


@require_http_methods(["GET", "HEAD", "POST"])
def edit_book(request: HttpRequest, book_id: str) -> HttpResponse:
    team, book = writing_team(request.user), book_for(request, book_id)
    return _book_answer(request, BookForm(team, request.user, request.POST or None, book=book), {"book": book})  # type: ignore[arg-type]


@require_POST
def restore_book(request: HttpRequest, book_id: str) -> HttpResponse:
    """Back to the shipped price of a machine."""
    team = writing_team(request.user)
    with one_at_a_time(team):
        books.restore_price(team, request.user, book_for(request, book_id), request.POST.get("machine", ""))  # type: ignore[arg-type]
    return redirect("catalogue:price_book", book_id)


@require_http_methods(["GET", "HEAD", "POST"])
def delete_book(request: HttpRequest, book_id: str) -> HttpResponse:
    team, book = writing_team(request.user), book_for(request, book_id)
    own = book.origin == OWN
    if request.method == "POST":
        with one_at_a_time(team):
            done = books.delete_book(team, request.user, book_id)  # type: ignore[arg-type]
        _say(
            request, bool(done), f"{book.book.name} is {_gone(book.origin)}.", "Found nothing of your team's to delete."
        )
        return redirect("catalogue:prices") if own else redirect("catalogue:price_book", book_id)
    found = dependents(request.user, "prices", book_id) if own else []
    return _ask_delete(request, {"name": book.book.name, "table": "prices", "row_id": book_id, "kept": not own}, found)


def _gone(origin: str) -> str:
    return "deleted" if origin == OWN else "as it is shipped again"


def _say(request: HttpRequest, done: bool, words: str, otherwise: str) -> None:
    (messages.success if done else messages.error)(request, words if done else otherwise)


def _ask_delete(request: HttpRequest, context: dict[str, Any], found: list[Dependent]) -> HttpResponse:
    blocked = any(one.blocks for one in found)
    context |= {"dependents": found, "blocked": blocked, "title": TITLES.get(context["table"], "Price books")}
    status = 409 if blocked and request.method == "POST" else 200
    return render(request, "catalogue/delete.html", context, status=status)


def _row_answer(request: HttpRequest, form: RowForm, table: str, context: dict[str, Any]) -> HttpResponse:
    context |= {"form": form, "table": table, "title": TITLES[table]}
    return _answer(request, form, "catalogue/row_form.html", context, lambda key: redirect("catalogue:row", table, key))


def _book_answer(request: HttpRequest, form: BookForm, context: dict[str, Any]) -> HttpResponse:
    context |= {"form": form}
    return _answer(
        request, form, "catalogue/book_form.html", context, lambda key: redirect("catalogue:price_book", key)
    )


def _answer(request: HttpRequest, form: Form, template: str, context: dict[str, Any], done: Any) -> HttpResponse:
    if form.is_bound and form.is_valid():
        try:
            key = form.save()
        except StaleError:
            messages.error(request, STALE)
            return redirect(request.get_full_path())
        messages.success(request, "Saved.")
        response: HttpResponse = done(key)
        return response
    return render(request, template, context, status=422 if form.is_bound else 200)
