"""What the pages of a team's uploaded files have in common: a new row from them, and its end."""

from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from planner.accounts import audit
from planner.accounts.models import User
from planner.accounts.teams import writing_team
from planner.calibrations.dependents import deleted_words, dependents
from planner.workloads.upload_limit import too_large


def add(request: HttpRequest, form_class: Any, files: str, pages: str) -> HttpResponse:
    """The empty form, or the row that it makes of its ``files``. ``pages``: the app's templates and addresses."""
    user: User = request.user  # type: ignore[assignment]
    team = writing_team(user)
    form = form_class(team, user)
    if request.method == "POST":
        form = form_class(team, user, request.POST, request.FILES, too_large=files in too_large(request))
        if form.is_valid() and (row := form.save()):
            messages.success(request, f"{row.name} is saved.")
            return redirect(f"{pages}:detail", pk=row.pk)
    return render(request, f"{pages}/new.html", {"form": form})


def delete(request: HttpRequest, rows: Any, prefix: str, pk: int) -> HttpResponse:
    """Says which questions name it. ``prefix``: of its key among a question's inputs."""
    row = get_object_or_404(rows.editable_by(request.user), pk=pk)
    used = dependents(request.user, f"{prefix}{pk}")
    with transaction.atomic():
        audit.record(row.team, request.user, "deleted", row, audit.gone({"name": row.name, "content": row.content}))
        row.delete()
    messages.success(request, deleted_words(row.name, used))
    return redirect("calibrations:list")


def download(text: str, name: str) -> HttpResponse:
    """JSON as a file."""
    response = HttpResponse(text, content_type="application/json; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
