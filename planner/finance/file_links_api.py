"""REST v1 of the links to a study's files: the list, a new one, and an end to one."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.errors import Conflict
from planner.api.listing import Filter, Listing
from planner.api.operation import RestView, body, operation
from planner.api.queries import choice_of
from planner.api.shapes import address, asked, flag, maybe, moment, one_of, page, text, time, told, whole, with_more
from planner.finance import file_links
from planner.finance.api import worked_out
from planner.finance.file_link_views import address_to
from planner.finance.file_links import DESIGNS, FILES, MOST_DAYS, USUAL_DAYS, VIEWS, NotNowError, Wanted
from planner.finance.models import FileLink
from planner.finance.views import costs_of
from planner.sharing.links import LABEL_LENGTH
from planner.spreadsheet import LOCALES
from planner.studies.actions import study_for
from planner.studies.models import Study
from simcore.spec import SpecError

LINK = told(
    "A link to one file of a study's costs; what it is of cannot be changed.",
    id=whole(),
    study=whole(),
    file=one_of(*FILES),
    set=maybe(whole("Assumptions by their number; null: the study's own.")),
    design=text("Empty: the answer's."),
    view=one_of(*VIEWS),
    locale=text(),
    bom=flag(),
    label=text(),
    state=one_of("open", "revoked", "expired"),
    created_at=time(),
    created_by=maybe(text()),
    expires_at=time(),
    revoked_at=maybe(time()),
    last_used_at=maybe(time()),
    uses=whole("How often the file was fetched."),
    url=address(),
)
MADE = with_more(LINK, address=maybe(address("What opens the file. It is shown this once; null: sent again.")))
WANTED = asked(
    "",
    required=("file",),
    file=one_of(*FILES),
    set=text("As in addresses: assumptions by their number, `own` for none; else those saved last."),
    design=text("One of the study's designs; else the answer's."),
    view=one_of(*VIEWS, words="`book` unless it says otherwise."),
    locale=one_of(*LOCALES, words="`en-US` unless it says otherwise."),
    bom=flag("Begin with the mark by which Excel knows UTF-8."),
    label=text("What fetches it.", maxLength=LABEL_LENGTH),
    days=whole(f"Until it ends; {USUAL_DAYS} unless it says otherwise.", minimum=1, maximum=MOST_DAYS),
)
LISTING = Listing(
    orders={"created_at": "created_at", "id": "pk"},
    default="-created_at",
    filters=(Filter(choice_of("file", FILES), "file"),),
)


class FileLinks(RestView):
    """Links to files of a study's costs, for spreadsheets that can send no token; the newest first."""

    @operation("A study's links to files", query=LISTING.query, answers={200: page(LINK)})
    def get(self, request: Request, study_id: int) -> Response:
        study = study_for(request, study_id)
        rows = FileLink.objects.visible_to(request.user).filter(study=study).select_related("created_by")
        found = LISTING.page(request, rows)
        return found.answer(_told(one, request.build_absolute_uri(f"{one.pk}")) for one in found)

    @operation(
        "Make a link to a file",
        body=WANTED,
        answers={201: MADE},
        headers={201: ("Location",)},
        shown_once=("address",),
    )
    def post(self, request: Request, study_id: int) -> Response:
        """Its `address` answers the file's text to whoever has it, until the link ends or is revoked. 409 until the
        costs are worked out."""
        study, sent = study_for(request, study_id), body(request)
        try:
            wanted = Wanted(**{name: value for name, value in sent.items() if name not in ("set", "design")})
            link, secret = self._made(request, study, sent, wanted)
        except SpecError as error:
            field, _, words = str(error).partition(": ")
            raise ValidationError({field: [f"{words[:1].upper()}{words[1:]}."]}) from None
        where = request.build_absolute_uri(f"{link.pk}")
        made = {**_told(link, where), "address": address_to(request._request, secret)}
        return Response(made, status=201, headers={"Location": where, "Cache-Control": "no-store"})

    def _made(self, request: Request, study: Study, sent: dict[str, Any], wanted: Wanted) -> tuple[FileLink, str]:
        costs = costs_of(request.user, study, sent.get("design", ""), sent.get("set", ""))
        if wanted.file != DESIGNS:
            worked_out(costs)
        try:
            return file_links.create(request.user, costs, wanted)
        except NotNowError as error:
            raise Conflict(f"{error}.") from error


class OneFileLink(RestView):
    """One link to a file; its address is not told again."""

    @operation("One link to a file", answers={200: LINK})
    def get(self, request: Request, study_id: int, file_link_id: int) -> Response:
        rows = FileLink.objects.visible_to(request.user)
        return Response(_told(_link(request, rows, study_id, file_link_id), request.build_absolute_uri()))

    @operation("Revoke a link to a file", answers={204: None})
    def delete(self, request: Request, study_id: int, file_link_id: int) -> Response:
        """At once and for good; the link stays in the list."""
        link = _link(request, FileLink.objects.editable_by(request.user), study_id, file_link_id)
        file_links.revoke(link, request.user)
        return Response(status=204)


def _link(request: Request, rows: Any, study_id: int, file_link_id: int) -> FileLink:
    study = study_for(request, study_id)
    found: FileLink | None = rows.filter(study=study, pk=file_link_id).select_related("created_by", "study").first()
    if found is None:
        raise Http404("No such link of this study.")
    return found


def _told(link: FileLink, url: str) -> dict[str, Any]:
    return {
        "id": link.pk,
        "study": link.study_id,
        "file": link.file,
        "set": link.chosen_id,
        "design": link.design_id,
        "view": link.view,
        "locale": link.locale,
        "bom": link.bom,
        "label": link.label,
        "state": link.state,
        "created_at": moment(link.created_at),
        "created_by": link.created_by.username if link.created_by else None,
        "expires_at": moment(link.expires_at),
        "revoked_at": moment(link.revoked_at),
        "last_used_at": moment(link.last_used_at),
        "uses": link.uses,
        "url": url.split("?")[0],
    }
