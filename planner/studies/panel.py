"""What a clicked design shows: its limits as bars, its pools' time, its money, and why it is not the answer."""

from collections.abc import Mapping
from dataclasses import dataclass

from planner.numerals import share, short, usd
from simcore import fleet
from simcore.answer.result import StudyResult
from simcore.answer.why_not import why_not
from simcore.catalogue import resolve_machine, resolve_model
from simcore.economics.hourly import usd_per_hour, usd_per_month
from simcore.evaluation import Evaluation, LimitResult, PoolResult, RateResult
from simcore.facility import facility_w
from simcore.memory import kv_bytes_per_token
from simcore.rows import DesignRow
from simcore.shortfalls import drawn_result, value_and_limit
from simcore.spec import Case
from simcore.trust.sentences import times_by_curve
from simcore.words import limit_name

LIMIT_AT = 70.0
"""Where on a bar, in per cent of its width, the limit stands: the rest shows by how much it is missed."""
MOST_GLYPHS = 40
LEAST_SHOWN = 0.0005
"""A smaller share of time would be written 0.0 %: neither drawn nor named."""
ACTIVITIES = {
    "prefill": "prefill",
    "hybrid": "hybrid",
    "decode": "decode",
    "bubble": "pipeline bubbles",
    "blocked": "blocked on KV",
    "transfer_wait": "waiting for KV",
    "idle": "idle",
}


@dataclass(frozen=True)
class LimitBar:
    """One limit of the SLO from 0 to the limit and somewhat beyond; widths in per cent."""

    name: str
    value: str
    limit: str
    met: bool
    width: float
    beyond: bool
    """The value lies outside the bar."""


@dataclass(frozen=True)
class LimitsAt:
    """The limits at one rate."""

    title: str
    met: bool
    stable: bool
    bars: tuple[LimitBar, ...]


@dataclass(frozen=True)
class Slice:
    """A share of a pool's time: ``x`` and ``width`` in per cent."""

    activity: str
    x: float
    width: float
    words: str


@dataclass(frozen=True)
class PoolLine:
    role: str
    machine: str
    machines: int
    replicas: int
    glyphs: tuple[int, ...]
    slices: tuple[Slice, ...]
    facts: tuple[tuple[str, str], ...]
    phases: tuple[tuple[str, str], ...]
    """What ran, and how well it used the accelerators while it did."""


@dataclass(frozen=True)
class MoneyLine:
    words: str
    hourly: str
    monthly: str


@dataclass(frozen=True)
class Panel:
    row: DesignRow
    verdict: str
    limits: tuple[LimitsAt, ...]
    pools_title: str
    pools: tuple[PoolLine, ...]
    kv_link: str
    """What goes from prefill to decode; empty where nothing does."""
    money: tuple[MoneyLine, ...]
    facts: tuple[tuple[str, str], ...]
    certainty: tuple[tuple[str, str], ...]
    """Within what its capacity lies, and what that joins; empty without a capacity."""
    warnings: tuple[str, ...]
    before: DesignRow | None
    after: DesignRow | None
    """On the cost frontier, the next cheaper one and the next dearer one."""

    @property
    def can_run(self) -> bool:
        """Whether there is a run to look into."""
        return self.row.status in ("evaluated", "screened")


def design_panel(result: StudyResult, row: DesignRow) -> Panel:
    """Everything about one design of a study."""
    evaluation = result.evaluations[row.design_id]
    run = drawn_result(evaluation, result.spec.goal)
    return Panel(
        row,
        why_not(result, row),
        tuple(_limits(evaluation, result.spec.rate_req_per_s, row)),
        f"Pools at {short(run.rate_req_per_s)} requests/s" if run else "Pools",
        tuple(_pool(pool, _names(result, row)) for pool in run.pools) if run else (),
        _kv_link(result.designs[row.design_id].case, run) if run else "",
        tuple(_money(result, row)),
        tuple(_facts(row, run, result.spec.pue)),
        tuple(_certainty(result, row)),
        evaluation.warnings,
        *_beside(result, row),
    )


def _beside(result: StudyResult, row: DesignRow) -> tuple[DesignRow | None, DesignRow | None]:
    frontier = sorted((one for one in result.rows if one.on_cost_frontier), key=lambda one: one.usd_per_hour)
    cheaper = [one for one in frontier if one.usd_per_hour < row.usd_per_hour]
    dearer = [one for one in frontier if one.usd_per_hour > row.usd_per_hour]
    return (cheaper[-1] if cheaper else None), (dearer[0] if dearer else None)


def _kv_link(case: Case, run: RateResult) -> str:
    """What prefill makes for decode, and how much of the time it keeps the NICs busy."""
    nics = [f"{share(pool.nic_busy)} of its time in the {pool.role} pool" for pool in run.pools if pool.nic_busy]
    if not nics:
        return ""
    per_token = case.memory.kv_bytes_per_token or kv_bytes_per_token(resolve_model(case.model))
    if run.tokens_a_request is None:
        return f"A replica's NICs are busy {' and '.join(nics)}"
    made = run.tokens_a_request[0] * run.rate_req_per_s * per_token / 1e9
    return f"KV of {short(made)} GB/s is made by prefill; a replica's NICs are busy {' and '.join(nics)}"


def _limits(evaluation: Evaluation, required: float, row: DesignRow) -> list[LimitsAt]:
    lost = f", with {row.worst_loss}" if row.worst_loss else ""
    runs = [
        (evaluation.at_required, f"At the required {short(required)} requests/s{lost}"),
        (evaluation.at_capacity, f"At its capacity, {short(evaluation.capacity_req_per_s)} requests/s{lost}"),
    ]
    if lost:
        runs.insert(0, (evaluation.with_all.at_required, f"At {short(required)} requests/s, with all machines"))
    return [
        LimitsAt(title, run.met, run.stable, tuple(_bar(limit) for limit in run.limits))
        for run, title in runs
        if run is not None
    ]


def _bar(limit: LimitResult) -> LimitBar:
    part = float("inf") if limit.value is None else limit.value / limit.limit
    return LimitBar(
        limit_name(limit.metric, limit.percentile),
        *value_and_limit(limit),
        limit.met,
        round(min(part * LIMIT_AT, 100.0), 2),
        part * LIMIT_AT > 100,
    )


def _names(result: StudyResult, row: DesignRow) -> dict[str, str]:
    """Machine id → name, of the study's own machines as they were."""
    machines = [resolve_machine(pool.machine) for pool in result.designs[row.design_id].case.pools]
    return {machine.id: machine.name for machine in machines}


def _pool(pool: PoolResult, names: Mapping[str, str]) -> PoolLine:
    facts = [
        ("busy", share(pool.busy)),
        ("MFU", share(pool.mfu)),
        ("MBU", share(pool.mbu)),
        ("KV at its fullest", share(pool.kv_peak_share)),
    ]
    if pool.nic_busy:
        facts.append(("NIC busy", share(pool.nic_busy)))
    if pool.padding:
        facts.append(("padding", f"{share(pool.padding)} of the tokens computed"))
    return PoolLine(
        pool.role,
        names.get(pool.machine, pool.machine),
        pool.machines,
        pool.replicas,
        tuple(range(min(pool.machines, MOST_GLYPHS))),
        tuple(_slices(pool)),
        tuple(facts),
        tuple(_phases(pool)),
    )


def _phases(pool: PoolResult) -> list[tuple[str, str]]:
    """Each phase that the bar shows, in its order."""
    of = {phase.phase: phase for phase in pool.phases}
    shown = [of[activity] for activity in ACTIVITIES if activity in of and _visible(of[activity].busy)]
    return [(phase.phase, f"MFU {share(phase.mfu)}, MBU {share(phase.mbu)}") for phase in shown]


def _visible(part: float) -> bool:
    """Whether a share is more than 0.0 % once it is written."""
    return part >= LEAST_SHOWN


def _slices(pool: PoolResult) -> list[Slice]:
    slices, x = [], 0.0
    for activity, words in ACTIVITIES.items():
        width = 100 * getattr(pool, activity)
        if _visible(width / 100):
            slices.append(Slice(activity, round(x, 2), round(width, 2), f"{words} {share(width / 100)}"))
        x += width
    return slices


def _money(result: StudyResult, row: DesignRow) -> list[MoneyLine]:
    names, lines = _names(result, row), []
    for machine, count in fleet.machine_counts(result.designs[row.design_id].case).items():
        hourly = usd_per_hour({machine: count}, result.book)
        each = f"{count} {names[machine]} at ${result.book.price(machine).usd_per_hour}"
        lines.append(MoneyLine(each, f"${hourly:,}", usd(usd_per_month(hourly))))
    total = MoneyLine("All machines", f"${row.usd_per_hour:,}", usd(usd_per_month(row.usd_per_hour)))
    return [*lines, total] if len(lines) > 1 else lines


def _facts(row: DesignRow, run: RateResult | None, pue: float) -> list[tuple[str, str]]:
    facts = [
        ("Nameplate", f"{short(row.nameplate_w / 1000)} kW"),
        ("Provisioned", f"{short(row.provisioned_w / 1000)} kW"),
    ]
    if row.status == "screened" and row.capacity_high is not None:
        facts.insert(0, ("Can hold", f"at most {short(row.capacity_high)} requests/s"))
    if row.capacity_all_machines_req_per_s is not None:
        facts.insert(0, ("Holds with all machines", f"{short(row.capacity_all_machines_req_per_s)} requests/s"))
        lost = f"with {row.worst_loss}" if row.worst_loss else "whichever machines are lost"
        facts.insert(1, (f"Holds {lost}", f"{short(row.capacity_req_per_s)} requests/s"))
    if run is not None:
        facts.append(("Drawn, mean", f"{short(run.mean_w / 1000)} kW at {short(run.rate_req_per_s)} requests/s"))
        facts.append(("Drawn, P99 of 1 s", f"{short(run.p99_w / 1000)} kW"))
        facts.append((f"Facility: drawn mean × PUE {short(pue)}", f"{short(facility_w(run.mean_w, pue) / 1000)} kW"))
        if run.tokens_a_request is not None:
            each = (short(tokens * run.rate_req_per_s) for tokens in run.tokens_a_request)
            facts.append(("Tokens in, out", f"{', '.join(each)} a second"))
    if row.req_per_usd:
        facts.append(("Perf/$ at capacity", f"{short(row.req_per_usd)} requests a dollar"))
    if row.req_per_s_per_kw:
        facts.append(("Perf/W at capacity", f"{short(row.req_per_s_per_kw)} requests/s a provisioned kW"))
    return facts


def _certainty(result: StudyResult, row: DesignRow) -> list[tuple[str, str]]:
    unsure = result.margins.get(row.design_id)
    if unsure is None:
        return []
    facts = [
        ("Capacity", f"{_span(row.capacity_low, row.capacity_high)} requests/s"),
        ("of it by chance in the simulation", f"{_span(row.noise_low, row.noise_high)} requests/s"),
        *times_by_curve(result.designs[row.design_id].case, unsure),
        ("Perf/$", f"{_span(row.req_per_usd_low, row.req_per_usd_high)} requests a dollar"),
        ("Perf/W", f"{_span(row.req_per_s_per_kw_low, row.req_per_s_per_kw_high)} requests/s a provisioned kW"),
    ]
    if row.tied_with_answer:
        facts.append(("Against the answer", "tied by what is known"))
    return facts


def _span(low: float | None, high: float | None) -> str:
    return f"{short(low)} to {short(high)}"
