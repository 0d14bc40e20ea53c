"""Why a month cost another amount than was forecast: volume, token mix, efficiency, use and price, to the cent.

A cost is accelerator-hours paid × their price, and the hours are

    tokens × standard hours a token (by the mix) × hours used a standard hour ÷ share of the paid hours that was used.

Each factor in this order is moved from the forecast to the actual, all before it moved already; what the cost then
changes by is the factor's effect. The effects are differences of one running product in whole cents, so that they add
up to the whole difference exactly. Another order would give other effects: the order is part of the definition.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Literal

from simcore.economics.rounding import cents
from simcore.economics.unit_cost import TokenKind

Cause = Literal["volume", "token_mix", "efficiency", "use", "use_and_efficiency", "price"]


@dataclass(frozen=True)
class Served:
    """A month of one service, forecast or actual."""

    cost_usd: Decimal
    """Whole cents."""
    accelerator_hours: Decimal
    """Paid."""
    tokens: Mapping[TokenKind, Decimal]
    used_accelerator_hours: Decimal | None = None
    """In which they worked; None: not known, and efficiency and use are told as one."""


@dataclass(frozen=True)
class Effect:
    """One cause's part of the difference; above zero: dearer than forecast."""

    cause: Cause
    usd: Decimal
    words: str
    """From what to what."""


@dataclass(frozen=True)
class Variance:
    """``sum(effects) = actual_usd - forecast_usd``, to the cent."""

    forecast_usd: Decimal
    actual_usd: Decimal
    effects: tuple[Effect, ...]

    @property
    def difference_usd(self) -> Decimal:
        return self.actual_usd - self.forecast_usd


def variance(forecast: Served, actual: Served, standard_hours: Mapping[TokenKind, Decimal]) -> Variance:
    """``standard_hours``: accelerator-hours a token of each kind, as the forecast has them (``standard_hours_of``).

    ValueError where a month has no tokens, hours or cost: there is nothing to split then, and it is listed as such;
    and where its tokens take no standard hours.
    """
    for name, month in (("forecast", forecast), ("actual", actual)):
        _check(name, month)
    factors = _factors(forecast, actual, standard_hours)
    running = [forecast.cost_usd]
    exact = forecast.cost_usd
    for _, before, after, _ in factors:
        exact = exact * after / before
        running.append(cents(exact))
    running[-1] = actual.cost_usd
    effects = [
        Effect(cause, after - before, words)
        for (cause, _, _, words), (before, after) in zip(factors, pairwise(running), strict=True)
    ]
    return Variance(forecast.cost_usd, actual.cost_usd, tuple(effects))


def standard_hours_of(
    usd_by_kind: Mapping[TokenKind, Decimal], tokens: Mapping[TokenKind, Decimal], hours: Decimal
) -> dict[TokenKind, Decimal]:
    """A token's part of the forecast's used accelerator-hours: by what its kind costs in the allocation chosen."""
    whole = sum(usd_by_kind.values())
    return {
        kind: hours * usd_by_kind[kind] / whole / count if (count := tokens[kind]) else Decimal(0) for kind in tokens
    }


def _check(name: str, month: Served) -> None:
    found = {
        "tokens": sum(month.tokens.values(), Decimal(0)),
        "accelerator_hours": month.accelerator_hours,
        "cost_usd": month.cost_usd,
        "used_accelerator_hours": month.used_accelerator_hours,
    }
    for what, figure in found.items():
        if figure is not None and figure <= 0:
            raise ValueError(f"{name}: {what} is {figure}, expected more than zero")


def _factors(
    forecast: Served, actual: Served, standard_hours: Mapping[TokenKind, Decimal]
) -> list[tuple[Cause, Decimal, Decimal, str]]:
    """Cause, forecast and actual value, and words; the product of all is the cost."""
    volumes = [sum(month.tokens.values(), Decimal(0)) for month in (forecast, actual)]
    standard = [
        sum((month.tokens[kind] * standard_hours.get(kind, Decimal(0)) for kind in month.tokens), Decimal(0))
        for month in (forecast, actual)
    ]
    if not all(standard):
        raise ValueError("tokens: found only kinds without standard hours, expected some that take accelerator time")
    mixes = [hours / volume for hours, volume in zip(standard, volumes, strict=True)]
    prices = [month.cost_usd / month.accelerator_hours for month in (forecast, actual)]
    return [
        _factor("volume", volumes, "tokens"),
        _factor("token_mix", mixes, "standard accelerator-hours a token"),
        *_efficiency_and_use(forecast, actual, standard),
        _factor("price", prices, "USD an accelerator-hour"),
    ]


def _efficiency_and_use(
    forecast: Served, actual: Served, standard: list[Decimal]
) -> list[tuple[Cause, Decimal, Decimal, str]]:
    paid = [forecast.accelerator_hours, actual.accelerator_hours]
    used = [forecast.used_accelerator_hours, actual.used_accelerator_hours]
    known = [hours for hours in used if hours is not None]
    if len(known) < 2:
        each = [hours / work for hours, work in zip(paid, standard, strict=True)]
        return [_factor("use_and_efficiency", each, "paid accelerator-hours a standard one")]
    efficiency = [hours / work for hours, work in zip(known, standard, strict=True)]
    idle = [hours / in_use for hours, in_use in zip(paid, known, strict=True)]
    return [
        _factor("efficiency", efficiency, "used accelerator-hours a standard one"),
        _factor("use", idle, "paid accelerator-hours a used one"),
    ]


def _factor(cause: Cause, values: list[Decimal], unit: str) -> tuple[Cause, Decimal, Decimal, str]:
    before, after = values
    return cause, before, after, f"{before:.6g} → {after:.6g} {unit}"
