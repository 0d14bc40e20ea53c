"""A small folder of measured rows, good and bad: every row is compared or listed with a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from simcore.catalogue import machine, model
from simcore.latency.coefficients import coefficients
from simcore.latency.roofline import roofline_curve, stage_parts
from simcore.latency.terms import linear_s
from simcore.spec import SpecError
from simcore.validation.accounting import rows_counted
from simcore.validation.comparison import Comparison, Findings
from simcore.validation.open_loops import CapacityComparison
from simcore.validation.printed import printed
from simcore.validation.recompute import recompute
from simcore.validation.report import lines_of, report
from simcore.validation.residual_table import residual_lines

SERVING = (
    "source,model,params,precision,gpu,tp,pp,engine,scheduler_chunked,isl,osl,load_kind,load,ttft_ms_p50,ttft_ms_p99,"
    "tpot_ms_p50,tpot_ms_p99,out_tok_s,req_s,notes"
)
OPEN_LOOP = "[tier A] Server; SLO p99 TTFT 2000/TPOT 100 ms; open-loop Poisson"
ON_H100 = "M,llama3.1-8b,8B,fp8,1x NVIDIA H100-SXM-80GB"
OFFERED = "~778,~129,rate,30,1,1990,20,25,1,1"
QWEN = "E,Qwen/Qwen3-32B,32B,bfloat16,2x H100,2,1"
DRAWN = "ITL not TPOT; avg GPU power 850 W (2 GPU); 1.6 J/output token; avg running batch 16"
SMALL = "G,llama-3.1-8b,8B,bf16"
FOUR = "100,100,concurrency,4,,,15,,900,1,[tier B]"
ROWS = [
    f"{ON_H100},1,1,vLLM 0.10.0,max_num_batched_tokens 1024 max_num_seqs 512,{OFFERED},{OPEN_LOOP}",
    f"{ON_H100},,1,vLLM 0.10.0,max_num_batched_tokens 1024,{OFFERED},{OPEN_LOOP}",
    f"{ON_H100},1,1,vLLM 0.10.0,,{OFFERED},{OPEN_LOOP}",
    f"{QWEN},vLLM 0.11.1,,LMArena chat prompts,600,max_num_seqs (saturated),16,,,15,,900,1,[tier A-] {DRAWN}",
    f"{QWEN},SGLang,,215,200,burst(rate=inf),1000 prompts,9000,,15,,900,5,[tier C(burst)]",
    f"G,glm-9,9B,bf16,1x H100,1,1,vLLM,,{FOUR}",
    f"{SMALL},1x Foo9000,1,1,vLLM,,{FOUR}",
    f"{SMALL},1x H100,1,1,vLLM,1P1D,{FOUR}",
    f"{SMALL},1x H100,1,1,vLLM,,100,100,drip,4,,,15,,900,1,[tier B]",
    f"{SMALL},1x H100,1,1,vLLM,,100,100,concurrency,many,,,15,,900,1,[tier B]",
    f"G,llama-3.1-405b,405B,bf16,1x H100,1,1,vLLM,,{FOUR}",
    f"{SMALL},1x H100,1,1,vLLM,,100,100,concurrency,4,0,,,,,,[tier B]",
    "G,llama-3.1-8b",
]
STEPS = "model,hardware,prompt_size,batch_size,token_size,prompt_time,token_time,e2e_time,tensor_parallel"
STEP_ROWS = [
    "llama2-70b,h100-80gb,512,1,128,90,30,3900,4",
    "llama2-70b,h100-80gb,512,1,128,110,32,4100,4",
    "llama2-70b,h100-80gb,512,1,1024,1,33,33000,4",
    "llama2-70b,h100-80gb,512,64,128,900,50,99999,4",
    "llama2-70b,h100-80gb-pcap,512,1,128,130,30,3900,4",
    "llama2-13b,h100-80gb,512,1,128,130,30,3900,4",
    "llama2-70b,h100-80gb,512,zero,128,130,30,3900,4",
    "llama2-70b,h100-80gb,512,1,128,130,30,3900,3",
]
KERNEL = "system,backend,model,tp,batch,context,latency_ms"
KERNEL_ROWS = [
    "h100_sxm,vllm,meta-llama/Meta-Llama-3.1-70B,4,8,1024,11.0",
    "h100_sxm,vllm,meta-llama/Meta-Llama-3.1-70B,4,8,1024,nan",
    "gaudi3,vllm,meta-llama/Meta-Llama-3.1-70B,4,8,1024,11.0",
    "h100_sxm,vllm,meta-llama/Meta-Llama-3.1-70B,4,none,1024,11.0",
]
POWER = "source,gpu,model,precision,isl_osl,tp,conc,w_per_gpu,out_tok_s_per_gpu,j_per_out_tok"
POWER_ROWS = [
    "I,H100,gpt-oss-120b,fp4,1k/8k,8,8,250,200,1.0",
    "I,H100,unknown,unknown,8k/1k,8,8,250,200,1.0",
    "I,H100,gpt-oss-120b,fp4,1k/8k,8,,250,200,1.0",
    "I,H100,gpt-oss-120b,fp4,1k/8k,8,8,0,,0",
]
LAYERS = "dev,model,tp,t1_us,t512_us,t2048_us,t4096_us"
LAYER_ROWS = [
    "a40,Llama-2-70b-hf,4,400,2500,,0",
    "a30,Llama-2-70b-hf,4,400,2500,9000,18000",
    "a40,Qwen-72B,4,400,2500,9000,18000",
    "a40,Llama-2-70b-hf,three,400,2500,9000,18000",
    "a40,Llama-2-70b-hf,3,400,2500,9000,18000",
    "a40,Llama-2-70b-hf,8,,,,",
]
CURVES_ROWS = ["a40,Llama-2-70b-hf,4,0.7", "a40,Llama-2-70b-hf,8,0.7"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("measured")
    (where / "kernel_db").mkdir()
    files = {
        "serving_points.csv": (SERVING, ROWS),
        "splitwise_step_times.csv": (STEPS, STEP_ROWS),
        "kernel_db/decode_llama31_70b_bf16_vllm.csv": (KERNEL, KERNEL_ROWS),
        "kernel_db/notes_of_ours.csv": ("a,b", ["1,2"]),
        "power_anchors.csv": (POWER, POWER_ROWS),
        "vidur_linear_fits.csv": (LAYERS, LAYER_ROWS),
        "vidur_linear_fits_constrained.csv": ("dev,model,tp,max_F", CURVES_ROWS),
        "of_another_kind.csv": ("a,b", ["1,2", "3,4"]),
    }
    for name, (head, rows) in files.items():
        (where / name).write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return where


@pytest.fixture(scope="module")
def found(folder: Path) -> Findings:
    return recompute(folder)


def at(found: Findings, row: str, phase: str) -> Comparison:
    [one] = [one for one in found.compared if one.row == row and one.phase == phase]
    return one


def test_every_row_is_compared_or_has_a_reason(found: Findings) -> None:
    counts = {one.file: (one.rows, one.compared, one.left_out) for one in found.counts}
    assert counts == {
        "kernel_db/decode_llama31_70b_bf16_vllm.csv": (4, 1, 3),
        "kernel_db/notes_of_ours.csv": (1, 0, 1),
        "of_another_kind.csv": (2, 0, 2),
        "power_anchors.csv": (4, 1, 3),
        "serving_points.csv": (13, 3, 10),
        "splitwise_step_times.csv": (8, 3, 5),
        "vidur_linear_fits.csv": (6, 1, 5),
        "vidur_linear_fits_constrained.csv": (2, 0, 2),
    }
    assert all(one.reason for one in found.left_out)


def test_a_row_that_a_reader_lost_is_not_counted_as_done(found: Findings, folder: Path) -> None:
    lost = Findings([one for one in found.compared if one.row != "power_anchors.csv:2"], found.left_out)
    [count] = [one for one in rows_counted(folder, lost) if one.file == "power_anchors.csv"]
    assert (count.rows, count.compared, count.left_out) == (4, 0, 3)


def test_repeats_are_named_with_their_median(found: Findings) -> None:
    assert at(found, "splitwise_step_times.csv:2", "decode").repeats == ("splitwise_step_times.csv:3",)


def test_a_layers_products_are_the_rooflines(found: Findings) -> None:
    a40 = machine("nvidia-a40")
    part = stage_parts(model("llama2-70b"), a40, 4, 1, coefficients("a40-48gb", "kernel"))[0]
    rows = [one for one in found.compared if one.set == "vidur_linear_fits"]
    assert [(one.row, one.phase, one.measured, one.fitted) for one in rows] == [
        ("vidur_linear_fits.csv:2", "linear", 400, False),
        ("vidur_linear_fits.csv:2", "linear", 2500, False),
    ]
    assert rows[1].predicted == pytest.approx(linear_s(part, 512) / 80 * 1e6)


def test_the_report_counts_the_rows_and_says_which_columns_are_not_compared(found: Findings) -> None:
    text = report(found)
    assert "| serving_points.csv | 13 | 3 | 10 |" in text
    assert "| vidur_linear_fits.csv | mbu1 mfu256" in text


REASONS = {
    "serving_points.csv:3": "TP is not stated",
    "serving_points.csv:4": "the token budget is not stated",
    "serving_points.csv:7": "model 'glm-9' is not in the catalogue",
    "serving_points.csv:8": "accelerator '1x Foo9000' is not in the catalogue",
    "serving_points.csv:9": "phase-split",
    "serving_points.csv:10": "load 'drip' is not modelled",
    "serving_points.csv:11": "concurrency 'many' is not a number",
    "serving_points.csv:12": "does not fit",
    "serving_points.csv:13": "no figure",
    "serving_points.csv:14": "software is not stated",
    "splitwise_step_times.csv:5": "ran out of KV",
    "splitwise_step_times.csv:6": "not measured",
    "splitwise_step_times.csv:7": "model 'llama2-13b' is not in the catalogue",
    "splitwise_step_times.csv:8": "not a whole number",
    "splitwise_step_times.csv:9": "tensor_parallel: found 3",
    "kernel_db/decode_llama31_70b_bf16_vllm.csv:3": "latency_ms is not a number above 0",
    "kernel_db/decode_llama31_70b_bf16_vllm.csv:4": "accelerator 'gaudi3' is not in the catalogue",
    "kernel_db/decode_llama31_70b_bf16_vllm.csv:5": "batch or context",
    "kernel_db/notes_of_ours.csv": "another kind",
    "power_anchors.csv:3": "model 'unknown'",
    "power_anchors.csv:4": "concurrency is not stated",
    "power_anchors.csv:5": "no tokens/s, watts or joules",
    "vidur_linear_fits.csv:3": "accelerator 'a30' is not in the catalogue",
    "vidur_linear_fits.csv:4": "model 'Qwen-72B' is not in the catalogue",
    "vidur_linear_fits.csv:5": "TP is not a whole number",
    "vidur_linear_fits.csv:6": "found 3",
    "vidur_linear_fits.csv:7": "no time above 0",
    "vidur_linear_fits_constrained.csv:2": "coefficients of curves",
    "of_another_kind.csv": "no set of validation reads this file",
}


@pytest.mark.parametrize("row", REASONS)
def test_what_cannot_be_compared_says_why(found: Findings, row: str) -> None:
    assert any(one.row == row and REASONS[row] in one.reason for one in found.left_out)


def test_a_step_time_is_the_rooflines_of_its_batch(found: Findings) -> None:
    of, h100 = model("llama2-70b"), machine("dgx-h100")
    curve = roofline_curve(of, h100, 4, 1, "vllm-2023")
    prefill = at(found, "splitwise_step_times.csv:2", "prefill")
    assert prefill.measured == 100  # the median of two runs
    assert prefill.predicted == pytest.approx(curve.iteration_ps([(512, 0)], []) / 1e9)
    assert at(found, "splitwise_step_times.csv:4", "decode").measured == 33
    decode = at(found, "kernel_db/decode_llama31_70b_bf16_vllm.csv:2", "decode")
    kernel = roofline_curve(model("llama-3.1-70b"), h100, 4, 1, "kernel")
    assert decode.predicted == pytest.approx(kernel.iteration_ps([], [1024] * 8) / 1e9)
    assert (decode.place.tensor_parallel, decode.place.engine, decode.place.variant) == (4, "kernel", "vllm bf16")


def test_a_run_that_ended_early_has_a_decode_alone(found: Findings) -> None:
    assert [one.phase for one in found.compared if one.row == "splitwise_step_times.csv:4"] == ["decode"]


def test_an_open_loop_is_searched_for_its_capacity(found: Findings) -> None:
    row = at(found, "serving_points.csv:2", "capacity")
    assert isinstance(row, CapacityComparison)
    assert row.near_limit
    assert row.limits == "TTFT 1990 of 2000 ms, TPOT 25 of 100 ms"
    assert row.predicted > 0
    assert row.met == (0.85 <= row.predicted / 30 <= 1.3)
    assert "CNN-DailyMail: prompts mean 778" in row.assumes


def test_a_target_that_was_met_is_judged_from_below_alone(found: Findings) -> None:
    row = at(found, "serving_points.csv:2", "capacity")
    assert isinstance(row, CapacityComparison)
    low, high = row.measured * 0.84, row.measured * 5
    changed = [
        type(row)(**{**vars(row), "predicted": p, "near_limit": near}) for p in (low, high) for near in (True, False)
    ]
    assert [one.met for one in changed] == [False, False, False, True]


def test_serving_rows_have_throughput_gap_and_watts(found: Findings) -> None:
    phases = {one.phase for one in found.compared if one.row == "serving_points.csv:5"}
    assert phases == {"throughput", "tpot", "power"}
    assert at(found, "serving_points.csv:6", "throughput").poor


def test_the_texts_name_everything_and_repeat_themselves(found: Findings, folder: Path) -> None:
    text = report(found)
    assert text == report(recompute(folder))
    for one in found.left_out:
        assert one.reason.replace("|", "/") in text
    assert any("capacity at the SLO" in line for line in printed(found))
    assert not any("serving_points.csv:6" in line for line in residual_lines(found))
    assert residual_lines(found)[0].startswith("engine,variant,accelerator,model,tensor_parallel,phase")


def test_rows_that_were_left_out_are_told_by_file_and_line() -> None:
    rows = ["a.csv:7", "a.csv:3", "a.csv:4", "b/c.csv:9", "a.csv:5", "kernel_db"]
    assert lines_of(rows) == "a.csv: 3 to 5, 7; b/c.csv: 9; kernel_db"


def test_missing_files_are_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    (tmp_path / "power_anchors.csv").write_text("\n".join([POWER, *POWER_ROWS]), encoding="utf-8")
    found = recompute(tmp_path)
    missing = {one.row for one in found.left_out if one.reason == "the file is not in the folder"}
    assert missing == {
        *("splitwise_step_times.csv", "kernel_db", "serving_points.csv"),
        *("vidur_linear_fits.csv", "vidur_linear_fits_constrained.csv"),
    }
    assert [one.phase for one in found.compared] == ["throughput", "power", "energy"]


def test_bad_folders_and_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="--data: found no folder"):
        recompute(tmp_path / "nowhere")
    with pytest.raises(SpecError, match="--data: found none of"):
        recompute(tmp_path)
    (tmp_path / "power_anchors.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(SpecError, match="line 1: found no column source"):
        recompute(tmp_path)
    (tmp_path / "power_anchors.csv").write_bytes(b"\xff\xfe\x00binary")
    with pytest.raises(SpecError, match="expected a CSV in UTF-8"):
        recompute(tmp_path)
