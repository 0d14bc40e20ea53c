"""Which results a calibration is of, what is left out with the reason, and what it says of its range."""

import json
from dataclasses import replace

import pytest

from simcore.calibration import Target
from simcore.latency.calibrated import outside
from simcore.measurements import Measurements
from simcore.spec import SpecError
from tests.unit.simcore.calibration import known
from tests.unit.simcore.calibration.fitting import TARGET, fitted_once
from tests.unit.simcore.measurements import bench_files


def test_range_and_sources_are_kept(tmp_path):
    calibration, found = fitted_once(tmp_path, known.steps(known.SLOWER), known.serving(known.SLOWER))
    measured = calibration.validity
    assert (measured.tensor_parallel, measured.accelerator) == ((1, 2), "h100-80gb")
    assert (measured.prompt_tokens.least, measured.prompt_tokens.most) == (128, 8032)
    assert (measured.sequences.least, measured.sequences.most) == (1, 128)
    assert measured.output_tokens is not None
    assert (measured.output_tokens.least, measured.output_tokens.most) == (100, 200)
    assert [source.sha256 for source in calibration.sources] == [source.sha256 for source in found.sources]
    assert calibration.date == "2026-11-30"


def left_out(found: Measurements) -> set[str]:
    return {flag.field for flag in found.flags.listed if flag.effect == "row left out"}


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"gpu": "NVIDIA A100-SXM4-80GB"}, "accelerator"),
        ({"model_id": "Qwen/Qwen3-32B"}, "model"),
        ({"precision": "fp8"}, "precision"),
        ({"quantization": "modelopt_fp4"}, "precision"),
        ({"quantization": "awq_marlin"}, "precision"),
        ({"model_id": "RedHatAI/Meta-Llama-3.1-8B-Instruct-FP8"}, "precision"),
        ({"model_id": "hugging-quants/Meta-Llama-3.1-8B-Instruct-AWQ-INT4"}, "precision"),
        ({"model_id": "/models/fp8/llama-3.1-8b.NVFP4"}, "precision"),
    ],
)
def test_results_of_something_else_are_left_out_with_what_they_are_of(tmp_path, changes, field):
    calibration, found = fitted_once(
        tmp_path, known.serving(known.SLOWER, (1, 8)), known.serving(known.SLOWER, (16,), **changes)
    )
    assert left_out(found) == {field}
    assert calibration.validity.sequences.most == 8


def test_a_result_given_twice_counts_once(tmp_path):
    once = known.serving(known.SLOWER, (1, 8))
    first, second = once.splitlines()[:2]
    calibration, found = fitted_once(tmp_path, "\n".join([once, second]), first + "\n")
    assert len(calibration.residuals) == 8
    twice = [str(flag).replace(f"{tmp_path}/", "") for flag in found.flags.listed if flag.effect == "row left out"]
    assert twice == [
        "bench0.txt, line 5: the same figures as line 2 (row left out)",
        "bench1.txt, line 1: the same figures as bench0.txt, line 1 (row left out)",
    ]


def test_step_times_in_another_unit_are_left_out_with_the_unit(tmp_path):
    rows = [line.split(",") for line in known.steps(known.SLOWER, (1,)).splitlines()]
    in_s = [[*row[:-2], *(repr(float(cell) / 1e3) for cell in row[-2:])] for row in rows[1:]]
    seconds = "\n".join(",".join(row) for row in [rows[0], *in_s])
    with pytest.raises(SpecError, match=r"line 2, prefill: found .* it fits if times are 1000 times larger \(s were"):
        fitted_once(tmp_path, seconds)
    calibration, found = fitted_once(tmp_path, known.steps(known.SLOWER, (1,)), seconds)
    assert len(calibration.residuals) == 2 * len(in_s)
    assert left_out(found) == {"prefill", "decode"}


def test_a_format_without_a_precision_of_ours_is_taken_where_the_user_says_for_what(tmp_path):
    as_fp8 = replace(TARGET, model=replace(known.MODEL, weight_precision="fp8"), precision_given=True)
    text = known.serving(known.SLOWER, (1, 8), quantization="bitsandbytes")
    assert len(fitted_once(tmp_path, text, target=as_fp8)[0].residuals) == 8


def test_a_precision_that_is_not_known_is_named(tmp_path):
    _, found = fitted_once(tmp_path, known.serving(known.SLOWER, (1, 8), quantization="compressed-tensors"))
    (flag,) = [flag for flag in found.flags.listed if flag.field == "precision"]
    assert flag.found == "compressed-tensors"
    assert "taken as bf16 weights" in flag.reason


@pytest.mark.parametrize("name", ["served-model", "/models/my-8b", "llama-3.1-8b", "/bf16/served"])
def test_a_server_may_call_the_model_as_it_likes(tmp_path, name):
    calibration, found = fitted_once(tmp_path, known.serving(known.SLOWER, (1, 8), model_id=name))
    assert left_out(found) == set()
    assert len(calibration.residuals) == 8


def test_a_larger_model_of_the_family_is_another_model(tmp_path):
    with pytest.raises(SpecError, match=r"no result of llama-3\.1-8b on h100-80gb that can be used"):
        fitted_once(tmp_path, known.serving(known.SLOWER, (1,), model_id="meta-llama/Llama-3.1-70B-Instruct"))


def test_a_missing_degree_is_asked_for(tmp_path):
    text = known.serving(known.SLOWER, (1, 8), tp="absent")
    with pytest.raises(SpecError, match="line 1: tensor parallel degree: found none in the file, expected --tensor-pa"):
        fitted_once(tmp_path, text)
    calibration, _ = fitted_once(tmp_path, text, target=replace(TARGET, tensor_parallel=1))
    assert calibration.validity.tensor_parallel == (1,)


def test_a_degree_that_the_model_does_not_take_is_refused(tmp_path):
    with pytest.raises(SpecError, match=r"line 1: tensor_parallel: found 3, expected a divisor of llama-3\.1-8b's 32"):
        fitted_once(tmp_path, known.serving(known.SLOWER, (1,), tp=3))


def test_results_at_another_degree_than_asked_for_are_left_out(tmp_path):
    calibration, found = fitted_once(tmp_path, known.steps(known.SLOWER), target=replace(TARGET, tensor_parallel=2))
    assert calibration.validity.tensor_parallel == (2,)
    assert left_out(found) == {"tensor parallel degree"}


def test_several_replicas_share_the_load(tmp_path):
    """Two replicas with 16 in flight are one with 8."""
    one = known.serving(known.SLOWER, (8,))
    doubled = [
        {**run, "max_concurrency": 16, "duration": run["duration"] / 2}
        | {name: run[name] * 2 for name in ("request_throughput", "output_throughput")}
        for run in map(json.loads, one.splitlines())
    ]
    text = "\n".join(map(json.dumps, doubled))
    alone, _ = fitted_once(tmp_path, one)
    shared, _ = fitted_once(tmp_path, text, target=replace(TARGET, replicas=2))
    for ours, theirs in zip(alone.residuals, shared.residuals, strict=True):
        assert ours.after_s == pytest.approx(theirs.after_s, rel=1e-6)


def waited(run: bench_files.Run, in_flight: int) -> str:
    """The run of an engine that serves ``run.concurrency`` at once, with more in flight: the others wait."""
    waiting_s = (in_flight - run.concurrency) / run.requests_per_s
    ttft_ms = (run.ttft_s + waiting_s) * 1e3
    changes = {"max_concurrency": in_flight, "mean_ttft_ms": ttft_ms, "median_ttft_ms": ttft_ms}
    return json.dumps(bench_files.vllm(run, tp=1, **changes))


def test_an_engine_that_serves_fewer_at_once_is_seen(tmp_path):
    """64 in flight, 16 places: TPOT is that of 16."""
    run = known.run(known.SLOWER, 16, 1000, 200)
    calibration, found = fitted_once(tmp_path, waited(run, 64), known.serving(known.SLOWER, (1, 8)))
    (residual,) = [r for r in calibration.residuals if r.file.endswith("bench0.txt")]
    assert residual.phase == "TPOT"
    assert residual.load.startswith("TP1, 15.7")
    assert residual.after_s == pytest.approx(residual.measured_s, rel=0.03)
    assert any("waited for a place" in flag.reason for flag in found.flags.listed)


def test_an_engine_that_holds_more_than_we_count_is_believed(tmp_path):
    """500 in flight, all of them decoding, where our count has 256 places."""
    run = known.run(known.SHIPPED, 500, 200, 400, places=1000)
    calibration, found = fitted_once(tmp_path, json.dumps(bench_files.vllm(run, tp=1, precision="bf16")))
    assert {residual.phase for residual in calibration.residuals} == {"TPOT", "TTFT"}
    assert calibration.validity.sequences.most == 500
    assert found.flags.listed == []


def test_an_open_loop_is_taken_at_as_many_as_its_times_are_of(tmp_path):
    run = known.run(known.SLOWER, 20, 1000, 200)
    changes = {"max_concurrency": None, "request_rate": run.requests_per_s * 1.01}
    calibration, _ = fitted_once(tmp_path, json.dumps(bench_files.vllm(run, tp=1, **changes)))
    assert "requests/s, 20 served at once" in calibration.residuals[0].load


def test_a_result_whose_only_figure_cannot_be_used_is_refused(tmp_path):
    """A first wave without TPOT: its TTFT says how the wave went."""
    run = bench_files.vllm(bench_files.Run(completed=40), tp=1, mean_tpot_ms=None, median_tpot_ms=None)
    with pytest.raises(SpecError, match=r"bench0.*found no result .* that can be used.*the first that was left out"):
        fitted_once(tmp_path, json.dumps(run))


@pytest.mark.parametrize(("degree", "machines"), [("16", 2), ("32", 4), ("8", 0)])
def test_a_replica_over_several_machines_is_said_to_span_them(tmp_path, degree, machines):
    _, found = fitted_once(tmp_path, known.serving(known.SHIPPED, tp=degree))
    said = [str(flag) for flag in found.flags.listed if "spans" in flag.reason]
    assert len(said) == (6 if machines else 0)
    assert all(f"found {degree}: a replica spans {machines} machines of 8" in line for line in said)


def test_a_degree_that_fills_no_whole_machines_is_refused(tmp_path):
    model = replace(known.MODEL, heads=48, kv_heads=8)
    with pytest.raises(SpecError, match="found 12, expected at most the 8 accelerators of dgx-h100, or a multiple"):
        fitted_once(tmp_path, known.serving(known.SHIPPED, tp="12"), target=Target(model, known.MACHINE))


@pytest.mark.parametrize(("given", "changes"), [(True, {}), (False, {"precision": "bf16"})])
def test_a_file_without_a_precision_says_which_is_taken_once(tmp_path, given, changes):
    _, found = fitted_once(tmp_path, known.serving(known.SHIPPED))
    (flag,) = [flag for flag in found.flags.listed if flag.field == "precision"]
    assert (flag.effect, flag.where) == ("noted", "line 1")
    assert "taken as bf16 weights, llama-3.1-8b's" in flag.reason
    told = replace(TARGET, precision_given=given)
    _, found = fitted_once(tmp_path, known.serving(known.SHIPPED, **changes), target=told)
    assert "precision" not in {flag.field for flag in found.flags.listed}


def test_another_precision_than_was_measured_is_outside(tmp_path):
    fp8 = replace(known.MODEL, weight_precision="fp8")
    made, _ = fitted_once(tmp_path, known.serving(known.SHIPPED), target=Target(fp8, known.MACHINE))
    assert made.validity.weight_precision == "fp8"
    assert outside(made, known.MODEL, known.MACHINE, 1) == ["bf16 weights (measured fp8)"]
    assert outside(made, fp8, known.MACHINE, 1) == []
    old = replace(made, validity=replace(made.validity, weight_precision=None))
    assert outside(old, known.MODEL, known.MACHINE, 1) == []
