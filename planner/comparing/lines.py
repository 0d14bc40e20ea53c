"""The figures of those compared, a row each, with what differs from the baseline in words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from planner.comparing.asked import Line
from planner.comparing.columns import Column
from planner.numerals import short, usd
from simcore import fleet
from simcore.catalogue import resolve_machine
from simcore.comparing.verdict import Choice, month_of, noise, usd_per_1000_requests
from simcore.economics.tokens import usd_per_million_tokens
from simcore.evaluation import LimitResult, PoolResult, RateResult
from simcore.explain import binding_words
from simcore.rows import DesignRow
from simcore.shortfalls import drawn_result, machines, value_and_limit
from simcore.words import counted, dollars, limit_name, percent

NOTHING = "–"
Figure = Callable[[Column], float | None]
"""None: it does not apply, or was not computed."""


@dataclass(frozen=True)
class Measured:
    """A figure with its unit, and whether it is as uncertain as a capacity: a difference within the noise is not
    claimed. ``falls``: the figure is less where more is held."""

    label: str
    figure: Figure
    words: Callable[[float], str]
    is_unsure: bool = False
    falls: bool = False


def figures(columns: Sequence[Column], baseline: Column) -> list[Line]:
    """All rows, in the order of an answer: what to buy, its cost, what it holds and draws, what it is from."""
    return [
        _plain("answer", columns, lambda column: column.row.label if column.row else "none holds it"),
        _plain("does what its question asks", columns, _stands),
        *(_measured(one, columns, baseline) for one in MONEY),
        _plain("machines, at what price", columns, _prices),
        *(_measured(one, columns, baseline) for one in HELD),
        _plain("headroom over the required rate", columns, _headroom),
        _plain("interval of the capacity, 9 times in 10", columns, _interval),
        _plain("binds first at capacity", columns, _binding),
        *_limits(columns),
        *_pools(columns),
        *(_measured(one, columns, baseline) for one in POWER),
        _plain("drawn at", columns, _drawn_at),
        _plain("price book", columns, lambda column: f"{column.result.book.name}, {column.result.book.date}"),
        _plain("engine version", columns, lambda column: column.study.engine_version or "not begun"),
        _plain("answered", columns, _answered),
    ]


def _plain(label: str, columns: Sequence[Column], words: Callable[[Column], str]) -> Line:
    cells = tuple(map(words, columns))
    return Line(label, cells, differs=len(set(cells)) > 1)


def _measured(one: Measured, columns: Sequence[Column], baseline: Column) -> Line:
    values = [one.figure(column) for column in columns]
    cells = tuple(NOTHING if value is None else one.words(value) for value in values)
    deltas = tuple(_delta(one, column, baseline) for column in columns)
    return Line(one.label, cells, deltas, differs=len(set(values)) > 1)


def _delta(one: Measured, column: Column, baseline: Column) -> str:
    value, was = one.figure(column), one.figure(baseline)
    if column is baseline or value is None or was is None:
        return ""
    if value == was:
        return "the same"
    more = f"{one.words(abs(value - was))} {'more' if value > was else 'less'}"
    share = f" ({percent(value / was - 1)})" if was else ""
    return f"{more}{share}{_noise(one, column, baseline, value, was)}"


def _noise(one: Measured, column: Column, baseline: Column, value: float, was: float) -> str:
    """Said where what is known of the capacities does not tell which of the two is more."""
    if not one.is_unsure or not (value > 0 and was > 0):
        return ""
    unsure, ratio = noise(column.choice, baseline.choice), value / was
    return ", within the noise" if unsure.hides(ratio if one.falls else 1 / ratio) else ""


def _stands(column: Column) -> str:
    choice: Choice = column.choice
    if choice.row is None:
        return "no"
    return "yes" if choice.stands else f"no: {choice.row.reason or choice.row.status}"


def _prices(column: Column) -> str:
    if column.row is None:
        return NOTHING
    case = column.result.designs[column.row.design_id].case
    names = {machine.id: machine.name for machine in (resolve_machine(pool.machine) for pool in case.pools)}
    bought = fleet.machine_counts(case).items()
    return "; ".join(
        f"{n} {names[name]} at ${column.result.book.price(name).usd_per_hour} an hour" for name, n in bought
    )


def _interval(column: Column) -> str:
    row = column.row
    if row is None or row.capacity_low is None or row.capacity_high is None:
        return NOTHING
    return f"{short(row.capacity_low) if row.capacity_low else 'none'} to {short(row.capacity_high)} requests/s"


def _binding(column: Column) -> str:
    if column.row is None or not column.row.capacity_req_per_s:
        return NOTHING
    return binding_words(column.result.evaluations[column.row.design_id])


def _answered(column: Column) -> str:
    if column.state:
        return column.state
    return f"{column.study.finished_at:%Y-%m-%d %H:%M} UTC" if column.study.finished_at else NOTHING


def _run(column: Column) -> RateResult | None:
    result = column.result
    return drawn_result(result.evaluations[column.row.design_id], result.spec.goal) if column.row else None


def _drawn_at(column: Column) -> str:
    """The required rate; the capacity, of a design that was not run at that or is to hold the most."""
    run = _run(column)
    return f"{short(run.rate_req_per_s)} requests/s" if run else NOTHING


def _limits(columns: Sequence[Column]) -> list[Line]:
    """Each limit with what it came to at the required rate, of those that have it."""
    found: list[dict[str, LimitResult]] = []
    for column in columns:
        run = column.result.evaluations[column.row.design_id].at_required if column.row else None
        found.append({limit_name(one.metric, one.percentile): one for one in run.limits} if run else {})
    names = dict.fromkeys(name for limits in found for name in limits)
    return [_line(f"{name} at the required rate", [_limit(limits.get(name)) for limits in found]) for name in names]


def _limit(limit: LimitResult | None) -> str:
    if limit is None:
        return NOTHING
    value, most = value_and_limit(limit)
    return f"{value} of {most}{'' if limit.met else ', missed'}"


def _pools(columns: Sequence[Column]) -> list[Line]:
    """What keeps each pool busy, of the run that the watts are of."""
    found: list[dict[str, PoolResult]] = []
    for column in columns:
        run = _run(column)
        found.append({pool.role: pool for pool in run.pools} if run else {})
    roles = dict.fromkeys(role for pools in found for role in pools)
    return [_line(f"{role} pool", [_pool(pools.get(role)) for pools in found]) for role in roles]


def _pool(pool: PoolResult | None) -> str:
    if pool is None:
        return "none"
    return f"{pool.machines} machines, busy {percent(pool.busy)}, KV at most {percent(pool.kv_peak_share)} full"


def _line(label: str, cells: Sequence[str]) -> Line:
    return Line(label, tuple(cells), differs=len(set(cells)) > 1)


def _of_row(figure: Callable[[DesignRow], float | Decimal | None]) -> Figure:
    def of(column: Column) -> float | None:
        value = None if column.row is None else figure(column.row)
        return None if value is None else float(value)

    return of


def _kw(watts: Callable[[DesignRow], float | None]) -> Figure:
    return _of_row(lambda row: None if (found := watts(row)) is None else found / 1000)


def _drawn(watts: Callable[[RateResult], float]) -> Figure:
    def of(column: Column) -> float | None:
        run = _run(column)
        return None if run is None else watts(run) / 1000

    return of


def _tokens(place: int) -> Figure:
    """$ for a million of input (0) or output tokens (1), at the required rate, as in line A of an answer."""

    def of(column: Column) -> float | None:
        run = _run(column)
        if column.row is None or run is None or not run.rate_req_per_s:
            return None
        rate = column.result.spec.rate_req_per_s / run.rate_req_per_s
        served = (run.input_tokens_per_s * rate, run.output_tokens_per_s * rate)
        return usd_per_million_tokens(column.row.usd_per_hour, *served)[place]

    return of


def _headroom(column: Column) -> str:
    """What the capacity is above the rate; below it, what is missing."""
    capacity = column.row.capacity_req_per_s if column.row else None
    if not capacity:
        return NOTHING
    over = capacity / column.result.spec.rate_req_per_s - 1
    return f"{'' if over >= 0 else '−'}{percent(over)}"


def _cents(value: float) -> str:
    return f"${value:,.2f}" if value >= 0.1 else usd(value)


MONEY = (
    Measured("$ a month (730 h)", lambda c: float(month_of(c.choice)) if c.row else None, dollars, True, True),
    Measured(
        "$ for 1,000 requests at the required rate",
        lambda c: usd_per_1000_requests(c.choice) if c.row else None,
        _cents,
        True,
        True,
    ),
    Measured("$ for 1M input tokens", _tokens(0), _cents, True, True),
    Measured("$ for 1M output tokens (as 4 input tokens)", _tokens(1), _cents, True, True),
    Measured("machines", _of_row(machines), lambda n: counted(n, "machine")),
)
HELD = (
    Measured("required rate", lambda c: c.result.spec.rate_req_per_s, lambda y: f"{short(y, 6)} requests/s"),
    Measured("capacity", _of_row(lambda row: row.capacity_req_per_s), lambda y: f"{short(y)} requests/s", True),
    Measured("Perf/$ at capacity", _of_row(lambda row: row.req_per_usd), lambda y: f"{short(y)} requests/$", True),
    Measured(
        "Perf/W at capacity",
        _of_row(lambda row: row.req_per_s_per_kw),
        lambda y: f"{short(y)} requests/s a provisioned kW",
        True,
    ),
)
POWER = (
    Measured("nameplate power", _kw(lambda row: row.nameplate_w), lambda x: f"{short(x)} kW"),
    Measured("provisioned power", _kw(lambda row: row.provisioned_w), lambda x: f"{short(x)} kW"),
    Measured("drawn, mean", _drawn(lambda run: run.mean_w), lambda x: f"{short(x)} kW"),
    Measured("drawn, P99 of 1 s", _drawn(lambda run: run.p99_w), lambda x: f"{short(x)} kW"),
)
