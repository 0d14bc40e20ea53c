"""CPU time of one core, and the lines of JSON that say it."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable
from importlib.metadata import version
from itertools import repeat
from pathlib import Path
from typing import TypeVar

Result = TypeVar("Result")

BEST_OF = 5
CALIBRATION_STEPS = 1_000_000
CPU_INFO = Path("/proc/cpuinfo")


def report(benchmark: str, **figures: object) -> None:
    """One line of JSON: the figures to four digits, and what this core's calibration loop takes just now."""
    rounded = {name: _rounded(value) for name, value in figures.items()}
    calibration_s = _rounded(best_of(calibration_loop)[0])
    print(json.dumps({"benchmark": benchmark, **rounded, "calibration_s": calibration_s}), flush=True)


def best_of(work: Callable[[], Result], runs: int = BEST_OF) -> tuple[float, Result]:
    """This thread's CPU seconds in the quickest of some runs, and the last run's result."""
    times = []
    for _ in range(runs):
        start = time.thread_time()
        result = work()
        times.append(time.thread_time() - start)
    return min(times), result


def calibration_loop() -> int:
    """Plain Python of a fixed length, so that machines, and one machine's busy and idle hours, can be compared. Its
    numbers are all below 257, which Python keeps: with others it would measure how full the heap is."""
    total = 0
    for _ in repeat(None, CALIBRATION_STEPS):
        total = (total + 7) & 127
    return total


def machine() -> dict[str, object]:
    """What the figures were measured on and with."""
    names = [line.partition(":")[2].strip() for line in _cpu_info() if line.startswith("model name")]
    return {
        "cpu": names[0] if names else platform.processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        **{package: version(package) for package in ("numba", "numpy")},
    }


def _cpu_info() -> list[str]:
    return CPU_INFO.read_text().splitlines() if CPU_INFO.exists() else []


def _rounded(value: object) -> object:
    return float(f"{value:.4g}") if isinstance(value, float) else value
