"""``calibrate`` through the command line: what it prints, what it writes, what it refuses; its file as a source."""

import json

import pytest

from simcore.__main__ import main
from tests.unit.simcore.calibration import known
from tests.unit.simcore.measurements import bench_files

CASE = {
    "model": "llama-3.1-8b",
    "pools": [{"role": "mixed", "machine": "dgx-h100", "replicas": 1, "tensor_parallel": 1}],
    "scheduler": {"kind": "vllm_v1"},
    "latency": {"source": "calibrated", "path": "latency.json"},
    "slo": {"kind": "absolute", "limits": [{"metric": "tpot_s", "percentile": 90, "limit": 0.1}]},
}
WHERE = ("--model", "llama-3.1-8b", "--machine", "dgx-h100")


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "steps.csv").write_text(known.steps(known.SLOWER, (1,)))
    (tmp_path / "case.json").write_text(json.dumps(CASE))
    return tmp_path


def refused(capsys, *arguments):
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    return printed.err


def test_a_table_and_a_file_that_a_case_takes(files, capsys):
    assert main(["calibrate", "steps.csv", *WHERE, "--weight-precision", "bf16", "--out", "latency.json"]) == 0
    printed = capsys.readouterr().out
    assert "steps.csv: step times (CSV), 7 rows" in printed
    assert "Fitted: vllm-2026 to llama-3.1-8b on h100-80gb, tensor parallel 1" in printed
    assert "Nothing flagged." in printed
    saved = json.loads((files / "latency.json").read_text())
    assert saved["errors"][0]["held_out"] < 0.03 < 0.2 < saved["errors"][0]["before"]

    assert main(["iteration", "case.json", "--decode-contexts", "1056"]) == 0
    figures = json.loads(capsys.readouterr().out)
    true = known.curve(known.SLOWER).iteration_ps([], [1056]) / 1e12
    assert figures["iteration_s"] == pytest.approx(true, rel=0.03)
    assert figures["evidence"].startswith("calibrated: vllm-2026 fitted to 14 figures of llama-3.1-8b on h100-80gb TP1")


def test_a_simulation_runs_by_it_and_says_what_was_not_measured(files, capsys):
    assert main(["calibrate", "steps.csv", *WHERE, "--out", "latency.json"]) == 0
    (files / "short.csv").write_text("arrival_s,prompt_tokens,output_tokens\n0,1000,20\n0.1,1200,30\n")
    (files / "long.csv").write_text("arrival_s,prompt_tokens,output_tokens\n0,30000,20\n0.1,40000,30\n")
    for name in ("short", "long"):
        arguments = ["--trace", f"{name}.csv", "--engine", "oracle", "--summary", f"{name}.json"]
        assert main(["simulate", "case.json", *arguments]) == 0
    warnings = {name: json.loads((files / f"{name}.json").read_text())["warnings"] for name in ("short", "long")}
    assert not any("calibration" in warning for warning in warnings["short"])
    assert any(
        "dgx-h100: its calibration (latency.json) does not cover 35,000 prompt tokens (measured 128 to 8,032)"
        in warning
        for warning in warnings["long"]
    )


def test_flags_are_printed_by_sort(files, capsys):
    rows = known.steps(known.SLOWER, (1,)).splitlines()
    bad = [row.replace("h100-80gb", "a100-80gb") for row in rows[1:]]
    (files / "steps.csv").write_text("\n".join([*rows, *bad, "llama-3.1-8b,h100-80gb,1,128,0,64,1,1"]))
    assert main(["calibrate", "steps.csv", *WHERE]) == 0
    printed = capsys.readouterr().out
    assert "Flagged: rows left out, 14: accelerator" in printed
    assert "  and 9 more" in printed
    assert "steps.csv, line 16, batch_size: found '0', expected a whole number of at least 1 (row left out)" in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.json", *WHERE], "none.json: found no such file or directory, expected a readable file"),
        (["steps.csv", "--model", "llama-3.1-9b", "--machine", "dgx-h100"], "nearest: 'llama-3.1-8b'"),
        (["steps.csv", "--model", "llama-3.1-8b", "--machine", "dgx-h101"], "nearest: 'dgx-h10"),
        (["steps.csv", "--model", "llama-3.1-8b", "--machine", "dgx-a100"], "no result of llama-3.1-8b on a100-80gb"),
        (["steps.csv", *WHERE, "--out", "steps.csv"], "steps.csv: found it twice on the command line"),
        (["steps.csv", *WHERE, "--tensor-parallel", "0"], "--tensor-parallel: found '0', expected a whole number"),
        (["steps.csv", *WHERE, "--concurrency", "4", "--rate", "2"], "not allowed with argument --concurrency"),
        (["bare.json", *WHERE], "tensor parallel degree: found none in the file, expected --tensor-parallel N"),
        (["case.json", *WHERE], "case.json: found JSON with the keys model, pools, scheduler"),
        (["steps.csv", "--machine", "dgx-h100"], "the following arguments are required: --model"),
        (["steps.csv", "--model", "case.json", "--machine", "dgx-h100"], "case.json: model: unknown key"),
    ],
)
def test_bad_input_is_refused_in_one_line(files, capsys, arguments, message):
    (files / "bare.json").write_text(json.dumps(bench_files.vllm(tp="absent")))
    assert message in refused(capsys, "calibrate", *arguments)


def test_a_benchmark_file_is_no_latency_file(files, capsys):
    (files / "latency.json").write_text(json.dumps(bench_files.vllm()))
    said = refused(capsys, "iteration", "case.json", "--prefill", "10")
    assert "case.json: latency.path: 'latency.json': format: found 'None'" in said
    assert "benchmark files go to calibrate first" in said


def test_a_model_of_ones_own_and_another_precision(files, capsys):
    from simcore.catalogue import model
    from simcore.spec import encode

    (files / "mine.json").write_text(json.dumps(encode(model("llama-3.1-8b"))))
    assert main(["calibrate", "steps.csv", "--model", "mine.json", "--machine", "dgx-h100"]) == 0
    first = capsys.readouterr().out
    assert main(["calibrate", "steps.csv", *WHERE]) == 0
    assert capsys.readouterr().out == first
    assert main(["calibrate", "steps.csv", *WHERE, "--weight-precision", "fp8"]) == 0
    assert capsys.readouterr().out != first
