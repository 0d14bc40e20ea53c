"""The what-if strip: a slider and a number box for all that may be supposed, in two groups."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from planner.numerals import duration
from planner.scenarios.quantities import shown_quantity
from planner.studies.moves import NONE, PRICE, Moves, address
from planner.studies.names import without_make
from simcore.answer.result import StudyResult
from simcore.economics.hourly import usd_per_month
from simcore.rows import DesignRow
from simcore.what_if.changes import WhatIf, studied_machines

STEPS = 200
"""Of a slider, about: finer than a finger."""
SHORT = {"nameplate": "Nameplate", "provisioned": "Provisioned", "drawn_mean": "Drawn", "drawn_p99": "P99 drawn"}
MOST_TARIFF, MOST_PUE, MOST_SLO = 0.5, 2.0, 3.0


@dataclass(frozen=True)
class Control:
    """One thing that may be supposed. Values are as an address writes them."""

    name: str
    label: str
    unit: str
    as_asked: str
    value: str
    least: str
    most: str
    step: str
    error: str = ""
    reset: str = ""
    """The address with this one as it was asked."""
    may_be_none: bool = False

    @property
    def moved(self) -> bool:
        return self.value != self.as_asked

    @property
    def id(self) -> str:
        return f"move-{self.name.replace('.', '-')}"

    @property
    def box(self) -> str:
        """What the number box shows: nothing where there is no limit."""
        return "" if self.value == NONE else self.value

    @property
    def asked_box(self) -> str:
        return "" if self.as_asked == NONE else self.as_asked

    @property
    def at(self) -> str:
        """Where the slider stands; at its end where there is no limit."""
        return self.most if self.value == NONE else self.value


@dataclass(frozen=True)
class Strip:
    """The controls of one study under what is supposed, and what must be simulated for it."""

    found: WhatIf
    moves: Moves
    shown_as: dict[str, str]
    """What of the address is no move, and stays where one is reset."""
    predicted: tuple[float, float]
    """Seconds that another SLO, and another rate, take to simulate."""

    @cached_property
    def redraws(self) -> list[Control]:
        base = self.found.base
        return [
            self._control("rate", "Rate", "requests/s", base.spec.rate_req_per_s, *_rates(base)),
            *self._prices(),
            self._control("tariff", "Energy", "$/kWh", base.book.usd_per_kwh or 0.0, 0.0, MOST_TARIFF),
            self._control("pue", "PUE", "", base.spec.pue, 1.0, max(MOST_PUE, base.spec.pue)),
            self._limit("power_limit", f"{SHORT[base.spec.limits.power_kind]} ≤", "kW"),
            self._limit("budget", "Budget ≤", "$/month"),
        ]

    @cached_property
    def simulates(self) -> list[Control]:
        return [self._control("slo", "Latency limits", "×", 1.0, 0.25, MOST_SLO)]

    @property
    def again(self) -> str:
        """How long the second group takes."""
        return duration(max(1.0, self.predicted[0]))

    def _prices(self) -> Iterator[Control]:
        names = without_make(studied_machines(self.found.base.spec))
        for machine, name in names.items():
            usd = self.found.base.book.price(machine).usd_per_hour
            yield self._control(f"{PRICE}{machine}", name, "$/h", usd, float(usd) / 4, float(usd) * 2)

    def _limit(self, name: str, label: str, unit: str) -> Control:
        base = self.found.base
        limits = base.spec.limits
        asked = limits.power_limit_kw if name == "power_limit" else limits.usd_per_month
        used = _power_used(base) if name == "power_limit" else _dollars_used(base)
        most = max([*used, asked or 0.0], default=0.0) or 1.0
        return self._control(name, label, unit, math.inf if asked is None else asked, min(used, default=0.0), most)

    def _control(self, name: str, label: str, unit: str, asked: float | Decimal, least: float, most: float) -> Control:
        as_asked = NONE if math.isinf(asked) else _text(asked)
        value = self.moves.query.get(name, as_asked)
        step = _round_step((most - least) / STEPS)
        return Control(
            name,
            label,
            unit,
            as_asked,
            value,
            _plain(max(math.floor(least / step) * step, step if name == "rate" else 0.0)),
            _plain(math.ceil(most / step) * step),
            _plain(step),
            self.moves.errors.get(name, ""),
            address(self.shown_as | self.moves.without(name)),
            name in ("power_limit", "budget"),
        )


def _text(value: float | Decimal) -> str:
    return f"{value.normalize():f}" if isinstance(value, Decimal) else shown_quantity(value)


def _plain(value: float) -> str:
    return shown_quantity(float(f"{value:.9g}"))


def _round_step(step: float) -> float:
    """1, 2 or 5 times a power of ten, at least so large."""
    if step <= 0:
        return 1.0
    decade = 10.0 ** math.floor(math.log10(step))
    return float(f"{next(factor for factor in (1, 2, 5, 10) if factor * decade >= step * 0.999) * decade:.6g}")


def _rates(base: StudyResult) -> tuple[float, float]:
    """From nothing to what the most capable design holds."""
    held = max((row.capacity_req_per_s or 0.0 for row in base.rows), default=0.0)
    return 0.0, max(held, 1.5 * base.spec.rate_req_per_s)


def _power_used(base: StudyResult) -> list[float]:
    kind = base.spec.limits.power_kind
    column = {"nameplate": "nameplate_w", "provisioned": "provisioned_w", "drawn_mean": "mean_w", "drawn_p99": "p99_w"}
    return [watts / 1000 for row in _evaluated(base) if (watts := getattr(row, column[kind])) is not None]


def _dollars_used(base: StudyResult) -> list[float]:
    return [float(usd_per_month(row.usd_per_hour)) for row in _evaluated(base)]


def _evaluated(base: StudyResult) -> Sequence[DesignRow]:
    return [row for row in base.rows if row.status == "evaluated"]
