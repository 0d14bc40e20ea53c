"""What a frontier chart has on x and on y: money, one of the power figures, what is held, or both merits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import exp, hypot, log

from planner.numerals import short, usd
from simcore.economics.hourly import HOURS_PER_MONTH, SECONDS_PER_HOUR, usd_per_month
from simcore.rows import DesignRow

Value = Callable[[DesignRow], float | None]
Interval = Callable[[DesignRow], tuple[float | None, float | None]]
"""The ends of what a figure may be, 9 times in 10; None where no end is known."""
Spans = Mapping[str, tuple[float, float]]
"""Design → the least and the most that its drawn watts may be, as shares of what was simulated."""
DRAWN = ("drawn_mean", "drawn_p99")


def _exact(_: DesignRow) -> tuple[None, None]:
    """Of money, and of what machines are rated at."""
    return None, None


@dataclass(frozen=True)
class Axis:
    """What a chart has on one side, and how it is written."""

    title: str
    value: Value
    words: Callable[[float], str]
    prefix: str = ""
    ticks: str = "~g"
    """How figures are written along it (d3-format)."""
    limit: float | None = None
    limit_words: str = ""
    limit_value: str = ""
    interval: Interval = _exact


@dataclass(frozen=True)
class Plane:
    """The two sides of a chart."""

    name: str
    """``cost``, ``power`` or ``both``."""
    title: str
    x: Axis
    y: Axis
    column: str
    """Of designs.csv, by which the table under it is sorted."""
    ray_words: Callable[[float], str] | None = None
    """A line through the origin of this slope, y over x; None: such lines say nothing here."""
    ray_scale: float = 1.0
    """The slope times this is a figure that people know: requests a dollar."""

    @property
    def holds_rate(self) -> bool:
        """Whether y is the rate that is held, so that the required one is a line across."""
        return self.name != "both"


POWER_WATTS: dict[str, Value] = {
    "nameplate": lambda row: row.nameplate_w,
    "provisioned": lambda row: row.provisioned_w,
    "drawn_mean": lambda row: row.mean_w,
    "drawn_p99": lambda row: row.p99_w,
}
POWER_COLUMNS = {
    "nameplate": "nameplate_w",
    "provisioned": "provisioned_w",
    "drawn_mean": "mean_w",
    "drawn_p99": "p99_w",
}
POWER_NAMES = {
    "nameplate": "kW nameplate",
    "provisioned": "kW provisioned",
    "drawn_mean": "kW drawn, mean at capacity",
    "drawn_p99": "kW drawn, P99 of 1 s at capacity",
}
HELD = Axis(
    "requests/s held under the SLO",
    lambda row: row.capacity_req_per_s,
    lambda y: f"{short(y)} requests/s",
    interval=lambda row: (row.capacity_low, row.capacity_high),
)


def cost_plane(budget_usd_per_month: float | None = None, with_energy: bool = False) -> Plane:
    """``with_energy``: electricity is paid beside the machines."""
    x = Axis(
        title=f"$ a month (730 h){', electricity within' if with_energy else ''}",
        value=lambda row: float(usd_per_month(row.usd_per_hour)),
        words=lambda x: f"{usd(x)} a month",
        prefix="$",
        ticks="~s",
        limit=budget_usd_per_month,
        limit_words="budget",
        limit_value=f"{usd(budget_usd_per_month)} a month",
    )
    a_dollar = float(SECONDS_PER_HOUR * HOURS_PER_MONTH)
    return Plane("cost", "Cost frontier", x, HELD, "usd_per_hour", lambda ray: f"{short(ray)} requests/$", a_dollar)


def power_plane(kind: str, limit_kw: float | None = None, drawn: Spans | None = None) -> Plane:
    """``drawn``: how far off drawn watts may be, where they are what is drawn over."""
    x = Axis(
        title=POWER_NAMES[kind],
        value=_kw(kind),
        words=lambda x: f"{short(x)} {POWER_NAMES[kind]}",
        limit=limit_kw,
        limit_words="power limit",
        limit_value=f"{short(limit_kw)} kW",
        interval=_kw_interval(kind, drawn or {}),
    )
    return Plane("power", "Power frontier", x, HELD, POWER_COLUMNS[kind], lambda ray: f"{short(ray)} requests/s a kW")


def merits_plane(kind: str, drawn: Spans | None = None) -> Plane:
    """Perf/$ against Perf/W, both at capacity."""
    x = Axis(
        f"Perf/W: requests/s a {POWER_NAMES[kind]}",
        _per_kw(kind),
        lambda x: f"{short(x)} requests/s a kW",
        interval=_per_kw_interval(kind, drawn or {}),
    )
    y = Axis(
        "Perf/$: requests a dollar",
        lambda row: row.req_per_usd,
        lambda y: f"{short(y)} requests a dollar",
        interval=lambda row: (row.req_per_usd_low, row.req_per_usd_high),
    )
    return Plane("both", "Perf/$ against Perf/W", x, y, "req_per_usd")


def _kw(kind: str) -> Value:
    watts = POWER_WATTS[kind]
    return lambda row: None if (found := watts(row)) is None else found / 1000


def _per_kw(kind: str) -> Value:
    kw_of = _kw(kind)
    return lambda row: row.capacity_req_per_s / kw if row.capacity_req_per_s and (kw := kw_of(row)) else None


def _kw_interval(kind: str, drawn: Spans) -> Interval:
    """Ratings are what they are; drawn watts may be off."""
    kw_of = _kw(kind)

    def ends(row: DesignRow) -> tuple[float | None, float | None]:
        kw, span = kw_of(row), drawn.get(row.design_id)
        if kind not in DRAWN or kw is None or span is None:
            return None, None
        return kw * span[0], kw * span[1]

    return ends


def _per_kw_interval(kind: str, drawn: Spans) -> Interval:
    """Of what is held and of the watts, each off by itself."""
    per_kw = _per_kw(kind)

    def ends(row: DesignRow) -> tuple[float | None, float | None]:
        merit, held, low, high = per_kw(row), row.capacity_req_per_s, row.capacity_low, row.capacity_high
        if merit is None or not held or low is None or high is None:
            return None, None
        least, most = drawn.get(row.design_id, (1.0, 1.0)) if kind in DRAWN else (1.0, 1.0)
        down = merit * exp(-hypot(log(held / low), log(most))) if low else 0.0
        return down, merit * exp(hypot(log(high / held), log(least)))

    return ends
