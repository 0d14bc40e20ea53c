"""REST v1 of what was deleted: DELETE of a row leads here, and a POST puts it back."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.errors import Conflict
from planner.api.listing import Table
from planner.api.operation import RestView, operation
from planner.api.shapes import address, flag, maybe, page, text, time, told, whole
from planner.deleted import services
from planner.deleted.kinds import KINDS, TakenError
from planner.deleted.services import Deleted

TABLE = Table()
ROW = told(
    "Something that was deleted.",
    kind=text(f"One of {', '.join(KINDS)}."),
    id=whole(),
    name=text(),
    team=text(),
    deleted_at=time(),
    deleted_by=maybe(text()),
    kept_until=time("Until then no purge by the server's own setting removes it."),
    may_restore=flag("Whether you may put it back."),
    url=address(),
    restore_url=address("POST puts it back."),
)
BACK = told("", kind=text(), id=whole(), name=text(), said=text("What became another, if anything."), url=address())


class AllDeleted(RestView):
    """What was deleted in the team, the last first."""

    @operation("What was deleted", query=TABLE.query, answers={200: page(ROW)})
    def get(self, request: Request) -> Response:
        found = TABLE.page(request, services.every(request.user), lambda one: one.name)
        return found.answer(_told(request, one) for one in found)


class OneDeleted(RestView):
    """One thing that was deleted."""

    @operation("One thing that was deleted", answers={200: ROW})
    def get(self, request: Request, deleted_kind: str, deleted_id: int) -> Response:
        return Response(_told(request, services.one(request.user, deleted_kind, deleted_id)))


class Restored(RestView):
    """POST: puts it back."""

    @operation("Put back what was deleted", answers={200: BACK}, headers={200: ("Location",)}, errors=(409,))
    def post(self, request: Request, deleted_kind: str, deleted_id: int) -> Response:
        found = services.one(request.user, deleted_kind, deleted_id)
        try:
            said = services.restore(request.user, found)
        except TakenError as error:
            raise Conflict(str(error)) from None
        where = request.build_absolute_uri(f"/api/v1/{found.kind.rest(found.row)}")
        back = {"kind": found.kind.name, "id": deleted_id, "name": found.title, "said": said, "url": where}
        return Response(back, headers={"Location": where})


def _told(request: Request, one: Deleted) -> dict[str, Any]:
    at = request.build_absolute_uri(f"/api/v1/deleted/{one.name}")
    row = one.row
    return {
        "kind": one.kind.name,
        "id": row.pk,
        "name": one.title,
        "team": row.team.name,
        "deleted_at": row.deleted_at.isoformat(),
        "deleted_by": row.deleted_by.username if row.deleted_by else None,
        "kept_until": one.kept_until.isoformat(),
        "may_restore": one.may_restore,
        "url": at,
        "restore_url": f"{at}/restore",
    }
