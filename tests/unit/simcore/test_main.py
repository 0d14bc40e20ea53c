import csv
import json
import os
import subprocess
import sys

import pytest

from simcore.__main__ import main
from tests.unit.simcore.runs import CURVE

CASE = {
    "model": "llama2-7b",
    "pools": [{"role": "mixed", "machine": "dgx-h100", "machines": 1, "tensor_parallel": 8}],
    "scheduler": {"kind": "sarathi"},
    "latency": CURVE,
    "slo": {"kind": "absolute", "limits": [{"metric": "ttft_s", "percentile": 90, "limit": 0.3}]},
}
ROWS = "".join(f"{i * 0.25},{100 + 7 * i % 50},{1 + i % 9}\n" for i in range(60))
TRACE = "arrival_s,prompt_tokens,output_tokens\n" + ROWS


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "case.json").write_text(json.dumps(CASE))
    (tmp_path / "trace.csv").write_text(TRACE)
    return tmp_path


def refused(capsys, *arguments):
    """The one line that a refused command prints."""
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    return printed.err


def simulate(*options):
    return main(["simulate", "case.json", "--trace", "trace.csv", "--engine", "oracle", *options])


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


UNCLEAN = "\ufeff" + TRACE + "16,many,3\n15.5,7,0\n0.125,7,2\n"
REFUSED = "trace.csv: 2 of 63 rows cannot be used and were left out: not a number 1, out of range 1 (first: line 62, "
REPAIRED = "trace.csv: repaired: arrival out of order 1, byte order mark 1 (first: line 1: "


def said(warnings, start):
    return [warning for warning in warnings if warning.startswith(start)]


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


def test_capacity_finds_a_rate(files, capsys):
    assert main(["capacity", "case.json", "--trace", "trace.csv", "--summary", "out.json"]) == 0
    figures = json.loads((files / "out.json").read_text())
    assert figures["capacity_low"] <= figures["capacity_req_per_s"] <= figures["capacity_high"]
    assert figures["capacity_req_per_s"] > 1
    assert figures["slo"]["met"]
    assert figures["binding_pool"] == "mixed"
    assert figures["mean_w"] < figures["nameplate_w"]
    assert figures["arrivals"]["how"] == "trace"
    assert figures["arrivals"]["rate_req_per_s"] == pytest.approx(figures["capacity_req_per_s"])
    assert set(figures["arrivals"]["index_of_dispersion"]) == {"1_s", "10_s", "60_s"}


STUDY = {
    "model": "llama2-7b",
    "workload": {"trace": "trace.csv"},
    "rate_req_per_s": 5,
    "machines": [{"machine": "dgx-h100"}],
    "families": ["sarathi:dgx-h100"],
    "scheduler_options": {"token_budget": 512, "tensor_parallel": 8},
    "latency": CURVE,
    "slo": CASE["slo"],
    "counts": {"mixed": [1, 2]},
}


def test_plan_writes_a_row_a_design_and_the_frontiers(files, capsys):
    (files / "study.json").write_text(json.dumps(STUDY))
    assert main(["plan", "study.json", "--out", "made/results"]) == 0
    rows = list(csv.DictReader((files / "made/results/designs.csv").read_text().splitlines()))
    assert sorted(row["mixed_machines"] for row in rows) == ["1", "2"]
    assert all(row["status"] == "evaluated" and float(row["capacity_req_per_s"]) > 1 for row in rows)
    frontier = json.loads((files / "made/results/frontier.json").read_text())
    assert frontier["winner"] in {row["design_id"] for row in rows}
    assert frontier["warnings"] == []


def test_capacity_and_plan_count_rows_left_out(files):
    (files / "trace.csv").write_text(UNCLEAN)
    (files / "study.json").write_text(json.dumps({**STUDY, "counts": {"mixed": [1]}}))
    assert main(["capacity", "case.json", "--trace", "trace.csv", "--summary", "out.json"]) == 0
    assert main(["plan", "study.json"]) == 0
    for name in ("out.json", "frontier.json"):
        warnings = json.loads((files / name).read_text())["warnings"]
        assert said(warnings, REFUSED)
        assert said(warnings, REPAIRED)


def test_a_bad_study_is_refused_in_one_line(files, capsys):
    (files / "study.json").write_text(json.dumps({**STUDY, "families": ["sarathi:dgx-h10"]}))
    assert "study.json: families: 'sarathi:dgx-h10'" in refused(capsys, "plan", "study.json")
    (files / "study.json").write_text(json.dumps({**STUDY, "workload": {"trace": "no.csv"}}))
    assert "no.csv: found No such file" in refused(capsys, "plan", "study.json")
    assert "case.json: found a file, expected a folder" in refused(capsys, "plan", "study.json", "--out", "case.json")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("rate_req_per_s", 1e300, "rate_req_per_s: found 1e+300, expected at most 1000000"),
        ("counts", {"mixed": [0]}, "counts.mixed[0]: found 0, expected at least 1"),
        ("counts", {"decode": [2, -3]}, "counts.decode[1]: found -3, expected at least 1"),
        ("seeds", [0, -1], "seeds[1]: found -1, expected at least 0"),
        ("workload", {}, "workload.trace: give exactly one of trace and synthetic"),
        ("workload", {"trace": "a\0b"}, "found 'a\\x00b', expected text without a zero byte"),
        ("latency", {"source": "calibrated"}, "latency.path: missing, expected the LATENCY.json"),
        ("slo", {"kind": "slowdown"}, "slo.reference_latency: missing"),
        (
            "machines",
            [{"machine": "dgx-h100", "latency": {"source": "calibrated"}}],
            "machines[0].latency.path: missing, expected the LATENCY.json",
        ),
    ],
)
def test_a_study_without_an_answer_is_refused_at_once(files, capsys, key, value, message):
    (files / "study.json").write_text(json.dumps({**STUDY, key: value}))
    assert f"study.json: {message}" in refused(capsys, "plan", "study.json")


def test_iteration_times_one_batch(files, capsys):
    latency = {**CURVE, "attention_s": 1e-9, "chunk_read_s": 1e-6, "context_s": 1e-7, "decode_seq_s": 1e-5}
    (files / "case.json").write_text(json.dumps({**CASE, "latency": latency}))
    assert main(["iteration", "case.json", "--prefill", "512,256@4096", "--decode-contexts", "1000,2000"]) == 0
    figures = json.loads(capsys.readouterr().out)
    pairs = 512 * 513 / 2 + 256 * 257 / 2
    expected = 0.1 + 4096 * 1e-6 + pairs * 1e-9 + 3000 * 1e-7 + 2e-5
    assert figures["iteration_s"] == pytest.approx(expected, rel=1e-9)
    assert figures["kind"] == "hybrid"
    assert sum(figures["parts"].values()) == pytest.approx(expected, rel=1e-9)


def test_an_iteration_passes_all_pipeline_stages(files, capsys):
    pools = [{**CASE["pools"][0], "tensor_parallel": 4, "pipeline_parallel": 2}]
    (files / "case.json").write_text(json.dumps({**CASE, "pools": pools}))
    assert main(["iteration", "case.json", "--prefill", "10"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert (figures["iteration_s"], figures["stage_s"], figures["stages"]) == (0.2, 0.1, 2)
    assert sum(figures["parts"].values()) == pytest.approx(0.2)


def test_inspect_reports_rows(files, capsys):
    assert main(["inspect", "trace.csv"]) == 0
    assert json.loads(capsys.readouterr().out)["rows_read"] == 60
    assert main(["inspect", "trace.csv", "--rate", "20", "--arrivals", "poisson", "--seed", "1"]) == 0
    assert json.loads(capsys.readouterr().out)["at_rate"]["how"] == "poisson"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "case.json: line 1, column 1: Expecting value"),
        ("{", "case.json: line 1, column 2"),
        ("[]", "case: found list, expected an object"),
        ('{"model": "llama2-7b",\n "pools": ,}', "case.json: line 2, column 11"),
        ('{"modle": "x"}', "case.json: modle: unknown key"),
        ('{"model": "a", "model": "b"}', "case.json: model: found twice"),
        ('{"seed": NaN}', "case.json: found NaN, expected a finite number"),
        (f'{{"seed": {"9" * 5000}}}', "case.json: found a whole number of 5000 digits"),
        ("[" * 100_000, "case.json: found JSON nested too deeply"),
        (json.dumps({**CASE, "model": "llama2-7x"}), "case.json: model: found 'llama2-7x', expected one of"),
        (
            json.dumps({**CASE, "model": "llama2-7x", "slo": {}, "latency": {}}),
            "case.json: model: found 'llama2-7x', expected one of",
        ),
        ('{"model": "\\ud800"}', "case.json: found '\\ud800', expected text with whole characters"),
        ('{"model": {"\\udfff": 1}}', "case.json: found '\\udfff', expected text with whole characters"),
        (json.dumps({**CASE, "slo": {"kind": "slowdown"}}), "case.json: slo.reference_latency: missing"),
        (json.dumps({**CASE, "prices": "none"}), "case.json: "),
        (json.dumps({**CASE, "latency": {**CURVE, "prefill_s": [1e300, 1e300]}}), "case.json"),
    ],
)
def test_a_bad_case_is_refused_in_one_line(files, capsys, text, message):
    (files / "case.json").write_text(text)
    assert message in refused(capsys, "simulate", "case.json", "--trace", "trace.csv", "--engine", "oracle")


@pytest.mark.parametrize("depth", range(900, 1000, 3))
def test_json_of_any_depth_is_refused_in_one_line(files, capsys, depth):
    (files / "case.json").write_text('{"latency": {"path": ' + '{"a":' * depth + "1" + "}" * (depth + 2))
    refused(capsys, "simulate", "case.json", "--trace", "trace.csv", "--engine", "oracle")


def test_binary_is_refused(files, capsys):
    (files / "case.json").write_bytes(b"\x89PNG\xff\x00")
    assert "case.json: found byte 0x89 at 0, expected UTF-8" in refused(
        capsys, "simulate", "case.json", "--trace", "trace.csv"
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "trace.csv: found an empty file"), (b"\x1f\x8b\x08", "gzip"), (b"a,b\n1,2\n", "trace.csv: line 1")],
)
def test_a_bad_trace_is_refused_in_one_line(files, capsys, content, message):
    (files / "trace.csv").write_bytes(content)
    assert message in refused(capsys, "simulate", "case.json", "--trace", "trace.csv")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "required: COMMAND"),
        (["simulte"], "invalid choice"),
        (["simulate", "case.json"], "--trace"),
        (["simulate", "no.json", "--trace", "trace.csv"], "no.json: found no such file or directory"),
        (["simulate", ".", "--trace", "trace.csv"], ".: found is a directory"),
        (["simulate", "case.json", "--trace", "no.csv"], "no.csv"),
        (["simulate", "case.json", "--trace", "trace.csv", "--engine", "slow"], "--engine"),
        (
            ["simulate", "case.json", "--trace", "trace.csv", "--requests", "no/out.csv"],
            "no/out.csv: found no folder no",
        ),
        (["simulate", "case.json", "--trace", "trace.csv", "--summary", "."], ".: found a folder"),
        (["simulate", "case.json", "--trace", "trace.csv", "--rate", "0"], "argument --rate: found '0', expected"),
        (["simulate", "case.json", "--trace", "trace.csv", "--rate", "1e9"], "argument --rate: found '1e9', expected"),
        (["inspect", "trace.csv", "--rate", "nan"], "argument --rate: found 'nan', expected a number of requests/s"),
        (["inspect", "trace.csv", "--rate", "5", "--arrivals", "bursts"], "argument --arrivals: invalid choice"),
        (["inspect", "trace.csv", "--rate", "1e-300"], "rate: found arrivals up to"),
        (["iteration", "case.json"], "found nothing"),
        (["iteration", "case.json", "--prefill", "1.5"], "argument --prefill: found '1.5'"),
        (["iteration", "case.json", "--prefill", "5@"], "argument --prefill: found ''"),
        (["iteration", "case.json", "--prefill", "0"], "argument --prefill: found '0'"),
        (["iteration", "case.json", "--decode-contexts", "9" * 400], "argument --decode-contexts: found '999"),
        (["plan", "case.json", "--jobs", "0"], "argument --jobs: found '0'"),
        (["plan", "case.json"], "case.json: "),
    ],
)
def test_bad_arguments_are_refused_in_one_line(files, capsys, arguments, message):
    assert message in refused(capsys, *arguments)


@pytest.mark.parametrize(
    "options",
    [
        ("simulate", "--requests", "out", "--summary", "./out"),
        ("simulate", "--requests", "trace.csv"),
        ("simulate", "--summary", "case.json"),
        ("capacity", "--summary", "trace.csv"),
    ],
)
def test_no_result_goes_over_another_or_over_the_input(files, capsys, options):
    before = {name: (files / name).read_bytes() for name in ("case.json", "trace.csv")}
    message = refused(capsys, options[0], "case.json", "--trace", "trace.csv", *options[1:])
    assert message.startswith(f"{options[-1]}: found it twice on the command line")
    assert {name: (files / name).read_bytes() for name in os.listdir(files)} == before


def test_a_refused_run_leaves_an_earlier_result_alone(files, capsys):
    (files / "out.json").write_text("earlier")
    (files / "case.json").write_text("{}")
    refused(capsys, "simulate", "case.json", "--trace", "trace.csv", "--summary", "out.json")
    assert (files / "out.json").read_text() == "earlier"
    assert sorted(os.listdir(files)) == ["case.json", "out.json", "trace.csv"]


def test_a_full_disk_is_said_in_one_line(files, capsys):
    assert "no space left on device" in refused(
        capsys, "simulate", "case.json", "--trace", "trace.csv", "--engine", "oracle", "--requests", "/dev/full"
    )


def test_it_runs_as_a_module(files):
    done = subprocess.run(
        [sys.executable, "-m", "simcore", "iteration", "case.json", "--prefill", "64"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["iteration_s"] == 0.1
