"""Rows of any content: compared or listed with a reason, never dropped and never a crash."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from simcore.validation import drawn, kernel_db, serving_points, step_times
from simcore.validation.comparison import Findings
from simcore.validation.files import Row, read_rows
from simcore.validation.names import Unknown
from simcore.validation.serving_row import understood

JUNK = ["", "0", "-1", "nan", "inf", "1e308", "abc", "?", "1", "3", "64", "1000000", "1e-9", "8x H100", "TP4", "9" * 20]
ROWS = 60


def kernel_folder(path: Path) -> Findings:
    folder = path.parent / "kernel_db"
    folder.mkdir()
    path.rename(folder / "mixed_llama_fp8_vllm.csv")
    return kernel_db.compare(folder)


def serving(path: Path) -> Findings:
    rows = serving_points.rows_of(path)
    found = serving_points.compare(rows)
    watts = drawn.compare_notes(rows)
    return Findings(found.compared + watts.compared, found.left_out)


SETS: list[tuple[str, Callable[[Path], Findings]]] = [
    ("splitwise_step_times.csv", step_times.compare),
    ("kernel_db/mixed_llama31_70b_fp8_vllm.csv", kernel_folder),
    ("serving_points.csv", serving),
    ("power_anchors.csv", drawn.compare),
]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("name", "compare"), SETS, ids=[name for name, _ in SETS])
def test_changed_rows(
    shared_data: Path, tmp_path: Path, name: str, compare: Callable[[Path], Findings], seed: int
) -> None:
    source = random.Random(seed)
    rows = [row.cells for row in read_rows(shared_data / "measured" / name, name, ())]
    lines = [list(rows[0])]
    for _ in range(ROWS):
        cells = dict(source.choice(rows))
        for column in source.sample(list(cells), 2):
            cells[column] = source.choice(JUNK) if source.random() < 0.6 else source.choice(rows)[column]
        lines.append([f'"{cell}"' for cell in cells.values()])
    path = tmp_path / "changed.csv"
    path.write_text("\n".join(",".join(line) for line in lines), encoding="utf-8")
    found = compare(path)
    told = {one.row.split(":")[1] for one in [*found.compared, *found.left_out]}
    if name != "splitwise_step_times.csv":  # repeats of a run are one comparison
        assert told == {str(line) for line in range(2, ROWS + 2)}
    assert all(math.isfinite(one.error) and one.predicted > 0 for one in found.compared)
    assert all(one.reason for one in found.left_out)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"gpu": "0x NVIDIA H100-SXM-80GB"}, "the number of accelerators is not stated"),
        ({"gpu": "4x NVIDIA H100-SXM-80GB", "tp": "8"}, "TP x PP needs more accelerators than are stated"),
        ({"gpu": "8x NVIDIA H100-SXM-80GB", "tp": "8", "pp": "2"}, "TP x PP needs more accelerators than are stated"),
        ({"pp": "0"}, "pipeline_parallel: found '0'"),
        ({"pp": "inf"}, "pipeline_parallel: found 'inf'"),
    ],
)
def test_a_layout_that_cannot_be_is_left_out(changed: dict[str, str], reason: str) -> None:
    cells = {"model": "llama2-70b", "precision": "fp8", "gpu": "8x NVIDIA H100-SXM-80GB", "tp": "8", "pp": "1"}
    row = Row("serving_points.csv:2", cells | {"engine": "vLLM 0.9", "isl": "512", "osl": "128"} | changed)
    with pytest.raises(Unknown, match=reason):
        understood(row)


@pytest.mark.parametrize(
    ("precision", "model", "assumed"),
    [
        ("", "llama2-70b", ["bf16 weights"]),
        ("?", "llama2-70b", ["bf16 weights"]),
        ("fp8", "llama2-70b", []),
        ("", "gpt-oss-120b", ["mxfp4 weights"]),
    ],
)
def test_a_row_without_a_precision_says_which_is_assumed(precision: str, model: str, assumed: list[str]) -> None:
    cells = {"model": model, "precision": precision, "gpu": "8x NVIDIA H100-SXM-80GB", "tp": "8", "engine": "vLLM 0.9"}
    found = understood(Row("serving_points.csv:2", cells | {"isl": "512", "osl": "128"}))
    assert [note for note in found.assumes if note.endswith("weights")] == assumed
