"""What a workload's page shows of its requests, worked out once, when the workload is saved."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from simcore.traces import PS_PER_S, Trace
from simcore.traces.statistics import percentile, statistics

FEWEST_BINS, MOST_BINS = 10, 120
REQUESTS_A_BIN = 5
BIN_WIDTHS_S = (0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200)
PERCENTILES = (0, 1, 5, 10, 25, 50, 75, 90, 95, 99, 99.9, 100)
CURVE_POINTS = 200
COLUMNS = ("prompt_tokens", "output_tokens")


def summary(trace: Trace) -> dict[str, Any]:
    """Plain JSON: statistics, arrivals (requests/s in equal bins), lengths (percentiles, curves, histograms)."""
    edges = histogram_edges(max(int(getattr(trace, column).max()) for column in COLUMNS))
    return {
        "statistics": statistics(trace),
        "arrivals": arrivals(trace),
        "lengths": {column: lengths(getattr(trace, column), edges) for column in COLUMNS},
        "texts": {name: len(set(texts)) for name, texts in _texts(trace) if texts is not None},
    }


def _texts(trace: Trace) -> Iterable[tuple[str, tuple[str, ...] | None]]:
    return ("class", trace.classes), ("session", trace.sessions)


def arrivals(trace: Trace) -> dict[str, Any]:
    """Requests/s in equal bins from the first arrival on; the last one ends with the last arrival, which is its end and
    no part of its rate.

    As many bins as leave some requests in each on average, at least FEWEST_BINS (for a short trace) and at most
    MOST_BINS, of a width that people count in.
    """
    most = min(max(len(trace) // REQUESTS_A_BIN, FEWEST_BINS), MOST_BINS)
    offsets = trace.arrival_ps - trace.arrival_ps[0]
    width_s = next((width for width in BIN_WIDTHS_S if trace.duration_s <= width * most), BIN_WIDTHS_S[-1])
    width_ps = round(width_s * PS_PER_S)
    counts = np.bincount(offsets // width_ps)
    seconds = np.full(len(counts), float(width_s))
    seconds[-1] = max(trace.duration_s - width_s * (len(counts) - 1), 0.0)
    if len(counts) > 1 and seconds[-1] < width_s / 2:  # too short to be a rate: it joins the one before
        counts = np.append(counts[:-2], counts[-2] + counts[-1])
        seconds = np.append(seconds[:-2], seconds[-2] + seconds[-1])
    within = counts.copy()
    within[-1] -= 1
    return {
        "bin_s": width_s,
        "start_s": [width_s * index for index in range(len(counts))],
        "requests": counts.tolist(),
        "rate_req_per_s": [
            count / span if span else None for count, span in zip(within.tolist(), seconds.tolist(), strict=True)
        ],
    }


def lengths(tokens: np.ndarray, edges: list[int]) -> dict[str, Any]:
    """Percentiles for the table, points of the distribution function for the curve, and how many are in each step."""
    ordered = np.sort(tokens)
    ranks = np.unique(np.linspace(0, len(ordered) - 1, CURVE_POINTS).round().astype(np.int64))
    return {
        "percentiles": {f"{percent:g}": percentile(tokens, percent) for percent in PERCENTILES},
        "curve": {"tokens": ordered[ranks].tolist(), "share": ((ranks + 1) / len(ordered)).tolist()},
        "histogram": {"edges": edges, "requests": np.histogram(ordered, edges)[0].tolist()},
    }


def histogram_edges(longest: int) -> list[int]:
    """From 1 token on, each a half of a doubling after the one before, the last beyond the longest."""
    edges = [1]
    while edges[-1] <= longest:
        edges.append(max(edges[-1] + 1, round(2 ** (len(edges) / 2))))
    return edges
