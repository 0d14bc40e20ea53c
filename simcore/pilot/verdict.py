"""What a measured run says about the purchase."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from simcore.measurements import ServingPoint
from simcore.pilot.kit import Band, PilotRun
from simcore.pilot.same_system import check_same_system
from simcore.spec import SpecError

SAME_LENGTHS = 0.03
SAME_RATE = 0.05
"""A benchmark that draws Poisson arrivals offers its rate to about 1 in the root of its requests."""
KEPT_UP = 0.95
MOST_FAILED = 0.01
Outcome = Literal["as predicted", "faster", "slower, within what the purchase allows", "fails"]
MEASURED = {"ttft_s": "TTFT, mean", "tpot_s": "TPOT, mean", "req_per_s": "requests/s"}


@dataclass(frozen=True)
class Line:
    """One figure compared."""

    figure: str
    words: str
    measured: float
    band: Band
    outcome: Outcome


@dataclass(frozen=True)
class Verdict:
    """Pass or fail, with the figures that say so."""

    passes: bool
    sentence: str
    lines: tuple[Line, ...]


def verdict(run: PilotRun, point: ServingPoint) -> Verdict:
    """Whether the purchase may go on after this run; SpecError where the result is of another run, or cannot tell."""
    _check_same(run, point)
    lines = _lines(run, point)
    failed = [line for line in lines if line.outcome == "fails"]
    return Verdict(not failed, _sentence(run, lines, failed), lines)


def _lines(run: PilotRun, point: ServingPoint) -> tuple[Line, ...]:
    """All figures compared. A part that does not keep up fails by that alone: the times of a growing queue say how long
    the run was, and are not among a result's figures."""
    rate = next(band for band in run.bands if band.figure == "req_per_s")
    kept_up = _line(rate, _measured(point, "req_per_s", run))
    if kept_up.outcome == "fails":
        times = [band for band in run.bands if band is not rate and _value(point, band.figure) is not None]
        return (*(_line(band, _measured(point, band.figure, run)) for band in times), kept_up)
    return tuple(_line(band, _measured(point, band.figure, run)) for band in run.bands)


def _check_same(run: PilotRun, point: ServingPoint) -> None:
    where = f"{point.file}, {point.where}"
    check_same_system(run.part, point)
    for name, found, expected in (
        ("prompt tokens", point.prompt_tokens, run.prompt_tokens),
        ("output tokens", point.output_tokens, run.output_tokens),
    ):
        if found is None or abs(found / expected - 1) > SAME_LENGTHS:
            shown = "none" if found is None else f"{found:.4g}"
            raise SpecError(f"{where}: found {shown} {name} a request, expected {expected} as in run {run.name}")
    if point.rate_req_per_s is None:
        closed = "a closed loop or a burst" if point.load else "no load"
        raise SpecError(f"{where}: found {closed}, expected a request rate of {run.req_per_s:.4g} as in run {run.name}")
    if abs(point.rate_req_per_s / run.req_per_s - 1) > SAME_RATE:
        raise SpecError(
            f"{where}: found {point.rate_req_per_s:.4g} requests/s offered, expected {run.req_per_s:.4g} as in run"
            f" {run.name}"
        )
    sent = (point.completed or 0) + (point.failed or 0)
    if point.failed and point.failed > MOST_FAILED * sent:
        raise SpecError(f"{where}: found {point.failed} of {sent} requests failed, expected at most {MOST_FAILED:.0%}")


def _measured(point: ServingPoint, figure: str, run: PilotRun) -> float:
    value = _value(point, figure)
    if value is None:
        raise SpecError(f"{point.file}, {point.where}: found no {MEASURED[figure]}, expected it in run {run.name}")
    return value


def _value(point: ServingPoint, figure: str) -> float | None:
    return {"ttft_s": point.ttft_s, "tpot_s": point.tpot_s, "req_per_s": point.requests_per_s}[figure]


def _line(band: Band, measured: float) -> Line:
    outcome = _rate_outcome(band, measured) if band.figure == "req_per_s" else _time_outcome(band, measured)
    return Line(band.figure, MEASURED[band.figure], measured, band, outcome)


def _time_outcome(band: Band, measured: float) -> Outcome:
    if measured < band.low:
        return "faster"
    if measured <= band.high and measured <= max(band.limit, band.predicted):
        return "as predicted"
    return "slower, within what the purchase allows" if measured <= band.limit else "fails"


def _rate_outcome(band: Band, measured: float) -> Outcome:
    return "as predicted" if measured >= least_rate(band) else "fails"


def least_rate(band: Band) -> float:
    """What a part that keeps up reaches at least: ramp-up and drain of a finite run take some of its rate."""
    return KEPT_UP * min(band.predicted, band.limit)


def _sentence(run: PilotRun, lines: tuple[Line, ...], failed: list[Line]) -> str:
    if failed:
        worst = max(failed, key=_excess)
        return (
            f"Do not buy: {worst.words} came to {_shown(worst, worst.measured)} where the design needs"
            f" {_needed(worst)}"
            f" to hold its rate ({run.shows})."
        )
    outcomes = {line.outcome for line in lines}
    if "slower, within what the purchase allows" in outcomes:
        return "Passes, slower than predicted: the rate holds with less headroom. Calibrate with this and plan again."
    if "faster" in outcomes:
        return "Passes, faster than predicted: fewer machines may do. Calibrate with this and plan again."
    return "Passes: as predicted."


def _needed(line: Line) -> str:
    if line.figure == "req_per_s":
        return f"at least {_shown(line, least_rate(line.band))}"
    return f"at most {_shown(line, line.band.limit)}"


def _excess(line: Line) -> float:
    if line.figure == "req_per_s":
        return line.band.limit / line.measured if line.measured else math.inf
    return line.measured / line.band.limit if line.band.limit else math.inf


def _shown(line: Line, value: float) -> str:
    if line.figure == "req_per_s":
        return f"{value:.3g}"
    return f"{value * 1e3:.3g} ms"
