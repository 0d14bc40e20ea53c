"""The pilot kit: its predictions against the engine, its runs, its commands, and what a measured result says."""

from __future__ import annotations

import datetime
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simcore.__main__ import main
from simcore.catalogue import model
from simcore.latency.calibrated import Calibration
from simcore.latency.curve import PS_PER_S
from simcore.latency.roofline import roofline_curve
from simcore.measurements import Measurements, ServingPoint, Setting, Source
from simcore.pilot import PilotRun, pilot_kit, verdict
from simcore.pilot.calibration import decode_steps, pilot_calibrations, prefill_steps
from simcore.pilot.error import TimeRange, time_range
from simcore.pilot.part import Part, smallest_part
from simcore.pilot.prediction import predict
from simcore.simulation import simulate
from simcore.slo import objective
from simcore.spec import Case, SpecError, decode_case
from simcore.traces import Trace

CO_LOCATED: dict[str, Any] = {
    "model": "llama-3.1-70b",
    "pools": [{"role": "mixed", "machine": "dgx-h100", "machines": 10, "tensor_parallel": 4}],
    "scheduler": {"kind": "sarathi", "token_budget": 512},
    "slo": {"kind": "absolute", "limits": [{"metric": "ttft_s", "percentile": 99, "limit": 60}]},
}
PAIR: dict[str, Any] = CO_LOCATED | {
    "pools": [
        {"role": "decode", "machine": "dgx-h100", "machines": 3, "tensor_parallel": 4},
        {"role": "prefill", "machine": "dgx-h100", "machines": 5, "tensor_parallel": 4},
    ],
    "scheduler": {"kind": "splitwise", "mixed_pool": False},
}


def kit_of(case: dict[str, Any], rate: float = 30, headroom: float = 1.15, error: float = 0.1) -> Any:
    ranges = {role: TimeRange(role, 1 - error, 1 + error, "points") for role in ("mixed", "prefill", "decode")}
    return pilot_kit(decode_case(case), 1020.4, 211.2, rate, headroom, ranges)


def one_replica_each(case: Case) -> Case:
    return replace(case, pools=tuple(replace(pool, machines=None, replicas=1) for pool in case.pools))


def simulated(case: Case, prompt: int, output: int, rate: float, requests: int = 1500) -> tuple[float, float]:
    """Mean TTFT and TPOT of the part in the engine, at Poisson arrivals."""
    gaps = np.random.default_rng(3).exponential(1 / rate, requests)
    arrivals = [round(t * 1e12) for t in np.cumsum(gaps)]
    trace = Trace.of("alike", arrivals, [prompt] * requests, [output] * requests)
    part = one_replica_each(case)
    summary = simulate(part, trace, objective(part), None).summary
    assert summary.ttft_s.mean is not None
    assert summary.tpot_s.mean is not None
    return summary.ttft_s.mean, summary.tpot_s.mean


@pytest.mark.parametrize(
    ("case", "prompt", "output", "rate"),
    [
        *((CO_LOCATED, 1020, 211, 1.5), (CO_LOCATED, 3000, 50, 1.0)),
        *((PAIR, 1020, 211, 3.0), (PAIR, 612, 211, 5.0), (PAIR, 300, 60, 15.0), (PAIR, 2000, 50, 4.0)),
    ],
    ids=["co-located", "long prompts", "pair", "pair, decode loaded", "short prompts", "prefill half busy"],
)
def test_predictions_are_the_engines_means(case: dict[str, Any], prompt: int, output: int, rate: float) -> None:
    predicted = predict(smallest_part(decode_case(case)), prompt, output, rate)
    ttft_s, tpot_s = simulated(decode_case(case), prompt, output, rate)
    assert predicted.tpot_s == pytest.approx(tpot_s, rel=0.04)
    assert predicted.ttft_s == pytest.approx(ttft_s, rel=0.1)


def test_a_co_located_design_is_shown_by_one_replica_with_its_share_of_the_load() -> None:
    kit = kit_of(CO_LOCATED)
    (run,) = kit.runs
    assert "one mixed replica (4 of the 8 accelerators of a DGX H100; the design has 20)" in kit.part
    assert (run.req_per_s, run.prompt_tokens, run.output_tokens) == (1.5, 1020, 211)
    assert run.requests == 900


def test_pools_of_unlike_size_have_a_run_each_that_loads_their_replica_as_the_design_does() -> None:
    first, second = kit_of(PAIR).runs
    assert (first.req_per_s, first.prompt_tokens, first.output_tokens) == (3.0, 1020, 211)
    assert "prefill replica as loaded" in first.shows
    assert (second.req_per_s, second.prompt_tokens, second.output_tokens) == (5.0, 612, 211)
    assert second.req_per_s * second.prompt_tokens == pytest.approx(first.req_per_s * first.prompt_tokens)


def test_more_decode_than_prefill_shortens_outputs() -> None:
    pools = [PAIR["pools"][0] | {"machines": 5}, PAIR["pools"][1] | {"machines": 3}]
    first, second = kit_of(PAIR | {"pools": pools}).runs
    assert "decode replica as loaded" in first.shows
    assert (second.prompt_tokens, second.output_tokens) == (1020, 1 + round(210 * 0.6))


def test_pools_of_one_size_need_one_run() -> None:
    pools = [pool | {"machines": 4} for pool in PAIR["pools"]]
    assert len(kit_of(PAIR | {"pools": pools}).runs) == 1


def test_commands_say_what_the_design_is() -> None:
    kit = kit_of(CO_LOCATED)
    served = kit.serve[-1].text
    assert "--tensor-parallel-size 4 --pipeline-parallel-size 1" in served
    assert "--max-num-batched-tokens 512 --max-num-seqs 128" in served
    assert "--max-model-len 1247" in served
    assert "--request-rate 1.5 --burstiness 1.0 --num-prompts 900" in kit.runs[0].command.text
    assert "--ignore-eos" in kit.runs[0].command.text


def test_commands_of_a_pair_serve_both_and_join_them() -> None:
    titles = [command.title for command in kit_of(PAIR).serve]
    assert [title.split(":")[0] for title in titles[1:3]] == ["Serve for prefill", "Serve for decode"]
    producer, consumer, proxy = (command.text for command in kit_of(PAIR).serve[1:])
    assert '"kv_role":"kv_producer"' in producer
    assert '"kv_role":"kv_consumer"' in consumer
    assert "--prefiller-port 8100" in proxy


def test_a_capped_machine_is_capped_first_and_precisions_become_flags() -> None:
    model = {"id": "m", "name": "M", "parameters": 8_030_261_248, "layers": 32, "hidden_size": 4096, "heads": 32}
    model |= {"kv_heads": 8, "head_dim": 128, "intermediate_size": 14336, "vocab_size": 128256}
    model |= {"max_model_tokens": 131072, "weight_precision": "fp8", "kv_precision": "fp8"}
    pools = [{"role": "mixed", "machine": "dgx-h100-pcap", "machines": 2}]
    kit = kit_of(CO_LOCATED | {"model": model, "pools": pools})
    assert kit.serve[1].text.startswith("nvidia-smi --power-limit ")
    assert "--quantization fp8 --kv-cache-dtype fp8" in kit.serve[2].text


@settings(deadline=None)
@given(error=st.floats(0, 0.4), headroom=st.floats(1, 3))
def test_bands_hold_the_prediction_and_grow_with_the_error(error: float, headroom: float) -> None:
    for run in kit_of(CO_LOCATED, error=error, headroom=headroom).runs:
        for band in run.bands:
            assert band.low <= band.predicted <= band.high
            if band.figure != "req_per_s":
                assert band.predicted <= band.limit
            else:
                assert band.limit <= band.predicted


def measured(run: PilotRun, slower: float = 1.0, **other: Any) -> ServingPoint:
    """What the run would measure were all figures so many times as long."""
    bands = {band.figure: band.predicted for band in run.bands}
    point = ServingPoint(
        *("bench.json", "line 1", "vllm bench serve", "rate", None, run.req_per_s, run.prompt_tokens),
        output_tokens=run.output_tokens,
        requests_per_s=run.req_per_s * 0.98,
        output_tokens_per_s=None,
        ttft_s=bands["ttft_s"] * slower,
        ttft_median_s=None,
        tpot_s=bands["tpot_s"] * slower,
        itl_s=None,
        e2e_s=None,
        completed=run.requests,
        failed=0,
        duration_s=600,
        setting=Setting(),
    )
    return replace(point, **other)


@pytest.mark.parametrize(
    ("slower", "passes", "words"),
    [
        (1.0, True, "Passes: as predicted."),
        (0.8, True, "Passes, faster than predicted"),
        (1.16, True, "Passes, slower than predicted"),
        (1.5, False, "Do not buy: TPOT, mean came to"),
    ],
)
def test_a_result_passes_or_fails(slower: float, passes: bool, words: str) -> None:
    run = kit_of(CO_LOCATED, headroom=1.3).runs[0]
    judged = verdict(run, measured(run, slower))
    assert judged.passes == passes
    assert judged.sentence.startswith(words)


def test_without_headroom_what_is_slower_than_predicted_fails_even_within_the_band() -> None:
    run = kit_of(CO_LOCATED, headroom=1.02, error=0.2).runs[0]
    assert not verdict(run, measured(run, 1.1)).passes


def test_a_part_that_does_not_keep_up_fails() -> None:
    run = kit_of(CO_LOCATED).runs[0]
    judged = verdict(run, measured(run, requests_per_s=run.req_per_s * 0.8))
    assert not judged.passes
    assert "needs at least 1.42" in judged.sentence


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"prompt_tokens": 512.0}, "found 512 prompt tokens a request, expected 1020"),
        ({"output_tokens": None}, "found none output tokens"),
        ({"rate_req_per_s": 3.0}, "found 3 requests/s offered, expected 1.5"),
        ({"load": "concurrency", "rate_req_per_s": None}, "found load concurrency, expected a request rate"),
        ({"failed": 100}, "found 100 of 1000 requests failed"),
        ({"tpot_s": None}, "found no TPOT, mean"),
        ({"setting": Setting(model="Qwen/Qwen3-32B")}, "found model Qwen/Qwen3-32B, expected llama-3.1-70b as in"),
        ({"setting": Setting(accelerator="NVIDIA A100")}, "found accelerator NVIDIA A100, expected h100-80gb as in"),
        ({"setting": Setting(tensor_parallel=8)}, "found tensor parallel degree 8, expected 4 as in the pilot"),
    ],
)
def test_a_result_of_another_run_is_refused(other: dict[str, Any], words: str) -> None:
    run = kit_of(CO_LOCATED).runs[0]
    with pytest.raises(SpecError) as error:
        verdict(run, measured(run, **other))
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("setting", "same"),
    [
        (Setting(model="our-70b", accelerator="h100-80gb+a100-80gb"), True),
        (Setting(model="meta-llama/Llama-3.1-70B-Instruct", accelerator="NVIDIA A100", tensor_parallel=4), True),
        (Setting(accelerator="a100-80gb+h100-80gb"), False),
        (Setting(accelerator="h100-80gb+h100-80gb"), False),
        (Setting(accelerator="b200-180gb"), False),
    ],
)
def test_a_pairs_result_is_of_both_machines(setting: Setting, same: bool) -> None:
    decode, prefill = PAIR["pools"]
    pools = [decode | {"machine": "dgx-a100", "machines": 4}, prefill | {"machines": 4}]
    (run,) = kit_of(PAIR | {"pools": pools}).runs
    if same:
        assert verdict(run, measured(run, setting=setting)).passes
    else:
        with pytest.raises(SpecError, match="as in the pilot"):
            verdict(run, measured(run, setting=setting))


@pytest.mark.parametrize(
    ("case", "headroom", "words"),
    [
        (CO_LOCATED | {"scheduler": {"kind": "orca"}}, 1.1, "found orca, which no engine of today runs"),
        (CO_LOCATED | {"pools": [*CO_LOCATED["pools"], *CO_LOCATED["pools"]]}, 1.1, "found roles mixed, mixed"),
        (CO_LOCATED, 0.9, "capacity: found 0.9 × the required rate"),
        (CO_LOCATED, math.nan, "expected a design that holds it"),
    ],
)
def test_what_has_no_pilot_says_why(case: dict[str, Any], headroom: float, words: str) -> None:
    with pytest.raises(SpecError) as error:
        kit_of(case, headroom=headroom)
    assert words in str(error.value)


def test_the_command_writes_the_kit_and_judges_a_benchmark(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case, trace, result = tmp_path / "case.json", tmp_path / "trace.csv", tmp_path / "bench.json"
    case.write_text(json.dumps(CO_LOCATED))
    trace.write_text("arrival_s,prompt_tokens,output_tokens\n0,1000,200\n1,1040,222\n")
    asked = ["pilot", str(case), "--trace", str(trace), "--rate", "30", "--capacity", "36"]
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


def result_of(run: PilotRun, seconds: dict[str, float]) -> ServingPoint:
    return measured(run, ttft_s=seconds["ttft_s"], tpot_s=seconds["tpot_s"], requests_per_s=run.req_per_s)


@pytest.mark.parametrize("slower", [0.8, 1.0, 1.25])
def test_a_pairs_results_give_back_each_machines_own_step(slower: float) -> None:
    part = smallest_part(decode_case(PAIR))
    prefill, decode = part.pools
    for run in kit_of(PAIR, headroom=2).runs:
        said = predict(part, run.prompt_tokens, run.output_tokens, run.req_per_s, (slower, slower))
        point = result_of(run, vars(said))
        (prompt,) = prefill_steps(part, prefill, [point])
        (token,) = decode_steps(part, decode, [point])
        alone_s = prefill.curve.iteration_ps([(run.prompt_tokens, 0)], []) / PS_PER_S
        batch_s = decode.curve.iteration_ps([], [round(token.context_tokens)] * token.sequences) / PS_PER_S
        assert prompt.time_s == pytest.approx(slower * alone_s, rel=1e-3)
        assert token.time_s == pytest.approx(slower * batch_s, rel=0.01)


def errors_of(part: Part, run: PilotRun, calibration: Calibration, pool: int, kind: str) -> float:
    """How far the calibrated curve is from one that takes a quarter longer, at the run's own batch."""
    before = part.pools[pool].curve
    degrees = (part.pools[pool].tensor_parallel, 1)
    machine = part.pools[pool].machine
    after = roofline_curve(model("llama-3.1-70b"), machine, *degrees, "vllm-2026", calibration.coefficients)
    batch = ([(run.prompt_tokens, 0)], []) if kind == "prefill" else ([], [run.prompt_tokens] * 20)
    return after.iteration_ps(*batch) / (1.25 * before.iteration_ps(*batch)) - 1


def test_a_pilot_that_took_a_quarter_longer_mends_the_calibration() -> None:
    part = smallest_part(decode_case(PAIR))
    runs = kit_of(PAIR, headroom=2).runs
    points = [
        result_of(run, vars(predict(part, run.prompt_tokens, run.output_tokens, run.req_per_s, (1.25, 1.25))))
        for run in runs
    ]
    found = Measurements(points, [], [Source("bench.json", "0" * 64, "vllm bench serve", len(points))])
    prefill, decode = pilot_calibrations(part, found, datetime.date(2026, 11, 30))
    assert (prefill.role, decode.role) == ("prefill", "decode")
    assert abs(errors_of(part, runs[0], prefill.calibration, 0, "prefill")) < 0.05
    assert abs(errors_of(part, runs[0], decode.calibration, 1, "decode")) < 0.05


def test_a_co_located_pilot_is_fitted_as_any_benchmark() -> None:
    part = smallest_part(decode_case(CO_LOCATED))
    (run,) = kit_of(CO_LOCATED, headroom=2).runs
    point = result_of(run, vars(predict(part, run.prompt_tokens, run.output_tokens, run.req_per_s, (1.25, 1.25))))
    found = Measurements([point], [], [Source("bench.json", "0" * 64, "vllm bench serve", 1)])
    (mixed,) = pilot_calibrations(part, found, datetime.date(2026, 11, 30))
    assert abs(errors_of(part, run, mixed.calibration, 0, "decode")) < 0.1


def test_ranges_are_those_of_the_products_intervals() -> None:
    case = decode_case(PAIR)
    prefill, decode = (time_range(case, role) for role in ("prefill", "decode"))
    for span in (prefill, decode):
        assert 0.5 < span.faster < 1 < span.slower < 2
        assert "measured point" in span.basis
    given = decode_case(
        CO_LOCATED
        | {"latency": {"source": "curve", "tokens": [1, 100], "prefill_s": [0.1, 0.2], "decode_s": [0.1, 0.2]}}
    )
    assert time_range(given, "mixed") == TimeRange("mixed", pytest.approx(0.8), pytest.approx(1.25), "")
