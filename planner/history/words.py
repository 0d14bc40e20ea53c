"""Entries of the history in words: what kind of row, and what of it is another."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.http import urlencode

from planner.accounts.models import AuditEntry

KINDS: Mapping[str, str] = {
    "scenarios.scenario": "question",
    "studies.study": "study",
    "analyses.analysis": "analysis",
    "finance.assumptionset": "assumptions",
    "finance.approval": "approval",
    "finance.actuals": "actuals",
    "finance.filelink": "link to a file",
    "sharing.sharelink": "link",
    "scenarios.grant": "sharing with a person",
    "workloads.workload": "workload",
    "calibrations.calibration": "calibration",
    "power_logs.powerlog": "power log",
    "catalogue.figureoverride": "row of the catalogue",
    "catalogue.pricebook": "price book",
    "catalogue.catalogueimport": "import into the catalogue",
    "accounts.team": "team",
    "accounts.membership": "member",
    "accounts.invitation": "invitation",
    "accounts.apitoken": "API token",
    "accounts.user": "account",
}
"""Kind of row → what people call it."""


@dataclass(frozen=True)
class Change:
    """One field of an entry; ``before`` and ``after`` as text, None where there was or is none."""

    field: str
    before: str | None
    after: str | None


@dataclass(frozen=True)
class Line:
    """An entry as a page shows it."""

    entry: AuditEntry

    @property
    def kind(self) -> str:
        return KINDS.get(self.entry.model, self.entry.model.rpartition(".")[2])

    @property
    def token(self) -> str:
        """By which it was done, as people know it; empty where by none."""
        name = f"{self.entry.token_name}, " if self.entry.token_name else ""
        return f"{name}pp_{self.entry.token_key}" if self.entry.token_key else ""

    @property
    def changes(self) -> list[Change]:
        return [Change(name, said(before), said(after)) for name, (before, after) in self.entry.changes.items()]

    @property
    def row_address(self) -> str:
        """All that was done to the same row."""
        entry = self.entry
        if not entry.model or not entry.team_id:
            return ""
        return history_of(entry.model, entry.row, entry.team_id)


def history_of(model: str, row: str, team_id: int | None = None) -> str:
    of = {"kind": model, "row": row} | ({"team": str(team_id)} if team_id else {})
    return f"{reverse('history:history')}?{urlencode(of)}"


def said(value: Any) -> str | None:
    """A value of an entry as text, for pages and files."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.12g}"
    if isinstance(value, list):
        return ", ".join(said(one) or "none" for one in value) or "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {said(one)}" for name, one in value.items()) or "none"
    return str(value) if value != "" else "(empty)"
