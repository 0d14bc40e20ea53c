"""Approvals as pages show them: that of the figures shown, the last one of the question, and all before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from urllib.parse import urlencode

from planner.accounts.owned import Visitor
from planner.finance.approvals.kept import design_of, months_of, total_of
from planner.finance.approvals.services import may_approve, of_scenario, problem_of, standing_of
from planner.finance.approvals.since import Since
from planner.finance.costs import Costs
from planner.finance.models import Approval
from simcore.economics.lines import View


@dataclass(frozen=True)
class ApprovalRow:
    """One approval in one view."""

    approval: Approval
    view: View

    @property
    def revision(self) -> int:
        return self.approval.study.revision.number

    @property
    def design(self) -> str:
        return design_of(self.approval)

    @property
    def months(self) -> str:
        """``2027-01 to 2029-12``."""
        months = months_of(self.approval)
        return f"{months[0]} to {months[-1]}" if len(months) > 1 else months[0]

    @property
    def total_usd(self) -> Decimal:
        """As it was approved."""
        return total_of(self.approval, self.view)

    @property
    def query(self) -> str:
        """Of the finance page that shows what was approved."""
        chosen = str(self.approval.chosen_id) if self.approval.chosen_id else "own"
        named = {"design": self.approval.design_id, "set": chosen, "view": self.view}
        return urlencode({name: text for name, text in named.items() if text})


@dataclass(frozen=True)
class Approvals:
    """Of the question whose costs are shown."""

    costs: Costs
    view: View
    user: Visitor
    since_id: str = ""
    """Of the approval that the figures are compared with; empty: the last that stands."""

    @cached_property
    def every(self) -> Sequence[Approval]:
        return list(of_scenario(self.user, self.costs.study.revision.scenario_id))

    @property
    def rows(self) -> list[ApprovalRow]:
        """The newest first."""
        return [ApprovalRow(one, self.view) for one in self.every]

    @cached_property
    def standing(self) -> Approval | None:
        """Of the figures shown."""
        return standing_of(self.costs, self.every)

    @cached_property
    def last(self) -> ApprovalRow | None:
        """The last that stands, of whichever revision."""
        return next((row for row in self.rows if row.approval.withdrawn_at is None), None)

    @cached_property
    def since(self) -> Since | None:
        """What has become of the figures. None: there is no approval to compare with, or there are no figures."""
        named = next((one for one in self.every if str(one.pk) == self.since_id), None)
        against = named or (self.last.approval if self.last else None)
        return None if against is None or self.problem_of_figures else Since(against, self.costs, self.view)

    @property
    def problem_of_figures(self) -> str:
        return problem_of(self.costs, may_be_partial=True)

    @cached_property
    def may(self) -> bool:
        return may_approve(self.user, self.costs.study)

    @property
    def problem(self) -> str:
        """Why the figures cannot be approved now."""
        return problem_of(self.costs)
