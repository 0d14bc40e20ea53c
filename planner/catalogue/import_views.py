"""CSV out of the catalogue and into it: a file is looked at first, and taken as a whole or not at all."""

import hashlib
from collections.abc import Callable, Iterable
from datetime import timedelta

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from planner.accounts import audit
from planner.accounts.models import Team, User
from planner.accounts.teams import writing_team
from planner.catalogue.books import Book, books
from planner.catalogue.csv_figures import PRICES, TIDY, prices_csv, quotes_csv, rates_csv, tidy_csv, wide_csv
from planner.catalogue.csv_file import MOST_BYTES, MOST_ROWS, CsvFile, read_csv
from planner.catalogue.editing import one_at_a_time
from planner.catalogue.listing import TITLES, Asked, book_lines, wanted
from planner.catalogue.models import CatalogueImport
from planner.catalogue.plans import Plan, plan_figures
from planner.catalogue.price_plans import plan_prices
from planner.catalogue.quote_fields import QUOTE_COLUMNS, RATE_COLUMNS
from planner.catalogue.quote_plans import plan_quotes, plan_rates
from simcore.spec import SpecError

OF_BOOKS: dict[str, tuple[str, tuple[str, ...], Callable[[Iterable[Book]], str], Callable[[User, CsvFile], Plan]]] = {
    "prices": ("Price books", PRICES, prices_csv, plan_prices),
    "quotes": ("Quotes", QUOTE_COLUMNS, quotes_csv, plan_quotes),
    "rates": ("Exchange rates", RATE_COLUMNS, rates_csv, plan_rates),
}
"""What price books hold: its title, the columns of its files, how they are written and read."""
EVERY_TITLE = {**TITLES, **{name: of[0] for name, of in OF_BOOKS.items()}}
SHOWN_LINES = 500
KEPT_FOR = timedelta(days=1)
"""How long an import is kept that was looked at and not made."""


@require_safe
def export(request: HttpRequest, table: str) -> HttpResponse:
    """The rows that the list shows, in the form that an import takes."""
    asked = Asked.of(request.GET)
    if table in OF_BOOKS:
        text = OF_BOOKS[table][2](line.book for line in book_lines(books(request.user), asked))
    elif _known(table) and request.GET.get("form") == "wide":
        text = wide_csv(table, wanted(request.user, table, asked))
    else:
        text = tidy_csv(wanted(request.user, table, asked))
    response = HttpResponse(text, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{table}.csv"'
    return response


@require_http_methods(["GET", "HEAD", "POST"])
def upload(request: HttpRequest, table: str) -> HttpResponse:
    """Takes a file in; what it would change is on a page of its own."""
    team, problem = writing_team(request.user), ""
    _known(table)
    if request.method == "POST":
        file = request.FILES.get("file")
        content = file.read(MOST_BYTES + 1) if file else b""
        try:
            if file is None:
                raise SpecError("found no file, expected a CSV file")
            _plan(request.user, table, content)  # type: ignore[arg-type]
            return redirect("catalogue:review", _kept(team, request.user, table, str(file.name), content).pk)  # type: ignore[arg-type]
        except SpecError as error:
            problem = f"{str(error)[:1].upper()}{str(error)[1:]}."
    context = {"table": table, "title": EVERY_TITLE[table], "problem": problem, "most_rows": MOST_ROWS}
    columns = OF_BOOKS[table][1] if table in OF_BOOKS else TIDY
    context |= {"columns": ",".join(columns), "most_mb": MOST_BYTES // 1_000_000, "of_books": table in OF_BOOKS}
    return render(request, "catalogue/import.html", context, status=422 if problem else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def review(request: HttpRequest, pk: int) -> HttpResponse:
    """What the file would change as the catalogue is now; posted, the changes are made, if they are still those."""
    kept = get_object_or_404(CatalogueImport.objects.visible_to(request.user), pk=pk)
    if kept.applied_at:
        return render(request, "catalogue/import_done.html", {"kept": kept, "title": EVERY_TITLE[kept.table]})
    team = writing_team(request.user)
    if request.method != "POST":
        return _looked_at(request, kept, _plan(request.user, kept.table, bytes(kept.content)))  # type: ignore[arg-type]
    with one_at_a_time(team):
        plan = _plan(request.user, kept.table, bytes(kept.content))  # type: ignore[arg-type]
        stale = request.POST.get("seen") != plan.token
        if stale or not plan.may_be_applied:
            return _looked_at(request, kept, plan, stale=stale, status=409)
        plan.apply(team, request.user)  # type: ignore[arg-type]
        kept.applied_at = timezone.now()
        kept.save(update_fields=["applied_at"])
        told = {"added": len(plan.added), "changed": len(plan.changed)}
        audit.record(team, request.user, "imported", kept, audit.made(told), name=str(kept))
    messages.success(request, f"{_counted(len(plan.added), 'added')}, {_counted(len(plan.changed), 'changed')}.")
    return redirect("catalogue:table", kept.table) if kept.table in TITLES else redirect("catalogue:prices")


def _looked_at(
    request: HttpRequest, kept: CatalogueImport, plan: Plan, stale: bool = False, status: int = 200
) -> HttpResponse:
    context = {"kept": kept, "title": EVERY_TITLE[kept.table], "plan": plan, "stale": stale, "shown": SHOWN_LINES}
    return render(request, "catalogue/import_review.html", context | {"shown_slice": f":{SHOWN_LINES}"}, status=status)


def _known(table: str) -> bool:
    if table not in EVERY_TITLE:
        raise Http404(f"table: found '{table}', expected one of {', '.join(EVERY_TITLE)}")
    return True


def _plan(user: User, table: str, content: bytes) -> Plan:
    file = read_csv(content)
    return OF_BOOKS[table][3](user, file) if table in OF_BOOKS else plan_figures(user, table, file)


@transaction.atomic
def _kept(team: Team, user: User, table: str, name: str, content: bytes) -> CatalogueImport:
    CatalogueImport.objects.editable_by(user).filter(
        team=team, applied_at=None, created_at__lt=timezone.now() - KEPT_FOR
    ).delete()
    kept = CatalogueImport.objects.create(
        team=team, created_by=user, table=table, file_name=name[:200], content=content
    )
    told = {"bytes": len(content), "content_sha256": hashlib.sha256(content).hexdigest()}
    audit.record(team, user, "uploaded, not imported yet,", kept, audit.made(told), name=str(kept))
    return kept


def _counted(count: int, done: str) -> str:
    return f"{count:,} figure{'' if count == 1 else 's'} {done}"
