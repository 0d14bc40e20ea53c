"""The schemas, for whoever reads the files: they say nothing of anybody's."""

from functools import cache

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from planner.schemas import NAMES
from planner.schemas.files import as_text


@login_not_required
@require_safe
def schema(request: HttpRequest, name: str) -> HttpResponse:
    if name not in NAMES:
        raise Http404(f"No such schema: expected one of {', '.join(NAMES)}.")
    return HttpResponse(_kept(name), content_type="application/schema+json")


@cache
def _kept(name: str) -> str:
    return as_text(name)
