"""Flip points in words."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from simcore.answer.result import StudyResult
from simcore.catalogue import resolve_machine
from simcore.evaluation import FOUND_TO
from simcore.families import SCHEDULER_NAMES, SPLIT
from simcore.flips.find import Flips
from simcore.flips.flip import Asked, Flip
from simcore.words import counted, number, with_article

MOST_SAID = 4
"""In the answer's line; the section below has all."""
SIGNIFICANT = 3


def line(found: Flips, result: StudyResult) -> str:
    """``Sarathi on DGX H100 stops being best if: a DGX H100 costs over $60.00 an hour (36.00) | the rate falls below 31
    requests/s (70).`` The kind of design, at whatever counts: more of the same machines is no other answer."""
    if not found.asked or result.winner is None:
        return ""
    own = kind_words(result, result.winner.family)
    if not found.answer:
        return f"Of the designs tried {own} stays best over all that was looked at: {ranges(found)}."
    return f"{own} stops being best if: {' | '.join(map(clause, found.answer[:MOST_SAID]))}."


def clause(flip: Flip) -> str:
    """When, in words: with the value rounded away from today's, so that beyond it the order has changed for certain."""
    return when(flip.asked, flip.is_above, flip.value)


def when(asked: Asked, is_above: bool, value: float) -> str:
    """``the rate falls below 31 (70)``; today's value in brackets."""
    said = _CLAUSES[asked.kind]
    side = said.above if is_above else said.below
    if is_above and asked.kind == "rate_req_per_s":  # up to here a run at the rate may hold it yet
        value /= FOUND_TO
    named = with_article(asked.machine_name) if asked.machine_name else what(asked)
    return side.format(what=named, value=_outward(value, is_above, said.show), now=_now(asked, said.show))


def what(asked: Asked) -> str:
    """``DGX A100``, ``electricity``, ``the rate``, ``the SLO``."""
    return asked.machine_name or _CLAUSES[asked.kind].what


def ranges(found: Flips) -> str:
    """``each machine's price from a quarter to four times``, …"""
    kinds = dict.fromkeys(asked.kind for asked in found.asked)
    return ", ".join(_CLAUSES[kind].followed.format(most=_most(found, kind)) for kind in kinds)


def _most(found: Flips, kind: str) -> str:
    return _money(max(asked.most for asked in found.asked if asked.kind == kind))


class _Clause:
    """How one kind of quantity is said."""

    def __init__(self, what: str, above: str, below: str, followed: str, show: Callable[[float], str]) -> None:
        self.what, self.above, self.below, self.followed, self.show = what, above, below, followed, show


def _money(usd: float) -> str:
    """To the cent from a dollar up, else three digits."""
    return f"${usd:,.2f}" if usd >= 1 else f"${number(usd)}"


def _times(value: float) -> str:
    return f"{number(value)}×"


_CLAUSES = {
    "usd_per_hour": _Clause(
        "",
        "{what} costs over {value} an hour ({now})",
        "{what} costs less than {value} an hour ({now})",
        "each machine's price from a quarter to four times what it is",
        _money,
    ),
    "usd_per_kwh": _Clause(
        "electricity",
        "electricity costs over {value} a kWh ({now})",
        "electricity costs less than {value} a kWh ({now})",
        "a tariff of up to {most} a kWh",
        _money,
    ),
    "rate_req_per_s": _Clause(
        "the rate",
        "the rate rises above {value} requests/s ({now})",
        "the rate falls below {value} requests/s ({now})",
        "the rate from a quarter to four times what it is",
        number,
    ),
    "slo_multiplier": _Clause(
        "the SLO",
        "the limits are relaxed beyond {value}",
        "the limits are tightened below {value}",
        "the limits from half to twice what they are",
        _times,
    ),
}


def _now(asked: Asked, show: Callable[[float], str]) -> str:
    return show(asked.now).removeprefix("$") if asked.now else "not paid apart"


def _outward(value: float, is_above: bool, show: Callable[[float], str]) -> str:
    return show(outward(value, is_above, cents=show is _money))


def outward(value: float, up: bool, cents: bool = False) -> float:
    """To three significant digits (money of a dollar or more: to the cent), never towards today's value."""
    exact = Decimal(repr(value))
    last = exact.adjusted() - SIGNIFICANT + 1
    step = Decimal("0.01") if cents and value >= 1 else Decimal(1).scaleb(last)
    return float((exact / step).to_integral_value(ROUND_CEILING if up else ROUND_FLOOR) * step)


def kind_words(result: StudyResult, family: str) -> str:
    """``Sarathi on DGX H100``, ``Split, DGX H100 + DGX A100``."""
    case = next(design.case for design in result.designs.values() if design.family == family)
    machines = [resolve_machine(pool.machine).name for pool in case.pools]
    if case.scheduler.kind == SPLIT:
        return f"Split, {' + '.join(machines)}"
    return f"{SCHEDULER_NAMES[case.scheduler.kind].partition(',')[0]} on {machines[0]}"


def untried_words(found: Flips) -> str:
    """Where a design that was never tried could come first sooner."""
    open_ = [flip for flip in found.answer if flip.untried]
    if not open_:
        return ""
    said = [f"{counted(flip.untried, 'design')} before {clause(flip)}" for flip in open_]
    return f"Never tried, and may come first sooner: {'; '.join(said)}."
