"""The figures of a power log: means, percentiles of 1 s and idle watts of each device and of all that worked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simcore.measurements.points import Flag
from simcore.measurements.power_logs.energy import Counter, Float64, Series, counter
from simcore.measurements.power_logs.limits import above_limit
from simcore.measurements.power_logs.samples import Device, PowerLog
from simcore.measurements.power_logs.times import shown
from simcore.spec import SpecError

BUSY = 0.05
"""Utilisation above which a device works."""
EDGE_S = 3.0
"""Beside the run, neither run nor idle: the driver averages, clocks fall slowly."""
LEAST_COVERAGE = 0.95
DAY_S = 86_400.0
MOST_S = 31 * DAY_S
"""Of one run; a wrong time in a log makes a window of years."""
MOST_OFF = 0.05
"""Between samples and energy counter."""


@dataclass(frozen=True)
class Window:
    """The part of the log that is the run, in epoch seconds."""

    start_s: float
    end_s: float
    by: str
    """How it was found."""

    @property
    def seconds(self) -> float:
        """Its length."""
        return self.end_s - self.start_s


@dataclass(frozen=True)
class DeviceFigures:
    """Watts of one device over the window."""

    label: str
    name: str
    used: bool
    samples: int
    """Power readings in the window."""
    coverage: float
    mean_w: float | None
    mean_by: str
    """``samples``, or ``energy counter`` where samples cover too little."""
    p50_w: float | None
    p99_w: float | None
    """Both of 1 s."""
    energy_j: float | None
    counter_j: float | None
    counter_off: float | None
    idle_w: float | None
    """Median beside the run."""
    reasons: tuple[str, ...]
    """Why the figures are not to be relied on."""


@dataclass(frozen=True)
class LogFigures:
    """What a log says."""

    window: Window
    devices: tuple[DeviceFigures, ...]
    mean_w: float | None
    """Of all devices that worked together, as the rest."""
    p50_w: float | None
    p99_w: float | None
    energy_j: float | None
    idle_w: float | None

    @property
    def used(self) -> tuple[DeviceFigures, ...]:
        """The devices that worked."""
        return tuple(device for device in self.devices if device.used)


def figures(
    log: PowerLog,
    max_gap_s: float,
    start_s: float | None = None,
    end_s: float | None = None,
    most_w: float | None = None,
) -> LogFigures:
    """All figures over the given window, or the one in which any device is used. ``most_w``: what each device may
    draw, where the log does not say. SpecError where nothing is in the window."""
    window = _window(log, start_s, end_s)
    _check_length(window)
    series = {key: Series(device, max_gap_s) for key, device in log.devices.items()}
    found, seconds = [], []
    for key, device in log.devices.items():
        one, of_1s = _device(log, device, series[key], window, most_w)
        found.append(one)
        if one.used:
            seconds.append(of_1s)
    if not any(one.used and one.mean_w is not None for one in found):
        raise SpecError(
            f"power log: found no power reading of a working device {_between(window)}, expected samples"
            f"{_too_far_apart(log, max_gap_s)}{_first_missing(log)}"
        )
    together = np.sum(seconds, axis=0)
    used = [one for one in found if one.used]
    return LogFigures(
        window,
        tuple(found),
        _sum([one.mean_w for one in used]),
        _percentile(together, 50),
        _percentile(together, 99),
        _sum([one.energy_j for one in used]),
        _sum([one.idle_w for one in used]),
    )


def over_time(log: PowerLog, found: LogFigures, max_gap_s: float, most: int) -> list[tuple[float, float | None]]:
    """Watts of all used devices together over the window, in at most so many means of whole seconds, each with the
    seconds from the window's start at which it begins; None where samples of some device are missing."""
    window, used = found.window, {device.label for device in found.used}
    every = [Series(device, max_gap_s) for device in log.devices.values() if device.label in used]
    of_1s = np.sum([series.seconds_w(window.start_s, window.end_s) for series in every], axis=0)
    width = max(-(-len(of_1s) // most), 1)
    means = ((at, of_1s[at : at + width]) for at in range(0, len(of_1s), width))
    return [(float(at), None if np.isnan(values).any() else float(values.mean())) for at, values in means]


def _check_length(window: Window) -> None:
    if window.seconds > MOST_S:
        days = f"{window.seconds / DAY_S:.4g} days ({shown(window.start_s, 0)} to {shown(window.end_s, 0)})"
        expected = f"expected one run of at most {MOST_S / DAY_S:g} (--from, --to)"
        raise SpecError(f"power log: found a window of {days}, {expected}")


def _between(window: Window) -> str:
    return f"in the {window.seconds:.3g} s of the window ({window.by})"


def _window(log: PowerLog, start_s: float | None, end_s: float | None) -> Window:
    times = [device.times_s for device in log.devices.values() if device.times_s]
    first, last = min(t[0] for t in times), max(t[-1] for t in times)
    if start_s is not None or end_s is not None:
        start_s, end_s = max(first if start_s is None else start_s, first), min(last if end_s is None else end_s, last)
        if end_s <= start_s:
            raise SpecError(
                f"--from, --to: found nothing of the log in them, expected a part of its {last - first:.6g} s"
            )
        return Window(start_s, end_s, "given")
    busy = [span for device in log.devices.values() if (span := _busy(device))]
    if not busy:
        known = any(not np.isnan(device.utilization).all() for device in log.devices.values())
        return Window(
            first, last, "all of the log: no device is used" if known else "all of the log: no utilisation in it"
        )
    return Window(min(span[0] for span in busy), max(span[1] for span in busy), f"utilisation above {BUSY:.0%}")


def _busy(device: Device) -> tuple[float, float] | None:
    used = np.flatnonzero(np.array(device.utilization) > BUSY)
    return (device.times_s[used[0]], device.times_s[used[-1]]) if len(used) else None


def _device(
    log: PowerLog, device: Device, series: Series, window: Window, most_w: float | None
) -> tuple[DeviceFigures, Float64]:
    times, use = np.array(device.times_s), np.array(device.utilization, float)
    inside = (times >= window.start_s) & (times <= window.end_s)
    known_use = use[inside & ~np.isnan(use)]
    used = not len(known_use) or bool((known_use > BUSY).any()) or window.by.startswith("all of the log: no device")
    energy_j, covered_s = series.between(window.start_s, window.end_s)
    coverage = covered_s / window.seconds if window.seconds else 0.0
    by_counter = counter(device, series, (window.start_s, window.end_s), log.formats[0], log.flags)
    by = "samples"
    mean_w = energy_j / covered_s if covered_s > 0 else None
    if coverage < LEAST_COVERAGE and by_counter and by_counter.covered_s > covered_s:
        mean_w, by = by_counter.energy_j / by_counter.covered_s, "energy counter"
    of_1s = series.seconds_w(window.start_s, window.end_s)
    reasons = _reasons(log, device, coverage, by_counter, by, above_limit(device, most_w)) if used else ()
    one = DeviceFigures(
        device.label, device.name, used, int((inside & ~np.isnan(device.watts)).sum()), coverage, mean_w, by,
        _percentile(of_1s, 50), _percentile(of_1s, 99), None if mean_w is None else mean_w * window.seconds,
        by_counter.energy_j if by_counter else None, by_counter.off if by_counter else None,
        _idle(device, window), reasons,
    )  # fmt: skip
    return one, of_1s


def _first_missing(log: PowerLog) -> str:
    first = next((flag for flag in log.flags.listed if flag.field == "power"), None)
    return f"; the first that is none: {first}" if first else ""


def _too_far_apart(log: PowerLog, max_gap_s: float) -> str:
    """What to do about samples that are no more than that."""
    every = [(np.asarray(device.times_s), np.asarray(device.watts)) for device in log.devices.values()]
    read = [times[~np.isnan(watts)] for times, watts in every]
    step = min((float(np.median(np.diff(times))) for times in read if len(times) > 1), default=0.0)
    return f" at most {max_gap_s:g} s apart (they are {step:.3g} s: --max-gap)" if step > max_gap_s else ""


def _reasons(
    log: PowerLog, device: Device, coverage: float, by_counter: Counter | None, by: str, above: str
) -> tuple[str, ...]:
    found = [above] if above else []
    if coverage < LEAST_COVERAGE:
        step = float(np.median(np.diff(device.times_s))) if len(device.times_s) > 1 else 0.0
        beside = "; its mean is the energy counter's" if by == "energy counter" else ""
        found.append(f"samples cover {coverage:.1%} of the window, {step:.3g} s apart (else --max-gap){beside}")
    off = by_counter.off if by_counter else None
    if off is not None and abs(off) > MOST_OFF:
        found.append(f"samples are {off:+.1%} off the energy counter")
    for reason in found:
        log.flags.add(Flag(log.formats[0], device.label, "power", "", reason, "noted"))
    return tuple(found)


def _idle(device: Device, window: Window) -> float | None:
    """Median watts well before and after the run, where nothing else used the device."""
    times, watts, use = (np.array(values, float) for values in (device.times_s, device.watts, device.utilization))
    beside = (times < window.start_s - EDGE_S) | (times > window.end_s + EDGE_S)
    still = beside & ~np.isnan(watts) & ~(use > BUSY)
    return float(np.median(watts[still])) if still.any() else None


def _percentile(values: Float64, percent: float) -> float | None:
    """Inverse of the empirical distribution, as everywhere in Phaseplan."""
    known = np.sort(values[~np.isnan(values)])
    return float(known[max(int(np.ceil(len(known) * percent / 100)) - 1, 0)]) if len(known) else None


def _sum(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None
