"""The pages that explain, for whoever is signed in."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from planner.help import money as definitions
from planner.help.example import DESIGN


@require_safe
def rest(request: HttpRequest) -> HttpResponse:
    from planner.help.rest import common_errors, operations  # loads drf-spectacular: not before somebody asks

    base = request.build_absolute_uri("/").rstrip("/")
    context = {"parts": operations(), "errors": common_errors(), "base": base}
    return render(request, "help/rest.html", context)


@require_safe
def money(request: HttpRequest) -> HttpResponse:
    """What each figure of the finance pages and files means."""
    context = {"parts": definitions.parts(), "columns": definitions.columns(), "design": DESIGN}
    return render(request, "help/money.html", context)
