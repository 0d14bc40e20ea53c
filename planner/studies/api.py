"""REST v1 of the studies: started, watched, stopped; the rows of page and downloads. One that is not complete says
``partial``."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, TypeVar

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.http import Http404
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.listing import Filter, Listing, Table
from planner.api.operation import RestView, body, given, operation
from planner.api.queries import choice_of, flag_of, whole_of, words_of
from planner.api.shapes import page, unknown
from planner.scenarios.api import of_inputs, scenario_for
from planner.scenarios.errors import FieldErrors
from planner.scenarios.models import Revision
from planner.scenarios.services import create_scenario
from planner.studies import results, services
from planner.studies.actions import study_for
from planner.studies.api_shapes import ANSWER, DESIGNS, FRONTIER, LISTED, MOVES, NEW, STATES, STUDY
from planner.studies.exports import summary
from planner.studies.models import Study
from planner.studies.moves import PRICE, names_of
from planner.studies.supposing import answer, supposed
from planner.studies.supposing import as_json as supposed_json
from simcore.rows import DesignRow, as_json

T = TypeVar("T")
Json = dict[str, Any]
TRIED = ~Q(designs__origin__in=["", "screened"]) | ~Q(designs__failure="")
ASK_AGAIN_S = "2"


def _asked_for(field: str) -> Callable[[QuerySet[Any], str], QuerySet[Any]]:
    """Of a list of a question's inputs, those with the value."""
    return lambda rows, value: rows.filter(**{f"revision__inputs__{field}__icontains": f'"{value}"'})


LISTING = Listing(
    orders={"created_at": "created_at", "updated_at": "updated_at", "state": "state", "id": "pk"},
    default="-created_at",
    filters=(
        Filter(choice_of("state", STATES, several=True), "state__in"),
        Filter(whole_of("scenario", "A question's number."), "revision__scenario_id"),
        Filter(whole_of("revision", "A revision's number within its question."), "revision__number"),
        Filter(words_of("model", "A model's id."), "revision__inputs__model"),
        Filter(words_of("machine", "The id of a machine among those asked about."), _asked_for("machines")),
        Filter(words_of("family", "A family's id among those asked about."), _asked_for("families")),
        Filter(words_of("goal"), "revision__inputs__goal"),
    ),
    updated="updated_at",
)
ORDERED_BY = (
    *("capacity_req_per_s", "usd_per_hour", "nameplate_w", "provisioned_w", "mean_w", "p99_w"),
    *("req_per_usd", "req_per_s_per_kw", "design_id"),
)
OF_DESIGNS = (
    words_of("family", "A family's id.", several=True),
    choice_of("status", ("evaluated", "screened", "infeasible", "failed"), several=True),
    words_of("machine", "The id of a machine that it has."),
    flag_of("met", "Whether it answers the question."),
    flag_of("on_cost_frontier"),
    flag_of("on_power_frontier"),
)
TABLE = Table(orders=ORDERED_BY, filters=OF_DESIGNS)
FLAGS = ("met", "on_cost_frontier", "on_power_frontier")
MACHINES = ("prefill_machine", "decode_machine", "mixed_machine")


class Studies(RestView):
    """The team's studies, newest first, without their answers."""

    @operation("Studies", query=LISTING.query, answers={200: page(LISTED)})
    def get(self, request: Request) -> Response:
        rows = Study.objects.visible_to(request.user).only("created_at", "updated_at", "state")
        found = LISTING.page(request, rows)
        counted = Study.objects.visible_to(request.user).annotate(
            total=Count("designs", filter=~Q(designs__origin="screened")),
            tried=Count("designs", filter=TRIED),
        )
        by_id = {
            study.pk: study
            for study in counted.select_related("revision__scenario").filter(pk__in=[one.pk for one in found])
        }
        return found.answer(_listed(by_id[one.pk], request) for one in found if one.pk in by_id)

    @operation(
        "Have a question answered", body=NEW, answers={201: STUDY, 202: STUDY},
        headers={201: ("Location",), 202: ("Location", "Retry-After")},
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        """202 while it waits for a worker or is worked on, with the study under way where there is one of this revision
        already; 201 where everything was known and it is done. Ask its `Location` again after `Retry-After` seconds."""
        said = body(request)
        if ("scenario" in said) == ("inputs" in said):
            words = "Found both, expected one of the two." if "inputs" in said else "Missing: expected it, or inputs."
            raise ValidationError({"scenario": [words]})
        if "inputs" in said and "revision" in said:
            raise ValidationError({"revision": ["Found with inputs, expected with scenario."]})
        with transaction.atomic(), of_inputs():
            study = services.start_study(request.user, _revision(request, said))
        study = study_for(request, study.pk)
        where = request.build_absolute_uri(f"{study.pk}")
        response = _answered(study, {**summary(study), "url": where}, done=201)
        response["Location"] = where
        return response


class StudyDetail(RestView):
    """State, progress and the answer in words. 202 while it is being computed."""

    @operation("One study", query=MOVES, answers={200: STUDY, 202: STUDY}, headers={202: ("Retry-After",)})
    def get(self, request: Request, study_id: int) -> Response:
        study = study_for(request, study_id)
        return _answered(study, {**or_400(summary, study, request), "url": request.build_absolute_uri()})


class StudyMoved(RestView):
    """What is done to a study that is there."""

    def moved(self, request: Request, study_id: int) -> Study:
        study = study_for(request, study_id)
        if not services.editable(request.user, study):
            raise PermissionDenied("You may read this study, but not change it.")
        return study

    def now(self, request: Request, study_id: int) -> Response:
        study = study_for(request, study_id)
        where = request.build_absolute_uri().rpartition("/")[0]
        response = _answered(study, {**summary(study), "url": where})
        response["Location"] = where
        return response


class StudyCancelled(StudyMoved):
    """Stops a study, and keeps what is computed. One that has ended stays as it is."""

    @operation("Cancel a study", answers={200: STUDY, 202: STUDY}, headers={200: ("Location",), 202: ("Retry-After",)})
    def post(self, request: Request, study_id: int) -> Response:
        services.cancel(self.moved(request, study_id), request.user)
        return self.now(request, study_id)


class StudyRetried(StudyMoved):
    """Goes on where a study ended: what failed is tried again, what was cancelled is taken up."""

    @operation(
        "Go on with a study", answers={200: STUDY, 202: STUDY}, headers={200: ("Location",), 202: ("Retry-After",)}
    )
    def post(self, request: Request, study_id: int) -> Response:
        services.retry(self.moved(request, study_id), request.user)
        return self.now(request, study_id)


class StudyDesigns(RestView):
    """The rows of designs.csv: those tried so far, all at once unless `limit` asks for pages. 202 while more are being
    computed."""

    @operation(
        "A study's designs", query=(*TABLE.query, *MOVES), answers={200: DESIGNS, 202: DESIGNS},
        headers={202: ("Retry-After",)},
    )  # fmt: skip
    def get(self, request: Request, study_id: int) -> Response:
        study = study_for(request, study_id)
        _, found = or_400(supposed, study, request)
        rows = [row for row in found.result.rows if _is_wanted(row, given(request))]
        some = TABLE.page(request, rows, lambda row: row.design_id)
        return _answered(study, {**_of(study), **some.links, "results": [as_json(row) for row in some]})


class StudyAnswer(RestView):
    """The answer: its lines, and the row of the design that it names. 202 while it may still change."""

    @operation("A study's answer", query=MOVES, answers={200: ANSWER, 202: ANSWER}, headers={202: ("Retry-After",)})
    def get(self, request: Request, study_id: int) -> Response:
        study = study_for(request, study_id)
        now = results.progress(study)
        moves, found = or_400(lambda one, query: supposed(one, query, now), study, request)
        winner = found.result.winner
        data = {
            **_of(study),
            "lines": [asdict(line) for line in answer(study, found, now)],
            "design": as_json(winner) if winner else None,
            "closest": [as_json(row) for row in found.result.closest],
            **supposed_json(moves, found),
        }
        return _answered(study, data)


class StudyFrontier(RestView):
    """The designs on the frontiers of cost and of power. 202 while they may still change."""

    @operation(
        "A study's frontiers", query=MOVES, answers={200: FRONTIER, 202: FRONTIER}, headers={202: ("Retry-After",)}
    )
    def get(self, request: Request, study_id: int) -> Response:
        study = study_for(request, study_id)
        _, found = or_400(supposed, study, request)
        rows = sorted(found.result.rows, key=lambda row: (row.capacity_req_per_s or 0.0, row.design_id))
        data = {
            "cost": [as_json(row) for row in rows if row.on_cost_frontier],
            "power": [as_json(row) for row in rows if row.on_power_frontier],
        }
        return _answered(study, _of(study) | data)


def _revision(request: Request, said: Mapping[str, Any]) -> Revision:
    """The one that is named, or a new question's first."""
    if "inputs" in said:
        inputs = {name: value for name, value in said["inputs"].items() if value is not None}
        return create_scenario(request.user, inputs, said.get("name", ""))
    if "name" in said:
        raise ValidationError({"name": ["Found with scenario, which has one; expected with inputs."]})
    try:
        scenario = scenario_for(request, said["scenario"])
    except Http404 as error:
        raise ValidationError(
            {"scenario": [f"Found {said['scenario']}, expected a question of your team's."]}
        ) from error
    if "revision" not in said:
        return scenario.latest
    found = scenario.revisions.filter(number=said["revision"]).first()
    if found is None:
        last = scenario.latest.number
        raise ValidationError({"revision": [f"Found {said['revision']}, expected one from 1 to {last}."]})
    return found


def or_400(made: Callable[[Study, Mapping[str, Any]], T], study: Study, request: Request) -> T:
    """What is made under what the query supposes; 400 where that cannot be, by name."""
    known = list(names_of(results.study_result(study)))
    wrong = {name: unknown(name, known) for name in given(request) if name.startswith(PRICE) and name not in known}
    try:
        if wrong:
            raise FieldErrors(wrong)
        return made(study, request.query_params)
    except FieldErrors as error:
        raise ValidationError(error.fields) from None


def _is_wanted(row: DesignRow, asked: Mapping[str, Any]) -> bool:
    return (
        row.family in asked.get("family", [row.family])
        and row.status in asked.get("status", [row.status])
        and asked.get("machine") in (None, *(getattr(row, name) for name in MACHINES))
        and all(getattr(row, name) is asked[name] for name in FLAGS if name in asked)
    )


def _of(study: Study) -> Json:
    return {"study": study.pk, "state": study.state, "partial": study.is_partial}


def _listed(study: Study, request: Request) -> Json:
    counted: Any = study
    return {
        "id": study.pk,
        "name": study.revision.title,
        "scenario": study.revision.scenario_id,
        "revision": study.revision.number,
        "state": study.state,
        "partial": study.is_partial,
        "created_at": study.created_at.isoformat(),
        "updated_at": study.updated_at.isoformat(),
        "progress": {"tried": counted.tried, "total": counted.total},
        "url": request.build_absolute_uri(f"{study.pk}"),
    }


def _answered(study: Study, data: Json, done: int = 200) -> Response:
    if study.is_active:
        return Response(data, status=202, headers={"Retry-After": ASK_AGAIN_S})
    return Response(data, status=done)
