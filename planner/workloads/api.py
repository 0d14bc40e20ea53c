"""REST v1 of the workloads: what there is, what is known of each, new ones, and how each comes out at another rate."""

from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from planner.accounts.teams import writing_team
from planner.api.listing import Filter, Listing
from planner.api.operation import RestView, operation
from planner.api.parsers import PlainJsonParser
from planner.api.queries import choice_of, flag_of, words_of
from planner.api.shapes import (
    Shape,
    address,
    anything,
    asked,
    flag,
    keyed,
    number,
    one_of,
    page,
    text,
    time,
    told,
    whole,
    with_more,
)
from planner.plain_text import plain
from planner.workloads import services
from planner.workloads.dependents import dependents, is_used
from planner.workloads.forms import NAME_LENGTH, named_after
from planner.workloads.models import Workload
from planner.workloads.rescaling import MOST_RATE, rate_of
from planner.workloads.upload_limit import too_large
from simcore.spec import SpecError
from simcore.traces import SyntheticSpec
from simcore.traces.prefix_cache import shares, with_prefix_cache
from simcore.traces.rescaled import Burstiness, Times, rescaled
from simcore.traces.statistics import statistics

ROW = told(
    "",
    id=whole(),
    name=text(),
    kind=one_of("uploaded", "synthetic"),
    shipped=flag(),
    content_hash=text("Equal requests have equal hashes."),
    created_at=time(),
    statistics=anything("That of `python -m simcore inspect`."),
    url=address(),
)
WHOLE = with_more(ROW, report=anything(), spec=anything("A SyntheticSpec, or null."), file_name=text())
FOUND = told(
    "What reading the file finds.", file_name=text(), content_hash=text(), statistics=anything(), report=anything()
)
NAME = text("Left out: the file's, or the mix's.", maxLength=NAME_LENGTH)
MIX = asked(
    "A synthetic workload.",
    synthetic={"type": "object", "description": "A SyntheticSpec (docs/traces.md)."},
    name=NAME,
)
FILE: Shape = asked(
    "A trace.",
    required=("file",),
    file=text("Any format of docs/traces.md, packed or not.", format="binary"),
    name=NAME,
    dry_run=text("`true`: nothing is saved."),
    prefix_cache=text("Tokens, or `unlimited`."),
)
CAME_OUT = keyed(anything(), "How bursty the requests are; null where there is no such figure.")
RESCALED = told("", rate_req_per_s=number(), own=CAME_OUT, arrivals=keyed(CAME_OUT))
LISTING = Listing(
    orders={"created_at": "created_at", "name": "name", "id": "pk"},
    default="-created_at",
    filters=(
        Filter(words_of("q", "Part of the name."), "name__icontains"),
        Filter(choice_of("kind", ("uploaded", "synthetic")), "kind"),
        Filter(flag_of("shipped"), lambda rows, value: rows.filter(shipped__isnull=not value)),
        Filter(words_of("content_hash"), "content_hash"),
    ),
    updated="created_at",
)


class InUse(APIException):
    status_code = 409
    default_code = "in_use"


class Workloads(RestView):
    """The team's workloads and the shipped ones, without their requests. POST: a new one, of a file or of a spec; with
    ``dry_run`` what reading the file finds, and nothing is saved."""

    parser_classes = (MultiPartParser, PlainJsonParser)

    @operation("Workloads", query=LISTING.query, answers={200: page(ROW)})
    def get(self, request: Request) -> Response:
        found = LISTING.page(request, Workload.objects.visible_to(request.user))
        return found.answer(_described(row, request.build_absolute_uri(f"{row.pk}")) for row in found)

    @operation(
        "A new workload", body=MIX, form=FILE, answers={200: FOUND, 201: WHOLE}, headers={201: ("Location",)},
        at_once=False,
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        team = writing_team(request.user)
        upload, given = request.FILES.get("file"), request.data if isinstance(request.data, dict) else {}
        name = str(given.get("name") or "")
        if "file" in too_large(request._request):
            raise ValidationError({"file": [f"Found more than {settings.TRACE_MAX_BYTES // 1_000_000} MB."]})
        try:
            if upload and str(given.get("dry_run", "")).lower() in ("1", "true", "yes"):
                return Response(_found(upload))
            cache = str(given.get("prefix_cache") or "")
            if upload:
                row = _uploaded(team, request.user, name, upload, cache)
            else:
                row = _mixed(team, request.user, name, given)
        except SpecError as error:
            raise ValidationError({"file" if upload else "synthetic": [f"{error}."]}) from None
        where = request.build_absolute_uri(f"{row.pk}")
        return Response({**_described(row, where), **_known(row)}, status=201, headers={"Location": where})


class WorkloadDetail(RestView):
    """One workload: statistics, and the parse report or the spec that it comes from. DELETE: unless it is used."""

    def told(self, request: Request, workload_id: int) -> dict[str, Any]:
        row = _visible(request, workload_id)
        return {**_described(row, request.build_absolute_uri()), **_known(row)}

    @operation("One workload", answers={200: WHOLE})
    def get(self, request: Request, workload_id: int) -> Response:
        return Response(self.told(request, workload_id))

    @operation("Delete a workload", answers={204: None}, errors=(409,), match="taken")
    def delete(self, request: Request, workload_id: int) -> Response:
        row = Workload.objects.editable_by(request.user).filter(pk=workload_id).first()
        if row is None:
            raise Http404
        if is_used(row):
            named = "; ".join(f"{one.name} ({one.counted})" for one in dependents(request.user, row))
            raise InUse(f"{row.name} is kept, for questions ask about it: {named}.")
        services.delete(request.user, row)
        return Response(status=204)


class WorkloadRescaled(RestView):
    """How bursty the requests are, as they are and at ``rate_req_per_s`` by each of the three ways."""

    @operation(
        "A workload at another rate",
        query=(words_of("rate_req_per_s", "Required."),),
        answers={200: RESCALED},
    )
    def get(self, request: Request, workload_id: int) -> Response:
        row = _visible(request, workload_id)
        try:
            rate = rate_of(request.query_params.get("rate_req_per_s", ""))
            if not 0 < rate <= MOST_RATE:
                raise SpecError(f"found {rate:g}, expected more than 0, at most {MOST_RATE:,}")
        except SpecError as error:
            raise ValidationError({"rate_req_per_s": [f"{error}."]}) from None
        arrival_ps = row.arrival_ps()
        ways = {how: _burstiness(found) for how, found in rescaled(arrival_ps, rate).items()}
        own = _burstiness(Burstiness.of(Times.of(arrival_ps)))
        return Response({"rate_req_per_s": rate, "own": own, "arrivals": ways})


def _uploaded(team: Any, user: Any, name: str, upload: UploadedFile, prefix_cache: str) -> Workload:
    file_name = plain(upload.name or "") or "trace"
    name = _free(team, plain(name) or named_after(file_name))
    trace, report = services.read_upload(upload, file_name)
    if prefix_cache:
        trace = with_prefix_cache(trace, report.blocks, services.cache_tokens(prefix_cache), report)
    return services.save_upload(team, user, name, file_name, trace, report)


def _found(upload: UploadedFile) -> dict[str, Any]:
    file_name = plain(upload.name or "") or "trace"
    trace, report = services.read_upload(upload, file_name)
    known: dict[str, Any] = {"content_hash": trace.content_hash(), "statistics": statistics(trace)}
    if report.blocks is not None:
        known[services.SHARES] = shares(trace.prompt_tokens, report.blocks)
    return {"file_name": file_name, **known, "report": report.to_json()}


def _mixed(team: Any, user: Any, name: str, given: Any) -> Workload:
    if "synthetic" not in given:
        raise ValidationError({"file": ["Found neither a file nor synthetic, expected one of the two."]})
    spec = SyntheticSpec.from_json(given["synthetic"])
    if (spec.requests or 0) > settings.TRACE_MAX_ROWS:
        raise SpecError(f"synthetic.requests: found {spec.requests:,}, expected at most {settings.TRACE_MAX_ROWS:,}")
    return services.save_mix(team, user, _free(team, plain(name or spec.name)[:NAME_LENGTH]), spec)


def _free(team: Any, name: str) -> str:
    """A name of the team's own."""
    if len(name) > NAME_LENGTH:
        raise ValidationError({"name": [f"Found {len(name)} characters, expected at most {NAME_LENGTH}."]})
    if Workload.is_taken(team, name):
        raise ValidationError({"name": [f"Found ‘{name}’, which your team has already; expected another name."]})
    return name


def _visible(request: Request, workload_id: int) -> Workload:
    row = Workload.objects.visible_to(request.user).filter(pk=workload_id).first()
    if row is None:
        raise Http404
    return row


def _burstiness(found: Burstiness) -> dict[str, Any]:
    """Plain JSON; ``null`` where there is no such figure."""
    told = asdict(found) | {"dispersion": {f"{window}_s": value for window, value in found.dispersion.items()}}
    rate = told["rate_req_per_s"]
    return told | {"rate_req_per_s": rate if rate != float("inf") else None, "problem": found.problem or None}


def _known(row: Workload) -> dict[str, Any]:
    return {"report": row.report, "spec": row.spec, "file_name": row.file_name}


def _described(row: Workload, url: str) -> dict[str, Any]:
    return {
        "id": row.pk,
        "name": row.name,
        "kind": row.kind,
        "shipped": row.shipped is not None,
        "content_hash": row.content_hash,
        "created_at": row.created_at.isoformat(),
        "statistics": row.summary["statistics"],
        "url": url.split("?")[0],
    }
