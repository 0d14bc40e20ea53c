"""Stress the purchase: the machines of a few designs held fixed, and what may change over their life changed.

For each future (another model, longer or shorter prompts and outputs, another SLO, another rate) only how the machines
are run is chosen again (``bought``). Of each purchase: what it then holds, the capacity lost against today, and its
regret: what holding that future's rate costs a month, with more of the same machines in proportion where they hold too
little, over what it costs with the best of the purchases compared (``regret``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from simcore import fleet
from simcore.analyses.bought import Rerun, most_held
from simcore.analyses.chosen import asked_design
from simcore.analyses.kind import Field, Json, Kind, Lab, Subject, sourced
from simcore.analyses.regret import Named, future_of, sentences, unheld, worst
from simcore.answer.result import StudyResult
from simcore.catalogue import model_ids, resolve_machine, resolve_model
from simcore.economics.hourly import usd_per_hour, usd_per_month
from simcore.families import label, lines
from simcore.fluid.workload_statistics import WorkloadStatistics
from simcore.rows import DesignRow
from simcore.search.cost import predicted_cpu_s
from simcore.shapes import weight_bytes
from simcore.spec import Case, LatencySpec, SpecError, StudySpec, bounded
from simcore.what_if.changes import scaled_slo
from simcore.words import number

MOST_PURCHASES = 4
MOST_VALUES = 9
CAPACITIES_A_FUTURE = 4.5
"""Searched for each purchase and future, about; the rest is passed over by bounds and single runs."""
Machines = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Parameters:
    """``design``: an id of the study that is compared too; None: its best few alone."""

    design: str | None = None
    prompts: tuple[float, ...] = bounded((0.5, 2.0, 4.0), least=0.1, most=16)
    outputs: tuple[float, ...] = bounded((0.5, 2.0, 4.0), least=0.1, most=16)
    slo_multipliers: tuple[float, ...] = bounded((0.75, 1.5), least=0.05, most=20)
    rates: tuple[float, ...] = bounded((1.5, 2.0), least=0.1, most=10)
    models: tuple[str, ...] = ()
    """Catalogue ids; empty: the one whose weights are nearest to the question's model's."""

    def __post_init__(self) -> None:
        for name in ("prompts", "outputs", "slo_multipliers", "rates", "models"):
            if len(getattr(self, name)) > MOST_VALUES:
                raise SpecError(f"{name}: found {len(getattr(self, name))}, expected at most {MOST_VALUES}")


@dataclass(frozen=True)
class Future:
    """What is otherwise; the rate is no matter of what can be held."""

    prompts: float
    outputs: float
    ways: tuple[Case, ...]
    """How machines may be run, one case for each, whatever its counts."""


@dataclass(frozen=True)
class Task:
    """Machines bought, and futures of which the first is today."""

    purchases: tuple[Machines, ...]
    futures: tuple[Future, ...]


def task(subject: Subject, parameters: Parameters) -> Task:
    """SpecError where the study has nothing that could be bought."""
    result = subject.result
    rows = _purchases(result, parameters)
    spec = result.spec
    plain = _ways(spec)
    futures = [Future(1.0, 1.0, plain)]
    futures += [Future(times, 1.0, plain) for times in _changed(parameters.prompts)]
    futures += [Future(1.0, times, plain) for times in _changed(parameters.outputs)]
    futures += [
        Future(1.0, 1.0, _ways(replace(spec, slo=scaled_slo(spec.slo, times))))
        for times in _changed(parameters.slo_multipliers)
    ]
    futures += [Future(1.0, 1.0, _ways(_serving(spec, model))) for model in _models(spec, parameters)]
    return Task(tuple(_machines(result, row) for row in rows), tuple(futures))


def cpu_s(task: Task, statistics: WorkloadStatistics) -> float:
    """Some capacities for each purchase and future."""
    total = 0.0
    for future in task.futures:
        costs = [predicted_cpu_s(case, statistics) for case in future.ways]
        total += CAPACITIES_A_FUTURE * sum(costs) / max(len(costs), 1)
    return total * len(task.purchases)


def run(task: Task, lab: Lab) -> Json:
    """By future, then by purchase: the most held, and as which design."""
    found = []
    for future in task.futures:
        other = lab if future.prompts == future.outputs == 1.0 else lab.with_lengths(future.prompts, future.outputs)
        found.append([_held(most_held(other, dict(bought), future.ways)) for bought in task.purchases])
    return {"held": found}


def _held(best: Rerun) -> Json:
    if best.case is None:
        return {"capacity_req_per_s": 0.0, "run_as": None}
    counts = [fleet.pool_machines(pool) for pool in best.case.pools]
    return {
        "capacity_req_per_s": best.capacity_req_per_s,
        "run_as": label(best.case.scheduler, best.case.pools, counts),
    }


def told(subject: Subject, parameters: Parameters, task: Task, found: Json) -> Json:
    """Capacity lost and regret of each purchase in each future, and the purchase of least worst regret."""
    result = subject.result
    named = list(_named(result.spec, parameters))
    monthly = [float(usd_per_month(usd_per_hour(dict(bought), result.book))) for bought in task.purchases]
    names = [_words(bought, result) for bought in task.purchases]
    table = [future_of(future, found["held"], monthly) for future in named]
    purchases = [
        {
            "purchase": names[place],
            "machines": dict(task.purchases[place]),
            "usd_per_month": monthly[place],
            "worst_regret_usd_per_month": found_worst[0] if (found_worst := worst(table, named, place)) else None,
            "worst_future": found_worst[1] if found_worst else unheld(table, named, place),
        }
        for place in range(len(names))
    ]
    return {
        "purchases": purchases,
        "futures": [{"future": future.words, "rate_req_per_s": future.rate, "of": of}
                    for future, of in zip(named, table, strict=True)],
        "sentences": sentences(purchases, table, named),
        "assumptions": _assumptions(result.spec),
    }  # fmt: skip


def _purchases(result: StudyResult, parameters: Parameters) -> list[DesignRow]:
    """The best of each family, the one that holds at its lower bound, the one asked for; each set of machines once."""
    asked = asked_design(result, parameters.design)
    rows = [*([asked] if asked else []), *result.best_by_family[:MOST_PURCHASES]]
    rows += [result.surest] if result.surest else []
    if not rows:
        rows = [row for row in result.closest if row.capacity_req_per_s]
    if not rows:
        raise SpecError("no design of this study has a capacity: there is no purchase to look at")
    once: dict[Machines, DesignRow] = {}
    for row in rows:
        once.setdefault(_machines(result, row), row)
    return list(once.values())[: MOST_PURCHASES + 1]


def _machines(result: StudyResult, row: DesignRow) -> Machines:
    return tuple(sorted(fleet.machine_counts(result.designs[row.design_id].case).items()))


def _ways(spec: StudySpec) -> tuple[Case, ...]:
    """One case for each line that can run."""
    return tuple(line.design((1,) * len(line.pools)).case for line in lines(spec) if not line.reason)


def _changed(times: Sequence[float]) -> list[float]:
    return sorted({factor for factor in times if factor != 1.0})


def _models(spec: StudySpec, parameters: Parameters) -> list[str]:
    if parameters.models:
        return [resolve_model(model).id for model in dict.fromkeys(parameters.models)]
    own = resolve_model(spec.model)
    others = [model for model in model_ids() if model != own.id]
    return [min(others, key=lambda model: abs(weight_bytes(resolve_model(model)) - weight_bytes(own)))]


def _serving(spec: StudySpec, model: str) -> StudySpec:
    """Another model; iteration times that are of one model alone give way to the roofline's."""
    latency = spec.latency if spec.latency.source == "roofline" else LatencySpec()
    return replace(
        spec, model=model, latency=latency, machines=tuple(replace(choice, latency=None) for choice in spec.machines)
    )


def _named(spec: StudySpec, parameters: Parameters) -> Iterator[Named]:
    """In the order of the task's futures; then today's at other rates."""
    rate = spec.rate_req_per_s
    words = ["today"]
    words += [f"prompts × {number(times)}" for times in _changed(parameters.prompts)]
    words += [f"outputs × {number(times)}" for times in _changed(parameters.outputs)]
    words += [f"SLO limits × {number(times)}" for times in _changed(parameters.slo_multipliers)]
    words += [f"{resolve_model(model).name} instead" for model in _models(spec, parameters)]
    yield from (Named(name, place, rate) for place, name in enumerate(words))
    yield from (Named(f"rate × {number(times)}", 0, rate * times) for times in _changed(parameters.rates))


def _words(bought: Machines, result: StudyResult) -> str:
    names = {
        resolve_machine(choice.machine).id: resolve_machine(choice.machine).name for choice in result.spec.machines
    }
    return " + ".join(f"{count:,} {names.get(machine, machine)}" for machine, count in bought)


def _assumptions(spec: StudySpec) -> list[Json]:
    found = [
        ("Machines stay as bought; how they run is chosen again from the question's families: scheduler, token budget,"
         " tensor parallelism, the parts of a split. What the fluid"
         " bound or a run proves to hold no more than the best is not searched; a machine type that a way has no pool"
         " for stands idle.", "simcore/analyses/contest.py"),
        ("Regret: the month's cost of holding the future's rate (more of the same machines in proportion where they"
         " hold too little; never less than what was bought) over that of the best of the purchases compared.",
         "Savage, Journal of the American Statistical Association 46, 1951"),
        ("One thing changes at a time; prices stay.", ""),
    ]  # fmt: skip
    if spec.latency.source != "roofline":
        found.append(("Another model's iteration times are the roofline's, as no measured ones are given.", ""))
    return sourced(found)


KIND = Kind(
    name="stress",
    all_machines=True,
    title="Stress the purchase",
    about="What the machines still hold, and what is regretted, where the model, lengths, SLO or rate change over their"
    " life and only how they run is chosen again.",
    parameters=Parameters,
    task_type=Task,
    task=task,
    cpu_s=cpu_s,
    steps=lambda task: 7 * len(task.purchases) * len(task.futures),
    run=run,
    told=told,
    fields=(
        Field("prompts", "Prompt lengths times", "", "Separated by commas."),
        Field("outputs", "Output lengths times", "", "Separated by commas."),
        Field("slo_multipliers", "SLO limits times", "", "Separated by commas; below 1 is tighter."),
        Field("rates", "Rate times", "", "Separated by commas."),
        Field("models", "Models instead", "", "Ids of the catalogue, separated by commas; empty: the nearest in size."),
    ),
)
