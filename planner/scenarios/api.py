"""REST v1 of the questions: scenarios and their revisions, read, asked and changed. Inputs are checked by the page's
own form and translated as a study will (``compile_question``), so that what is saved can be asked."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet, Subquery
from django.http import Http404
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from planner.accounts.owned import Visitor
from planner.api.errors import Conflict
from planner.api.listing import Filter, Listing
from planner.api.operation import RestView, body, operation
from planner.api.preconditions import still, tagged
from planner.api.queries import flag_of, words_of
from planner.api.shapes import address, asked, flag, maybe, named, one_of, page, text, time, told, whole, with_more
from planner.catalogue.kept import NOTHING
from planner.deleted.gone import gone
from planner.scenarios import deleting
from planner.scenarios.errors import FieldErrors
from planner.scenarios.forms import with_defaults
from planner.scenarios.input_shapes import inputs_shape
from planner.scenarios.models import Revision, Scenario
from planner.scenarios.services import NAME_LENGTH, TODAY, create_scenario, locked, rename, save_revision
from planner.studies.spec import compile_question

Json = dict[str, Any]
INPUTS = {"type": "object", "description": "The question's fields: what POST takes, all of them."}
LISTED = told(
    "A question.",
    id=whole(),
    name=text(),
    note=text("What a reader must know about it."),
    shipped=flag("The example that comes with Phaseplan: it stays as it is."),
    origin=text("Which question it is a copy of; empty: none."),
    revision=whole("The number of its latest revision."),
    created_at=time(),
    updated_at=time("Of its name, note or revisions."),
    url=address(),
)
SCENARIO = named(
    "Question", with_more(LISTED, title=text("What its latest revision asks."), inputs=INPUTS, revisions_url=address())
)
REVISION = told(
    "One save of a question's inputs, never changed.",
    scenario=whole(),
    number=whole(),
    title=text(),
    inputs=INPUTS,
    created_at=time(),
    created_by=maybe(text()),
    url=address(),
)
NAME = text("What it is called; left out or empty, by what it asks.", maxLength=NAME_LENGTH)
NOTE = text(maxLength=10_000)
ROWS = one_of("kept", "today", words="The catalogue's rows as the latest revision keeps them, or as they are today.")
NEW = asked("", required=("inputs",), name=NAME, note=NOTE, inputs=inputs_shape())
CHANGED = asked("", required=("inputs",), name=NAME, note=NOTE, inputs=inputs_shape(), rows=ROWS)
REVISED = asked("", required=("inputs",), inputs=inputs_shape(), rows=ROWS)
PATCHED = asked(
    "What is left out stays.",
    name=NAME,
    note=NOTE,
    inputs={**with_more(inputs_shape()), "required": [], "description": "Fields in place of the latest revision's."},
    rows=ROWS,
)


def _latest_with(field: str, inside: bool = False) -> Any:
    """Questions whose latest revision has the value in a field, or among a field's values."""

    def by(rows: QuerySet[Any], value: str) -> QuerySet[Any]:
        asked_for = {f"inputs__{field}__icontains": f'"{value}"'} if inside else {f"inputs__{field}": value}
        return rows.filter(Exists(Revision.objects.filter(pk=OuterRef("latest_pk"), **asked_for)))

    return by


LISTING = Listing(
    orders={"created_at": "created_at", "updated_at": "updated_at", "name": "name", "id": "pk"},
    default="-created_at",
    filters=(
        Filter(words_of("q", "Part of the name."), "name__icontains"),
        Filter(words_of("model", "A model's id."), _latest_with("model")),
        Filter(words_of("machine", "The id of a machine among those asked about."), _latest_with("machines", True)),
        Filter(words_of("family", "A family's id."), _latest_with("families", True)),
        Filter(words_of("goal"), _latest_with("goal")),
        Filter(flag_of("shipped"), lambda rows, value: rows.filter(shipped_id__isnull=not value)),
    ),
    updated="updated_at",
)
REVISIONS = Listing(orders={"number": "number", "created_at": "created_at"}, default="-number", updated="created_at")


class Scenarios(RestView):
    """The team's questions, the last asked first."""

    @operation("Questions", query=LISTING.query, answers={200: page(LISTED)})
    def get(self, request: Request) -> Response:
        latest = Revision.objects.filter(scenario=OuterRef("pk")).order_by("-number")
        rows = Scenario.objects.visible_to(request.user).annotate(
            latest_pk=Subquery(latest.values("pk")[:1]), latest_number=Subquery(latest.values("number")[:1])
        )
        found = LISTING.page(request, rows)
        return found.answer(_listed(one, one.latest_number, _at(request, one.pk)) for one in found)

    @operation("Ask a question", body=NEW, answers={201: SCENARIO}, headers={201: ("Location", "ETag")})
    def post(self, request: Request) -> Response:
        """Saves it with its first revision. What it costs to simulate begins with POST of a study."""
        said = body(request)
        with transaction.atomic(), of_inputs():
            made = create_scenario(request.user, _inputs(said), said.get("name", ""), note=said.get("note", ""))
            compile_question(request.user, made.inputs, made.rows)
        where = _at(request, made.scenario_id)
        return tagged(Response(_described(made, where), status=201, headers={"Location": where}))


class ScenarioDetail(RestView):
    """One question, as its latest revision asks it."""

    def told(self, request: Request, scenario_id: int) -> Json:
        return _described(scenario_for(request, scenario_id).latest, _at(request, scenario_id))

    @operation("One question", answers={200: SCENARIO})
    def get(self, request: Request, scenario_id: int) -> Response:
        return Response(self.told(request, scenario_id))

    @operation(
        "Change a question", body=CHANGED, match="required", errors=(409,), answers={200: SCENARIO},
        headers={200: ("ETag",)},
    )  # fmt: skip
    def put(self, request: Request, scenario_id: int) -> Response:
        """All its inputs: its next revision, or the latest where they are the same."""
        return self._changed(request, scenario_id, body(request))

    @operation(
        "Change some of a question", body=PATCHED, match="required", errors=(409,), answers={200: SCENARIO},
        headers={200: ("ETag",)},
    )  # fmt: skip
    def patch(self, request: Request, scenario_id: int) -> Response:
        """Name, note, or some of the inputs: those make its next revision."""
        said = body(request)
        if "inputs" in said:
            latest = with_defaults(scenario_for(request, scenario_id).latest.inputs)
            said = {**said, "inputs": {**latest, **said["inputs"]}}
        return self._changed(request, scenario_id, said)

    @operation("Delete a question", match="taken", errors=(409,), answers={204: None}, headers={204: ("Location",)})
    def delete(self, request: Request, scenario_id: int) -> Response:
        """With its revisions, studies and links, until it is put back: `Location` is where that can be asked for."""
        found = scenario_for(request, scenario_id)
        with transaction.atomic():
            locked(found)
            still(self, request, {"scenario_id": scenario_id})
            try:
                deleting.delete(request.user, found)
            except deleting.ShippedError as error:
                raise Conflict(str(error)) from None
        return gone(request, "scenarios", scenario_id)

    def _changed(self, request: Request, scenario_id: int, said: Mapping[str, Any]) -> Response:
        found = changeable(request, scenario_id)
        with transaction.atomic():
            locked(found)
            still(self, request, {"scenario_id": scenario_id})
            if "inputs" in said:
                _save(request.user, found, said)
            _rename(request.user, found, said)
        return tagged(Response(self.told(request, scenario_id)))


class Revisions(RestView):
    """A question's revisions, the latest first."""

    @operation("A question's revisions", query=REVISIONS.query, answers={200: page(REVISION)})
    def get(self, request: Request, scenario_id: int) -> Response:
        of = scenario_for(request, scenario_id)
        found = REVISIONS.page(request, of.revisions.select_related("scenario", "created_by"))
        return found.answer(_revision(one, _at(request, scenario_id, one.number)) for one in found)

    @operation(
        "Revise a question", body=REVISED, errors=(409,), answers={200: REVISION, 201: REVISION},
        headers={200: ("Location",), 201: ("Location",)},
    )  # fmt: skip
    def post(self, request: Request, scenario_id: int) -> Response:
        """Its next revision; 200 with the latest where nothing would be another. PUT of the question refuses to go
        over what somebody else saved meanwhile; this goes on from whatever is there."""
        found = changeable(request, scenario_id)
        before = found.latest.number
        with transaction.atomic():
            made = _save(request.user, found, body(request))
        where = _at(request, scenario_id, made.number)
        status = 201 if made.number > before else 200
        return Response(_revision(made, where), status=status, headers={"Location": where})


class RevisionDetail(RestView):
    """One revision."""

    @operation("One revision", answers={200: REVISION})
    def get(self, request: Request, scenario_id: int, number: int) -> Response:
        found = scenario_for(request, scenario_id).revisions.filter(number=number).first()
        if found is None:
            raise Http404("No such revision.")
        return Response(_revision(found, _at(request, scenario_id, number)))


def scenario_for(request: Request, scenario_id: int) -> Scenario:
    """404: not there, or another team's."""
    found: Scenario | None = Scenario.objects.visible_to(request.user).filter(pk=scenario_id).first()
    if found is None:
        raise Http404("No such question.")
    return found


def changeable(request: Request, scenario_id: int) -> Scenario:
    """403 where it may be read alone, 409 of the shipped example."""
    found = scenario_for(request, scenario_id)
    if not Scenario.objects.editable_by(request.user).filter(pk=found.pk).exists():
        raise PermissionDenied("You may read this question, but not change it.")
    if found.shipped_id is not None:
        raise Conflict("The example stays as it is shipped: POST its inputs as a question of your own.")
    return found


@contextmanager
def of_inputs() -> Iterator[None]:
    """Names the fields of a question as those of ``inputs``, where the body has them."""
    try:
        yield
    except FieldErrors as error:
        raise ValidationError(
            {("inputs" if name == "__all__" else f"inputs.{name}"): [said] for name, said in error.fields.items()}
        ) from None


def _save(user: Visitor, scenario: Scenario, said: Mapping[str, Any]) -> Revision:
    with of_inputs():
        kept = NOTHING if said.get("rows") == TODAY else None
        made = save_revision(user, scenario, _inputs(said), kept=kept)
        compile_question(user, made.inputs, made.rows)
    return made


def _inputs(said: Mapping[str, Any]) -> Json:
    """As the form has them: null is what a field has that is left empty."""
    return {name: value for name, value in said["inputs"].items() if value is not None}


def _rename(user: Visitor, scenario: Scenario, said: Mapping[str, Any]) -> None:
    given = {name: said[name].strip() for name in ("name", "note") if name in said}
    if not given.get("name", "x"):
        del given["name"]
    rename(user, scenario, **given)


def _at(request: Request, scenario_id: int, number: int | None = None) -> str:
    end = "" if number is None else f"/revisions/{number}"
    return str(request.build_absolute_uri(f"/api/v1/scenarios/{scenario_id}{end}"))


def _listed(one: Scenario, number: int, url: str) -> Json:
    return {
        "id": one.pk,
        "name": one.name,
        "note": one.note,
        "shipped": one.shipped_id is not None,
        "origin": one.origin,
        "revision": number,
        "created_at": one.created_at.isoformat(),
        "updated_at": one.updated_at.isoformat(),
        "url": url,
    }


def _described(latest: Revision, url: str) -> Json:
    more = {"title": latest.title, "inputs": with_defaults(latest.inputs), "revisions_url": f"{url}/revisions/"}
    return _listed(latest.scenario, latest.number, url) | more


def _revision(one: Revision, url: str) -> Json:
    return {
        "scenario": one.scenario_id,
        "number": one.number,
        "title": one.title,
        "inputs": with_defaults(one.inputs),
        "created_at": one.created_at.isoformat(),
        "created_by": one.created_by.username if one.created_by else None,
        "url": url,
    }
