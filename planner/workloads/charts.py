"""A workload's charts: each with the sentence that says what it shows, and its table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from planner.numerals import short
from planner.workloads.figures import (
    NAMES,
    Figure,
    arrivals_figure,
    dispersion_figure,
    histogram_figure,
    lengths_figure,
    time_unit,
    week_figure,
)
from planner.workloads.spec_words import DAYS
from planner.workloads.summary import PERCENTILES
from simcore.spec.week import HOURS
from simcore.traces.rescaled import WINDOWS_S, Burstiness

WAYS = {"trace": "compressed", "superpose": "shifted copies", "poisson": "Poisson"}


@dataclass(frozen=True)
class Chart:
    """A chart, the sentence that says what it shows, and the table that stands without it."""

    id: str
    title: str
    words: str
    figure: Figure
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    open: bool = False


def charts_of(summary: dict[str, Any]) -> list[Chart]:
    """Of requests as they are: when they come, how long they are."""
    figures = summary["statistics"]
    found = [_arrivals(summary["arrivals"], figures), _lengths(summary["lengths"], figures)]
    if all("histogram" in column for column in summary["lengths"].values()):  # not so before histograms were kept
        found.append(_histogram(summary["lengths"]))
    return found


def _arrivals(arrivals: dict[str, Any], figures: dict[str, Any]) -> Chart:
    unit, seconds = time_unit(arrivals["start_s"][-1] + arrivals["bin_s"])
    rates = [rate for rate in arrivals["rate_req_per_s"] if rate is not None]
    words = f"Requests/s in steps of {short(arrivals['bin_s'])} s"
    words += f": from {short(min(rates))} to {short(max(rates))}." if rates else "."
    return Chart(
        "arrivals",
        "Arrivals",
        words,
        arrivals_figure(arrivals, figures["rate_req_per_s"]),
        [f"from, {unit}", "requests", "requests/s"],
        [
            [short(start / seconds, 4), f"{requests:,}", short(rate)]
            for start, requests, rate in zip(
                arrivals["start_s"], arrivals["requests"], arrivals["rate_req_per_s"], strict=True
            )
        ],
    )


def _lengths(lengths: dict[str, Any], figures: dict[str, Any]) -> Chart:
    columns = [lengths[column]["percentiles"] for column in NAMES]
    rows = [
        [_percentile_name(percent), *(f"{column[f'{percent:g}']:,}" for column in columns)] for percent in PERCENTILES
    ]
    return Chart(
        "lengths",
        "Lengths",
        "The share of requests with at most so many tokens of prompt and of output.",
        lengths_figure(lengths),
        ["percentile", *(f"{name} tokens" for name in NAMES.values())],
        [*rows, ["mean", *(short(figures[column]["mean"], 4) for column in NAMES)]],
        open=True,
    )


def _histogram(lengths: dict[str, Any]) -> Chart:
    edges = lengths["prompt_tokens"]["histogram"]["edges"]
    counts = [lengths[column]["histogram"]["requests"] for column in NAMES]
    total = sum(counts[0])
    fullest = [max(range(len(column)), key=column.__getitem__) for column in counts]
    words = "; ".join(
        f"most {name}s have {edges[at]:,} to {edges[at + 1] - 1:,} tokens ({column[at] / total:.0%} of all)"
        for name, column, at in zip(NAMES.values(), counts, fullest, strict=True)
    )
    return Chart(
        "histogram",
        "How many of which length",
        f"Requests by length, each step 1.41 times the one before: {words}.",
        histogram_figure(edges, counts),
        ["tokens from", "to", *(f"{name}s" for name in NAMES.values())],
        [
            [f"{edges[at]:,}", f"{edges[at + 1] - 1:,}", *(f"{column[at]:,}" for column in counts)]
            for at in range(len(edges) - 1)
        ],
    )


def week_chart(rates: Sequence[float], mean_req_per_s: float) -> Chart:
    """Requests/s by hour of the week."""
    hourly = [rate * mean_req_per_s for rate in rates]
    words = (
        f"Requests/s by hour of the week: from {short(min(hourly))} to {short(max(hourly))}, {short(mean_req_per_s)} on"
        " average."
    )
    days = [hourly[day * HOURS : (day + 1) * HOURS] for day in range(len(DAYS))]
    return Chart(
        "week",
        "A week",
        words,
        week_figure(hourly),
        ["hour", *(day[:3] for day in DAYS)],
        [[f"{hour}:00", *(short(day[hour]) for day in days)] for hour in range(HOURS)],
    )


def dispersion_chart(own: Burstiness, ways: dict[str, Burstiness]) -> Chart:
    """The index of dispersion by window, before and after."""
    named = {"as it is": own} | {WAYS[how]: found for how, found in ways.items() if not found.problem}
    return Chart(
        "dispersion",
        "Burstiness by window",
        "Variance over mean of the requests in windows of so many seconds; a Poisson process has 1 in all of them.",
        dispersion_figure({name: found.dispersion for name, found in named.items()}),
        ["window, s", *named],
        [[f"{window}", *(short(found.dispersion.get(window)) for found in named.values())] for window in WINDOWS_S],
        open=True,
    )


def _percentile_name(percent: float) -> str:
    if percent in (0, 100):
        return "most" if percent else "least"
    return f"P{percent:g}"
