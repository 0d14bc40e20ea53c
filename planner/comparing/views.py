"""The page that compares; what was compared last is kept in the session, so that a design's panel can add to it."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from planner.comparing.columns import MOST, Key, address, columns_of, keys_of, one_key
from planner.comparing.halfway import ask_halfway, may_be_asked
from planner.comparing.page import compare_page
from planner.scenarios.errors import FieldErrors
from planner.scenarios.labels import label_of
from planner.studies.actions import study_for
from planner.studies.models import Study

SESSION_KEY = "compared"


@require_safe
def compare(request: HttpRequest) -> HttpResponse:
    """Up to four side by side; ``add=12`` or ``add=12:0b7f…``: one more beside those that were compared last."""
    if "add" in request.GET:
        return _added(request, request.GET["add"])
    page = compare_page(request.user, request.GET)
    if page.columns:
        request.session[SESSION_KEY] = [str(key) for key in page.keys]
    return render(request, "comparing/compare.html", {"compared": page, "most": MOST})


@require_safe
def of_study(request: HttpRequest, study_id: int) -> HttpResponse:
    """A study's answer and designs of its own, side by side: what a link to it shows too."""
    study_for(request, study_id)
    page = compare_page(request.user, request.GET, of_study=study_id)
    return render(request, "comparing/compare.html", {"compared": page, "most": MOST})


@require_POST
def halfway(request: HttpRequest) -> HttpResponse:
    """Has the question asked that lies between two of those compared, and sets its answer between them."""
    first, second = (_answer(request, request.POST.get(name, "")) for name in ("first", "second"))
    kind, keys = request.POST.get("kind", ""), [key for key in map(one_key, request.POST.getlist("key")) if key]
    if not may_be_asked(kind, first, second):
        raise Http404("kind: expected what differs between the two, and a worker to answer it.")
    try:
        study = ask_halfway(request.user, first, second, kind)
    except FieldErrors as error:
        said = "; ".join(f"{label_of(name)}: {message}" for name, message in error.fields.items())
        messages.error(request, f"They do not go together: {said}")
        return redirect(f"{reverse('comparing:compare')}{address(keys)}")
    new = Key(study.pk)
    kept = keys if len(keys) < MOST else [Key(first.pk), Key(second.pk)]
    keys = list(dict.fromkeys([*kept[:1], new, *kept[1:]]))
    return redirect(f"{reverse('comparing:compare')}{address(keys, baseline=request.POST.get('baseline', ''))}")


@require_safe
def waiting(request: HttpRequest) -> HttpResponse:
    """Asked while one of those compared is being answered; the page is loaded anew when all are."""
    columns = columns_of(request.user, keys_of(request.GET))
    response = HttpResponse(status=204)
    if not any(column.study.is_active for column in columns):
        response["HX-Refresh"] = "true"
    return response


def _answer(request: HttpRequest, text: str) -> Study:
    key = one_key(text)
    rows = Study.objects.visible_to(request.user).select_related("revision__scenario")
    study = rows.filter(pk=key.study_id).first() if key else None
    if study is None:
        raise Http404("No such study.")
    return study


def _added(request: HttpRequest, text: str) -> HttpResponse:
    key = one_key(text)
    if key is None:
        raise Http404("add: expected the number of a study, or STUDY:DESIGN.")
    columns_of(request.user, [key])
    keys = _last(request) or ([Key(key.study_id)] if key.design_id else [])
    if key not in keys and len(keys) >= MOST:
        messages.warning(request, "Four are compared already: take one away, then add another.")
    elif key not in keys:
        keys.append(key)
    return redirect(f"{reverse('comparing:compare')}{address(keys)}")


def _last(request: HttpRequest) -> list[Key]:
    """What was compared last, as far as it is still there."""
    keys = [key for key in map(one_key, request.session.get(SESSION_KEY, [])) if key is not None]
    wanted = {key.study_id for key in keys}
    there = set(Study.objects.visible_to(request.user).filter(pk__in=wanted).values_list("pk", flat=True))
    return [key for key in keys if key.study_id in there]
