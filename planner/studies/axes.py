"""What a frontier chart has on x and on y: money, one of the power figures, what is held, or both merits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from planner.numerals import short, usd
from simcore.economics.hourly import HOURS_PER_MONTH, SECONDS_PER_HOUR, usd_per_month
from simcore.rows import DesignRow

Value = Callable[[DesignRow], float | None]


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
HELD = Axis("requests/s held under the SLO", lambda row: row.capacity_req_per_s, lambda y: f"{short(y)} requests/s")


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


def power_plane(kind: str, limit_kw: float | None = None) -> Plane:
    x = Axis(
        title=POWER_NAMES[kind],
        value=_kw(kind),
        words=lambda x: f"{short(x)} {POWER_NAMES[kind]}",
        limit=limit_kw,
        limit_words="power limit",
        limit_value=f"{short(limit_kw)} kW",
    )
    return Plane("power", "Power frontier", x, HELD, POWER_COLUMNS[kind], lambda ray: f"{short(ray)} requests/s a kW")


def merits_plane(kind: str) -> Plane:
    """Perf/$ against Perf/W, both at capacity."""

    def per_kw(row: DesignRow) -> float | None:
        kw = _kw(kind)(row)
        return row.capacity_req_per_s / kw if row.capacity_req_per_s and kw else None

    x = Axis(f"Perf/W: requests/s a {POWER_NAMES[kind]}", per_kw, lambda x: f"{short(x)} requests/s a kW")
    y = Axis("Perf/$: requests a dollar", lambda row: row.req_per_usd, lambda y: f"{short(y)} requests a dollar")
    return Plane("both", "Perf/$ against Perf/W", x, y, "req_per_usd")


def _kw(kind: str) -> Value:
    watts = POWER_WATTS[kind]
    return lambda row: None if (found := watts(row)) is None else found / 1000
