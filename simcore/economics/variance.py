"""Why a month cost another amount than was forecast: volume, token mix, efficiency, use and price, to the cent.

A cost is a product, level by level:

    tokens × standard hours a token (by the mix) × hours used a standard hour ÷ share of the paid hours that was used
    × price of a paid hour.

Each level, in this order, is moved from the forecast to the actual, all before it moved already: after it the cost is

    forecast cost × actual level ÷ forecast level,

of tokens, standard hours, used hours, paid hours, and at the last the actual cost. What it then changes by, in whole
cents, is the effect of what leads to that level. So the effects add up to the whole difference exactly. Another order
would give other effects: the order is part of the definition. A level that is not known of both months is left out,
and what leads to it and on from it is told as one: without used hours, efficiency and use; without any tokens, all but
the price.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from simcore.economics.rounding import cents
from simcore.economics.unit_cost import KINDS, TokenKind

Cause = Literal["volume", "token_mix", "efficiency", "use", "price"]
CAUSES: tuple[Cause, ...] = ("volume", "token_mix", "efficiency", "use", "price")
"""What leads to each level, in order."""
LEVELS = ("tokens", "standard accelerator-hours", "used accelerator-hours", "paid accelerator-hours")
EACH = dict(zip(LEVELS, ("a token", "a standard hour", "a used hour", "a paid hour"), strict=True))


@dataclass(frozen=True)
class Served:
    """A month of one service, forecast or actual. None: not known."""

    cost_usd: Decimal
    """Whole cents."""
    accelerator_hours: Decimal | None = None
    """Paid."""
    tokens: Mapping[TokenKind, Decimal] | None = None
    used_accelerator_hours: Decimal | None = None
    """In which they worked."""
    all_tokens: Decimal | None = None
    """Where only their sum is known, and not of which kind they were."""

    @property
    def volume(self) -> Decimal | None:
        """Tokens of all kinds."""
        return self.all_tokens if self.tokens is None else sum(self.tokens.values(), Decimal(0))


@dataclass(frozen=True)
class Effect:
    """One part of the difference; above zero: dearer than forecast."""

    causes: tuple[Cause, ...]
    """More than one cannot be told apart: what lies between them is not known."""
    usd: Decimal
    words: str
    """From what to what."""
    formula: str
    """With its numbers."""

    @property
    def cause(self) -> str:
        """``volume``, ``efficiency_and_use``."""
        return "_and_".join(self.causes)


@dataclass(frozen=True)
class Variance:
    """``sum(effects) = actual_usd - forecast_usd``, to the cent."""

    forecast_usd: Decimal
    actual_usd: Decimal
    effects: tuple[Effect, ...]
    not_known: tuple[str, ...] = ()
    """Levels that are not known of both, each with the month that lacks it."""

    @property
    def difference_usd(self) -> Decimal:
        return self.actual_usd - self.forecast_usd


def variance(forecast: Served, actual: Served, standard_hours: Mapping[TokenKind, Decimal]) -> Variance:
    """``standard_hours``: accelerator-hours a token of each kind, as the forecast has them (``standard_hours_of``).

    ValueError where a month has less than nothing of something.
    """
    _check("forecast", forecast)
    _check("actual", actual)
    pairs = zip(_levels(forecast, standard_hours), _levels(actual, standard_hours), strict=True)
    before, each, reached = (Decimal(1), Decimal(1)), "", forecast.cost_usd
    causes: list[Cause] = []
    effects: list[Effect] = []
    not_known: list[str] = []
    for level, cause, (planned, real) in zip(LEVELS, CAUSES[:-1], pairs, strict=True):
        causes.append(cause)
        if planned is None or real is None or not planned:
            not_known.append(_missing(level, planned, real))
            continue
        moved = cents(forecast.cost_usd * real / planned)
        words = f"{_ratio(planned, before[0])} → {_ratio(real, before[1])} {level}{each}"
        formula = f"${forecast.cost_usd:,f} × {_n(real)} ÷ {_n(planned)} {level} − ${reached:,f}"
        effects.append(Effect(tuple(causes), moved - reached, words, formula))
        before, each, reached, causes = (planned, real), f" {EACH[level]}", moved, []
    words = f"{_ratio(forecast.cost_usd, before[0])} → {_ratio(actual.cost_usd, before[1])} USD{each}"
    formula = f"${actual.cost_usd:,f} − ${reached:,f}"
    effects.append(Effect((*causes, "price"), actual.cost_usd - reached, words, formula))
    return Variance(forecast.cost_usd, actual.cost_usd, tuple(effects), tuple(not_known))


def standard_hours_of(
    usd_by_kind: Mapping[TokenKind, Decimal], tokens: Mapping[TokenKind, Decimal], hours: Decimal
) -> dict[TokenKind, Decimal]:
    """A token's part of the forecast's used accelerator-hours: by what its kind costs in the allocation chosen."""
    whole = sum(usd_by_kind.values())
    if not whole:
        return dict.fromkeys(tokens, Decimal(0))
    return {
        kind: hours * usd_by_kind[kind] / whole / count if (count := tokens[kind]) else Decimal(0) for kind in tokens
    }


def _check(name: str, month: Served) -> None:
    found = {
        "accelerator_hours": month.accelerator_hours,
        "used_accelerator_hours": month.used_accelerator_hours,
        "tokens": month.all_tokens,
        **{f"{kind} tokens": count for kind, count in (month.tokens or {}).items()},
    }
    for what, figure in found.items():
        if figure is not None and figure < 0:
            raise ValueError(f"{name}: {what} is {figure}, expected zero or more")


def _levels(month: Served, standard_hours: Mapping[TokenKind, Decimal]) -> list[Decimal | None]:
    """Of ``LEVELS``. Standard hours of tokens, some of which have none in the forecast, are not known."""
    standard = None
    if month.tokens is not None:
        of_kinds = {kind: standard_hours.get(kind, Decimal(0)) for kind in KINDS}
        standard = sum((month.tokens.get(kind, Decimal(0)) * of_kinds[kind] for kind in KINDS), Decimal(0))
    return [month.volume, standard, month.used_accelerator_hours, month.accelerator_hours]


def _missing(level: str, planned: Decimal | None, real: Decimal | None) -> str:
    if real is None:
        return f"{level}: not known of the actual"
    return f"{level}: not known of the forecast" if planned is None else f"{level}: the forecast has none"


def _ratio(after: Decimal, before: Decimal) -> str:
    return _n(after / before) if before else "none"


def _n(figure: Decimal) -> str:
    return f"{figure:.6g}" if abs(figure) < 1 else f"{figure:,.6f}".rstrip("0").rstrip(".")
