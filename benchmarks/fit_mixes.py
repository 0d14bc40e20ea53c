"""Fits the shipped mixes to Azure's traces of November 2023 and writes how well they fit.

    PHASEPLAN_SHARED=../shared python benchmarks/fit_mixes.py [--check]

Writes simcore/traces/data/length_cdf.csv, length_ranks.csv and docs/mixes.md. --check writes
nothing and fails if what is committed is not what the traces give.
"""

import argparse
import csv
import io
import os
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from simcore.traces import Trace, read_trace
from simcore.traces.mixes import RANK_BINS
from simcore.traces.statistics import percentile, spearman
from simcore.traces.synthetic import SyntheticSpec, generate

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "simcore" / "traces" / "data"
REPORT = ROOT / "docs" / "mixes.md"
TRACES = {"conversation": "azure_conv_2023.csv", "coding": "azure_code_2023.csv"}
COLUMNS = ("prompt_tokens", "output_tokens")
SOURCE = "fitted to AzureLLMInferenceTrace ({}) of 2023-11; Azure Public Dataset; CC-BY"
DATE = "2026-11-29"
KNOTS = 80
# Percentiles that are kept exactly, whatever the fit does between them.
KEPT_PERCENTILES = (50, 90, 95, 99, 99.5, 99.9)
MILLION = 1_000_000
CHECKED_REQUESTS = 100_000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    shared = Path(os.environ.get("PHASEPLAN_SHARED", "../shared")) / "data" / "traces"
    traces = {mix: read_trace(shared / file)[0] for mix, file in TRACES.items()}
    tables = {DATA / "length_cdf.csv": cdf_csv(traces), DATA / "length_ranks.csv": ranks_csv(traces)}
    changed = [settle(path, text, check) for path, text in tables.items()]
    changed.append(settle(REPORT, report(traces), check))
    return int(check and any(changed))


def settle(path: Path, text: str, check: bool) -> bool:
    """Whether the file differs from the text; unless only checking, it no longer does."""
    differs = not path.exists() or path.read_text(encoding="utf-8") != text
    if differs and check:
        print(f"{path}: not what the traces give", file=sys.stderr)
    elif differs:
        path.write_text(text, encoding="utf-8")
    return differs


def cdf_csv(traces: dict[str, Trace]) -> str:
    rows: list[list[object]] = [["mix", "column", "tokens", "share_at_most_ppm", "source", "date"]]
    for mix, trace in traces.items():
        for column in COLUMNS:
            tokens, share = cdf_knots(getattr(trace, column))
            source = SOURCE.format(TRACES[mix])
            rows += [[mix, column, t, s, source, DATE] for t, s in zip(tokens, share, strict=True)]
    return as_csv(rows)


def cdf_knots(values: IntArray) -> tuple[list[int], list[int]]:
    """Token counts, and ppm at most so long, so that straight lines between them follow the CDF.

    Starts with the ends and the kept percentiles (each with the count before it, so that it stays
    exact), then adds the count of the largest deviation until there are KNOTS.
    """
    grid = np.arange(values.min() - 1, values.max() + 1)
    share = np.searchsorted(np.sort(values), grid, side="right") / len(values)
    kept = [percentile(values, percent) - int(grid[0]) for percent in KEPT_PERCENTILES]
    chosen = sorted({0, len(grid) - 1, *kept, *(place - 1 for place in kept)})
    while len(chosen) < KNOTS:
        fitted = np.interp(np.arange(len(grid)), chosen, share[chosen])
        chosen = sorted({*chosen, int(np.argmax(np.abs(fitted - share)))})
    ppm = np.rint(share[chosen] * MILLION).astype(np.int64)
    rising = np.concatenate(([True], np.diff(ppm) > 0))
    return grid[chosen][rising].tolist(), ppm[rising].tolist()


def ranks_csv(traces: dict[str, Trace]) -> str:
    rows: list[list[object]] = [["mix", "prompt_bin", "output_bin", "share_ppm", "source", "date"]]
    for mix, trace in traces.items():
        shares = rank_shares(trace)
        source = SOURCE.format(TRACES[mix])
        rows += [
            [mix, p, o, int(shares[p, o]), source, DATE]
            for p in range(RANK_BINS)
            for o in range(RANK_BINS)
            if shares[p, o]
        ]
    return as_csv(rows)


def rank_shares(trace: Trace) -> IntArray:
    """ppm of requests in each pair of rank bins; equal lengths share their ranks' bins evenly."""
    joint = bin_weights(trace.prompt_tokens).T @ bin_weights(trace.output_tokens)
    return np.rint(joint / len(trace) * MILLION).astype(np.int64)


def bin_weights(values: IntArray) -> FloatArray:
    """For each request, the part of its rank interval that lies in each of RANK_BINS bins."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    high = np.cumsum(counts) / len(values) * RANK_BINS
    low = high - counts / len(values) * RANK_BINS
    bins = np.arange(RANK_BINS)
    overlap = np.minimum(high[:, None], bins + 1) - np.maximum(low[:, None], bins)
    share = np.clip(overlap, 0, None) / (high - low)[:, None]
    return share[place]


def as_csv(rows: list[list[object]]) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows)
    return stream.getvalue()


def ks_distance(first: IntArray, second: IntArray) -> float:
    """Kolmogorov-Smirnov: the largest difference of the two empirical CDFs."""
    points = np.union1d(first, second)
    cdfs = [np.searchsorted(np.sort(values), points, side="right") / len(values) for values in (first, second)]
    return float(np.abs(cdfs[0] - cdfs[1]).max())


def output_p50_by_prompt_tenth(trace: Trace) -> list[int]:
    """Median output of the requests in each tenth by prompt length: how lengths go together."""
    order = np.argsort(trace.prompt_tokens, kind="stable")
    return [percentile(trace.output_tokens[part], 50) for part in np.array_split(order, 10)]


def report(traces: dict[str, Trace]) -> str:
    lines = REPORT_HEAD.splitlines()
    for name, trace in traces.items():
        mix = generate(SyntheticSpec(mix=name, requests=CHECKED_REQUESTS))
        lines += ["", f"## {name}", "", "| figure | Azure trace | mix |", "|---|---|---|"]
        for column in COLUMNS:
            pair = getattr(trace, column), getattr(mix, column)
            label = column.removesuffix("_tokens")
            lines.append(row(f"{label} mean", *(f"{values.mean():.1f}" for values in pair)))
            for percent in (50, 90, 99):
                lines.append(row(f"{label} P{percent}", *(f"{percentile(values, percent)}" for values in pair)))
            lines.append(row(f"{label} max", *(f"{values.max()}" for values in pair)))
            lines.append(row(f"{label} KS distance", "", f"{ks_distance(*pair):.4f}"))
        both = [spearman(t.prompt_tokens, t.output_tokens) for t in (trace, mix)]
        lines.append(row("Spearman's rank correlation", *(f"{value:+.3f}" for value in both)))
        tenths = [", ".join(map(str, output_p50_by_prompt_tenth(t))) for t in (trace, mix)]
        lines.append(row("median output by tenth of prompt length", *tenths))
    return "\n".join(lines) + "\n"


def row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


REPORT_HEAD = f"""# The shipped mixes and how well they fit

`conversation` and `coding` generate lengths from tables of figures fitted to Azure's LLM inference
traces of November 2023 (Azure Public Dataset, CC-BY; 19,366 and 8,819 requests): at most {KNOTS} points of
each distribution function (`simcore/traces/data/length_cdf.csv`), and how often each twentieth of
prompt ranks goes with each twentieth of output ranks (`length_ranks.csv`).

The table of ranks stands in place of one correlation coefficient, which would be wrong here: in
conversations the rank correlation is near zero, and yet the lengths are far from independent, for
the shortest and the longest prompts both have short outputs. In the coding trace lengths are close to
independent.

What a mix does not carry over: the traces' arrivals (generated ones are Poisson or evenly spaced;
the traces are burstier), any change of lengths over the hour, and repeats of one exact length beyond
those that a point of the table stands on.

Figures below: {CHECKED_REQUESTS:,} generated requests of seed 0. Written by `benchmarks/fit_mixes.py`.
"""

if __name__ == "__main__":
    sys.exit(main())
