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


def test_without_points_held_out_it_is_the_rooflines(calibration):
    few = replace(calibration, errors=tuple(replace(e, held_out=None, spread=None) for e in calibration.errors))
    assert off(calibration, held(few)).longer("prefill") > off(calibration, held(calibration)).longer("prefill")


def test_two_calibrations_are_off_apart_and_a_copy_with_its_file(calibration, tmp_path: Path):
    other = replace(calibration, coefficients=replace(calibration.coefficients, host_step_s=9e-3))
    assert off(calibration, held(calibration)).key != off(calibration, held(other)).key
    (tmp_path / "x.json").write_text(json.dumps(encode(calibration)))
    named = LatencySpec(source="calibrated", path=str(tmp_path / "x.json"))
    assert off(calibration, named).phases == off(calibration, held(calibration)).phases
