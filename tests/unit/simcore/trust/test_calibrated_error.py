"""A calibrated curve is off as its fits were at points that they did not see, on the part that was measured."""

import datetime
import json
from dataclasses import replace
from pathlib import Path

import pytest

from simcore.calibration import Target, calibrate
from simcore.catalogue import model
from simcore.measurements import read_measurements
from simcore.spec import LatencySpec, encode
from simcore.trust.time_error import time_error
from tests.unit.simcore.calibration import known


@pytest.fixture(scope="module")
def calibration(tmp_path_factory):
    path = tmp_path_factory.mktemp("bench") / "steps.csv"
    path.write_text(known.steps(known.SLOWER, (1,)))
    return calibrate(read_measurements([str(path)]), Target(known.MODEL, known.MACHINE), datetime.date(2026, 11, 30))


def held(calibration):
    return LatencySpec(source="calibrated", calibration=json.dumps(encode(calibration)))


def off(calibration, latency, **place):
    part = {"model": known.MODEL, "machine": known.MACHINE, "tensor_parallel": 1, "pipeline_parallel": 1, **place}
    return time_error(part["model"], part["machine"], part["tensor_parallel"], part["pipeline_parallel"], latency)


def test_within_the_range_it_is_the_error_held_out(calibration):
    found = off(calibration, held(calibration))
    decode = next(error for error in calibration.errors if error.phase == "decode")
    assert decode.spread is not None
    assert 0 < found.longer("decode") < 0.03
    assert found.longer("decode") > decode.spread
    assert found.longer("hybrid") == max(found.longer("prefill"), found.longer("decode"))
    assert "the calibration's own, held out, 2026-11-30" in found.basis


@pytest.mark.parametrize("place", [{"tensor_parallel": 2}, {"model": model("llama-3.1-70b"), "tensor_parallel": 8}])
def test_outside_it_is_the_rooflines(calibration, place):
    latency = held(calibration)
    roofline = off(calibration, LatencySpec(), **place)
    found = off(calibration, latency, **place)
    assert found.longer("decode") > off(calibration, latency).longer("decode")
    assert found.longer("decode") == pytest.approx(roofline.longer("decode"), rel=0.5)


def with_errors(calibration, **changes):
    return replace(calibration, errors=tuple(replace(error, **changes) for error in calibration.errors))


ELSEWHERE = [{"tensor_parallel": 2}, {"model": model("llama-3.1-70b"), "tensor_parallel": 8}]


@pytest.mark.parametrize("place", ELSEWHERE)
@pytest.mark.parametrize(("bias", "spread"), [(0.0, 0.6), (0.5, 0.3), (-0.5, 0.3), (0.02, 0.02)])
def test_elsewhere_it_is_at_least_as_far_off_as_where_it_was_measured(calibration, place, bias, spread):
    poor = held(with_errors(calibration, held_out=0.4, bias=bias, spread=spread))
    inside, outside = off(calibration, poor), off(calibration, poor, **place)
    for phase in ("prefill", "decode", "hybrid"):
        assert outside.longer(phase) >= inside.longer(phase)
        assert outside.shorter(phase) >= inside.shorter(phase)
        assert outside.longer(phase) > off(calibration, held(calibration), **place).longer(phase) or spread < 0.1


def test_where_only_decodes_were_measured_hybrids_are_no_better_known_than_they(calibration):
    decodes = replace(with_errors(calibration, spread=0.7), errors=with_errors(calibration, spread=0.7).errors[-1:])
    assert [error.phase for error in decodes.errors] == ["decode"]
    found = off(calibration, held(decodes))
    assert found.longer("hybrid") == found.longer("decode") > found.longer("prefill")


def test_without_points_held_out_it_is_the_rooflines_with_the_misfit(calibration):
    good = off(calibration, held(with_errors(calibration, held_out=None, spread=None, bias=0.0)))
    assert good.longer("prefill") > off(calibration, held(calibration)).longer("prefill")
    poor = off(calibration, held(with_errors(calibration, held_out=None, spread=None, bias=0.0, after=0.4)))
    assert poor.longer("prefill") > good.longer("prefill") > 0
    assert poor.shorter("decode") > good.shorter("decode") > 0


def test_two_calibrations_are_off_apart_and_a_copy_with_its_file(calibration, tmp_path: Path):
    other = replace(calibration, coefficients=replace(calibration.coefficients, host_step_s=9e-3))
    assert off(calibration, held(calibration)).key != off(calibration, held(other)).key
    (tmp_path / "x.json").write_text(json.dumps(encode(calibration)))
    named = LatencySpec(source="calibrated", path=str(tmp_path / "x.json"))
    assert off(calibration, named).phases == off(calibration, held(calibration)).phases
