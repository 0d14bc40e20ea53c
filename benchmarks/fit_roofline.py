"""Fits the roofline's coefficients: simcore/latency/data/coefficients.csv.

    PHASEPLAN_SHARED=../shared python -m benchmarks.fit_roofline [--check]

Device time by term to NVIDIA's kernel tables (``fit_device``: which steps are fitted to and which judge), the engine
generation vllm-2023 to half of Splitwise's step times (``fit_splitwise``), what vllm-2026 and trtllm-2025 add to device
time to served requests (``fit_serving``). --check writes nothing and fails
where a committed figure is more than 1 % from what the rows give. Prints the errors of what was fitted either way.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from benchmarks.coefficient_rows import (
    SET_ROWS,
    Row,
    device_rows,
    differing,
    serving_rows,
    splitwise_rows,
    write_rows,
)
from benchmarks.fit_device import fit_device, is_fitted, machine_with
from benchmarks.fit_serving import ENGINES, fit_serving
from benchmarks.fit_splitwise import HARDWARE, fit_splitwise, residuals, splitwise_points
from simcore.latency.coefficients import Coefficients
from simcore.latency.kernel_steps import kernel_steps
from simcore.latency.roofline import roofline_curve

SHARED = Path(os.environ.get("PHASEPLAN_SHARED", "../shared")) / "data" / "measured"
SERVING = SHARED / "serving_points.csv"


def main() -> int:
    """Fits, prints, and writes or checks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    points = splitwise_points(SHARED / "splitwise_step_times.csv")
    device = {name: fit_device(name) for name in dict.fromkeys(step.group.hardware for step in kernel_steps())}
    engines = {name: fit_splitwise(name, points) for name in HARDWARE}
    rows = [*(row for name, one in device.items() for row in device_rows(name, one)), *SET_ROWS]
    rows += [row for name, one in engines.items() for row in splitwise_rows(name, one)]
    rows += [row for name in ENGINES for row in serving_rows(name, fit_serving(SERVING, name, device))]
    report(device_errors(device))
    report(splitwise_errors(engines))
    return settle(rows, check)


def settle(rows: list[Row], check: bool) -> int:
    """Writes the rows, or says which of them are not what is committed."""
    if not check:
        write_rows(rows)
        return 0
    wrong = differing(rows)
    print("\n".join(wrong) or "coefficients.csv: what the rows give", file=sys.stderr)
    return int(bool(wrong))


def device_errors(fitted: Mapping[str, Coefficients]) -> Iterable[tuple[str, float]]:
    """Each kernel step's relative error, under the accelerator, its part and kind."""
    curves = {
        group: roofline_curve(
            group.model, machine_with(group.hardware), group.tensor_parallel, 1, "kernel", fitted[group.hardware]
        )
        for group in {step.group for step in kernel_steps()}
    }
    for step in kernel_steps():
        part = "fitted" if is_fitted(step) else "judging"
        yield f"{step.group.hardware} {step.kind} {part}", step.predicted_ms(curves[step.group]) / step.measured_ms - 1


def splitwise_errors(fitted: Mapping[str, Coefficients]) -> Iterable[tuple[str, float]]:
    """Each median's relative error."""
    points = splitwise_points(SHARED / "splitwise_step_times.csv")
    for hardware, one in fitted.items():
        own = [point for point in points if point.hardware == hardware]
        for point, error in zip(own, residuals(one, own), strict=True):
            part = "fitted" if point.fitted else "judging"
            yield f"{hardware} {point.kind} {part} vllm-2023", float(error)
            yield f"{hardware} {point.model_id} TP{point.tensor_parallel} {point.kind} {part} vllm-2023", float(error)


def report(errors: Iterable[tuple[str, float]]) -> None:
    """One line a name: mean absolute error, mean error, rows."""
    named: dict[str, list[float]] = defaultdict(list)
    for name, error in errors:
        named[name].append(error)
    for name, every in sorted(named.items()):
        absolute = statistics.mean(map(abs, every))
        print(f"{name:<60} {absolute:6.1%} {statistics.mean(every):+7.1%} {len(every):5}")


if __name__ == "__main__":
    sys.exit(main())
