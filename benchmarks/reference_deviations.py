"""Prints how far each reference case is from what the other simulator says of it.

``python -m benchmarks.reference_deviations [--engine oracle|fast] [--data ../shared/data] [part of a name ...]``
A request agrees when its TTFT and its E2E differ by at most 1 us, about what the references' own decimals keep.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.reference_cases import ReferenceCase, case_folders, load_case, skip_reason
from simcore.engine.compile import compile_case
from simcore.engine.outputs import FINISHED, RunResult

AGREES_US = 1.0
HEADER = (
    f"{'case':44} {'reqs':>6} {'off':>6} {'ttft med us':>10} {'ttft max us':>12} {'e2e med us':>10}"
    f" {'e2e max us':>12} {'queue max us':>12} {'worst %':>9} {'of':8} {'iters':>9} {'s':>7}"
)
PS_PER_US = 1e6
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Deviations:
    """One case's deviations: per request in us, and of percentiles in per cent (mean TBT: of requests with two
    tokens)."""

    ttft_us: Floats
    e2e_us: Floats
    queue_us: Floats
    percentiles: dict[str, float]
    seconds: float
    iterations: int

    @property
    def disagree(self) -> int:
        """Requests beyond ``AGREES_US`` in TTFT or E2E."""
        return int(((self.ttft_us > AGREES_US) | (self.e2e_us > AGREES_US)).sum())


def compare(reference: ReferenceCase, engine: str) -> Deviations:
    """Run the case and set it beside the reference."""
    inputs = compile_case(reference.case, reference.trace)
    started = time.perf_counter()
    result: RunResult = import_module(f"simcore.engine.{engine}.cluster").run(inputs)
    seconds = time.perf_counter() - started
    if not (result.requests.status == FINISHED).all():
        raise SystemExit(f"{reference.name}: some requests did not finish, which the reference did")
    arrival = inputs.arrival_ps
    ours = {
        "ttft": result.requests.first_token_ps - arrival,
        "e2e": result.requests.finish_ps - arrival,
        "queue": result.requests.first_scheduled_ps - arrival,
    }
    theirs = {
        "ttft": [t.ttft_s for t in reference.times],
        "e2e": [t.e2e_s for t in reference.times],
        "queue": [t.queue_s for t in reference.times],
    }
    ours_us = {name: values / PS_PER_US for name, values in ours.items()}
    theirs_us = {name: np.array(values) * 1e6 for name, values in theirs.items()}
    several = inputs.output_tokens > 1
    for times in (ours_us, theirs_us):
        times["tbt"] = (times["e2e"] - times["ttft"])[several] / (inputs.output_tokens[several] - 1)
    off = {name: np.abs(ours_us[name] - theirs_us[name]) for name in ("ttft", "e2e", "queue")}
    return Deviations(
        off["ttft"],
        off["e2e"],
        off["queue"],
        percentile_deviations(ours_us, theirs_us),
        seconds,
        int(result.replicas.iterations.sum()),
    )


def percentile_deviations(ours: dict[str, Floats], theirs: dict[str, Floats]) -> dict[str, float]:
    """|ours / theirs - 1| in per cent, by metric and percentile (inverse empirical CDF)."""
    return {
        f"{name}_p{p}": 100
        * abs(
            float(np.percentile(ours[name], p, method="inverted_cdf"))
            / float(np.percentile(theirs[name], p, method="inverted_cdf"))
            - 1
        )
        for name in ("ttft", "tbt", "e2e")
        for p in (50, 90, 99)
    }


def line(name: str, d: Deviations) -> str:
    """One row of the table."""
    worst = max(d.percentiles, key=lambda key: d.percentiles[key])
    return (
        f"{name:44} {len(d.ttft_us):6} {d.disagree:6} {np.median(d.ttft_us):10.4f} {d.ttft_us.max():12.4f}"
        f" {np.median(d.e2e_us):10.4f} {d.e2e_us.max():12.4f} {d.queue_us.max():12.4f}"
        f" {d.percentiles[worst]:9.5f} {worst:8} {d.iterations:9} {d.seconds:7.2f}"
    )


def main() -> None:
    """The table, then what was left out and why."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--engine", choices=("oracle", "fast"), default="oracle")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    options = parser.parse_args()
    folders = [
        f
        for f in case_folders(options.data / "reference")
        if not options.names or any(name in f.name for name in options.names)
    ]
    if options.engine == "fast":
        import_module("simcore.engine.fast.warm").warm_up()
    print(HEADER)
    for folder in folders:
        if skip_reason(folder) is None:
            print(line(folder.name, compare(load_case(folder), options.engine)), flush=True)
    for folder in folders:
        if reason := skip_reason(folder):
            print(f"{folder.name}: not compared: {reason}")


if __name__ == "__main__":
    main()
