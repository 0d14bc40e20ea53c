"""REST v1 of a study's assumptions: the sets that were saved, and another."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.listing import Listing
from planner.api.operation import RestView, body, operation
from planner.api.shapes import address, anything, asked, maybe, named, page, text, time, told, whole
from planner.api.shapes_of import asked_of
from planner.finance.assumed import assumptions_of, hash_of, save
from planner.finance.models import AssumptionSet
from planner.studies import services
from planner.studies.actions import study_for
from planner.studies.models import Study
from planner.studies.stored import spec_of
from simcore.catalogue import resolve_machine
from simcore.economics.assumptions import Assumptions
from simcore.spec import SpecError, decode, encode

Json = dict[str, Any]
WORDS = "What money rests on (docs/economics.md); what is left out counts nothing."
VALUES = named("Assumptions", asked_of(Assumptions, WORDS))
SET = told(
    "One save of a study's assumptions, never changed.",
    id=whole(),
    study=whole(),
    values=anything("As they were entered."),
    assumption_set=maybe(text("The hash that every exported row carries; null: they can be read no more.")),
    created_at=time(),
    created_by=maybe(text()),
    url=address(),
)
LISTING = Listing(orders={"created_at": "created_at", "id": "pk"}, default="-created_at", updated="created_at")


class AssumptionSets(RestView):
    """The assumptions that were saved for a study, the last first."""

    @operation("A study's assumptions", query=LISTING.query, answers={200: page(SET)})
    def get(self, request: Request, study_id: int) -> Response:
        study = study_for(request, study_id)
        rows = AssumptionSet.objects.visible_to(request.user).filter(study=study).select_related("created_by")
        found = LISTING.page(request, rows)
        return found.answer(_told(study, one, request.build_absolute_uri(f"{one.pk}")) for one in found)

    @operation(
        "Save assumptions",
        body=asked("", required=("values",), values=VALUES),
        answers={201: SET},
        headers={201: ("Location",)},
    )
    def post(self, request: Request, study_id: int) -> Response:
        """Costs rest on the set saved last, unless an address names another."""
        study = study_for(request, study_id)
        if not services.editable(request.user, study):
            raise PermissionDenied("You may read this study, but not change it.")
        values = _checked(study, body(request)["values"])
        made = save(request.user, study, values)
        where = request.build_absolute_uri(f"{made.pk}")
        return Response(_told(study, made, where), status=201, headers={"Location": where})


class OneAssumptionSet(RestView):
    """One save of a study's assumptions."""

    @operation("One save of assumptions", answers={200: SET})
    def get(self, request: Request, study_id: int, set_id: int) -> Response:
        study = study_for(request, study_id)
        found = AssumptionSet.objects.visible_to(request.user).filter(study=study, pk=set_id).first()
        if found is None:
            raise Http404("No such assumptions of this study.")
        return Response(_told(study, found, request.build_absolute_uri()))


def _checked(study: Study, given: Json) -> Json:
    """As simcore reads them; of the machines that the study asks about, each once."""
    try:
        found = decode(Assumptions, given)
    except SpecError as error:
        field, _, words = str(error).partition(": ")
        raise ValidationError({f"values.{field}": [f"{words[:1].upper()}{words[1:]}."]}) from None
    studied = [resolve_machine(choice.machine).id for choice in spec_of(study).machines]
    named_here = [one.machine for one in found.machines]
    if sorted(named_here) != sorted(studied):
        words = f"Found {', '.join(named_here) or 'none'}, expected each of the study's once: {', '.join(studied)}."
        raise ValidationError({"values.machines": [words[:1000]]})
    values: Json = encode(found)
    return values


def _told(study: Study, one: AssumptionSet, url: str) -> Json:
    try:
        known = hash_of(assumptions_of(study, one))
    except SpecError:
        known = None
    return {
        "id": one.pk,
        "study": study.pk,
        "values": one.values,
        "assumption_set": known,
        "created_at": one.created_at.isoformat(),
        "created_by": one.created_by.username if one.created_by else None,
        "url": url.split("?")[0],
    }
