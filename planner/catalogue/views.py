"""Pages of the catalogue: its rows, and a new model."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from planner.accounts.teams import working_team, writing_team
from planner.catalogue.forms import ModelForm
from planner.catalogue.page import TITLES, overview, row_page
from planner.catalogue.services import price_book_for
from simcore.spec import SpecError


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    return render(
        request,
        "catalogue/index.html",
        {"page": overview(request.user), "may_add": working_team(request.user) is not None},
    )


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
