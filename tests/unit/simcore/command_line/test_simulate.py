"""``simulate``: files, figures, arrivals, prices and power."""

import csv
import json
import os

import pytest

from simcore.__main__ import main
from tests.unit.simcore.command_line.cases import CASE, REFUSED, REPAIRED, UNCLEAN, refused, said, simulate


def test_simulate_writes_a_row_a_request_and_the_figures(files):
    assert simulate("--requests", "out.csv", "--summary", "out.json") == 0
    rows = list(csv.DictReader((files / "out.csv").read_text().splitlines()))
    figures = json.loads((files / "out.json").read_text())
    assert len(rows) == figures["requests"] == 60
    assert [row["request"] for row in rows] == [str(i) for i in range(60)]
    assert rows[0]["ttft_s"] == "0.100000000000"
    assert rows[0]["tpot_s"] == ""
    assert float(rows[1]["tpot_s"]) >= 0.02
    assert figures["usd_per_hour"] > 0
    assert figures["slo"]["limits"][0]["value"] == pytest.approx(sorted(float(row["ttft_s"]) for row in rows)[53])
    assert sorted(os.listdir(files)) == ["case.json", "out.csv", "out.json", "trace.csv"]


def test_the_summary_goes_to_standard_output_by_default(files, capsys):
    assert simulate() == 0
    assert json.loads(capsys.readouterr().out)["finished"] == 60


def test_both_engines_write_the_same_files(files, capsys):
    for name in ("oracle", "fast"):
        arguments = ["simulate", "case.json", "--trace", "trace.csv", "--engine", name]
        assert main([*arguments, "--requests", f"{name}.csv", "--summary", f"{name}.json"]) == 0
    assert (files / "oracle.csv").read_bytes() == (files / "fast.csv").read_bytes()
    oracle, fast = (json.loads((files / f"{name}.json").read_text()) for name in ("oracle", "fast"))
    assert {**oracle, "wall_s": 0} == {**fast, "wall_s": 0}


def test_rows_left_out_or_repaired_are_counted_in_the_summary(files):
    (files / "trace.csv").write_text(UNCLEAN)
    assert simulate("--summary", "out.json") == 0
    figures = json.loads((files / "out.json").read_text())
    assert figures["requests"] == 61
    assert said(figures["warnings"], REFUSED)
    assert said(figures["warnings"], REPAIRED)


def test_poisson_arrivals_are_at_the_traces_own_rate(files):
    (files / "case.json").write_text(json.dumps({**CASE, "arrivals": "poisson", "seed": 3}))
    assert simulate("--requests", "out.csv", "--summary", "out.json") == 0
    rows = list(csv.DictReader((files / "out.csv").read_text().splitlines()))
    assert 8 < float(rows[-1]["arrival_s"]) < 25
    assert rows[1]["arrival_s"] != "0.250000000000"


@pytest.mark.parametrize(("how", "requests"), [("trace", 60), ("superpose", 180), ("poisson", 60)])
def test_a_trace_is_brought_to_a_rate_by_a_named_choice(files, how, requests):
    (files / "case.json").write_text(json.dumps({**CASE, "arrivals": how}))
    assert simulate("--rate", "12", "--summary", "out.json") == 0
    figures = json.loads((files / "out.json").read_text())
    arrivals = figures["arrivals"]
    assert (arrivals["how"], arrivals["requests"], figures["requests"]) == (how, requests, requests)
    assert arrivals["rate_req_per_s"] == pytest.approx(12, rel=0.3 if how == "poisson" else 1e-9)
    assert set(arrivals["index_of_dispersion"]) == {"1_s", "10_s", "60_s"}
    assert (arrivals["index_of_dispersion"]["1_s"] > 0.1) == (how == "poisson")  # copies of even arrivals are even


def test_a_trace_without_a_rate_has_no_poisson_arrivals(files, capsys):
    (files / "trace.csv").write_text("arrival_s,prompt_tokens,output_tokens\n3,10,2\n")
    (files / "case.json").write_text(json.dumps({**CASE, "arrivals": "poisson"}))
    error = refused(capsys, "simulate", "case.json", "--trace", "trace.csv", "--engine", "oracle")
    assert error.startswith("case.json: arrivals: found poisson and all requests of trace.csv at one instant")


def test_an_inline_machine_has_no_price_and_says_so(files, capsys):
    machine = {
        "id": "mine", "name": "Mine", "accelerator": "h100-80gb", "accelerators": 8, "nic_bytes_per_s": 5e10,
        "host_w": 1000, "nameplate_w": 10000,
    }  # fmt: skip
    pools = [{**CASE["pools"][0], "machine": machine}]
    (files / "case.json").write_text(json.dumps({**CASE, "pools": pools}))
    assert simulate() == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["usd_per_hour"] is None
    assert any("no price for 'mine'" in warning for warning in figures["warnings"])


def test_facility_power_is_the_drawn_mean_times_pue_alone(files, capsys):
    found = []
    for more in ({}, {"pue": 1.2}):
        (files / "case.json").write_text(json.dumps({**CASE, **more}))
        assert simulate() == 0
        found.append(json.loads(capsys.readouterr().out))
    plain, ours = found
    assert (plain["pue"], ours["pue"]) == (1.54, 1.2)
    assert [one["facility_w"] for one in found] == pytest.approx([one["pue"] * one["mean_w"] for one in found])
    for name in ("mean_w", "p99_w", "nameplate_w", "provisioned_w", "energy_j"):
        assert plain[name] == ours[name]
    (files / "case.json").write_text(json.dumps({**CASE, "pue": 0.9}))
    assert simulate() == 2
    assert "pue: found 0.9, expected at least 1" in capsys.readouterr().err


def test_a_cap_that_never_acts_or_was_never_measured_is_said_and_one_below_idle_refused(files, capsys):
    machine = {
        "id": "mine", "name": "Mine", "accelerator": "h100-80gb", "accelerators": 8, "nic_bytes_per_s": 5e10,
        "host_w": 1000, "nameplate_w": 10000,
    }  # fmt: skip
    for cap, words in ((900, "it never acts"), (150, "below any cap that was measured (200 W of 700 W)")):
        pools = [{**CASE["pools"][0], "machine": {**machine, "power_cap_w": cap}}]
        (files / "case.json").write_text(json.dumps({**CASE, "pools": pools}))
        assert simulate() == 0
        assert any(words in warning for warning in json.loads(capsys.readouterr().out)["warnings"])
    pools = [{**CASE["pools"][0], "machine": {**machine, "power_cap_w": 70}}]
    (files / "case.json").write_text(json.dumps({**CASE, "pools": pools}))
    assert simulate() == 2
    assert "power_cap_w of machine mine: found 70 W" in capsys.readouterr().err
