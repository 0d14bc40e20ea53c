"""The command: a log against the prediction, and the machine that it makes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simcore.__main__ import main
from tests.unit.simcore.measurements.smi_logs import smi, steady

RUN = ["--model", "llama-3.1-70b", "--tensor-parallel", "2", "--concurrency", "8", "--prompt-tokens", "90",
       "--output-tokens", "350", "--machine", "dgx-h100"]  # fmt: skip


def test_the_command_compares_and_writes_a_machine_that_a_case_takes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, out = tmp_path / "power.csv", tmp_path / "machine.json"
    rows = [(s, gpu, "500 W" if 10 <= s <= 50 else "90 W", "99 %" if 10 <= s <= 50 else "0 %")
            for s in range(61) for gpu in range(2)]  # fmt: skip
    log.write_text(smi([*rows, (61, 0, "[N/A]", "0 %"), (60.5, 1, "90 W", "0 %")]))
    assert main(["power", str(log), *RUN, "--out", str(out)]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["missing"] == {"readings": 1, "by_what_stood_there": {"[N/A]": 1}}
    assert said["flags"]["counted"] == {"row left out": 0, "not used": 1, "noted": 0}
    prediction = said["prediction"]
    assert prediction["measured_w"] == pytest.approx(500)
    assert abs(prediction["error_after"]) < 1e-3 < abs(prediction["error_before"])
    assert prediction["replaced"]["idle_w"] == 90
    pool = {"role": "mixed", "machine": json.loads(out.read_text()), "machines": 1, "tensor_parallel": 2}
    case = {"model": "llama-3.1-70b", "scheduler": {"kind": "sarathi"}, "pools": [pool]}
    path = tmp_path / "case.json"
    path.write_text(json.dumps(case))
    assert main(["iteration", str(path), "--prefill", "512"]) == 0


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--machine", "dgx-h100"], "found no --model, --tensor-parallel"),
        (["--out", "x.json"], "found no --machine"),
        (["--from", "noon"], "--from: found 'noon'"),
        ([*RUN[:-1], "dgx-a100"], "expected at most the 400 W"),
        (["--max-gap", "0"], "expected a number above 0"),
        ([*RUN, "--tensor-parallel", "4"], "expected a divisor of the 2 devices"),
    ],
)
def test_the_command_says_what_it_lacks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], words: str
) -> None:
    log = tmp_path / "power.csv"
    log.write_text(steady(watts=650))
    assert main(["power", str(log), *more]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
