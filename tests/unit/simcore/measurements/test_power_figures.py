"""Figures of power logs: gaps, windows, idle, counters and limits; joules add up."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore.measurements.points import Flags
from simcore.measurements.power_logs.energy import WRAP_J, Series, counter
from simcore.measurements.power_logs.figures import figures
from simcore.measurements.power_logs.samples import Device
from simcore.spec import SpecError
from tests.unit.simcore.measurements.smi_logs import DCGMI, read, smi, stamp, steady


def test_a_device_without_any_reading_makes_no_sum(tmp_path: Path) -> None:
    log = read(tmp_path, smi([(s, gpu, "400 W" if gpu else "[N/A]", "90 %") for s in range(9) for gpu in range(2)]))
    found = figures(log, 3)
    assert found.mean_w is None
    assert [device.mean_w for device in found.devices] == [None, pytest.approx(400)]


def test_gaps_are_not_bridged_and_coverage_says_so(tmp_path: Path) -> None:
    rows = [(s, 0, "400 W", "97 %") for s in (*range(6), *range(15, 21))]
    found = figures(read(tmp_path, smi(rows)), 3)
    (device,) = found.devices
    assert device.coverage == pytest.approx(10 / 20)
    assert device.mean_w == pytest.approx(400)
    assert "cover" in device.reasons[0]
    wide = figures(read(tmp_path, smi(rows), max_gap_s=10), 10)
    assert wide.devices[0].coverage == pytest.approx(1)


def test_samples_that_are_all_too_far_apart_say_which_option_joins_them(tmp_path: Path) -> None:
    log = read(tmp_path, smi([(5 * s, 0, "400.00 W", "97 %") for s in range(20)]))
    with pytest.raises(SpecError, match=r"expected samples at most 3 s apart \(they are 5 s: --max-gap\)"):
        figures(log, 3)
    assert figures(log, 5).mean_w == pytest.approx(400)


def test_idle_beside_the_run_and_unused_devices_are_told_apart(tmp_path: Path) -> None:
    def row(s: int, gpu: int) -> tuple[float, int, str, str]:
        busy = gpu == 0 and 20 <= s <= 60
        return s, gpu, f"{450 if busy else 70 + gpu} W", f"{99 if busy else 0} %"

    found = figures(read(tmp_path, smi([row(s, gpu) for s in range(81) for gpu in range(2)])), 3)
    assert (found.window.seconds, found.window.by) == (40, "utilisation above 5%")
    assert [device.used for device in found.devices] == [True, False]
    assert (found.mean_w, found.idle_w) == pytest.approx((450, 70))
    assert len(found.used) == 1


def test_a_given_window_cuts_between_samples(tmp_path: Path) -> None:
    log = read(tmp_path, smi([(2 * s, 0, f"{100 * s + 100} W", "97 %") for s in range(11)]))
    start = log.devices["/gpu 0"].times_s[0]
    found = figures(log, 3, start + 1, start + 3)
    assert found.energy_j == pytest.approx(2 * 200)  # 150 W at 1 s, 250 W at 3 s
    with pytest.raises(SpecError, match="--from, --to: found nothing of the log"):
        figures(log, 3, start + 100, start + 200)


def test_samples_that_are_off_the_energy_counter_are_flagged(tmp_path: Path) -> None:
    rows = "".join(f"GPU 0     400.000      {1000 * 440 * s}     98\n" for s in range(11))
    found = figures(read(tmp_path, DCGMI + rows), 3)
    assert found.devices[0].counter_off == pytest.approx(400 / 440 - 1)
    assert "off the energy counter" in found.devices[0].reasons[0]


def test_a_counters_reset_and_wrap_are_told_apart() -> None:
    def of(joules: list[float]) -> tuple[float, float, Flags]:
        device = Device("gpu 0", times_s=[0, 1, 2, 3], watts=[400] * 4, energy_j=joules, utilization=[1] * 4)
        flags = Flags()
        found = counter(device, Series(device, 3), (0, 3), "log", flags)
        assert found is not None
        return found.energy_j, found.covered_s, flags

    assert of([0, 400, 800, 1200])[:2] == (1200, 3)
    joules, covered, flags = of([WRAP_J - 500, WRAP_J - 100, 300, 700])
    assert (joules, covered) == pytest.approx((1200, 3))
    assert "wrapped" in str(flags.listed[0])
    joules, covered, flags = of([9_000_000, 9_000_400, 0, 400])
    assert (joules, covered) == pytest.approx((800, 2))
    assert "reset" in str(flags.listed[0])


@given(
    watts=st.floats(1, 1500),
    steps=st.lists(st.floats(0.05, 2.9), min_size=4, max_size=60),
    cut=st.tuples(st.floats(0, 1), st.floats(0, 1)),
)
def test_energy_of_a_constant_log_is_power_times_time(
    watts: float, steps: list[float], cut: tuple[float, float]
) -> None:
    times = np.concatenate([[0.0], np.cumsum(steps)])
    device = Device("gpu 0", times_s=list(times), watts=[watts] * len(times))
    series, (start, end) = Series(device, 3), sorted(part * times[-1] for part in cut)
    joules, covered = series.between(start, end)
    assert covered == pytest.approx(end - start, abs=1e-9)
    assert joules == pytest.approx(watts * (end - start), abs=1e-6)
    of_1s = series.seconds_w(0.0, float(times[-1]))
    assert of_1s == pytest.approx(np.full(len(of_1s), watts))


@given(values=st.lists(st.floats(1, 1500), min_size=6, max_size=60))
def test_seconds_add_up_to_the_energy(values: list[float]) -> None:
    device = Device("gpu 0", times_s=[float(i) / 2 for i in range(len(values))], watts=values)
    series = Series(device, 3)
    whole = series.seconds_w(0.0, device.times_s[-1])
    assert whole.sum() == pytest.approx(series.between(0.0, float(len(whole)))[0])


def test_a_log_of_missing_readings_alone_has_no_figures(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="no power reading of a working device"):
        figures(read(tmp_path, smi([(s, 0, "[N/A]", "97 %") for s in range(9)])), 3)


def test_a_wrong_time_makes_no_window_of_years(tmp_path: Path) -> None:
    log = read(tmp_path, steady() + "2062/03/02 10:15:00.000, 0, NVIDIA H100, 400.00 W, 97 %\n")
    with pytest.raises(SpecError, match=r"a window of 1\.315e\+04 days .* expected one run of at most 31"):
        figures(log, 3)


@pytest.mark.parametrize(
    ("name", "limit", "most_w", "words"),
    [
        ("NVIDIA H100 80GB HBM3", "", None, "the card's TDP of 700 W"),
        ("NVIDIA H100 80GB HBM3", "500.00 W", None, "the log's own limit of 500 W"),
        ("Some Card", "", 650.0, "the card's limit of 650 W"),
        ("Some Card", "", None, ""),
    ],
)
def test_watts_above_what_the_card_may_draw_are_flagged(
    tmp_path: Path, name: str, limit: str, most_w: float | None, words: str
) -> None:
    header = "timestamp, index, name, power.draw [W], utilization.gpu [%]" + (", power.limit [W]" if limit else "")
    more = f", {limit}" if limit else ""
    watts = [1400.0 if s == 7 else 400.0 for s in range(21)]
    text = "\n".join([header, *(f"{stamp(s)}, 0, {name}, {w:.2f} W, 97 %{more}" for s, w in enumerate(watts))])
    log = read(tmp_path, text)
    (device,) = figures(log, 3, most_w=most_w).devices
    said = f"1 of 21 readings are above {words} (up to 1,400 W): another unit, or another card?"
    assert device.reasons == ((said,) if words else ())
    assert [flag.reason for flag in log.flags.listed] == ([said] if words else [])


def test_watts_within_a_tenth_above_the_limit_are_as_cards_are(tmp_path: Path) -> None:
    assert figures(read(tmp_path, steady(watts=760.0)), 3).devices[0].reasons == ()


def test_what_no_accelerator_draws_is_no_reading(tmp_path: Path) -> None:
    rows = [(s, 0, "412340" if s == 7 else "412.34", "97 %") for s in range(21)]
    log = read(tmp_path, smi(rows))
    assert log.missing == {"too many watts": 1}
    assert figures(log, 3).p99_w == pytest.approx(412.34)
    assert "is it in mW?" in log.flags.listed[0].reason
