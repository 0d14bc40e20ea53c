"""The page of a study's cost centres."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods

from planner.finance.assumed import save
from planner.finance.centres import NOT_SAID, RULES, Centres, centre_name, with_sharing
from planner.finance.costs import Costs
from planner.finance.fields import ALLOCATIONS
from planner.finance.views import asked_view, costs_for
from planner.finance.words import KIND_NAMES
from planner.studies import services
from planner.studies.actions import study_for
from simcore.economics.cost_centres import CentreCost, Shared
from simcore.economics.months import Month
from simcore.economics.unit_cost import KINDS
from simcore.spec import SpecError


@dataclass(frozen=True)
class CentresPage:
    """``period``: the month shown; empty: the first. ``typed``: what was refused."""

    found: Centres
    period: str
    typed: dict[str, str]

    @property
    def costs(self) -> Costs:
        return self.found.costs

    @cached_property
    def problem(self) -> str:
        try:
            _ = self.found.months
        except SpecError as error:
            return str(error)
        return ""

    @property
    def address(self) -> dict[str, str]:
        said = {"design": self.costs.design_id, "set": self.costs.set_name, "view": self.found.view}
        return {name: text for name, text in said.items() if text}

    @property
    def query(self) -> str:
        return urlencode(self.address)

    @property
    def periods(self) -> list[str]:
        return [str(month) for month, _ in self.found.months]

    @cached_property
    def month(self) -> tuple[Month, Shared]:
        return next((pair for pair in self.found.months if str(pair[0]) == self.period), self.found.months[0])

    @property
    def kinds(self) -> list[str]:
        return [KIND_NAMES[kind] for kind in KINDS]

    @property
    def rows(self) -> list[tuple[str, CentreCost, list[Decimal]]]:
        """Of the month: centre, what it is, its parts by kind of token."""
        return [
            (centre_name(centre), centre, [centre.by_kind_usd[kind] for kind in KINDS])
            for centre in self.month[1].centres
        ]

    @property
    def kind_sums(self) -> list[Decimal]:
        return [sum((centre.by_kind_usd[kind] for centre in self.month[1].centres), Decimal(0)) for kind in KINDS]

    @property
    def month_table(self) -> tuple[list[str], list[tuple[str, list[Decimal], Decimal]]]:
        """Heads, and each month's parts and sum."""
        names = [name for name, _, _ in self.found.sums()]
        rows = []
        for month, shared in self.found.months:
            usd = {centre_name(centre): centre.usd for centre in shared.centres}
            rows.append((str(month), [usd.get(name, Decimal(0)) for name in names], shared.total_usd))
        return names, rows

    @property
    def whole(self) -> Decimal:
        return sum((usd for _, _, usd in self.found.sums()), Decimal(0))

    @property
    def allocation(self) -> str:
        return dict(ALLOCATIONS)[self.costs.assumptions.allocation]

    @property
    def rule_inputs(self) -> list[tuple[str, str, list[tuple[str, str, bool]]]]:
        sharing = self.costs.assumptions.sharing
        chosen = {"idle": sharing.idle, "headroom": sharing.headroom, **self.typed}
        labels = (("idle", "Idle goes"), ("headroom", "Headroom goes"))
        return [(name, label, [(rule, words, rule == chosen[name]) for rule, words in RULES]) for name, label in labels]

    @property
    def class_inputs(self) -> list[tuple[str, str, str]]:
        """Field, class, what stands in it."""
        found = []
        for place, one in enumerate(self.found.classes):
            stated = "" if one.cost_centre == NOT_SAID else one.cost_centre
            found.append((f"centre-{place}", one.name, self.typed.get(f"centre-{place}", stated)))
        return found


@require_http_methods(["GET", "HEAD", "POST"])
def cost_centres(request: HttpRequest, study_id: int) -> HttpResponse:
    """``?design=…&set=…&view=book&month=2027-01``; POST saves the sharing as another set of assumptions."""
    study = study_for(request, study_id)
    costs = costs_for(request, study)
    can_edit = services.editable(request.user, study)
    typed = {name: str(text) for name, text in request.POST.items()}
    page = CentresPage(Centres(costs, asked_view(request)), request.GET.get("month", ""), typed)
    problem = ""
    if request.method == "POST":
        if not can_edit:
            raise PermissionDenied("You may read this study, but not change it.")
        try:
            centres = {name: typed.get(field, "") for field, name, _ in page.class_inputs}
            values = with_sharing(costs, typed.get("idle", ""), typed.get("headroom", ""), centres)
        except SpecError as error:
            problem = str(error)
        else:
            made = save(request.user, study, values)
            query = {**page.address, "set": str(made.pk)}
            return redirect(f"{reverse('finance:cost_centres', args=[study.pk])}?{urlencode(query)}")
    context = {"study": study, "page": page, "can_edit": can_edit, "problem": problem}
    return render(request, "finance/cost_centres.html", context, status=422 if problem else 200)
