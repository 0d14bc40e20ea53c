"""A new API token: what it is called, of which team, what it may do and until when."""

from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.utils import timezone

from planner.accounts import tokens
from planner.accounts.models import ApiToken, Membership, Team, User
from planner.accounts.owned import EDITING_ROLES
from planner.plain_text import NameField

DAYS = (("30", "30 days"), ("90", "90 days"), ("365", "365 days"), ("", "does not expire"))


class TokenForm(forms.Form):
    name = NameField(max_length=100, label="Name", error_messages={"required": "Found none, expected a name."})
    team = forms.ModelChoiceField(Team.objects.none(), label="Team", empty_label=None)
    scope = forms.ChoiceField(choices=ApiToken.Scope.choices, label="May", initial=ApiToken.Scope.READ)
    days = forms.ChoiceField(choices=DAYS, label="Expires", required=False, initial="90")

    def __init__(self, user: User, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.user = user
        teams = user.teams.order_by("membership__pk")
        self.fields["team"].queryset = teams  # type: ignore[attr-defined]
        self.fields["team"].initial = teams.first()

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        team = found.get("team")
        if team is None:
            return found
        if found.get("scope") == ApiToken.Scope.WRITE and not self._may_write(team):
            self.add_error("scope", f"You may read in team {team.name}, but not write; expected a token that reads.")
        if ApiToken.unscoped.filter(team=team, name=found.get("name"), revoked_at=None).exists():
            self.add_error(
                "name", f"Team {team.name} has a token of that name; expected another, or revoke that first."
            )
        return found

    def issue(self) -> tuple[ApiToken, str]:
        """The new token, and the only copy of its text."""
        data = self.cleaned_data
        return tokens.issue(data["team"], data["name"], self.user, data["scope"], self._expiry())

    def _expiry(self) -> datetime | None:
        days = self.cleaned_data["days"]
        return timezone.now() + timedelta(days=int(days)) if days else None

    def _may_write(self, team: Team) -> bool:
        return Membership.objects.filter(user=self.user, team=team, role__in=EDITING_ROLES).exists()
