"""What a frontier chart has on x: money, or one of the power figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from planner.numerals import short, usd
from simcore.economics.hourly import usd_per_month
from simcore.rows import DesignRow


@dataclass(frozen=True)
class Axis:
    """What a frontier chart has on x, and how it is written."""

    title: str
    value: Callable[[DesignRow], float | None]
    words: Callable[[float], str]
    prefix: str = ""
    limit: float | None = None
    limit_words: str = ""
    limit_value: str = ""


POWER_WATTS: dict[str, Callable[[DesignRow], float | None]] = {
    "nameplate": lambda row: row.nameplate_w,
    "provisioned": lambda row: row.provisioned_w,
    "drawn_mean": lambda row: row.mean_w,
    "drawn_p99": lambda row: row.p99_w,
}
POWER_NAMES = {
    "nameplate": "kW nameplate",
    "provisioned": "kW provisioned",
    "drawn_mean": "kW drawn, mean at capacity",
    "drawn_p99": "kW drawn, P99 of 1 s at capacity",
}


def cost_axis(budget_usd_per_month: float | None = None) -> Axis:
    return Axis(
        title="$ a month (730 h)",
        value=lambda row: float(usd_per_month(row.usd_per_hour)),
        words=lambda x: f"{usd(x)} a month",
        prefix="$",
        limit=budget_usd_per_month,
        limit_words="budget",
        limit_value=f"{usd(budget_usd_per_month)} a month",
    )


def power_axis(kind: str, limit_kw: float | None = None) -> Axis:
    watts = POWER_WATTS[kind]
    return Axis(
        title=POWER_NAMES[kind],
        value=lambda row: None if (found := watts(row)) is None else found / 1000,
        words=lambda x: f"{short(x)} {POWER_NAMES[kind]}",
        limit=limit_kw,
        limit_words="power limit",
        limit_value=f"{short(limit_kw)} kW",
    )
