"""The things of a question that are followed, each over a range around what it is."""

from __future__ import annotations

from math import inf

import numpy as np

from simcore.answer.result import StudyResult
from simcore.catalogue import resolve_machine
from simcore.economics.hourly import HOURS_PER_MONTH
from simcore.evaluation import Evaluation
from simcore.flips.field import Field, Float64, Mask
from simcore.flips.flip import Asked
from simcore.flips.quantities import Price, Quantity, Threshold
from simcore.slo.slack import of_limits
from simcore.spec import AttainmentSlo
from simcore.trust.capacity_error import response
from simcore.what_if.changes import Changes, what_if

WIDEST = 4.0
"""Prices and the rate are followed from a quarter to four times what they are."""
WIDEST_SLO = 2.0
"""The SLO from half to twice its limits: further off, runs near today's say little."""
MOST_USD_PER_KWH = 0.60
"""The tariff at the least up to here: above what industry pays in nearly all countries."""
A_LITTLE_MORE = 1 + 1e-6


def quantities(result: StudyResult) -> list[Quantity]:
    """The price of each machine that designs have, the tariff, the rate and the SLO."""
    field = Field.of(result)
    machines = (resolve_machine(choice.machine) for choice in result.spec.machines)
    names = {machine.id: machine.name for machine in machines}
    prices = {machine: float(result.book.price(machine).usd_per_hour) for machine in field.counts}
    tariff = float(result.book.usd_per_kwh or 0)
    bought = _sum([field.counts[machine] * usd for machine, usd in prices.items()], field)
    usd = bought + field.kw * tariff
    budget = _budget(result)
    holds = field.within & (field.held >= result.spec.rate_req_per_s)
    found: list[Quantity] = [
        _price(field, _around("usd_per_hour", now, machine, names[machine]), usd, budget, holds)
        for machine, now in prices.items()
    ]
    most = max(WIDEST * tariff, MOST_USD_PER_KWH)
    paid = Asked("usd_per_kwh", tariff, tariff / WIDEST, most)
    found += [Price(field, paid, bought, field.kw, budget, holds), _rate(result, field)]
    return [*found, _slo(result, field, usd, budget)] if slo_is_told(result) else found


def slo_is_told(result: StudyResult) -> bool:
    """Whether what was simulated says of another SLO what is held: not of a share of requests, and not of an interval's
    lower bound, which is of this SLO."""
    return not isinstance(result.spec.slo, AttainmentSlo) and result.spec.size_to == "median"


def _price(field: Field, asked: Asked, usd: Float64, budget: float, holds: Mask) -> Price:
    counts = field.counts[asked.machine]
    return Price(field, asked, usd - counts * asked.now, counts, budget, holds)


def _rate(result: StudyResult, field: Field) -> Quantity:
    """What is drawn at other rates was not simulated: as at capacity, where a tariff or a limit counts it."""
    asked = _around("rate_req_per_s", result.spec.rate_req_per_s)
    elsewhere = what_if(result, Changes(rate_req_per_s=asked.now * A_LITTLE_MORE)).result
    other = Field.of(elsewhere)
    usd = np.array([float(row.usd_per_hour) for row in elsewhere.rows if row.status == "evaluated"])
    able = other.within & (usd <= _budget(result) * (1 + 1e-12))
    return Threshold(field, asked, usd, field.held, True, able)


def _slo(result: StudyResult, field: Field, usd: Float64, budget: float) -> Quantity:
    rate = result.spec.rate_req_per_s
    needed = np.array(
        [max(_multiple(result, part, rate) for part in result.evaluations[name].parts) for name in field.design_ids]
    )
    asked = Asked("slo_multiplier", 1.0, 1 / WIDEST_SLO, WIDEST_SLO)
    return Threshold(field, asked, usd, needed, False, field.within & (usd <= budget * (1 + 1e-12)))


def _multiple(result: StudyResult, found: Evaluation, rate: float) -> float:
    """The least multiple of the SLO's limits under which a design holds the rate: what its run at the rate used of
    them; where it was not run at it, by lines between the rates that it was run at."""
    run, holds = found.at_required, found.holds(rate)
    if run is not None and run.rate_req_per_s == rate:
        least = of_limits(run.limits) if run.stable else None
        used = inf if least is None else least
    else:
        used = response(found, result.spec.slo).used_at(rate / found.capacity_req_per_s) if _has_lines(found) else inf
    # What the capacity says of the SLO as it is stands, whatever one run says.
    return min(used, 1.0) if holds else max(used, 1 + 1e-9)


def _has_lines(found: Evaluation) -> bool:
    return bool(found.capacity_req_per_s and found.around)


def _budget(result: StudyResult) -> float:
    limit = result.spec.limits.usd_per_month
    return inf if limit is None else limit / HOURS_PER_MONTH


def _around(kind: str, now: float, machine: str = "", name: str = "") -> Asked:
    return Asked(kind, now, now / WIDEST, now * WIDEST, machine, name)


def _sum(columns: list[Float64], field: Field) -> Float64:
    return np.sum(columns, axis=0) if columns else np.zeros(len(field.design_ids))
