"""What describes a trace: lengths, rate, how bursty its arrivals are."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simcore.traces.trace import PS_PER_S, IntArray, Trace

PERCENTILES = (50, 90, 99)
DISPERSION_WINDOWS_S = (1, 10, 60)
BUSIEST_WINDOWS_S = (60, 300, 3600)


def percentile(values: IntArray, percent: float) -> int:
    """Inverse of the empirical CDF: the least value that percent of all values do not exceed."""
    share = Fraction(str(percent)) / 100  # exact: 99.9 / 100 x 1000 is more than 999 in floating point
    position = max(math.ceil(share * len(values)) - 1, 0)
    return int(np.partition(values, position)[position])


def spearman(first: IntArray, second: IntArray) -> float | None:
    """Rank correlation, equal values sharing their mean rank; None where one of them is constant."""
    ranks = _mean_ranks(first), _mean_ranks(second)
    centred = [rank - rank.mean() for rank in ranks]
    scale = math.sqrt(float((centred[0] ** 2).sum()) * float((centred[1] ** 2).sum()))
    return float((centred[0] * centred[1]).sum()) / scale if scale else None


def index_of_dispersion(trace: Trace, window_s: float) -> float | None:
    """Variance over mean of the number of arrivals in consecutive whole windows from the first arrival on.

    1 for a Poisson process, 0 for evenly spaced arrivals, above 1 for bursts as long as the window. What comes after
    the last whole window is left out. None for fewer than two windows.
    """
    offsets = trace.arrival_ps - trace.arrival_ps[0]
    window_ps = round(window_s * PS_PER_S)
    windows = int(offsets[-1]) // window_ps
    if windows < 2:
        return None
    counts = _counts(offsets[: int(np.searchsorted(offsets, windows * window_ps))] // window_ps)
    return dispersion(counts, windows)


def dispersion(counts: IntArray, windows: int | None = None) -> float:
    """Variance over mean of counts; of so many windows, those that have none left out."""
    windows = len(counts) if windows is None else windows
    requests, squares = int(counts.sum()), int((counts * counts).sum())
    return (windows * squares - requests * requests) / (windows * requests)


def busiest_req_per_s(trace: Trace, window_s: float) -> float | None:
    """The most requests in one of the same windows, a second. None for fewer than two windows."""
    offsets = trace.arrival_ps - trace.arrival_ps[0]
    window_ps = round(window_s * PS_PER_S)
    windows = int(offsets[-1]) // window_ps
    if windows < 2:
        return None
    within = offsets[: int(np.searchsorted(offsets, windows * window_ps))]
    return int(_counts(within // window_ps).max()) / window_s


def _counts(windows: IntArray) -> IntArray:
    """How many arrivals each window that has any holds; they are in order."""
    ends = np.append(np.flatnonzero(np.diff(windows)) + 1, len(windows))
    counts: IntArray = np.diff(ends, prepend=0)
    return counts


def burstiness(trace: Trace) -> dict[str, Any]:
    """How far arrivals are from a Poisson process, where every figure is 1.

    index_of_dispersion: of windows of 1, 10 and 60 s. gap_cv: standard deviation over mean of the gaps between
    arrivals (None for fewer than two gaps, or where all arrive at one instant).
    """
    return {
        "index_of_dispersion": {f"{window}_s": index_of_dispersion(trace, window) for window in DISPERSION_WINDOWS_S},
        "gap_cv": gap_cv(trace.arrival_ps),
    }


def gap_cv(times: IntArray) -> float | None:
    """Standard deviation over mean of the gaps between times, in whatever unit."""
    gaps = np.diff(times).astype(np.float64)
    mean_gap = float(gaps.mean()) if len(gaps) > 1 else 0.0
    return float(gaps.std()) / mean_gap if mean_gap else None


def arrivals(trace: Trace, how: str) -> dict[str, Any]:
    """The arrivals of requests as they were simulated: by which choice they came to their rate, and how bursty that
    made them."""
    rate = trace.rate_per_s
    return {
        "how": how,
        "requests": len(trace),
        "rate_req_per_s": rate if math.isfinite(rate) else None,
        **burstiness(trace),
    }


def statistics(trace: Trace) -> dict[str, Any]:
    """Counts, times, lengths and burstiness as plain JSON values; None where undefined."""
    rate = trace.rate_per_s
    return {
        "requests": len(trace),
        "first_arrival_s": int(trace.arrival_ps[0]) / PS_PER_S,
        "duration_s": trace.duration_s,
        "rate_req_per_s": rate if math.isfinite(rate) else None,
        "prompt_tokens": _lengths(trace.prompt_tokens),
        "output_tokens": _lengths(trace.output_tokens),
        "cached_prompt_tokens": int(trace.cached_prompt_tokens.sum()),
        "requests_with_max_output_tokens": int((trace.max_output_tokens > 0).sum()),
        "length_rank_correlation": spearman(trace.prompt_tokens, trace.output_tokens),
        "busiest_req_per_s": {f"{window}_s": busiest_req_per_s(trace, window) for window in BUSIEST_WINDOWS_S},
        "burstiness": burstiness(trace),
    }


def _lengths(tokens: IntArray) -> dict[str, float]:
    shares = {f"p{percent}": percentile(tokens, percent) for percent in PERCENTILES}
    return {
        "total": int(tokens.sum()),
        "mean": int(tokens.sum()) / len(tokens),
        "min": int(tokens.min()),
        **shares,
        "max": int(tokens.max()),
    }


def _mean_ranks(values: IntArray) -> NDArray[np.float64]:
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: NDArray[np.float64] = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return ranks
