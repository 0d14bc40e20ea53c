"""``iteration`` and ``inspect``."""

import json

import pytest

from simcore.__main__ import main
from tests.unit.simcore.command_line.cases import CASE
from tests.unit.simcore.runs import CURVE


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
