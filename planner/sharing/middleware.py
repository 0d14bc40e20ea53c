"""A link opened: the pages of one study, as they are, for somebody who sees nothing else.

``/shared/TOKEN/ADDRESS`` is what ``/ADDRESS`` is, asked by a Guest (see accounts.owned), who sees the rows of the
link's study alone and changes nothing. Which views take part is a rule, not a list: those whose address names its study
(``<int:study_id>``), by GET. The script prefix is the link's, so that every address that a template or view makes
leads on within the link.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.shortcuts import render
from django.urls import get_script_prefix, resolve, set_script_prefix

from planner.accounts.limits import LINKS_TRIED, address_of, in_words, too_many
from planner.accounts.owned import Guest
from planner.sharing import tokens
from planner.sharing.models import ShareLink

ROOT = "/shared/"
OWN_PAGES = frozenset({"clone"})
"""Addresses right under a link that are pages of their own, for who is signed in (see urls.py)."""
REST = "api/"
READING = ("GET", "HEAD")
HEADERS = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex, nofollow"}
GONE = "There is no such link, or it was revoked or is over."
OFTEN = "Too many links that open nothing were tried from this address. Try again in {wait}."
ASTRAY = "This link does not lead there."


class SharedLinkMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not request.path_info.startswith(ROOT):
            return self.get_response(request)
        token, _, address = request.path_info.removeprefix(ROOT).partition("/")
        if address in OWN_PAGES:
            return self.get_response(request)
        response = self._shown(request, token, address)
        for name, value in HEADERS.items():
            response[name] = value
        return response

    def _shown(self, request: HttpRequest, token: str, address: str) -> HttpResponse:
        link = tokens.find(token)
        if link is None and (wait := LINKS_TRIED.take(address_of(request))):
            return too_many(_nothing(request, address, OFTEN.format(wait=in_words(wait))), wait)
        if link is None:
            return _nothing(request, address, GONE)
        if request.method not in READING:
            return HttpResponseNotAllowed(READING)
        path = f"/{address}" if address else f"/studies/{link.shown.pk}/"
        if not _is_of(path, link):
            return _nothing(request, address, ASTRAY, link=f"{ROOT}{token}/")
        if not address:
            tokens.opened(link)
        opened_at = f"{ROOT}{token}/"
        request.user = Guest(link.shown.pk, opened_at, may_clone=link.may_clone, follows=link.follows)
        request.path_info = path
        with _prefix(opened_at):
            return self.get_response(request)


def _nothing(request: HttpRequest, address: str, words: str, link: str = "") -> HttpResponse:
    """404, in the form of whoever asks: a page, or REST's. ``link``: one that opens something, if not this."""
    if not address.startswith(REST):
        return render(request, "sharing/gone.html", {"words": words, "link": link}, status=404)
    from planner.api.errors import PROBLEM, problem  # which loads the REST framework: not before somebody asks it

    return JsonResponse(problem(404, "not_found", words), status=404, content_type=PROBLEM)


def _is_of(path: str, link: ShareLink) -> bool:
    """Whether it is an address of the link's study."""
    try:
        return resolve(path).kwargs.get("study_id") == link.shown.pk
    except Http404:
        return False


@contextmanager
def _prefix(prefix: str) -> Iterator[None]:
    before = get_script_prefix()
    set_script_prefix(prefix)
    try:
        yield
    finally:
        set_script_prefix(before)
