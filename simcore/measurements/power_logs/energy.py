"""What a device's samples add up to: trapezoids between samples at most ``max_gap_s`` apart, and the energy counter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simcore.measurements.points import Flag, Flags
from simcore.measurements.power_logs.samples import MOST_W, Device

WRAP_J = (1 << 32) / 1000
"""A counter of 32 bits of mJ starts again from 0 after 4.3 MJ."""
Float64 = NDArray[np.float64]


class Series:
    """One device's watts over time as a function that can be integrated: linear between samples that belong together,
    nothing where they do not."""

    def __init__(self, device: Device, max_gap_s: float) -> None:
        times, watts = np.array(device.times_s, float), np.array(device.watts, float)
        known = ~np.isnan(watts)
        self.times, self.watts = times[known], watts[known]
        gaps = np.diff(self.times)
        self.joined = gaps <= max_gap_s
        areas = np.where(self.joined, gaps * (self.watts[1:] + self.watts[:-1]) / 2, 0.0)
        self.energy = np.concatenate([[0.0], np.cumsum(areas)])
        self.covered = np.concatenate([[0.0], np.cumsum(np.where(self.joined, gaps, 0.0))])

    def until(self, at: Float64) -> tuple[Float64, Float64]:
        """Joules and covered seconds from the first sample to each of the times: edges lie between samples."""
        if len(self.times) < 2:
            return np.zeros(len(at)), np.zeros(len(at))
        at = np.clip(at, self.times[0], self.times[-1])
        low = np.clip(np.searchsorted(self.times, at, side="right") - 1, 0, len(self.times) - 2)
        past = np.where(self.joined[low], at - self.times[low], 0.0)
        slope = (self.watts[low + 1] - self.watts[low]) / (self.times[low + 1] - self.times[low])
        return self.energy[low] + past * (self.watts[low] + slope * past / 2), self.covered[low] + past

    def between(self, start_s: float, end_s: float) -> tuple[float, float]:
        """Joules, and the seconds that samples cover."""
        joules, covered = self.until(np.array([start_s, end_s]))
        return float(joules[1] - joules[0]), float(covered[1] - covered[0])

    def seconds_w(self, start_s: float, end_s: float) -> Float64:
        """Mean watts of each whole second from ``start_s`` on; nan where samples do not cover it."""
        edges = start_s + np.arange(int(end_s - start_s + 1e-9) + 1, dtype=float)
        joules, covered = (np.diff(values) for values in self.until(edges))
        whole: Float64 = np.where(covered > 0.99, joules / np.maximum(covered, 1e-9), np.nan)
        return whole


@dataclass(frozen=True)
class Counter:
    """What the energy counter says of a window."""

    energy_j: float
    covered_s: float
    sampled_j: float
    """What samples say of those of its steps that they cover."""
    compared_j: float
    """What the counter says of the same steps."""

    @property
    def off(self) -> float | None:
        """Samples over counter, less 1; None where they have no step in common."""
        return self.sampled_j / self.compared_j - 1 if self.compared_j > 0 else None


def counter(device: Device, series: Series, window: tuple[float, float], file: str, flags: Flags) -> Counter | None:
    """The counter's joules between its first and last reading in the window. Steps back are flagged: a wrap of 32 bits
    is counted, a reset leaves its step out. None without readings.
    """
    times, joules = np.array(device.times_s, float), np.array(device.energy_j, float)
    known = ~np.isnan(joules) & (times >= window[0]) & (times <= window[1])
    times, joules = times[known], joules[known]
    if len(times) < 2:
        return None
    steps, gaps = np.diff(joules), np.diff(times)
    back = np.flatnonzero(steps < 0)
    # a wrapped counter's step is within what a device can draw
    wraps = (steps < 0) & (steps + WRAP_J >= 0) & (steps + WRAP_J <= MOST_W * gaps)
    for at in back:
        what = "wrapped at 32 bits" if wraps[at] else "was reset (a restart): its step is left out"
        found = f"{joules[at]:.6g} J, then {joules[at + 1]:.6g} J"
        flags.add(Flag(file, device.label, "energy counter", found, f"the counter {what}", "noted"))
    steps = np.where(wraps, steps + WRAP_J, steps)
    good = steps >= 0
    sampled, covered = (np.diff(values) for values in series.until(times))
    both = good & (covered > 0.99 * gaps)
    return Counter(
        float(steps[good].sum()), float(gaps[good].sum()), float(sampled[both].sum()), float(steps[both].sum())
    )
