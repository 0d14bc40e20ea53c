"""What is supposed of a study's question, and what becomes of its answer, as sentences."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from math import inf, isinf

from simcore.answer.measure import measure_of
from simcore.answer.result import StudyResult
from simcore.answer.watts import power_words
from simcore.economics.hourly import usd_per_month
from simcore.evaluation import FOUND_TO
from simcore.rows import DesignRow
from simcore.shortfalls import POWER_WORDS, machines
from simcore.spec import StudySpec
from simcore.what_if.changes import WhatIf, studied_machines
from simcore.what_if.untried import MOST_COUNTED, Untried
from simcore.words import counted, dollars, listed, number

MOST_NAMED = 3
LESS = {"power": "take less power", "machines": "need fewer machines"}
"""By goal, of a design that would come before the answer."""


def supposed(found: WhatIf) -> list[str]:
    """Each change with what was asked: ``DGX H100 at $30.60 an hour instead of $36.00 (-15 %)``."""
    return [words for _, words in _changes(found)]


def supposed_in_short(found: WhatIf) -> str:
    """``DGX H100 -15 %, 85 requests/s``; empty where nothing is supposed."""
    return ", ".join(short for short, _ in _changes(found))


def outcome(found: WhatIf) -> str:
    """``DGX H100 -15 %: now 13 DGX H100 prefill + 6 DGX H100 decode: $401,000 a month, $31,000 less than …``."""
    begins = f"{supposed_in_short(found)}: "
    if found.simulates:
        begins += "not known before it is simulated; by the limits as they were asked, "
    now, before = found.result.winner, found.base.winner
    if not found.result.rows:
        return f"{begins}no design has been tried yet."
    if now is None:
        was = f"; as it was asked {before.label} did" if before else ""
        return f"{begins}no design that was tried holds it{_within(found.result.spec)}{was}."
    if before is None:
        return f"{begins}now {now.label}: {_amount(found.result, now)}; as it was asked no design held it."
    if now.design_id == before.design_id:
        return f"{begins}still {now.label}: {_amount(found.result, now)}{_against_asked(found, now, before)}."
    return f"{begins}now {now.label}: {_amount(found.result, now)}{_against_old(found, now, before)}."


def caveats(found: WhatIf, untried: Untried) -> list[str]:
    """What is not known of the answer under the changes without simulating."""
    said = []
    if found.simulates:
        said.append("Other latency limits make other capacities: the answer is by the limits as they were asked.")
    if not found.rate_is_simulated:
        rate = f"{number(found.result.spec.rate_req_per_s)} requests/s"
        said.append(
            f"Capacities say which designs hold {rate}; latencies and watts at that rate were not simulated, those at"
            " each design's capacity stand in."
        )
        said.extend(_just_under(found))
    if untried.nothing_holds:
        said.append("Designs that hold more than those tried were not looked for.")
    if untried.count:
        said.append(untried_words(untried, found.result))
    return said


def _just_under(found: WhatIf) -> Iterator[str]:
    """Designs that would come first if they held the rate, and may: capacities are found to 1 %, and a run at the rate
    itself decides."""
    result = found.result
    rate = result.spec.rate_req_per_s
    measure = measure_of(result)
    best = inf if result.winner is None else measure.figure(result.winner)
    named = [
        row.label
        for row in result.rows
        if row.status == "evaluated"
        and FOUND_TO * rate <= result.evaluations[row.design_id].capacity_req_per_s < rate
        and all(short.kind == "rate" for short in result.shortfalls[row.design_id])
        and measure.figure(row) < best
    ]
    if named:
        has, it = ("'s capacity is", "it holds") if len(named) == 1 else (" have capacities", "they hold")
        more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
        yield (
            f"{', '.join(named[:MOST_NAMED])}{more}{has} less than 1 % under {number(rate)} requests/s; capacities are"
            f" found to 1 %, so only a simulation at that rate says whether {it} it."
        )


def untried_words(untried: Untried, result: StudyResult) -> str:
    """How many designs may come first and were not tried, and what they are."""
    count = f"{untried.count:,}{' or more' if untried.count >= MOST_COUNTED else ''}"
    named = [design.label for design in untried.designs[:MOST_NAMED]]
    rest = "" if untried.count <= len(named) else ", …"
    were = "design was" if untried.count == 1 else "designs were"
    less = f"would {LESS.get(result.spec.goal, 'cost less')} and " if result.winner else "keep the limits and "
    return (
        f"{count} {were} not tried that {less}may hold the rate, by the fluid bound and by what was tried around"
        f" {'it' if untried.count == 1 else 'them'}: {'; '.join(named)}{rest}."
    )


def _changes(found: WhatIf) -> Iterator[tuple[str, str]]:
    """(in short, with what was asked)."""
    spec, changes = found.base.spec, found.changes
    if changes.rate_req_per_s is not None:
        now, was = number(changes.rate_req_per_s, 4), number(spec.rate_req_per_s, 4)
        yield f"{now} requests/s", f"{now} requests/s instead of {was}"
    if changes.slo_multiplier is not None:
        times = number(changes.slo_multiplier)
        yield f"latency limits × {times}", f"every latency limit × {times}"
    yield from _prices(found)
    if changes.usd_per_kwh is not None:
        was = f"${found.base.book.usd_per_kwh}" if found.base.book.usd_per_kwh else "in the machines' price"
        yield (
            f"electricity ${changes.usd_per_kwh}/kWh",
            f"electricity at ${changes.usd_per_kwh} a kWh beside the machines' price instead of {was}",
        )
    if changes.pue is not None:
        yield f"PUE {changes.pue:g}", f"PUE {changes.pue:g} instead of {spec.pue:g}"
    yield from _limits(found)


def _prices(found: WhatIf) -> Iterator[tuple[str, str]]:
    names = studied_machines(found.base.spec)
    for machine, usd in found.changes.usd_per_hour.items():
        was = found.base.book.price(machine).usd_per_hour
        name = names.get(machine, machine)
        yield (
            f"{name} {_signed(usd / was - 1)}",
            f"{name} at {_hourly(usd)} an hour instead of {_hourly(was)} ({_signed(usd / was - 1)})",
        )


def _limits(found: WhatIf) -> Iterator[tuple[str, str]]:
    limits, changes = found.base.spec.limits, found.changes
    if changes.power_limit_kw is not None:
        kind = POWER_WORDS[limits.power_kind]
        was = "none" if limits.power_limit_kw is None else f"{number(limits.power_limit_kw, 4)} kW {kind}"
        if isinf(changes.power_limit_kw):
            yield "no power limit", f"no power limit instead of {was}"
        else:
            now = f"{number(changes.power_limit_kw, 4)} kW {kind}"
            yield f"{now} at most", f"a power limit of {now} instead of {was}"
    if changes.usd_per_month is not None:
        was = "none" if limits.usd_per_month is None else dollars(limits.usd_per_month)
        if isinf(changes.usd_per_month):
            yield "no budget", f"no budget instead of {was}"
        else:
            now = f"{dollars(changes.usd_per_month)} a month"
            yield f"{now} at most", f"a budget of {now} instead of {was}"


def _amount(result: StudyResult, row: DesignRow) -> str:
    """What the goal compares, and what it costs."""
    month = f"{dollars(usd_per_month(row.usd_per_hour))} a month"
    if result.spec.goal == "power":
        return f"{power_words(result.watts(row)[row.design_id], result.spec)}, {month}"
    if result.spec.goal == "machines":
        return f"{counted(machines(row), 'machine')}, {month}"
    return month


def _against_asked(found: WhatIf, now: DesignRow, before: DesignRow) -> str:
    """The same design costs more or less than it did."""
    change = usd_per_month(now.usd_per_hour - before.usd_per_hour)
    if not change:
        return ""
    return f", {dollars(abs(change))} {'less' if change < 0 else 'more'} than as it was asked"


def _against_old(found: WhatIf, now: DesignRow, before: DesignRow) -> str:
    """Against the answer as it was asked, had that been bought."""
    old = found.result.row(before.design_id)
    if old is None or not old.met:
        why = f": {old.reason}" if old is not None and old.reason else ""
        return f"; {before.label} is out{why}"
    saved = _saved(found.result, now, old)
    return f", {saved} {before.label}" if saved else f", as much as {before.label}"


def _saved(result: StudyResult, now: DesignRow, old: DesignRow) -> str:
    """``which saves $31,000 a month against``, in what the goal compares."""
    if result.spec.goal == "power":
        watts = result.watts(old, now)
        return f"{power_words(watts[old.design_id] - watts[now.design_id], result.spec)} less than"
    if result.spec.goal == "machines":
        return f"{counted(machines(old) - machines(now), 'machine')} fewer than"
    saved = usd_per_month(old.usd_per_hour - now.usd_per_hour)
    return f"which saves {dollars(saved)} a month against" if saved > 0 else ""


def _within(spec: StudySpec) -> str:
    limits = []
    if spec.limits.power_limit_kw is not None:
        limits.append(f"{number(spec.limits.power_limit_kw)} kW {POWER_WORDS[spec.limits.power_kind]}")
    if spec.limits.usd_per_month is not None:
        limits.append(f"{dollars(spec.limits.usd_per_month)} a month")
    return f" within {listed(limits)}" if limits else ""


def _hourly(usd: Decimal) -> str:
    return f"${usd:,.2f}" if usd == usd.quantize(Decimal("0.01")) else f"${usd.normalize():,f}"


def _signed(share: Decimal | float) -> str:
    """``-15 %``, ``+3.4 %``."""
    value = float(share) * 100
    return f"{value:+.0f} %" if abs(value) >= 10 else f"{value:+.1f} %".replace(".0 %", " %")
