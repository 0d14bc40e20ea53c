"""The command: the kit, broken results, what is left out, a failed fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from simcore.__main__ import main
from simcore.spec import SpecError
from tests.unit.simcore.pilot.pilots import CO_LOCATED, benchmark, command_line, kit_of


def test_the_command_writes_the_kit_and_judges_a_benchmark(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked, case, result = command_line(tmp_path), tmp_path / "case.json", tmp_path / "bench.json"
    assert main(asked) == 0
    kit = json.loads(capsys.readouterr().out)
    run = kit["runs"][0]
    assert kit["allowed_times"] == pytest.approx(1.2)
    tpot_s = run["bands"]["tpot_s"]["predicted"]
    result.write_text(
        json.dumps(
            {"backend": "vllm", "model_id": "m", "num_prompts": 900, "request_rate": 1.5, "burstiness": 1.0}
            | {"max_concurrency": None, "duration": 610.0, "completed": 900, "failed": 0}
            | {"total_input_tokens": 918_000, "total_output_tokens": 189_900, "request_throughput": 900 / 610}
            | {"output_throughput": 189_900 / 610, "mean_ttft_ms": run["bands"]["ttft_s"]["predicted"] * 1e3}
            | {"median_ttft_ms": 100.0, "p99_ttft_ms": 200.0, "mean_tpot_ms": tpot_s * 1e3, "median_tpot_ms": 18.0}
            | {"p99_tpot_ms": 25.0, "mean_itl_ms": tpot_s * 1e3, "median_itl_ms": 18.0, "p99_itl_ms": 40.0}
        )
    )
    calibration = tmp_path / "latency.json"
    assert main([*asked, "--result", str(result), "--calibration", str(calibration)]) == 0
    report = json.loads(capsys.readouterr().out)
    (judged,) = report["verdict"]
    assert judged["passes"]
    assert judged["sentence"] == "Passes: as predicted."
    assert [made["path"] for made in report["calibrations"]] == [str(calibration)]
    case.write_text(json.dumps(CO_LOCATED | {"latency": {"source": "calibrated", "path": str(calibration)}}))
    assert main(["iteration", str(case), "--decode-contexts", "1000"]) == 0
    assert main([*asked, "--result", str(case)]) == 2
    assert main([*asked, "--calibration", str(calibration)]) == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "found an empty file"),
        ('{"a": 1}', "found JSON with the keys a"),
        ("[" * 10_000, "nested too deeply"),
        ("model,hardware,tensor_parallel,prompt_size,batch_size,token_size,prompt_time,token_time\n"
         "m,h100-80gb,4,512,1,64,20,8\n", "found step times, expected a result of a benchmark"),
    ],
)  # fmt: skip
def test_the_command_refuses_a_broken_result_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, words: str
) -> None:
    asked = [*command_line(tmp_path), "--result", str(tmp_path / "bench.json")]
    (tmp_path / "bench.json").write_text(text)
    assert main(asked) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1


def test_what_was_left_out_is_reported_and_a_verdict_outlives_a_failed_fit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, result = command_line(tmp_path), tmp_path / "bench.json"
    assert main(asked) == 0
    name = json.loads(capsys.readouterr().out)["runs"][0]["name"]
    run = kit_of(CO_LOCATED).runs[0]
    text = "\n".join(json.dumps(benchmark(run, **changes)) for changes in ({}, {"failed": 500}))
    result.write_text(text)

    def refuses(*given: Any) -> None:
        raise SpecError("pools: found a fit that fails")

    monkeypatch.setattr("simcore.pilot.calibration.pilot_calibrations", refuses)
    latency = tmp_path / "latency.json"
    assert main([*asked, "--result", str(result), "--run", name, "--calibration", str(latency)]) == 2
    printed = capsys.readouterr()
    report = json.loads(printed.out)
    assert len(report["verdict"]) == 1
    assert any("500: 36% of 1,400 requests failed" in flag for flag in report["flags"])
    assert "a fit that fails" in printed.err
    assert not latency.exists()
