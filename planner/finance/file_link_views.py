"""Links to files: the page where a team makes and revokes them, and what such a link opens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from planner.accounts.limits import FILES_FETCHED, LINKS_TRIED, address_of, in_words, too_many
from planner.accounts.owned import Guest
from planner.finance import exports, file_links
from planner.finance.costs import Costs
from planner.finance.file_links import DESIGNS, FILES, MOST_DAYS, OFFERED, USUAL_DAYS, NotNowError, Wanted
from planner.finance.models import FileLink
from planner.finance.views import asked_view, costs_for
from planner.sharing.middleware import GONE, HEADERS
from planner.spreadsheet import COMMA, LOCALES
from planner.studies.actions import study_for
from planner.studies.models import Study
from simcore.economics.lines import View
from simcore.spec import SpecError

DAYS = (
    ("7", "in a week"),
    ("30", "in 30 days"),
    (str(USUAL_DAYS), f"in {USUAL_DAYS} days"),
    (str(MOST_DAYS), "in a year"),
)
OFTEN = "Fetched too often: at most {most} times an hour. Try again in {wait}.\n"
TRIED = "Too many links that open nothing were tried from this address. Try again in {wait}.\n"


@dataclass(frozen=True)
class FileLinksPage:
    """The links to a study's files, and the form of a new one. ``typed``: what was refused."""

    costs: Costs
    view: View
    rows: list[FileLink]
    typed: Mapping[str, str]
    problem: str = ""
    made: FileLink | None = None
    address: str = ""
    """Of the link that was just made: this page alone shows it."""

    @property
    def said(self) -> dict[str, str]:
        found = {"design": self.costs.design_id, "set": self.costs.set_name, "view": self.view}
        return {name: text for name, text in found.items() if text}

    @property
    def query(self) -> str:
        return urlencode(self.said)

    @cached_property
    def is_known(self) -> bool:
        return self.costs.is_known

    @property
    def files(self) -> list[tuple[str, str, bool]]:
        """What may be chosen: of costs that are not worked out the designs alone."""
        chosen = self.typed.get("file", FILES[0])
        return [(name, words, name == chosen) for name, words in OFFERED if self.is_known or name == DESIGNS]

    @property
    def locales(self) -> list[tuple[str, str, bool]]:
        chosen = self.typed.get("locale", "en-US")
        words = {name: "1.5 and commas" if name not in COMMA else "1,5 and semicolons" for name in LOCALES}
        first = ("en-US", *(name for name in LOCALES if name != "en-US"))
        return [(name, words[name], name == chosen) for name in first]

    @property
    def days(self) -> list[tuple[str, str, bool]]:
        chosen = self.typed.get("days", str(USUAL_DAYS))
        return [(value, words, value == chosen) for value, words in DAYS]

    @property
    def formula(self) -> str:
        """That a Google Sheet fetches the link by."""
        if self.made is None:
            return ""
        more = '; ";"' if self.made.locale in COMMA else ""
        return f'=IMPORTDATA("{self.address}"{more})'


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def file_links_page(request: HttpRequest, study_id: int) -> HttpResponse:
    """``?design=…&set=…&view=book``; POST makes a link, and its answer is the only one that shows the address."""
    study = study_for(request, study_id)
    if isinstance(request.user, Guest):
        raise Http404("This link does not lead there.")
    costs = costs_for(request, study)
    if request.method != "POST":
        return _page(request, costs)
    if not may_make(request, study):
        raise PermissionDenied("You may read this study, but make no links to its files.")
    try:
        link, secret = file_links.create(request.user, costs, _wanted(request))
    except (SpecError, NotNowError) as error:
        return _page(request, costs, problem=str(error))
    return _page(request, costs, made=link, address=address_to(request, secret))


@require_POST
def revoke(request: HttpRequest, study_id: int, file_link_id: int) -> HttpResponse:
    study = study_for(request, study_id)
    link = FileLink.objects.editable_by(request.user).filter(study=study, pk=file_link_id).first()
    if link is None:
        raise Http404("No such link of this study.")
    file_links.revoke(link, request.user)
    messages.success(request, f"{link.title} is revoked: it opens no more.")
    return redirect("finance:file_links", study.pk)


@csrf_exempt  # so that what is no GET is a 405: it changes nothing and knows nobody
@login_not_required
@require_safe
def opened(request: HttpRequest, secret: str) -> HttpResponse:
    """The file, to whoever has its address; what comes after ``?`` is not read."""
    response = _file(request, secret)
    for name, value in HEADERS.items():
        response[name] = value
    return response


def _file(request: HttpRequest, secret: str) -> HttpResponse:
    link = file_links.find(secret)
    if link is None:
        if wait := LINKS_TRIED.take(address_of(request)):
            return too_many(_said(TRIED.format(wait=in_words(wait)), 429), wait)
        return _said(f"{GONE}\n", 404)
    if wait := FILES_FETCHED.take(str(link.pk)):
        return too_many(_said(OFTEN.format(most=FILES_FETCHED.most, wait=in_words(wait)), 429), wait)
    try:
        text = file_links.text_of(link)
    except NotNowError as error:
        return _said(f"{error}.\n", 409)
    file_links.used(link)
    response = HttpResponse(text, content_type=exports.CONTENT_TYPES["csv"])
    response["Content-Disposition"] = f'attachment; filename="study-{link.study_id}-{link.file}"'
    return response


def may_make(request: HttpRequest, study: Study) -> bool:
    return Study.objects.owned_by(request.user).filter(pk=study.pk).exists()


def address_to(request: HttpRequest, secret: str) -> str:
    return request.build_absolute_uri(reverse("files:opened", args=[secret]))


def _said(words: str, status: int) -> HttpResponse:
    return HttpResponse(words, content_type="text/plain; charset=utf-8", status=status)


def _wanted(request: HttpRequest) -> Wanted:
    """What the form says. SpecError: what cannot be."""
    typed = {name: str(text) for name, text in request.POST.items()}
    days = typed.get("days", str(USUAL_DAYS))
    if not (days.isascii() and days.isdecimal() and len(days) < 5):
        raise SpecError(f"days: found '{days}', expected from 1 to {MOST_DAYS}")
    return Wanted(
        typed.get("file", ""),
        asked_view(request),
        typed.get("locale", "en-US"),
        "bom" in typed,
        int(days),
        typed.get("label", ""),
    )


def _page(
    request: HttpRequest, costs: Costs, *, problem: str = "", made: FileLink | None = None, address: str = ""
) -> HttpResponse:
    rows = FileLink.objects.visible_to(request.user).filter(study=costs.study).select_related("created_by", "chosen")
    typed = {name: str(text) for name, text in request.POST.items()} if problem else {}
    page = FileLinksPage(costs, asked_view(request), list(rows), typed, problem, made, address)
    context = {
        "study": costs.study,
        "page": page,
        "can_make": may_make(request, costs.study),
        "most_an_hour": FILES_FETCHED.most,
    }
    return render(request, "finance/file_links.html", context, status=422 if problem else 201 if made else 200)
