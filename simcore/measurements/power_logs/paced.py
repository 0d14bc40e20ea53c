"""Rows without times: each device's next one is an interval later."""

from __future__ import annotations

from collections import Counter

from simcore.measurements.points import Flag
from simcore.measurements.power_logs.samples import PowerLog

DEFAULT_INTERVAL_S = 1.0
"""``nvidia-smi dmon``'s and ``dcgmi dmon``'s own."""


class Pace:
    """Counts the rows of each device."""

    def __init__(self, log: PowerLog, file: str, interval_s: float | None) -> None:
        self.interval_s = DEFAULT_INTERVAL_S if interval_s is None else interval_s
        self.seen: Counter[str] = Counter()
        log.paced = log.paced or self.interval_s > 0  # 0: its scrapes bear times
        if interval_s is None:
            reason = f"no times: rows are taken as {DEFAULT_INTERVAL_S:g} s apart, the tool's default (else --interval)"
            log.flags.add(Flag(file, "whole file", "time", "", reason, "noted"))

    def time_s(self, device: str) -> float:
        """Of the device's next row, from 0."""
        self.seen[device] += 1
        return (self.seen[device] - 1) * self.interval_s
