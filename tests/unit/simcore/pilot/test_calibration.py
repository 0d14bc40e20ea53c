"""A pilot's results give back each machine's own iteration times."""

from __future__ import annotations

import datetime

import pytest

from simcore.catalogue import model
from simcore.latency.calibrated import Calibration
from simcore.latency.curve import PS_PER_S
from simcore.latency.roofline import roofline_curve
from simcore.measurements import Measurements, Source
from simcore.pilot import PilotRun
from simcore.pilot.calibration import decode_steps, pilot_calibrations, prefill_steps
from simcore.pilot.part import Part, smallest_part
from simcore.pilot.prediction import predict
from simcore.spec import decode_case
from tests.unit.simcore.pilot.pilots import CO_LOCATED, PAIR, kit_of, result_of


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
