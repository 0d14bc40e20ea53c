"""Why not mine: any design of the question's machines, typed in, is simulated as the study would and told in a sentence
which limit it misses, at which rate, in which pool; or what it costs beside the answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from simcore.analyses.kind import Field, Json, Kind, Lab, Subject
from simcore.answer.measure import difference, measure_of
from simcore.answer.result import StudyResult, study_result
from simcore.answer.why_not import why_not
from simcore.catalogue import resolve_machine
from simcore.economics.hourly import usd_per_month
from simcore.evaluation import Design, Evaluation
from simcore.families import CO_LOCATED, SCHEDULER_NAMES, SPLIT, lines
from simcore.fluid.workload_statistics import WorkloadStatistics
from simcore.rows import as_json
from simcore.search.cost import RUNS, predicted_cpu_s
from simcore.shortfalls import value_and_limit
from simcore.spec import Case, SpecError, bounded, encode
from simcore.spec.revive import revive
from simcore.survival import evaluated_cases, surviving
from simcore.words import dollars, kilowatts, limit_name, number


@dataclass(frozen=True)
class Parameters:
    """A design. What is left out is the scheduler's default, and as many accelerators a replica as the model needs at
    most."""

    family: str | None = None
    machines: int | None = bounded(None, least=1, most=100_000)
    """Co-located."""
    prefill_machines: int | None = bounded(None, least=1, most=100_000)
    decode_machines: int | None = bounded(None, least=1, most=100_000)
    token_budget: int | None = bounded(None, least=1, most=1_000_000)
    tensor_parallel: int | None = bounded(None, least=1, most=1024)
    decode_tensor_parallel: int | None = bounded(None, least=1, most=1024)


@dataclass(frozen=True)
class Task:
    """What is simulated; nothing where the study has the design already."""

    cases: tuple[Case, ...]
    rate_req_per_s: float
    failures: int = 0
    """Machines lost at once that must be survived."""


def task(subject: Subject, parameters: Parameters) -> Task:
    """SpecError where no such design can be formed."""
    design = _design(subject.result, parameters)
    known = subject.result.evaluations.get(design.design_id)
    is_known = known is not None and known.status == "evaluated"
    spec = subject.result.spec
    return Task(() if is_known else (design.case,), spec.rate_req_per_s, spec.failures)


def cpu_s(task: Task, statistics: WorkloadStatistics) -> float:
    """A capacity and a run at the rate."""
    return sum(
        evaluated_cases(len(case.pools), task.failures) * predicted_cpu_s(case, statistics, RUNS + 1)
        for case in task.cases
    )


def run(task: Task, lab: Lab) -> Json:
    """Whatever it can hold, it is run at the rate."""
    (case,) = task.cases

    def evaluated(case: Case) -> Evaluation:
        return replace(lab.capacity(case), at_required=lab.run(case, task.rate_req_per_s).result)

    return {"evaluation": encode(surviving(case, task.failures, evaluated))}


def told(subject: Subject, parameters: Parameters, task: Task, found: Json) -> Json:
    """The sentence, and the design's figures as in any table of the study."""
    own, design = subject.result, _design(subject.result, parameters)
    result = _with(own, design, revive(Evaluation, found["evaluation"])) if task.cases else own
    row = result.row(design.design_id)
    assert row is not None  # noqa: S101 - it was put there
    at = result.evaluations[row.design_id].with_all.at_required
    return {
        "design": row.label,
        "row": as_json(row),
        "rate_req_per_s": task.rate_req_per_s,
        "stable": at.stable if at else None,
        "limits": [
            {
                "name": limit_name(limit.metric, limit.percentile),
                **dict(zip(("value", "limit"), value_and_limit(limit), strict=True)),
                "met": limit.met,
            }
            for limit in (at.limits if at else ())
        ],
        "pools": [
            {name: getattr(pool, name) for name in ("role", "busy", "mfu", "mbu", "kv_peak_share")}
            for pool in (at.pools if at else ())
        ],
        "sentences": [_verdict(own, result, design), _figures(result, design)],
        "assumptions": [
            {
                "text": "Simulated as the study’s own designs are: the same requests, rate, SLO, prices and limits.",
                "source": "docs/measurement.md",
            }
        ],
    }


def _verdict(own: StudyResult, result: StudyResult, design: Design) -> str:
    """Beside the study's answer."""
    row = result.row(design.design_id)
    assert row is not None  # noqa: S101 - it was put there
    if result.winner is row and (own.winner is None or own.winner.design_id != row.design_id):
        if own.winner is None:
            return f"{row.label} meets the question, which no design of the study does."
        than = difference(measure_of(result), row, own.winner)
        words = f"{than[0].lower()}{than[1:]} {own.winner.label}"
        return f"{row.label} meets the question and comes before the answer: {words}."
    sentence = why_not(result, row)
    begun = {"This is": " is", "Not the answer:": " is not the answer: it", "Holds": " holds"}
    return next(
        f"{row.label}{said}{sentence.removeprefix(by)}" for by, said in begun.items() if sentence.startswith(by)
    )


def _figures(result: StudyResult, design: Design) -> str:
    row = result.row(design.design_id)
    assert row is not None  # noqa: S101 - it was put there
    held = f" and holds {number(row.capacity_req_per_s)} requests/s" if row.met and row.capacity_req_per_s else ""
    month = dollars(usd_per_month(row.usd_per_hour))
    return f"It costs {month} a month, takes {kilowatts(row.provisioned_w)} provisioned{held}."


def _with(own: StudyResult, design: Design, evaluation: Evaluation) -> StudyResult:
    designs = {**own.designs, design.design_id: design}
    evaluations = {**own.evaluations, design.design_id: replace(evaluation, design_id=design.design_id)}
    return study_result(own.spec, list(designs.values()), evaluations, own.book)


def _design(result: StudyResult, parameters: Parameters) -> Design:
    spec = result.spec
    if parameters.family is None:
        raise SpecError("parameters.family: missing, expected a family such as " + _families(result)[0][0])
    options = replace(
        spec.scheduler_options,
        token_budget=parameters.token_budget or _best_budget(result, parameters.family),
        token_budgets=(),
        tensor_parallels=() if parameters.tensor_parallel else spec.scheduler_options.tensor_parallels,
        tensor_parallel=parameters.tensor_parallel or spec.scheduler_options.tensor_parallel,
        decode_tensor_parallel=parameters.decode_tensor_parallel or spec.scheduler_options.decode_tensor_parallel,
    )
    line = lines(replace(spec, families=(parameters.family,), scheduler_options=options))[0]
    if line.reason:
        raise SpecError(f"it cannot run: {line.reason}")
    return line.design(_counts(parameters, len(line.pools)))


def _best_budget(result: StudyResult, family: str) -> int | Literal["auto"] | None:
    """That of the family's design with the most requests a dollar; where none was tried, the question's, if it has
    one alone."""
    tried = [row for row in result.rows if row.family == family and row.req_per_usd]
    if tried:
        return max(tried, key=lambda row: row.req_per_usd or 0.0).token_budget
    return result.spec.scheduler_options.token_budget


def _counts(parameters: Parameters, pools: int) -> tuple[int, ...]:
    """Those of the family's pools."""
    names = ("prefill_machines", "decode_machines") if pools == 2 else ("machines",)
    given = {name: getattr(parameters, name) for name in names}
    for name, count in given.items():
        if count is None:
            raise SpecError(f"parameters.{name}: missing, expected how many with family {parameters.family}")
    return tuple(given.values())


def _families(result: StudyResult) -> list[tuple[str, str]]:
    """Every family of the question's machines, tried or not, with its name; the answer's first."""
    machines = {machine.id: machine.name for machine in (resolve_machine(one.machine) for one in result.spec.machines)}
    together = [
        (f"{kind}:{machine}", f"{SCHEDULER_NAMES[kind]}, {name}")
        for kind in CO_LOCATED
        for machine, name in machines.items()
    ]
    split = [
        (f"{SPLIT}:{first}+{second}", f"Split, {machines[first]} + {machines[second]}")
        for first in machines
        for second in machines
    ]
    own = result.winner.family if result.winner else ""
    return sorted([*together, *split], key=lambda family: family[0] != own)


KIND = Kind(
    name="why_not_mine",
    title="Why not mine?",
    about="Type in any design of these machines: it is simulated, and told which limit it misses, at which rate and in"
    " which pool.",
    parameters=Parameters,
    task_type=Task,
    task=task,
    cpu_s=cpu_s,
    steps=lambda task: sum(2 * evaluated_cases(len(case.pools), task.failures) for case in task.cases),
    run=run,
    told=told,
    fields=(
        Field("family", "Run as", "", "", choices=lambda subject: _families(subject.result)),
        Field("machines", "Machines", "", "Of a co-located design."),
        Field("prefill_machines", "Prefill machines", "", "Of a split design."),
        Field("decode_machines", "Decode machines", "", "Of a split design."),
        Field("token_budget", "Token budget", "tokens", "Empty: the best that the study tried with it."),
        Field("tensor_parallel", "Tensor parallel", "accelerators a replica", "Empty: a whole machine, or as asked."),
        Field("decode_tensor_parallel", "Tensor parallel, decode", "accelerators", "Empty: as the prefill pool."),
    ),
    needs_input=True,
)
