"""How many machines a rack and a site carry: by nameplate, by provisioned power, by what they draw; what binds.

A rack's feed carries, three-phase (one phase: without the root),

    usable W = sqrt(3) x volts x breaker amperes x power factor x share of the rating that may be drawn for hours

A machine counts by its nameplate, by its provisioned power, or by what racks of such machines draw at the question's
rate: simulated, each machine's watts second by second (``simcore.detail.machine_watts``), the P99 of 1 s over all racks
of that size, where no second may exceed the breaker's whole rating either. What is shorter than a second is not
simulated: the whole of a machine's power supplies is what its nameplate is for. Space is the catalogue's
``machines_per_rack``. Under a cap on its accelerators a machine draws at most host + fans + accelerators x cap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, sqrt
from typing import Any, Literal

from simcore.analyses.chosen import chosen_design
from simcore.analyses.kind import Field, Json, Kind, Lab, Subject, sourced
from simcore.catalogue import resolve_accelerator, resolve_machine
from simcore.evaluation import Evaluation
from simcore.fleet import pool_machines
from simcore.fluid.workload_statistics import WorkloadStatistics
from simcore.rows import DesignRow
from simcore.search.cost import predicted_cpu_s
from simcore.shortfalls import drawn_result
from simcore.spec import Case, Machine, PoolSpec, StudySpec, bounded
from simcore.words import counted, kilowatts, listed, number, percent

RUNS = 3.0
"""What the run, the run that is logged and the reading of its log amount to."""
MOST_PER_RACK = 16
"""Sizes of racks that are looked at where a machine's ``machines_per_rack`` is not known."""
CAPS = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5)
FIGURES = {"nameplate": "nameplate", "provisioned": "provisioned power", "drawn": "drawn power"}


@dataclass(frozen=True)
class Parameters:
    """A rack's feed, and how it is used. One that is redundant (A and B) carries all by either: it counts once."""

    design: str | None = None
    volts: float = bounded(415.0, least=50, most=1000)
    breaker_a: float = bounded(60.0, above=0, most=5000)
    phases: Literal[1, 3] = 3
    continuous_share: float = bounded(0.8, above=0, most=1)
    power_factor: float = bounded(0.95, above=0, most=1)

    @property
    def rating_w(self) -> float:
        """The breaker's whole rating."""
        return (sqrt(3) if self.phases == 3 else 1.0) * self.volts * self.breaker_a * self.power_factor

    @property
    def usable_w(self) -> float:
        """What may be drawn for hours."""
        return self.rating_w * self.continuous_share


@dataclass(frozen=True)
class Task:
    """The design at the rate; racks of each pool up to so many machines."""

    case: Case
    rate_req_per_s: float
    most_per_rack: tuple[int, ...]


def task(subject: Subject, parameters: Parameters) -> Task:
    """Feeds and ratings are no part of it: they are applied when it is read."""
    case = subject.result.designs[_design(subject, parameters).design_id].case
    most = tuple(resolve_machine(pool.machine).machines_per_rack or MOST_PER_RACK for pool in case.pools)
    return Task(case, subject.result.spec.rate_req_per_s, most)


def cpu_s(task: Task, statistics: WorkloadStatistics) -> float:
    """A run, one more that is logged, and the log."""
    return predicted_cpu_s(task.case, statistics, RUNS)


def run(task: Task, lab: Lab) -> Json:
    """What racks of each size draw, by pool."""
    return {"pools": lab.rack_watts(task.case, task.rate_req_per_s, task.most_per_rack)}


def told(subject: Subject, parameters: Parameters, task: Task, found: Json) -> Json:
    """By pool, by figure: machines a rack, racks, and what binds."""
    design, spec = _design(subject, parameters), subject.result.spec
    pools = [_pool(pool, drawn, parameters) for pool, drawn in zip(task.case.pools, found["pools"], strict=True)]
    site = _site(pools, spec, subject.result.evaluations[design.design_id])
    return {
        "design_id": design.design_id,
        "design": design.label,
        "rate_req_per_s": task.rate_req_per_s,
        "usable_w": parameters.usable_w,
        "rating_w": parameters.rating_w,
        "pools": pools,
        "racks": {figure: _total(pools, figure) for figure in FIGURES},
        "site": site,
        "sentences": _sentences(pools, site, parameters, spec),
        "assumptions": _assumptions(parameters, found["pools"], pools),
    }


def _design(subject: Subject, parameters: Parameters) -> DesignRow:
    return chosen_design(subject.result, parameters.design, "nothing to put into racks")


def _pool(pool: PoolSpec, drawn: Json, parameters: Parameters) -> Json:
    machine, count = resolve_machine(pool.machine), pool_machines(pool)
    fits = {
        "nameplate": _by_rating(machine.nameplate_w, machine, parameters),
        "provisioned": _by_rating(machine.provisioned(), machine, parameters),
        "drawn": _by_draw(drawn, machine, parameters),
    }
    return {
        "role": pool.role,
        "machine": machine.name,
        "machines": count,
        "machines_per_rack": machine.machines_per_rack,
        "nameplate_w": machine.nameplate_w,
        "provisioned_w": machine.provisioned(),
        "mean_w": drawn["mean_w"],
        "p99_w": drawn["racks"][0]["p99_w"],
        "most_w": drawn["racks"][0]["most_w"],
        "figures": {name: fit | {"racks": _racks(count, fit["per_rack"])} for name, fit in fits.items()},
        "rack_draws": drawn["racks"],
        "caps": [_capped(machine, share, parameters) for share in CAPS],
    }


def _by_rating(watts: float, machine: Machine, parameters: Parameters) -> Json:
    return _fit(floor(parameters.usable_w / watts + 1e-9), machine)


def _by_draw(drawn: Json, machine: Machine, parameters: Parameters) -> Json:
    """The largest rack whose P99 keeps to what may be drawn for hours, and its worst second to the rating. A rack that
    is larger than the whole pool is taken to draw as the pool's largest does, machine for machine."""
    fitting = 0
    racks = drawn["racks"]
    for rack in racks:
        if rack["p99_w"] <= parameters.usable_w and rack["most_w"] <= parameters.rating_w:
            fitting = rack["machines"]
    last = racks[-1]
    if fitting == last["machines"]:
        by_p99 = parameters.usable_w / (last["p99_w"] / last["machines"])
        by_most = parameters.rating_w / (last["most_w"] / last["machines"])
        fitting = max(fitting, floor(min(by_p99, by_most) + 1e-9))
    return _fit(fitting, machine)


def _fit(by_breaker: int, machine: Machine) -> Json:
    space = machine.machines_per_rack
    binds = "space" if space is not None and space <= by_breaker else "breaker"
    return {
        "per_rack": by_breaker if space is None else min(by_breaker, space),
        "by_breaker": by_breaker,
        "binds": binds,
    }


def _racks(machines: int, per_rack: int) -> int | None:
    return None if per_rack == 0 else ceil(machines / per_rack)


def _capped(machine: Machine, share: float, parameters: Parameters) -> Json:
    """The most that a machine draws with its accelerators capped at a share of their TDP (or at its own cap)."""
    accelerator = resolve_accelerator(machine)
    cap_w = min(share * accelerator.tdp_w, machine.power_cap_w or accelerator.tdp_w)
    headroom = accelerator.tdp_w - accelerator.idle_w
    fans = machine.fans_w * (cap_w - accelerator.idle_w) / headroom if headroom else machine.fans_w
    most_w = machine.host_w + machine.accelerators * cap_w + max(fans, 0.0)
    return {"cap_w": cap_w, "machine_w": most_w, **_by_rating(most_w, machine, parameters)}


def _total(pools: Sequence[Json], figure: str) -> int | None:
    racks = [pool["figures"][figure]["racks"] for pool in pools]
    return None if None in racks else sum(racks)


def _site(pools: Sequence[Json], spec: StudySpec, evaluation: Evaluation) -> Json:
    """The power limit filled with machines in the design's proportions, by each figure; drawn: by the P99 of all
    machines together, which is less than each one's."""
    limit_kw, machines = spec.limits.power_limit_kw, sum(pool["machines"] for pool in pools)
    ran = drawn_result(evaluation)
    watts = {
        "nameplate": sum(pool["machines"] * pool["nameplate_w"] for pool in pools),
        "provisioned": sum(pool["machines"] * pool["provisioned_w"] for pool in pools),
        "drawn": ran.p99_w if ran else sum(pool["machines"] * pool["p99_w"] for pool in pools),
    }
    return {
        "power_limit_kw": limit_kw,
        "racks_limit": spec.limits.racks,
        "watts": watts,
        "machines": {
            name: None if limit_kw is None else floor(limit_kw * 1000 / w * machines + 1e-9)
            for name, w in watts.items()
        },
    }


def _sentences(pools: Sequence[Json], site: Json, parameters: Parameters, spec: StudySpec) -> list[str]:
    phases = "three-phase" if parameters.phases == 3 else "single-phase"
    feed = f"A rack on a {number(parameters.breaker_a)} A, {number(parameters.volts)} V {phases} feed carries"
    said = [f"{feed} {kilowatts(parameters.usable_w)} for hours: {listed([_carried(pool) for pool in pools])}."]
    return [*said, *(_bound(pool) for pool in pools), _filled(pools, spec), *_limited(site)]


def _carried(pool: Json) -> str:
    counts = {name: pool["figures"][name]["per_rack"] for name in FIGURES}
    by = [f"{count} by {words}" for words, count in zip(FIGURES.values(), counts.values(), strict=True)]
    return f"of {pool['machine']} ({pool['role']}) {listed(by)}"


def _bound(pool: Json) -> str:
    by = {name: fit["binds"] for name, fit in pool["figures"].items()}
    where = f"{pool['machine']} ({pool['role']}):"
    if len(set(by.values())) == 1:
        return f"{where} {_binding(by['drawn'])} binds by every figure."
    space = [FIGURES[name] for name, what in by.items() if what == "space"]
    breaker = [FIGURES[name] for name, what in by.items() if what == "breaker"]
    return f"{where} the breaker binds by {listed(breaker)}, the rack’s space by {listed(space)}."


def _binding(what: str) -> str:
    return "the rack’s space" if what == "space" else "the breaker"


def _filled(pools: Sequence[Json], spec: StudySpec) -> str:
    racks = {name: _total(pools, name) for name in FIGURES}
    if racks["nameplate"] is None and racks["drawn"] is None:
        return "Not one of these machines fits this feed: it needs a larger breaker."
    told_ = [f"{_counted(racks[name])} by {words}" for name, words in FIGURES.items()]
    limit = f", of {spec.limits.racks} that the question allows" if spec.limits.racks is not None else ""
    return f"The design fills {listed(told_)}{limit}."


def _counted(racks: int | None) -> str:
    return "no racks" if racks is None else counted(racks, "rack")


def _limited(site: Json) -> list[str]:
    if site["power_limit_kw"] is None:
        return []
    most = site["machines"]
    more = {name: most[name] / most["nameplate"] - 1 for name in ("provisioned", "drawn")} if most["nameplate"] else {}
    gained = [f"{percent(share)} more by {FIGURES[name]}" for name, share in more.items() if share > 0]
    text = (
        f"The limit of {number(site['power_limit_kw'])} kW carries {most['nameplate']} machines of this mix by"
        f" nameplate, {most['provisioned']} by provisioned and {most['drawn']} by drawn power (P99 of 1 s of all)"
    )
    return [f"{text}: oversubscribing gains {listed(gained)}." if gained else f"{text}."]


def _assumptions(parameters: Parameters, drawn: Sequence[Json], pools: Sequence[Json]) -> list[Json]:
    seconds = drawn[0]["seconds"]
    share = percent(parameters.continuous_share)
    said = [
        (f"A load of three hours or more is kept to {share} of the breaker’s rating.",
         "80 %: US National Electrical Code, articles 210.20 and 215.3; elsewhere set your own"),
        (f"Power factor {parameters.power_factor:g}; a redundant pair of feeds counts once, as either must carry all.",
         "an assumption; server power supplies under load have 0.95 to 0.99"),
        (f"Drawn: P99 of 1 s over {seconds:,} simulated seconds and all racks of that size, machines of a pool side by"
         " side; no second above the breaker’s whole rating.", "simcore/detail/racks.py; docs/power.md"),
        ("Shorter than a second is not simulated: an H100 of 700 W was seen at 1.1 kW for tens of milliseconds.",
         "factryze.ai, PDU sizing, 2026"),
        ("Space: the catalogue’s machines_per_rack.", "catalogue, with provenance"),
        ("A cap is power only: what it costs in speed is a machine of its own in the catalogue, to be asked about.",
         "docs/power.md"),
    ]  # fmt: skip
    if any(pool["machines_per_rack"] is None for pool in pools):
        said.append(("Where the catalogue gives no machines_per_rack, space is not counted.", ""))
    return sourced(said)


FIELDS = (
    Field("breaker_a", "Breaker", "A", "Of one rack's feed; 60 A at 415 V is a common one of 34.5 kVA for hours."),
    Field("volts", "Voltage", "V", "Line to line."),
    Field("phases", "Phases", "", "3 or 1."),
    Field("continuous_share", "Share of the rating for hours", "", "0.8 by the US code; 1 for a breaker rated for it."),
    Field("power_factor", "Power factor", "", "Of the machines' supplies."),
)
KIND: Kind[Any, Any] = Kind(
    name="racks",
    all_machines=True,
    title="Racks and breakers",
    about="How many machines a rack and the power limit carry by nameplate, by provisioned power and by what they draw,"
    " and what binds.",
    parameters=Parameters,
    task_type=Task,
    task=task,
    cpu_s=cpu_s,
    steps=lambda task: 1,
    run=run,
    told=told,
    fields=FIELDS,
)
