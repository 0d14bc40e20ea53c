"""Which entries of the history an address asks for, and the next of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.utils.http import urlencode

from planner.accounts.models import AuditEntry, Team, User
from planner.accounts.teams import working_team
from planner.history.words import KINDS

A_PAGE = 50
NAMES = ("who", "kind", "row", "question", "from", "to")


@dataclass(frozen=True)
class Asked:
    """A team's entries, or with ``team`` None those of the person's own account. ``problems``: by field, what of the
    address could not be read; nothing is shown by a filter that was not understood."""

    user: User
    team: Team | None
    typed: dict[str, str]
    before: str = ""
    problems: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, user: User, team: Team | None, query: Mapping[str, Any]) -> "Asked":
        typed = {name: str(query.get(name, "")).strip()[:200] for name in NAMES}
        found = cls(user, team, {name: text for name, text in typed.items() if text}, str(query.get("before", "")))
        found.entries  # noqa: B018 - reads what was typed
        return found

    @property
    def query(self) -> str:
        of_team = {"team": str(self.team.pk)} if self.team else {}
        return urlencode({**of_team, **self.typed})

    @property
    def entries(self) -> QuerySet[AuditEntry]:
        """The newest first."""
        rows = AuditEntry.objects.visible_to(self.user).filter(team=self.team) if self.team else own(self.user)
        for name, text in self.typed.items():
            try:
                rows = getattr(self, f"_{name}")(rows, text)
            except ValueError as error:
                self.problems[name] = f"found ‘{text[:60]}’, expected {error}"
                rows = rows.none()
        return rows

    def page(self) -> tuple[list[AuditEntry], str]:
        """So many entries, and the cursor of those after them; empty where they are the last."""
        rows = self.entries
        if self.before:
            at, _, pk = self.before.rpartition("~")
            try:
                when, number = datetime.fromisoformat(at), int(pk)
            except ValueError:
                self.problems["before"] = "expected what the link to older entries says"
                return [], ""
            rows = rows.filter(Q(created_at__lt=when) | Q(created_at=when, pk__lt=number))
        some = list(rows[: A_PAGE + 1])
        last = some[A_PAGE - 1] if len(some) > A_PAGE else None
        return some[:A_PAGE], f"{last.created_at.isoformat()}~{last.pk}" if last else ""

    def _who(self, rows: QuerySet[AuditEntry], text: str) -> QuerySet[AuditEntry]:
        """A person, or a token by its name or public part."""
        key = text.removeprefix("pp_").partition(".")[0]
        return rows.filter(Q(by_name__iexact=text) | Q(token_name__iexact=text) | Q(token_key__in=[key] if key else []))

    def _kind(self, rows: QuerySet[AuditEntry], text: str) -> QuerySet[AuditEntry]:
        if text not in KINDS:
            raise ValueError("one of the kinds listed")
        return rows.filter(model=text)

    def _row(self, rows: QuerySet[AuditEntry], text: str) -> QuerySet[AuditEntry]:
        return rows.filter(row=text)

    def _question(self, rows: QuerySet[AuditEntry], text: str) -> QuerySet[AuditEntry]:
        if not (text.isascii() and text.isdigit() and len(text) < 19):
            raise ValueError("the number of a question")
        return rows.filter(scenario_id=int(text))

    def _from(self, rows: QuerySet[AuditEntry], text: str) -> QuerySet[AuditEntry]:
        return rows.filter(created_at__gte=_midnight(text))

    def _to(self, rows: QuerySet[AuditEntry], text: str) -> QuerySet[AuditEntry]:
        """That day too."""
        return rows.filter(created_at__lt=_midnight(text) + timedelta(days=1))


def own(user: User) -> QuerySet[AuditEntry]:
    """What was done to the person's own account, and by them in no team."""
    return AuditEntry.unscoped.filter(team=None).filter(
        Q(created_by=user.pk) | Q(model="accounts.user", row=str(user.pk))
    )


def team_of(user: User, text: str) -> Team | None:
    """One of the visitor's teams: the one named, else the one they work for, else the first. None: no such."""
    mine = Team.objects.filter(membership__user=user)
    if text:
        return mine.filter(pk=text).first() if text.isascii() and text.isdigit() and len(text) < 19 else None
    return working_team(user) or mine.order_by("membership__pk").first()


def _midnight(text: str) -> datetime:
    try:
        day = date.fromisoformat(text)
        if day.year > 9000:
            raise ValueError
    except ValueError:
        raise ValueError("a day such as 2027-01-31") from None
    return datetime.combine(day, time.min, UTC)
