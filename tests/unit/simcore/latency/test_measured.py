"""The measured source: medians, extension, decode keys, and errors that name file, line and key."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from simcore.catalogue import machine, model
from simcore.latency.compile import compile_curve
from simcore.latency.curve import PS_PER_S, BatchKind, IterationCurve
from simcore.spec import LatencySpec, SpecError

HEADER = "model,hardware,tensor_parallel,prompt_size,batch_size,token_size,prompt_time,token_time\n"


def curve_of(path: Path | None = None, machine_id: str = "dgx-h100", **options: object) -> IterationCurve:
    latency = LatencySpec(source="measured", path=None if path is None else str(path), **options)  # type: ignore[arg-type]
    return compile_curve(model("bloom-176b"), machine(machine_id), 8, 1, latency)


def seconds(curve: IterationCurve, kind: BatchKind, tokens: int) -> float:
    return curve.base_ps(kind, tokens) / PS_PER_S


def table(tmp_path: Path, *rows: str) -> Path:
    path = tmp_path / "steps.csv"
    path.write_text(HEADER + "".join(f"{row}\n" for row in rows), encoding="utf-8")
    return path


def test_shipped_medians_are_splitwises() -> None:
    curve = curve_of()
    assert seconds(curve, BatchKind.PREFILL, 2048) == pytest.approx(0.251964, rel=1e-5)
    assert seconds(curve, BatchKind.DECODE, 64) == pytest.approx(0.063821, rel=1e-4)
    assert seconds(curve, BatchKind.HYBRID, 2048) == pytest.approx(1.1 * 0.251964, rel=1e-5)


def test_beyond_the_ends_the_end_segments_go_on_but_never_below_the_nearest_knot() -> None:
    curve = curve_of()
    assert curve.base_ps(BatchKind.PREFILL, 1) == curve.base_ps(BatchKind.PREFILL, 128)
    at32, at64 = (curve.base_ps(BatchKind.DECODE, n) for n in (32, 64))
    assert curve.base_ps(BatchKind.DECODE, 128) == pytest.approx(at64 + 2 * (at64 - at32), abs=3)


def test_a_falling_last_segment_is_continued_flat(tmp_path: Path) -> None:
    path = table(tmp_path, "bloom-176b,h100-80gb,8,100,1,8,20,5", "bloom-176b,h100-80gb,8,100,2,8,10,4")
    curve = curve_of(path)
    assert [seconds(curve, BatchKind.PREFILL, n) for n in (1, 150, 200, 5000)] == pytest.approx(
        [0.029900, 0.015, 0.01, 0.01]
    )
    assert seconds(curve, BatchKind.DECODE, 300) == pytest.approx(0.004)


def test_decode_keyed_by_prompt_tokens_is_what_splitwise_sim_computes() -> None:
    curve = curve_of(decode_key="prompt_tokens")
    assert curve.tokens[0] == 128
    assert [round(1000 * seconds(curve, BatchKind.DECODE, n), 2) for n in (1, 32, 64)] == [35.33, 35.43, 35.53]
    assert seconds(curve, BatchKind.PREFILL, 64) < seconds(curve, BatchKind.PREFILL, 128)


def test_a_capped_machine_prefills_slower_and_decodes_alike() -> None:
    plain, capped = curve_of(), curve_of(machine_id="dgx-h100-pcap")
    assert capped.decode_ps == plain.decode_ps
    assert capped.prefill_ps == pytest.approx([1.3 * ps for ps in plain.prefill_ps], abs=1.2)
    assert "assumption" in capped.source


def test_a_users_file_has_the_capped_rows_as_they_are(tmp_path: Path) -> None:
    path = table(tmp_path, "bloom-176b,h100-80gb-pcap,8,128,1,8,20,5")
    assert seconds(curve_of(path, "dgx-h100-pcap"), BatchKind.PREFILL, 128) == pytest.approx(0.020)


def test_uncapped_rows_take_the_machines_slowdown_and_its_own_do_not(tmp_path: Path) -> None:
    slow = dataclasses.replace(machine("dgx-h100"), id="ours", prefill_slowdown=2.0)
    latency = LatencySpec(source="measured", path=str(table(tmp_path, "bloom-176b,h100-80gb,8,128,1,8,20,5")))
    curve = compile_curve(model("bloom-176b"), slow, 8, 1, latency)
    assert seconds(curve, BatchKind.PREFILL, 128) == pytest.approx(0.040)
    assert seconds(curve, BatchKind.DECODE, 1) == pytest.approx(0.005)
    table(tmp_path, "bloom-176b,h100-80gb,8,128,1,8,20,5", "bloom-176b,ours,8,128,1,8,30,5")
    curve = compile_curve(model("bloom-176b"), slow, 8, 1, latency)
    assert seconds(curve, BatchKind.PREFILL, 128) == pytest.approx(0.030)


def test_a_users_file_without_capped_rows_is_refused(tmp_path: Path) -> None:
    path = table(tmp_path, "bloom-176b,h100-80gb,8,128,1,8,20,5")
    with pytest.raises(SpecError, match=r"on dgx-h100-pcap or h100-80gb-pcap .*which has bloom-176b on h100-80gb TP8"):
        curve_of(path, "dgx-h100-pcap")


def test_a_keys_rows_are_reduced_to_their_median(tmp_path: Path) -> None:
    path = table(tmp_path, *(f"bloom-176b,h100-80gb,8,128,1,8,{ms},{ms / 10}" for ms in (30, 10, 26)))
    assert seconds(curve_of(path), BatchKind.PREFILL, 128) == pytest.approx(0.026)


def test_runs_that_ran_out_of_kv_are_left_out_and_said(tmp_path: Path) -> None:
    path = tmp_path / "steps.csv"
    path.write_text(
        HEADER.strip() + ",e2e_time\n" + "bloom-176b,h100-80gb,8,128,1,11,20,5,70\n"
        "bloom-176b,h100-80gb,8,128,1,11,9,5,900\n",
        encoding="utf-8",
    )
    curve = curve_of(path)
    assert seconds(curve, BatchKind.PREFILL, 128) == pytest.approx(0.020)
    assert "1 rows left out" in curve.source


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("bloom-176b,h100-80gb,8,128,1,8,fast,5", "line 2: prompt_time: found 'fast'"),
        ("bloom-176b,h100-80gb,8,128,1,8,nan,5", "line 2: prompt_time: found 'nan'"),
        ("bloom-176b,h100-80gb,8,128,1,8,-1,5", "line 2: prompt_time: found '-1'"),
        ("bloom-176b,h100-80gb,8,0,1,8,1,5", "line 2: prompt_size: found '0'"),
        ("bloom-176b,h100-80gb,8,128", "line 2: batch_size: found ''"),
        (",h100-80gb,8,128,1,8,1,5", "line 2: model: found nothing"),
        ("bloom-176b,h100-80gb,4,128,1,8,1,5", "which has bloom-176b on h100-80gb TP4"),
    ],
)
def test_bad_rows_are_named(tmp_path: Path, row: str, words: str) -> None:
    with pytest.raises(SpecError) as error:
        curve_of(table(tmp_path, row))
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_files_that_are_no_table_are_named(tmp_path: Path) -> None:
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00\x01")
    for path, words in (
        (tmp_path / "none.csv", "cannot read"),
        (tmp_path, "cannot read"),
        (table(tmp_path), "found no rows"),
        (tmp_path / "binary.csv", "not CSV"),
    ):
        with pytest.raises(SpecError, match=words):
            curve_of(path)


def test_what_is_not_in_the_shipped_table_is_said_with_what_is() -> None:
    with pytest.raises(
        SpecError, match=r"llama-3.1-8b on dgx-h100 or h100-80gb at tensor_parallel 1 .*which has bloom-176b on"
    ):
        compile_curve(model("llama-3.1-8b"), machine("dgx-h100"), 1, 1, LatencySpec(source="measured"))
    with pytest.raises(SpecError, match="expected 1 with latency source measured"):
        compile_curve(model("bloom-176b"), machine("dgx-h100"), 4, 2, LatencySpec(source="measured"))
