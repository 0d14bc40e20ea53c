"""Power logs of every format: units, times, what is no reading, what is no power log."""

from __future__ import annotations

import gzip
from itertools import pairwise
from pathlib import Path

import pytest

from simcore.measurements.power_logs.figures import figures
from simcore.measurements.power_logs.read import read_power_logs
from simcore.measurements.power_logs.samples import number
from simcore.measurements.power_logs.times import seconds, utc_offset_s
from simcore.spec import SpecError
from tests.unit.simcore.measurements.smi_logs import DCGMI, SMI, read, smi, stamp, steady


def test_nvidia_smi_rows_are_read_with_their_units(tmp_path: Path) -> None:
    log = read(tmp_path, steady())
    assert [device.label for device in log.devices.values()] == ["gpu 0", "gpu 1"]
    found = figures(log, 3)
    assert (found.mean_w, found.p50_w, found.p99_w, found.energy_j) == pytest.approx((800, 800, 800, 16_000))
    assert found.window.seconds == 20
    assert "averaged" in log.reading


@pytest.mark.parametrize(
    "missing", ["[N/A]", "N/A", "[Not Supported]", "0.00 W", "0", "[Unknown Error]", "", "[GPU requires reset]"]
)
def test_what_is_no_reading_is_missing_and_never_0_w(tmp_path: Path, missing: str) -> None:
    rows = [(s, 0, missing if s == 7 else "400.00 W", "97 %") for s in range(21)]
    log = read(tmp_path, smi(rows))
    assert sum(log.missing.values()) == 1
    assert "line 9" in str(log.flags.listed[0])
    assert figures(log, 3).mean_w == pytest.approx(400)
    assert figures(log, 3).devices[0].samples == 20


@pytest.mark.parametrize(
    ("cell", "watts"),
    [("412.34 W", 412.34), ("412340 mW", 412.34), ("0.41234 kW", 412.34), ("412,34 W", 412.34), ("412,3", 412.3)],
)
def test_units_stand_in_values(cell: str, watts: float) -> None:
    assert number(cell, "power") == pytest.approx(watts)


@pytest.mark.parametrize("cell", ["1,234 W", "1,23,4 W", "412,34.5"])
def test_a_comma_that_may_part_thousands_is_no_number(cell: str) -> None:
    with pytest.raises(ValueError, match=","):
        number(cell, "power")


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_a_log_that_a_spreadsheet_saved_anew_has_its_delimiter_and_decimal_comma(
    tmp_path: Path, delimiter: str
) -> None:
    log = read(tmp_path, steady(watts=412.34).replace(", ", delimiter).replace(".34", ",34"))
    assert figures(log, 3).mean_w == pytest.approx(2 * 412.34)


def test_without_any_reading_the_first_that_is_none_is_named(tmp_path: Path) -> None:
    log = read(tmp_path, steady().replace("400.00 W", "four"))
    with pytest.raises(SpecError, match=r"power\.log, line 2, power: found four: no number of watts"):
        figures(log, 3)


def test_mj_are_thousandths_of_a_joule_and_percent_hundredths() -> None:
    assert number("123456", "energy") == pytest.approx(123.456)
    assert number("123456 mJ", "energy") == pytest.approx(123.456)
    assert number("97 %", "utilization") == number("97", "utilization") == pytest.approx(0.97)


def test_units_may_stand_in_the_header_alone_and_instants_are_preferred(tmp_path: Path) -> None:
    header = "timestamp, uuid, power.draw [W], power.draw.instant [W]"
    lines = [f"{stamp(s)}, GPU-1f, 100.0, 300.0" for s in range(9)]
    log = read(tmp_path, "\n".join([header, *lines]))
    assert figures(log, 3).mean_w == pytest.approx(300)
    assert "instant" in log.reading
    assert figures(log, 3).window.by == "all of the log: no utilisation in it"


def test_a_log_may_be_gzipped_have_words_above_and_its_header_again(tmp_path: Path) -> None:
    text = steady(seconds_long=4) + SMI + "\n" + smi([(s, 0, "400 W", "97 %") for s in range(5, 9)]).split("\n", 1)[1]
    path = tmp_path / "power.csv.gz"
    path.write_bytes(gzip.compress(("Mon Mar  2 starting\n" + text + "2026/03/02 10:15:").encode()))
    log = read_power_logs([str(path)])
    assert len(next(iter(log.devices.values())).times_s) == 9
    assert [flag.reason for flag in log.flags.listed] == ["1 cells where the header has 5"]


def test_a_clock_set_back_or_on_by_an_hour_moves_what_follows(tmp_path: Path) -> None:
    for jump in (-3600, 3600):
        rows = [(s + (jump if i > 10 else 0), 0, "400 W", "97 %") for i, s in enumerate(range(3700, 3721))]
        log = read(tmp_path, smi(rows))
        times = log.devices["/gpu 0"].times_s
        assert [b - a for a, b in pairwise(times)] == pytest.approx([1] * 20)
        assert "by an hour" in str(log.flags.listed[0])
        assert figures(log, 3).energy_j == pytest.approx(8000)


def test_other_steps_back_and_doubled_times_are_left_out(tmp_path: Path) -> None:
    times = [0, 1, 2, 2, 1.5, 3, 4]
    log = read(tmp_path, smi([(s, 0, "400 W", "97 %") for s in times]))
    first = log.devices["/gpu 0"].times_s[0]
    assert [at - first for at in log.devices["/gpu 0"].times_s] == pytest.approx([0, 1, 2, 3, 4])
    assert [flag.effect for flag in log.flags.listed] == ["row left out"] * 2
    assert ["line 5" in str(log.flags.listed[0]), "line 6" in str(log.flags.listed[1])] == [True, True]


def test_nvidia_smi_dmon_with_and_without_times(tmp_path: Path) -> None:
    head = "# gpu    pwr  gtemp  mtemp     sm    mem\n# Idx      W      C      C      %      %\n"
    rows = "".join(
        f"    {gpu}    {'-' if s == 3 else 410}     60      -     99      9\n" for s in range(9) for gpu in (0, 1)
    )
    log = read(tmp_path, head + rows)
    assert log.formats == ["nvidia-smi dmon"]
    assert "1 s apart" in str(log.flags.listed[0])
    assert (figures(log, 3).mean_w, log.missing) == (pytest.approx(820), {"-": 2})
    slow = read(tmp_path, head + rows, interval_s=2.0)
    assert figures(slow, 3).window.seconds == 16
    dated = "#Date       Time        gpu    pwr     sm\n#YYYYMMDD   HH:MM:SS     Idx      W      %\n" + "".join(
        f" 20260302   23:59:{50 + s}       0    410     99\n" for s in range(10)
    ) + " 20260303   00:00:00       0    410     99\n"  # fmt: skip
    assert figures(read(tmp_path, dated), 3).window.seconds == 10


def test_times_of_day_go_over_midnight(tmp_path: Path) -> None:
    head = "#Time        gpu    pwr     sm\n#HH:MM:SS     Idx      W      %\n"
    rows = "".join(f" 23:59:{50 + s}       0    410     99\n" for s in range(10)) + " 00:00:00   0  410  99\n"
    log = read(tmp_path, head + rows)
    assert figures(log, 3).window.seconds == 10
    assert "day's end" in str(log.flags.listed[0])


def test_dcgmi_dmon_reads_power_energy_and_use(tmp_path: Path) -> None:
    rows = "".join(f"GPU {gpu}     400.000      {1000 * 400 * s + 10**9}     98\n" for s in range(11) for gpu in (0, 1))
    log = read(tmp_path, DCGMI + rows + "GPU 0     N/A          N/A               N/A\n")
    found = figures(log, 3)
    assert log.reading == "a running average (DCGM field 155)"
    assert found.mean_w == pytest.approx(800)
    assert [device.counter_j for device in found.devices] == pytest.approx([4000, 4000])
    assert [device.counter_off for device in found.devices] == pytest.approx([0, 0])
    assert log.missing == {"N/A": 1}
    assert log.zone == "none in the log: seconds from its start"


def test_dcgmi_dmons_instants_are_preferred_and_a_counter_alone_gives_a_mean(tmp_path: Path) -> None:
    both = "#Entity   POWER   POWINST   GPUTL\nID        W       W\n" + "GPU 0   300.0   350.0   97\n" * 9
    log = read(tmp_path, both)
    assert (log.reading, figures(log, 3).mean_w) == ("of an instant (DCGM field 157)", pytest.approx(350))
    rows = "".join(f"GPU 0   {250_000 * s}   97\n" for s in range(9))
    found = figures(read(tmp_path, "#Entity   TOTEC   GPUTL\nID        mJ\n" + rows), 3)
    assert (found.mean_w, found.devices[0].mean_by) == (pytest.approx(250), "energy counter")


def _written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "scrapes.txt"
    path.write_text(text)
    return str(path)


EXPORTED = """# HELP DCGM_FI_DEV_POWER_USAGE Power draw (in W).
# TYPE DCGM_FI_DEV_POWER_USAGE gauge
DCGM_FI_DEV_POWER_USAGE{{gpu="0",UUID="GPU-a",modelName="NVIDIA H200",Hostname="n1"}} {watts}{at}
DCGM_FI_DEV_POWER_USAGE{{gpu="0",UUID="GPU-b",modelName="NVIDIA H200",Hostname="n2"}} {watts}{at}
DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{{gpu="0",UUID="GPU-a",modelName="NVIDIA H200",Hostname="n1"}} {mj}{at}
DCGM_FI_DEV_GPU_UTIL{{gpu="0",UUID="GPU-a",modelName="NVIDIA H200",Hostname="n1"}} 99{at}
DCGM_FI_DEV_GPU_UTIL{{gpu="0",UUID="GPU-b",modelName="NVIDIA H200",Hostname="n2"}} 99{at}
"""


def test_dcgm_exporters_text_by_its_own_times_or_the_interval(tmp_path: Path) -> None:
    def scrapes(step: int, stamped: bool) -> str:
        return "".join(
            EXPORTED.format(
                watts=500, mj=500_000 * step * s, at=f" {1_772_446_500_000 + 1000 * step * s}" if stamped else ""
            )
            for s in range(9)
        )

    for text, interval_s in ((scrapes(2, True), None), (scrapes(2, False), 2.0)):
        log = read_power_logs([_written(tmp_path, text)], interval_s=interval_s)
        assert [device.label for device in log.devices.values()] == ["n1 GPU-a", "n2 GPU-b"]
        found = figures(log, 3)
        assert (found.mean_w, found.energy_j) == pytest.approx((1000, 16_000))
        assert found.devices[0].counter_j == pytest.approx(8000)
    sparse = figures(read(tmp_path, scrapes(15, True)), 3)
    assert sparse.devices[0].mean_by == "energy counter"
    assert sparse.devices[0].mean_w == pytest.approx(500)
    assert "15 s apart" in sparse.devices[0].reasons[0]


def test_dcgm_exporters_csv(tmp_path: Path) -> None:
    head = "timestamp,gpu,UUID,Hostname,DCGM_FI_DEV_POWER_USAGE_INSTANT,DCGM_FI_DEV_GPU_UTIL\n"
    times = [1772446500 + s for s in range(5)]
    for forms in (times, [1000 * t for t in times], [f"2026-03-02T10:15:0{s}Z" for s in range(5)]):
        log = read(tmp_path, head + "".join(f"{at},0,GPU-a,n1,333,88\n" for at in forms))
        assert log.devices["n1/GPU-a"].times_s == pytest.approx(times)
        assert figures(log, 3).mean_w == pytest.approx(333)
        assert log.reading == "of an instant (DCGM field 157)"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("timestamp, index, utilization.gpu [%]\n", "expected power.draw among them"),
        ("index, power.draw [W]\n0, 400 W\n", "expected timestamp among them"),
        ("2026/03/02 10:15:00.123, 0, 412.34 W\n", "with its header"),
        (SMI + "\n", "found no row that can be used"),
        (SMI + "\nyesterday, 0, H100, 400 W, 9 %\n", "no time that can be read"),
        ("", "found an empty file"),
        ("<html>\n", "HTML"),
        ("a,b\n1,2\n", "expected a log of nvidia-smi"),
        ('{"a": 1}', "expected a log of nvidia-smi"),
        ("# gpu  gtemp\n    0   60\n", "expected pwr"),
        ("#Entity   SMCLK\nGPU 0  1755\n", "expected POWER"),
        ("gpu,DCGM_FI_DEV_POWER_USAGE\n0,400\n", "expected one of timestamp"),
    ],
)
def test_what_is_no_power_log_is_refused_in_one_line(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(SpecError, match=words) as refused:
        read(tmp_path, text)
    assert "\n" not in str(refused.value)


def test_zones_and_forms_of_time() -> None:
    assert utc_offset_s("+02:00") == 7200
    assert utc_offset_s("-0530") == -19800
    assert utc_offset_s("Z") == 0
    noon = seconds("2026/03/02 12:00:00.500", 0)
    assert seconds("2026/03/02 12:00:00.500", 7200) == noon - 7200
    assert seconds("2026-03-02T12:00:00.500Z", 7200) == noon
    assert seconds("20260302 12:00:00", 0) == seconds("03/02/2026 12:00:00", 0) == noon - 0.5
    for wrong in ("", "12", "nan", "inf", "noon", "2026/13/02 12:00:00"):
        with pytest.raises(ValueError, match="not a time"):
            seconds(wrong, 0)
    with pytest.raises(SpecError, match="--utc-offset: found 'CET'"):
        utc_offset_s("CET")


def test_files_of_two_machines_and_parts_of_one_log(tmp_path: Path) -> None:
    paths = []
    for name, first in (("a.csv", 0), ("b.csv", 0), ("c.csv", 21)):
        path = tmp_path / name
        path.write_text(smi([(first + s, 0, "400 W", "97 %") for s in range(21)]))
        paths.append(str(path))
    assert figures(read_power_logs(paths[:2]), 3).mean_w == pytest.approx(800)
    joined = figures(read_power_logs([paths[0], paths[2]]), 3)
    assert (joined.mean_w, joined.window.seconds) == (pytest.approx(400), 41)


@pytest.mark.parametrize(
    ("times", "zone"),
    [
        (["2026-03-02T10:15:0{}Z"], "with their zone, shown in UTC+00:00"),
        (["2026-03-02T10:15:0{}+02:00"], "with their zone, shown in UTC+00:00"),
        (["177244650{}.5"], "with their zone, shown in UTC+00:00"),
        (["2026-03-02 10:15:0{}"], "local times without a zone, taken as UTC (else --utc-offset)"),
        (
            ["2026-03-02 10:15:0{}", "2026-03-02T10:15:0{}Z"],
            "local times without a zone, taken as UTC (else --utc-offset); some have a zone of their own",
        ),
    ],
)
def test_times_with_a_zone_are_not_called_local(tmp_path: Path, times: list[str], zone: str) -> None:
    rows = [f"{text.format(s)},{i},400" for i, text in enumerate(times) for s in range(9)]
    log = read(tmp_path, "\n".join(["timestamp,gpu,DCGM_FI_DEV_POWER_USAGE", *rows]))
    assert log.zone == zone
    assert figures(log, 3).mean_w == 400 * len(times)
