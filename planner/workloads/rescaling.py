"""A workload at another rate, in words, a table and a chart: what each way makes of its bursts."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from planner.numerals import short
from planner.workloads.charts import WAYS, Chart, dispersion_chart
from planner.workloads.models import Workload
from simcore.spec import SpecError
from simcore.traces.rescaled import Burstiness, Times, rescaled

HEAD = ("arrivals", "requests/s", "variance over mean, 1 s", "60 s", "variation of gaps", "what that is")
SAID = {
    "trace": "Times compressed or stretched: the order and the bursts stay, {k} times as fast. A window holds what one"
    " {k} times as long held.",
    "superpose": "{copies} copies of the trace, each shifted by its own part of it: more users like these. Bursts"
    " average out beside the higher rate.",
    "poisson": "The lengths in their order at the times of a Poisson process: no bursts beyond chance.",
}
MOST_RATE = 1_000_000


@dataclass(frozen=True)
class Row:
    """One way: its cells under HEAD, and the query of the question that asks for it."""

    how: str
    cells: Sequence[str]
    problem: str


@dataclass(frozen=True)
class Rescaling:
    """What is shown of one rate."""

    rate_req_per_s: float
    own: Sequence[str]
    rows: Sequence[Row]
    words: str
    chart: Chart


def rescaling(workload: Workload, rate_req_per_s: float) -> Rescaling:
    """At a rate. SpecError where there is no such rate."""
    if not 0 < rate_req_per_s <= MOST_RATE:
        raise SpecError(f"found {rate_req_per_s:g}, expected more than 0, at most {MOST_RATE:,} requests/s")
    arrival_ps = workload.arrival_ps()
    own, ways = Burstiness.of(Times.of(arrival_ps)), rescaled(arrival_ps, rate_req_per_s)
    factor = rate_req_per_s / own.rate_req_per_s
    return Rescaling(
        rate_req_per_s,
        ["as it is", short(own.rate_req_per_s), *_figures(own), ""],
        [Row(how, _cells(how, found, factor), found.problem) for how, found in ways.items()],
        _words(own, ways["trace"], ways["superpose"], rate_req_per_s),
        dispersion_chart(own, {str(how): found for how, found in ways.items()}),
    )


def rate_of(text: str) -> float:
    """A typed rate. SpecError where it is none."""
    try:
        rate = float(text.replace(",", ""))
    except ValueError:
        rate = math.nan
    if not math.isfinite(rate):
        raise SpecError(f"found ‘{text[:40]}’, expected requests/s")
    return rate


def _cells(how: str, found: Burstiness, factor: float) -> list[str]:
    if found.problem:
        return [WAYS[how], "–", "–", "–", "–", found.problem]
    said = SAID[how].format(k=short(factor), copies=max(1, round(factor)) if math.isfinite(factor) else 1)
    if how == "superpose" and round(factor) <= 1:
        said = "One copy is nearest to that rate: as compressed."
    if found.of_first is not None:
        said += f" Figures of the first {found.of_first:,} requests of the workload."
    return [WAYS[how], short(found.rate_req_per_s), *_figures(found), said]


def _figures(found: Burstiness) -> list[str]:
    return [short(found.dispersion.get(1)), short(found.dispersion.get(60)), short(found.gap_cv)]


def _words(own: Burstiness, compressed: Burstiness, copies: Burstiness, rate: float) -> str:
    if compressed.problem:
        return "The trace has no rate of its own: only Poisson arrivals bring it to one."
    said = [
        f"in windows of {window} s the variance of requests goes from {short(own.dispersion.get(window))} to"
        f" {short(compressed.dispersion.get(window))} times their mean compressed, to"
        f" {short(copies.dispersion.get(window))} as shifted copies"
        for window in (1, 60)
        if own.dispersion.get(window) is not None and compressed.dispersion.get(window) is not None
    ]
    if compressed.dispersion.get(60) is None:
        lasts = compressed.requests / compressed.rate_req_per_s
        said.append(f"compressed it lasts {short(lasts)} s, too short to tell of windows of 60 s")
    brought = f"From {short(own.rate_req_per_s)} to {short(rate)} requests/s"
    return f"{brought}: {'; '.join(said)}."
