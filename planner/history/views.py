"""The history of a team, of a row and of one's own account; as a page and as a file."""

import csv
from collections.abc import Iterator

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from planner.accounts.models import ApiToken, AuditEntry, Team
from planner.accounts.visitor import person
from planner.history.asked import Asked, team_of
from planner.history.words import KINDS, Line
from planner.spreadsheet import guarded

COLUMNS = (
    *("time_utc", "who", "token", "token_name", "action", "kind", "row", "name", "question"),
    *("field", "before", "after", "request_id"),
)


class _Line:
    """What the writer of a CSV writes to: each line is handed on at once."""

    def write(self, text: str) -> str:
        return text


@never_cache
@require_safe
def history(request: HttpRequest) -> HttpResponse:
    """``?team=…&who=…&kind=…&row=…&question=…&from=2027-01-01&to=2027-01-31``, all optional."""
    asked = _asked(request)
    user, team = asked.user, asked.team
    entries, older = asked.page()
    context = {
        "asked": asked,
        "team": team,
        "teams": Team.objects.filter(membership__user=user).order_by("name"),
        "lines": [Line(entry) for entry in entries],
        "older": older,
        "kinds": sorted(KINDS.items(), key=lambda pair: pair[1]),
        "people": [*team.members.order_by("username").values_list("username", flat=True)] if team else [],
        "tokens": ApiToken.objects.visible_to(user).filter(team=team).order_by("name").values_list("name", flat=True),
        "about": _about(asked, entries),
    }
    return render(request, "history/history.html", context, status=422 if asked.problems else 200)


@never_cache
@require_safe
def account(request: HttpRequest) -> HttpResponse:
    """What was done to one's own account: signed in, locked out, another password."""
    user = person(request)
    asked = Asked.of(user, None, {"before": request.GET.get("before", "")})
    entries, older = asked.page()
    context = {"asked": asked, "lines": [Line(entry) for entry in entries], "older": older}
    return render(request, "history/account.html", context, status=422 if asked.problems else 200)


@never_cache
@require_safe
def export(request: HttpRequest) -> HttpResponse | StreamingHttpResponse:
    """The entries that the page's filter leaves, all of them, a row for each field changed; as they are read."""
    asked = _asked(request)
    rows = asked.entries
    if asked.problems:
        said = "".join(f"{name}: {words}\n" for name, words in asked.problems.items())
        return HttpResponse(said, "text/plain; charset=utf-8", 422)
    response = StreamingHttpResponse(csv_lines(rows.iterator(chunk_size=500)), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="history-{asked.team.pk if asked.team else 0}.csv"'
    return response


def csv_lines(entries: Iterator[AuditEntry]) -> Iterator[str]:
    writer = csv.writer(_Line(), lineterminator="\n")
    yield writer.writerow(COLUMNS)
    for entry in entries:
        line = Line(entry)
        told = (
            *(f"{entry.created_at:%Y-%m-%dT%H:%M:%S.%fZ}", entry.by_name, entry.token_key, entry.token_name),
            *(entry.action, line.kind, entry.row, entry.subject, str(entry.scenario_id or "")),
        )
        pairs = [(one.field, one.before or "", one.after or "") for one in line.changes]
        for pair in pairs or [("", "", "")]:
            yield writer.writerow([guarded(cell) for cell in (*told, *pair, entry.request_id)])


def _asked(request: HttpRequest) -> Asked:
    user = person(request)
    team = team_of(user, request.GET.get("team", ""))
    if team is None:
        raise Http404("You are in no such team.")
    return Asked.of(user, team, request.GET)


def _about(asked: Asked, entries: list[AuditEntry]) -> str:
    """Whose history it is, where it is that of one row or question."""
    if "question" in asked.typed:
        named = next((entry.subject for entry in entries if entry.model == "scenarios.scenario"), "")
        return f"question {named or asked.typed['question']}"
    if "row" in asked.typed and "kind" in asked.typed:
        kind = KINDS.get(asked.typed["kind"], "row")
        return f"{kind} {entries[0].subject if entries else asked.typed['row']}"
    return ""
