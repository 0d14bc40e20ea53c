"""The pilot of a design: what to serve and how to load it, what to expect, and what a benchmark's result says."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from django.core.files.uploadedfile import UploadedFile
from django.db import IntegrityError, transaction
from django.utils import timezone

from planner.accounts.models import Team, User
from planner.calibrations.models import Calibration
from planner.calibrations.services import Fit, contents, flagged, save
from planner.numerals import share, short
from planner.studies.models import Study
from simcore.answer.result import StudyResult
from simcore.measurements import Measurements, ServingPoint
from simcore.measurements.read import Given, read_content
from simcore.pilot import Band, PilotKit, PilotRun, Verdict, pilot_kit, verdict
from simcore.pilot.calibration import pilot_calibrations
from simcore.pilot.error import TimeRange, allowed
from simcore.pilot.part import smallest_part
from simcore.pilot.verdict import least_rate
from simcore.rows import DesignRow
from simcore.spec import Case, SpecError

WORDS = {"ttft_s": "TTFT, mean", "tpot_s": "TPOT, mean", "req_per_s": "Requests/s"}


@dataclass(frozen=True)
class ShownBand:
    """One figure of a run, in words."""

    figure: str
    predicted: str
    within: str
    limit: str
    measured: str = ""
    outcome: str = ""


@dataclass(frozen=True)
class ShownRun:
    """One benchmark and what it is expected to measure."""

    name: str
    shows: str
    title: str
    command: str
    load: str
    bands: list[ShownBand]


@dataclass(frozen=True)
class Judged:
    """What a result says."""

    source: str
    run: str
    passes: bool
    sentence: str
    bands: list[ShownBand]


@dataclass(frozen=True)
class PilotPage:
    """The kit of one design of a study; ``problem`` says why there is none."""

    label: str
    design_id: str
    problem: str
    part: str = ""
    engine: str = ""
    error: str = ""
    headroom: str = ""
    serve: tuple[tuple[str, str], ...] = ()
    runs: tuple[ShownRun, ...] = ()


def kit_of(study: Study, result: StudyResult, row: DesignRow) -> PilotKit:
    """The kit of a design; SpecError says why there is none."""
    required = result.spec.rate_req_per_s
    if row.capacity_req_per_s is None or row.status != "evaluated":
        raise SpecError(f"{row.label}: found it {row.status}, expected a design whose capacity was simulated")
    lengths = study.workload.summary["statistics"]
    case = result.designs[row.design_id].case
    prompt, output = lengths["prompt_tokens"]["mean"], lengths["output_tokens"]["mean"]
    evaluation = result.evaluations[row.design_id]
    if evaluation.capacity_req_per_s < required:
        holds = short(evaluation.capacity_req_per_s)
        raise SpecError(f"{row.label}: found it to hold {holds} requests/s, expected {short(required)}")
    return pilot_kit(case, prompt, output, required, allowed(evaluation, case.slo, required))


def pilot_page(study: Study, result: StudyResult, row: DesignRow) -> PilotPage:
    """What the page shows before anything was measured."""
    try:
        kit = kit_of(study, result, row)
    except SpecError as error:
        return PilotPage(row.label, row.design_id, f"{error}.")
    return PilotPage(
        row.label,
        row.design_id,
        "",
        kit.part,
        kit.engine,
        "; ".join(_range(span) for span in kit.ranges),
        share(kit.allowed - 1),
        tuple((command.title, command.text) for command in kit.serve),
        tuple(_run(run) for run in kit.runs),
    )


def judge(kit: PilotKit, found: Measurements) -> list[Judged]:
    """Each result against the run that it is of; SpecError where one cannot be judged."""
    return [_judged(kit, point) for point in found.serving]


def read(uploads: Sequence[UploadedFile]) -> Measurements:
    """The results of uploaded files; SpecError where there is none that can be used."""
    found = Measurements()
    for text in contents(uploads):
        read_content(text, Given(), found)
    if not found.serving:
        names = ", ".join(upload.name or "file" for upload in uploads)
        why = f" ({found.flags.listed[0]})" if found.flags.listed else " but step times" if found.steps else ""
        raise SpecError(f"{names}: found no result that can be used{why}, expected that of a run below")
    return found


def save_calibrations(team: Team, user: User, name: str, case: Case, found: Measurements) -> list[Calibration]:
    """Iteration times fitted to a pilot's results, one row a replica; SpecError where they cannot be, or where the name
    is taken."""
    made = pilot_calibrations(smallest_part(case), found, timezone.now().date())
    names = {one.role: name if len(made) == 1 else f"{name}, {one.role}" for one in made}
    try:
        with transaction.atomic():
            return [save(team, user, names[one.role], Fit(one.calibration, flagged(found))) for one in made]
    except IntegrityError:
        raise SpecError(f"name: found ‘{name}’, which your team has already, expected another") from None


def _judged(kit: PilotKit, point: ServingPoint) -> Judged:
    run = kit.run_of(point.prompt_tokens, point.output_tokens)
    found: Verdict = verdict(run, point)
    bands = [_band(line.band, line.measured, line.outcome) for line in found.lines]
    return Judged(f"{point.file}, {point.where}", run.name, found.passes, found.sentence, bands)


def _range(span: TimeRange) -> str:
    of = "" if span.role == "mixed" else f"{span.role}: "
    basis = f", by {span.basis}" if span.basis else ", an assumption: nothing was compared with these times"
    return f"{of}true times {share(1 - span.faster)} shorter to {share(span.slower - 1)} longer{basis}"


def _run(run: PilotRun) -> ShownRun:
    load = f"{run.prompt_tokens:,} tokens in, {run.output_tokens:,} out, {short(run.req_per_s)} requests/s"
    bands = [_band(band) for band in run.bands]
    return ShownRun(run.name, run.shows, run.command.title, run.command.text, load, bands)


def _band(band: Band, measured: float | None = None, outcome: str = "") -> ShownBand:
    figure, predicted = band.figure, _shown(band.figure, band.predicted)
    within = f"{_shown(figure, band.low)} to {_shown(figure, band.high)}" if band.low < band.high else predicted
    shown = "" if measured is None else _shown(figure, measured)
    return ShownBand(WORDS[figure], predicted, within, _limit(band), shown, outcome)


def _limit(band: Band) -> str:
    if band.figure == "req_per_s":
        return f"at least {_shown(band.figure, least_rate(band))}"
    return "the rate alone says" if math.isinf(band.limit) else f"at most {_shown(band.figure, band.limit)}"


def _shown(figure: str, value: float) -> str:
    if math.isinf(value):
        return "without end"
    return short(value) if figure == "req_per_s" else f"{short(value * 1e3)} ms"
