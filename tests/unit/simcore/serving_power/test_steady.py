"""The mean draw and the energy of a token at a fixed concurrency: near the engine's own sum, and near what was
measured."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simcore.catalogue import machine, model
from simcore.latency.compile import compile_curve
from simcore.latency.curve import IterationCurve
from simcore.serving_power.calibrated import Run, calibrate_power
from simcore.serving_power.steady import ServingPower, serving_power
from simcore.simulation import simulate
from simcore.slo.objective import objective
from simcore.spec import LatencySpec, SpecError, decode_case
from simcore.steady_state.mean_iteration import Lengths, Serving
from simcore.traces import Trace

BOX = machine("dgx-h100")
LENGTHS = Lengths.of(500, 200)


def curve(of: str, tp: int) -> IterationCurve:
    return compile_curve(model(of), BOX, tp, 1, LatencySpec())


def power(of: str, tp: int, concurrency: float, lengths: Lengths = LENGTHS) -> ServingPower:
    return serving_power(model(of), BOX, tp, curve(of, tp), lengths, concurrency)


@pytest.mark.parametrize(("batch", "measured_w"), [(8, 486), (64, 610), (256, 691)])
def test_8b_on_one_h100_is_near_ml_energys_watts_at_any_batch(batch: int, measured_w: float) -> None:
    """9 to 10 % low: the law itself is, at measured times too (docs/power-fit.md); times that were too short before
    the host's time was fitted made up for a part of it."""
    assert power("llama-3.1-8b", 1, batch, Lengths.of(90, 395)).accelerator_w == pytest.approx(measured_w, rel=0.11)


def test_more_requests_draw_more_and_a_token_costs_less() -> None:
    few, more = power("llama-3.1-70b", 4, 4), power("llama-3.1-70b", 4, 64)
    assert few.accelerator_w < more.accelerator_w <= 700
    assert few.accelerator_w / few.output_tokens_per_s > 3 * more.accelerator_w / more.output_tokens_per_s
    assert few.accelerators == 4


def test_a_machine_draws_host_and_fans_beside_its_accelerators() -> None:
    one = power("llama-3.1-70b", 8, 32)
    above = one.accelerator_w - 75
    assert one.machine_w == pytest.approx(2000 + 8 * one.accelerator_w + 800 * above / 625)
    assert power("llama-3.1-70b", 4, 32).machine_w > 1000


def test_one_token_answers_and_whole_prompts_have_a_draw() -> None:
    prompts = power("llama-3.1-8b", 1, 16, Lengths.of(2000, 1))
    assert prompts.accelerator_w == pytest.approx(700, rel=0.05)
    serving = Serving(prefill_apart=True)
    apart = serving_power(model("llama-3.1-8b"), BOX, 1, curve("llama-3.1-8b", 1), LENGTHS, 16, serving)
    assert apart.accelerator_w == pytest.approx(power("llama-3.1-8b", 1, 16).accelerator_w, rel=0.15)


def run(concurrency: float = 16) -> Run:
    return Run(model("llama-3.1-70b"), BOX, 4, curve("llama-3.1-70b", 4), LENGTHS, concurrency, Serving())


@pytest.mark.parametrize("measured_w", [200.0, 450.0, 690.0])
def test_calibration_meets_the_measured_mean_and_keeps_proportions(measured_w: float) -> None:
    found = calibrate_power(run(), measured_w, 90.0)
    assert found.after_w == pytest.approx(measured_w, rel=2e-3)
    given = found.accelerator
    assert given.idle_w == 90
    assert (given.power_by_mfu or 0) / (given.power_by_mbu or 1) == pytest.approx(1.83 / 0.64, rel=0.01)
    assert replace(found.machine, accelerator=BOX.accelerator) == BOX


def test_a_mean_that_cannot_be_is_refused() -> None:
    with pytest.raises(SpecError, match="more than the 90 W drawn idle"):
        calibrate_power(run(), 80.0, 90.0)
    with pytest.raises(SpecError, match="at most the 700 W"):
        calibrate_power(run(), 900.0, 90.0)
    with pytest.raises(SpecError, match="found 800 W idle"):
        calibrate_power(run(), 900.0, 800.0)


@pytest.mark.parametrize("rate", [4.0, 12.0])
def test_it_is_what_the_engine_adds_up(rate: float) -> None:
    count = 1500
    arrival_s = np.cumsum(np.random.default_rng(7).exponential(1 / rate, count))
    arrival_ps = (arrival_s * 1e12).astype(np.int64)
    trace = Trace.of("alike", arrival_ps, np.full(count, 500), np.full(count, 200))
    case = decode_case(
        {
            "model": "llama-3.1-70b",
            "pools": [{"role": "mixed", "machine": "dgx-h100", "machines": 1, "tensor_parallel": 8}],
            "scheduler": {"kind": "vllm_v1"},
            "slo": {"kind": "absolute", "limits": [{"metric": "ttft_s", "percentile": 99, "limit": 9}]},
        }
    )
    run = simulate(case, trace, objective(case), (150, 1350)).summary
    in_flight = rate * run.e2e_s.mean
    ours = serving_power(model("llama-3.1-70b"), BOX, 8, curve("llama-3.1-70b", 8), LENGTHS, in_flight)
    assert ours.machine_w == pytest.approx(run.power.mean_w, rel=0.05)
