"""Loss of a machine or of a rack (N+k): what the design still holds, and how it gets over the moment.

For each pool, with one machine less, two less, and a rack less: its capacity is searched as of a design of that size,
and a run at the rate in which as many fail in the middle says whether requests that arrive from then on keep the SLO
and after how long they are served as before (``simcore.detail.failure``). A pool that would be lost whole is said to
be, not simulated. With k machines more in each pool a design that holds the rate holds it after any k of a pool are
lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from simcore.analyses.chosen import chosen_design
from simcore.analyses.kind import Field, Json, Kind, Lab, Subject, sourced
from simcore.answer.result import StudyResult
from simcore.catalogue import resolve_machine
from simcore.economics.hourly import usd_per_hour, usd_per_month
from simcore.evaluation import Evaluation, LimitResult, RateRun
from simcore.fleet import pool_machines, spanned
from simcore.fluid.workload_statistics import WorkloadStatistics
from simcore.rows import DesignRow
from simcore.search.cost import predicted_cpu_s
from simcore.spec import Case, SpecError, bounded, encode
from simcore.spec.revive import revive
from simcore.survival import left
from simcore.trust.margins import margin
from simcore.words import dollars, limit_name, listed, number

MACHINES = (1, 2)
RUNS = 9.0
"""A capacity with its run at the rate, the run that shows how requests arrive, and the run with the failure."""


@dataclass(frozen=True)
class Parameters:
    """``machines``: how many may fail at once, beside a rack of the catalogue's size."""

    design: str | None = None
    machines: tuple[int, ...] = bounded(MACHINES, least=1, most=10_000)

    def __post_init__(self) -> None:
        if not 1 <= len(self.machines) <= MOST_LOSSES:
            raise SpecError(f"machines: found {len(self.machines)} numbers, expected 1 to {MOST_LOSSES}")


MOST_LOSSES = 10


@dataclass(frozen=True)
class Loss:
    """So many machines of a pool, by its place."""

    pool: int
    machines: int
    rack: bool
    """Whether that is a rack's worth."""


@dataclass(frozen=True)
class Task:
    """The design, and what is lost."""

    case: Case
    rate_req_per_s: float
    losses: tuple[Loss, ...]


def task(subject: Subject, parameters: Parameters) -> Task:
    """Losses that leave something of the pool."""
    case = subject.result.designs[_design(subject.result, parameters).design_id].case
    losses = [loss for place in range(len(case.pools)) for loss in _losses(case, place, parameters)]
    return Task(case, subject.result.spec.rate_req_per_s, tuple(losses))


def cpu_s(task: Task, statistics: WorkloadStatistics) -> float:
    """Told at once where every loss takes a whole pool."""
    return sum(predicted_cpu_s(_left(task.case, loss), statistics, RUNS) for loss in task.losses)


def run(task: Task, lab: Lab) -> Json:
    """What is held with fewer machines, and the run in which they fail."""
    return {
        "left": [encode(_evaluated(_left(task.case, loss), task.rate_req_per_s, lab)) for loss in task.losses],
        "failing": [lab.failure(task.case, task.rate_req_per_s, loss.pool, loss.machines) for loss in task.losses],
    }


def _evaluated(case: Case, rate_req_per_s: float, lab: Lab) -> Evaluation:
    """As a study evaluates a design: near the rate the run at it decides."""
    found = lab.capacity(case)
    if not found.wants_run(rate_req_per_s):
        return found
    return found.with_required(RateRun(lab.run(case, rate_req_per_s).result))


def told(subject: Subject, parameters: Parameters, task: Task, found: Json) -> Json:
    """A row a loss, and what it takes to survive it."""
    result, design = subject.result, _design(subject.result, parameters)
    done = zip(task.losses, found.get("left", []), found.get("failing", []), strict=True)
    rows = [_row(task, loss, revive(Evaluation, left), failing) for loss, left, failing in done]
    rows += [
        _whole(task.case, place)
        for place, pool in enumerate(task.case.pools)
        if pool_machines(pool) // spanned(pool) <= 1
    ]
    spare = _spare(task.case, result)
    holds = result.evaluations[design.design_id].holds(task.rate_req_per_s)
    return {
        "design_id": design.design_id,
        "design": design.label,
        "rate_req_per_s": task.rate_req_per_s,
        "capacity_req_per_s": design.capacity_req_per_s,
        "losses": rows,
        "one_more_of_each": spare,
        "sentences": _sentences(rows, task, spare, holds=holds),
        "assumptions": _assumptions(task),
    }


def _design(result: StudyResult, parameters: Parameters) -> DesignRow:
    return chosen_design(result, parameters.design, "nothing to lose")


def _losses(case: Case, place: int, parameters: Parameters) -> list[Loss]:
    pool = case.pools[place]
    rack = resolve_machine(pool.machine).machines_per_rack
    wanted = sorted({*parameters.machines, *([rack] if rack else [])})
    replicas = pool_machines(pool) // spanned(pool)
    return [Loss(place, count, count == rack) for count in wanted if count < replicas]


def _left(case: Case, loss: Loss) -> Case:
    """The design without them, and without the replicas that they are part of."""
    found = left(case, tuple(loss.machines if place == loss.pool else 0 for place in range(len(case.pools))))
    assert found is not None  # noqa: S101 - losses that take a pool whole are not asked
    return found


def _row(task: Task, loss: Loss, left: Evaluation, failing: Json) -> Json:
    pool, held, rate = task.case.pools[loss.pool], left.capacity_req_per_s, task.rate_req_per_s
    unsure = margin(_left(task.case, loss), left) if held else None
    return {
        "pool": pool.role,
        "machine": resolve_machine(pool.machine).name,
        "lost": loss.machines,
        "rack": loss.rack,
        "left": pool_machines(pool) - loss.machines,
        "capacity_req_per_s": held,
        "capacity_low": unsure.low if unsure else 0.0,
        "capacity_high": unsure.high if unsure else 0.0,
        "holds": left.holds(rate),
        "served_share": min(held / rate, 1.0),
        "failing": failing,
        "missed": _missed(failing),
    }


def _whole(case: Case, place: int) -> Json:
    """The pool's only machine."""
    pool = case.pools[place]
    name, nothing = resolve_machine(pool.machine).name, {"capacity_req_per_s": 0.0, "capacity_low": 0.0}
    return {"pool": pool.role, "machine": name, "lost": 1, "rack": False, "left": 0, **nothing, "capacity_high": 0.0,
            "holds": False, "served_share": 0.0, "failing": None, "missed": []}  # fmt: skip


def _missed(failing: Json) -> list[str]:
    limits = [revive(LimitResult, limit) for limit in failing["limits"]]
    return [limit_name(limit.metric, limit.percentile) for limit in limits if not limit.met]


def _spare(case: Case, result: StudyResult) -> Json:
    """One more machine in each pool, and what they cost."""
    machines: dict[str, int] = {}
    for pool in case.pools:
        machine = resolve_machine(pool.machine).id
        machines[machine] = machines.get(machine, 0) + 1
    names = {resolve_machine(pool.machine).id: resolve_machine(pool.machine).name for pool in case.pools}
    return {
        "machines": {names[machine]: count for machine, count in machines.items()},
        "usd_per_month": str(usd_per_month(usd_per_hour(machines, result.book))),
    }


def _sentences(rows: Sequence[Json], task: Task, spare: Json, *, holds: bool) -> list[str]:
    said = [_steady(row, task.rate_req_per_s) for row in rows]
    one = [row for row in rows if row["lost"] == 1]
    if one and not all(row["holds"] for row in one) and holds:
        more = listed([f"{count} {name}" for name, count in spare["machines"].items()])
        cost = dollars(Decimal(spare["usd_per_month"]))
        said.append(f"With {more} more, {cost} a month, the loss of any one machine would leave what holds the rate.")
    elif one and all(row["holds"] for row in one):
        low = min(row["capacity_low"] for row in one)
        sure = "" if low >= task.rate_req_per_s else f", though at its interval’s low end only {number(low)} requests/s"
        said.append(f"The design is N+1: whichever one machine is lost, it holds the rate{sure}.")
    return said


def _steady(row: Json, rate: float) -> str:
    what = f"Without {_what(row)}"
    if not row["left"]:
        return f"{what} its {row['pool']} pool is gone: nothing is promised."
    held = f"it holds {number(row['capacity_req_per_s'])} requests/s"
    verdict = "enough" if row["holds"] else f"not the {number(rate)} asked for"
    if not row["holds"] and row["capacity_req_per_s"] >= rate:
        verdict = f"within 1 %, and a run at {number(rate)} misses the SLO"
    return f"{what} {held}, {verdict}; {_moment(row)}."


def _what(row: Json) -> str:
    if row["rack"]:
        return f"a rack of {row['lost']} {row['machine']} ({row['pool']})"
    return f"{row['lost']} {row['machine']} ({row['pool']})"


def _moment(row: Json) -> str:
    failing = row["failing"]
    if not failing["stable"]:
        return "as they fail the queue grows without end"
    kept = "the SLO is kept" if failing["met"] else f"the SLO is missed ({listed(row['missed'])})"
    recovered = failing["recovered_s"]
    if recovered is None:
        return f"in the {failing['measured_s']:.0f} s after they fail {kept}, and nothing is as before by then"
    if recovered == 0:
        return f"as they fail {kept}, and no more requests are late than before"
    return f"as they fail {kept}, and after {recovered:.0f} s requests are served as before"


def _assumptions(task: Task) -> list[Json]:
    said = [
        ("Machines fail at once and stay away; what was on them is queued again on the others and computed again, its"
         " cached prompt still cached.", "docs/scheduling.md, When a replica is there"),
        (f"They fail when 30 % of the run’s requests have arrived at {number(task.rate_req_per_s)} requests/s; measured"
         " are those that arrive from then on, up to 90 %.", "simcore/detail/failure.py"),
        ("As before: from then on, in every 10 s of arrivals, no more requests are beyond the limit at the highest"
         " percentile than it allows, give or take 3 standard deviations.", "simcore/detail/failure.py"),
        ("A machine is lost whole, with every replica that spans it; where replicas span machines, each lost machine is"
         " of another replica, the worst case. A rack is the catalogue’s machines_per_rack, all of one pool. Networks,"
         " power feeds and the router do not fail.", ""),
    ]  # fmt: skip
    return sourced(said)


KIND: Kind[Any, Any] = Kind(
    name="failures",
    title="Loss of a machine or a rack",
    about="Whether the design still holds the rate with a machine, two, or a rack of a pool lost, and how long it takes"
    " to get over it.",
    parameters=Parameters,
    task_type=Task,
    task=task,
    cpu_s=cpu_s,
    steps=lambda task: 3 * len(task.losses),
    run=run,
    told=told,
    fields=(Field("machines", "Machines lost at once", "", "Separated by commas; a rack is added."),),
)
