"""REST v1 of the history: what was done in a team, by whom, in which request, before and after; to be read alone."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from planner.accounts.models import AuditEntry, Membership
from planner.accounts.owned import in_teams_of
from planner.api.listing import Filter, Listing
from planner.api.operation import RestView, operation
from planner.api.queries import choice_of, time_of, whole_of, words_of
from planner.api.shapes import keyed, maybe, page, text, time, told, whole
from planner.history.words import KINDS

PAIR = {"type": "array", "items": {}, "minItems": 2, "maxItems": 2}
ENTRY = told(
    "Something that was done. Never changed afterwards.",
    id=whole(),
    created_at=time(),
    team=whole(),
    who=text("Under the name of then."),
    token=text("The public part of the API token by which it was done; empty where by none."),
    token_name=text(),
    request_id=text("As in the answer's X-Request-ID and in the log; empty: a command of the operator."),
    action=text("In the past tense: `revised`, `deleted`."),
    model=text("What kind of row it was done to, such as `scenarios.scenario`."),
    row=text("Its number; of the catalogue `table/id`, of price books the id."),
    name=text("What it was called."),
    scenario=maybe(whole("The question that it is a part of.")),
    changes=keyed(PAIR, "Field → [before, after]; null: none. A long value is its length and SHA-256."),
)
LISTING = Listing(
    orders={"created_at": "created_at", "id": "pk"},
    default="-created_at",
    filters=(
        Filter(words_of("who", "A person's name."), "by_name__iexact"),
        Filter(words_of("token", "The public part of an API token."), "token_key"),
        Filter(choice_of("model", KINDS, "A kind of row."), "model"),
        Filter(words_of("row", "As entries tell it; with `model`."), "row"),
        Filter(whole_of("scenario", "All that is part of a question."), "scenario_id"),
        Filter(words_of("action"), "action"),
        Filter(words_of("request_id"), "request_id"),
        Filter(whole_of("team", "One of several teams."), "team"),
        Filter(time_of("until", "Before then."), "created_at__lt"),
    ),
    updated="created_at",
)


class Audit(RestView):
    """What was done in the teams of who asks, the last first: any member reads it, nobody changes it."""

    @operation("History", query=LISTING.query, answers={200: page(ENTRY)})
    def get(self, request: Request) -> Response:
        mine = Membership.objects.filter(in_teams_of(request.user), user=request.user.pk).values_list("team", flat=True)
        rows = AuditEntry.objects.visible_to(request.user).filter(team__in=list(mine))
        found = LISTING.page(request, rows)
        return found.answer(map(_entry, found))


def _entry(one: AuditEntry) -> dict[str, Any]:
    return {
        "id": one.pk,
        "created_at": one.created_at.isoformat(),
        "team": one.team_id,
        "who": one.by_name,
        "token": one.token_key,
        "token_name": one.token_name,
        "request_id": one.request_id,
        "action": one.action,
        "model": one.model,
        "row": one.row,
        "name": one.subject,
        "scenario": one.scenario_id,
        "changes": one.changes,
    }
