"""Consistency checks of what may be used and spent: limits and prices that do not go with the question."""

from collections.abc import Iterable
from datetime import date
from math import ceil, inf

from planner.catalogue.quote_lines import TODAY, not_holding
from planner.scenarios.bare import Bare
from simcore.catalogue import resolve_machine
from simcore.families import Line, PoolChoice
from simcore.search.counts import Bounds, Counts, explicit_counts, filled, most_prefill
from simcore.spec import Machine, PriceBook
from simcore.survival import any_lost_words
from simcore.words import dollars, listed, number

OLD_PRICES_DAYS = 183
"""Prices of machines move by tens of per cent a year."""
MOST_SPLITS = 256
"""Ways to split a limit between two pools that are looked at."""
MONTH_H = 730


def of_money(bare: Bare, prices: PriceBook, usd_per_month: float | None, today: date) -> Iterable[str]:
    """What prices and budget say; apart from all else, which does not depend on them."""
    yield from _old_prices(bare, prices, today)
    yield from not_holding(prices, [machine.id for machine in bare.machines], {TODAY: today})
    if usd_per_month is not None:
        yield from _small_budget(bare, prices, usd_per_month)


def too_little_power(bare: Bare) -> Iterable[str]:
    limits = bare.spec.limits
    limit, kind = limits.power_limit_kw, limits.power_kind
    if limit is None or kind not in ("nameplate", "provisioned"):
        return
    able = [line for line in bare.found.lines if not line.reason]
    least = min(able, key=lambda line: _smallest_w(line, kind))
    smallest_w, each = (1 + bare.spec.failures) * _smallest_w(least, kind), 1 + bare.spec.failures
    if smallest_w > limit * 1000:
        smallest = [f"{_count(each * _span(pool))} {pool.machine.name}" for pool in least.pools]
        yield (
            f"The power limit of {number(limit)} kW is under {listed(smallest)}, the smallest design"
            f" ({number(smallest_w / 1000)} kW {kind}): the answer will say how far the nearest designs"
            " miss."
        )


def _smallest_w(line: Line, kind: str) -> float:
    """Of one replica in each pool; one that spans machines takes all of them."""
    return sum(_span(pool) * _rated(pool.machine, kind) for pool in line.pools)


def _span(pool: PoolChoice) -> int:
    return max(1, ceil(pool.tensor_parallel * pool.pipeline_parallel / pool.machine.accelerators))


def _count(machines: int) -> str:
    """A name may begin with a number: ``one 8 x H100 box``."""
    return "one" if machines == 1 else str(machines)


def _rated(machine: Machine, kind: str) -> float:
    return machine.nameplate_w if kind == "nameplate" else machine.provisioned()


def too_few(bare: Bare) -> Iterable[str]:
    """Limits within which the work alone does not fit, whatever the design."""
    spec, found = bare.spec, bare.found
    if spec.goal in ("throughput", "frontier") or not _limits_given(bare):
        return
    able = [(place, line) for place, line in enumerate(found.lines) if not line.reason]
    best = max(
        (
            (found.bound_of(place, counts), line, counts)
            for place, line in able
            for counts in _largest(line, found.bounds[place], bare)
        ),
        key=lambda one: one[0],
        default=None,
    )
    if best is not None and best[0] < spec.rate_req_per_s:
        names = [f"{count} {pool.machine.name}" for pool, count in zip(best[1].pools, best[2], strict=True)]
        yield (
            f"Within {listed(_limits_given(bare))}, the work alone allows {number(best[0])} requests/s at most"
            f"{any_lost_words(spec.failures)}"
            f" ({' + '.join(names)}): no design will hold {number(spec.rate_req_per_s)}. The answer will say how far"
            " the nearest miss."
        )


def _limits_given(bare: Bare) -> list[str]:
    limits, spec = bare.spec.limits, bare.spec
    on_hand = [
        f"{choice.on_hand} {resolve_machine(choice.machine).name} on hand"
        for choice in spec.machines
        if choice.on_hand is not None
    ]
    named = [f"{limits.machines} machines"] if limits.machines else []
    rated = limits.power_kind in ("nameplate", "provisioned")
    power = [f"{number(limits.power_limit_kw)} kW {limits.power_kind}"] if limits.power_limit_kw and rated else []
    return [*power, *named, *on_hand]


def _largest(line: Line, bounds: Bounds, bare: Bare) -> list[Counts]:
    """The largest designs of a line that the limits leave room for."""
    if explicit := explicit_counts(line, bare.spec):
        return explicit
    if len(line.pools) == 1:
        by_power = int(bounds.most_kw * 1000 / line.pools[0].machine.nameplate_w + 1e-9)
        return [(max(0, min(bounds.most_each[0], bounds.most_total, by_power)),)]
    most = most_prefill(line, bounds)
    step = max(1, most // MOST_SPLITS)
    counts = [filled(line, bounds, prefill) for prefill in range(1, most + 1, step)]
    return [each for each in counts if min(each) >= 1] or [(0, 0)]


def _old_prices(bare: Bare, prices: PriceBook, today: date) -> Iterable[str]:
    """A price is as old as its own date, else as its book."""
    old: dict[str, list[str]] = {}
    for machine in bare.machines:
        price = next((one for one in prices.prices if one.machine == machine.id), None)
        dated = _date(price.date if price else "") or _date(prices.date)
        if dated and (today - dated).days > OLD_PRICES_DAYS:
            old.setdefault(dated.isoformat(), []).append(machine.name)
    for day, names in old.items():
        months = round((today - date.fromisoformat(day)).days / 30.4)
        are = "s are" if len(names) > 1 else " is"
        yield f"{prices.name}: of {listed(names)}, the price{are} {months} months old ({day})."


def _date(text: str) -> date | None:
    """``2026-04-27``, ``2026-04`` or ``2026``; None where it is none of them."""
    padded = {10: text, 7: f"{text}-01", 4: f"{text}-01-01"}.get(len(text), "")
    try:
        return date.fromisoformat(padded)
    except ValueError:
        return None


def _small_budget(bare: Bare, prices: PriceBook, usd_per_month: float) -> Iterable[str]:
    """Less than the machines cost that the work alone keeps busy, in the cheapest family: no schedule needs less."""
    priced = {price.machine: float(price.usd_per_hour) for price in prices.prices}
    least = min((bare.found.least(place, priced) for place in range(len(bare.found.lines))), default=inf) * MONTH_H
    if bare.spec.goal not in ("throughput", "frontier") and usd_per_month < least < inf:
        yield (
            f"The machines that the work alone keeps busy cost at least {dollars(least)} a month, the budget is"
            f" {dollars(usd_per_month)}: the answer will say how far the nearest designs miss."
        )
