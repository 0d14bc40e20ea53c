"""``python -m simcore validate``: a table, files where they are asked for, exit codes."""

from __future__ import annotations

from pathlib import Path

import pytest

from simcore.__main__ import main

POWER = (
    "source,gpu,model,precision,isl_osl,tp,conc,w_per_gpu,j_per_out_tok\nI,H100,gpt-oss-120b,fp4,1k/8k,8,8,250,1.0\n"
)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "measured"
    folder.mkdir()
    (folder / "power_anchors.csv").write_text(POWER, encoding="utf-8")
    return folder


def test_goals_and_groups_are_printed_and_files_written(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "--data", str(data), "--out", "report.md", "--residuals", "residuals.csv"]) == 0
    printed = capsys.readouterr().out
    assert "energy a token: 1 rows" in printed
    assert "not compared serving_points" in printed
    assert "gpt-oss-120b" in Path("report.md").read_text(encoding="utf-8")
    assert len(Path("residuals.csv").read_text(encoding="utf-8").splitlines()) == 3


def test_the_report_goes_to_docs_where_there_is_such_a_folder(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "--data", str(data)]) == 0
    assert "written to" not in capsys.readouterr().out
    Path("docs").mkdir()
    assert main(["validate", "--data", str(data)]) == 0
    assert "written to docs/validation.md" in capsys.readouterr().out
    assert Path("docs/validation.md").read_text(encoding="utf-8").startswith("# Predictions against measurements")


def test_the_shared_folder_is_the_default(
    data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (data.parent / "data").mkdir()
    data.rename(data.parent / "data" / "measured")
    monkeypatch.setenv("PHASEPLAN_SHARED", str(data.parent))
    assert main(["validate"]) == 0
    assert "energy a token: 1 rows" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--data", "nowhere"], "--data: found no folder nowhere"),
        (["--data", "."], "--data: found none of"),
        (["--data", "measured", "--out", "nowhere/report.md"], "nowhere/report.md: found no folder"),
        (["--data", "measured", "--rows", "3"], "unrecognized arguments"),
    ],
)
def test_bad_input_is_one_line(
    data: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert main(["validate", *arguments]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
