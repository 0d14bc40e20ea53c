"""What the finance page's buttons do: approve the figures shown, withdraw an approval."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST

from planner.finance.approvals import services
from planner.finance.models import Approval
from planner.finance.views import asked_view, costs_for
from planner.studies.actions import study_for
from planner.studies.models import Study

REFUSED = "Owners and editors of the question’s team approve it: you may read it."


@require_POST
def approve(request: HttpRequest, study_id: int) -> HttpResponse:
    """``?design=…&set=…`` as the page shows it; ``note``."""
    study = study_for(request, study_id)
    must_approve(request, study)
    costs = costs_for(request, study)
    try:
        services.approve(request.user, costs, request.POST.get("note", ""))
    except services.NotApprovableError as error:
        messages.error(request, f"Not approved. {error}")
    query = {"design": costs.design_id, "set": costs.set_name, "view": asked_view(request)}
    return _back(study, query)


@require_POST
def withdraw(request: HttpRequest, study_id: int, approval_id: int) -> HttpResponse:
    study = study_for(request, study_id)
    approval = approval_of(request, study, approval_id)
    must_approve(request, study)
    if not services.withdraw(request.user, approval):
        messages.error(request, "It had been withdrawn already.")
    return _back(study, {name: request.GET[name] for name in ("design", "set", "view") if name in request.GET})


def approval_of(request: HttpRequest, study: Study, approval_id: int) -> Approval:
    rows = Approval.objects.visible_to(request.user).select_related("study__revision__scenario", "team")
    found = rows.filter(study=study, pk=approval_id).first()
    if found is None:
        raise Http404("No such approval of this study.")
    return found


def must_approve(request: HttpRequest, study: Study) -> None:
    if not services.may_approve(request.user, study):
        raise PermissionDenied(REFUSED)


def _back(study: Study, query: dict[str, str]) -> HttpResponse:
    text = urlencode({name: value for name, value in query.items() if value})
    return redirect(f"{reverse('finance:finance', args=[study.pk])}?{text}#approval-title")
