"""What if something of a study's question were otherwise: what its stored evaluations say at once, and what only a
simulation can say. Pure, no engine.

Prices, tariff, PUE, budget and power limit are applied to what was simulated (DESIGN.md section 2), so the answer under
others follows exactly from the evaluations. So does the answer at another rate, as far as capacities go: a design
holds every rate up to its capacity. What a design does *at* the other rate (latencies, drawn watts) was not simulated.
Another SLO makes other capacities: nothing of it follows. Designs that were never tried may come first under what is
changed: ``simcore.what_if.untried`` finds them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from math import isinf

from simcore.answer.result import StudyResult, study_result
from simcore.catalogue import resolve_machine
from simcore.evaluation import Evaluation, Loss
from simcore.spec import AbsoluteSlo, AttainmentSlo, Limit, PriceBook, Slo, SlowdownSlo, SpecError, StudySpec, nearest
from simcore.spec.prices import LEAST_USD_PER_HOUR, MOST_USD_PER_HOUR, MOST_USD_PER_KWH
from simcore.survival import together


@dataclass(frozen=True)
class Changes:
    """What is otherwise; None, or a machine that is not named: as the study has it."""

    rate_req_per_s: float | None = None
    slo_multiplier: float | None = None
    """Every latency limit times this."""
    usd_per_hour: Mapping[str, Decimal] = field(default_factory=dict)
    """Machine id → price."""
    usd_per_kwh: Decimal | None = None
    """The tariff of electricity that is paid beside the machines."""
    pue: float | None = None
    power_limit_kw: float | None = None
    """Infinite: no limit."""
    usd_per_month: float | None = None
    """The budget; infinite: no limit."""

    def __bool__(self) -> bool:
        """Whether anything is named, also where it is named as it was."""
        return self != Changes()


@dataclass(frozen=True)
class WhatIf:
    """A study's answer under changes, by what was simulated for it."""

    base: StudyResult
    """As it was asked."""
    changes: Changes
    """Those that differ from what was asked."""
    result: StudyResult
    """Under all changes but the SLO's."""
    simulates: tuple[str, ...]
    """Names of the changes that are not in ``result``: only a simulation can say."""
    rate_is_simulated: bool
    """Whether the rate is the one that designs were run at: else nothing is known of latencies and watts at it."""


def changed(spec: StudySpec, changes: Changes) -> StudySpec:
    """The question that the changes make of it; SpecError on a value that no question may have. Prices are the
    book's."""
    limits = replace(
        spec.limits,
        power_limit_kw=_limit(spec.limits.power_limit_kw, changes.power_limit_kw, "power_limit_kw"),
        usd_per_month=_limit(spec.limits.usd_per_month, changes.usd_per_month, "usd_per_month"),
    )
    return replace(
        spec,
        rate_req_per_s=spec.rate_req_per_s if changes.rate_req_per_s is None else _positive(changes.rate_req_per_s),
        slo=spec.slo if changes.slo_multiplier is None else scaled_slo(spec.slo, changes.slo_multiplier),
        pue=spec.pue if changes.pue is None else _pue(changes.pue),
        limits=limits,
    )


def repriced(book: PriceBook, changes: Changes) -> PriceBook:
    """The book with the changed prices and tariff; SpecError where it has no such machine."""
    prices = {price.machine: price for price in book.prices}
    for machine, usd in changes.usd_per_hour.items():
        if machine not in prices:
            raise SpecError(
                f"usd_per_hour: found '{machine}', which book '{book.id}' has no price of, expected one of"
                f" {', '.join(prices)}{nearest(machine, prices)}"
            )
        if not (usd.is_finite() and LEAST_USD_PER_HOUR <= usd <= MOST_USD_PER_HOUR):
            raise SpecError(
                f"usd_per_hour: found {usd} for {machine}, expected dollars an hour from {LEAST_USD_PER_HOUR} to"
                f" {MOST_USD_PER_HOUR:,}"
            )
        prices[machine] = replace(prices[machine], usd_per_hour=usd, source="what if", date="", status="user")
    tariff = book.usd_per_kwh if changes.usd_per_kwh is None else changes.usd_per_kwh
    if tariff is not None and not (tariff.is_finite() and 0 <= tariff <= MOST_USD_PER_KWH):
        raise SpecError(
            f"usd_per_kwh: found {tariff}, expected dollars a kWh of 0 or more and at most {MOST_USD_PER_KWH:,}"
        )
    return replace(book, prices=tuple(prices.values()), usd_per_kwh=tariff)


def scaled_slo(slo: Slo, multiplier: float) -> Slo:
    """The SLO with every latency limit times ``multiplier``; an attainment's share stays."""
    if not 0 < multiplier < float("inf"):
        raise SpecError(f"slo_multiplier: found {multiplier:g}, expected a factor above 0")
    if isinstance(slo, SlowdownSlo):
        return replace(slo, multiplier=slo.multiplier * multiplier)
    if isinstance(slo, AttainmentSlo):
        return replace(slo, ttft_s=slo.ttft_s * multiplier, tpot_s=slo.tpot_s * multiplier)
    return AbsoluteSlo(tuple(_scaled_limit(limit, multiplier) for limit in slo.limits))


def what_if(base: StudyResult, changes: Changes) -> WhatIf:
    """The answer under the changes; SpecError on a value that no question may have."""
    differing = effective(base, changes)
    spec = changed(base.spec, replace(differing, slo_multiplier=None))
    changed(base.spec, differing)  # the SLO's value is checked, too
    rate_is_simulated = spec.rate_req_per_s == base.spec.rate_req_per_s
    evaluations = base.evaluations if rate_is_simulated else at_another_rate(base, spec.rate_req_per_s)
    result = base
    if replace(differing, slo_multiplier=None):
        found = study_result(
            spec,
            tuple(base.designs.values()),
            evaluations,
            repriced(base.book, differing),
            margins=base.margins,
        )
        result = replace(found, outside=base.outside)
    simulates = () if differing.slo_multiplier is None else ("slo_multiplier",)
    return WhatIf(base, differing, result, simulates, rate_is_simulated)


def effective(base: StudyResult, changes: Changes) -> Changes:
    """Those of the changes that differ from what was asked."""
    spec, prices = base.spec, {price.machine: price.usd_per_hour for price in base.book.prices}
    as_asked = {
        "rate_req_per_s": spec.rate_req_per_s,
        "slo_multiplier": 1.0,
        "usd_per_kwh": base.book.usd_per_kwh or Decimal(0),
        "pue": spec.pue,
        "power_limit_kw": float("inf") if spec.limits.power_limit_kw is None else spec.limits.power_limit_kw,
        "usd_per_month": float("inf") if spec.limits.usd_per_month is None else spec.limits.usd_per_month,
    }
    same = {name: None for name, value in as_asked.items() if getattr(changes, name) == value}
    other = {machine: usd for machine, usd in changes.usd_per_hour.items() if prices.get(machine) != usd}
    return replace(changes, usd_per_hour=other, **same)


def studied_machines(spec: StudySpec) -> dict[str, str]:
    """Machine id → name, of those that may be bought."""
    found = (resolve_machine(choice.machine) for choice in spec.machines)
    return {machine.id: machine.name for machine in found}


def at_another_rate(base: StudyResult, rate_req_per_s: float) -> dict[str, Evaluation]:
    """Without the runs at the study's rate, which say nothing of another one; but what holds that rate holds all below,
    though its capacity may have been found just under it."""
    asked = base.spec.rate_req_per_s

    def seen(found: Evaluation) -> Evaluation:
        if found.whole is not None:
            losses = [Loss(loss.lost, seen(loss.evaluation)) for loss in found.losses]
            return replace(together(seen(found.whole), losses), held_required=found.held_required)
        run = found.at_required
        if found.status != "evaluated" or run is None:
            return found
        reached = found.capacity_req_per_s
        if reached < rate_req_per_s < asked and found.holds(asked):
            return replace(found, at_required=None, capacity_req_per_s=rate_req_per_s)
        return replace(found, at_required=None)

    return {name: seen(found) for name, found in base.evaluations.items()}


def _scaled_limit(limit: Limit, multiplier: float) -> Limit:
    if limit.limit is None:
        return replace(limit, limit_x_decode=(limit.limit_x_decode or 0.0) * multiplier)
    return replace(limit, limit=limit.limit * multiplier)


def _limit(asked: float | None, given: float | None, name: str) -> float | None:
    if given is None:
        return asked
    if not given > 0:
        raise SpecError(f"{name}: found {given:g}, expected a number above 0")
    return None if isinf(given) else given


def _positive(rate_req_per_s: float) -> float:
    if not 0 < rate_req_per_s <= 1_000_000:
        raise SpecError(f"rate_req_per_s: found {rate_req_per_s:g}, expected a number above 0 and at most 1,000,000")
    return rate_req_per_s


def _pue(pue: float) -> float:
    if not 1 <= pue <= 5:
        raise SpecError(f"pue: found {pue:g}, expected a number of at least 1 and at most 5")
    return pue
