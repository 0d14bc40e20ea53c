"""How wrong iteration times may be: rules on places made up, and what the shipped evidence says."""

import math

import pytest

from simcore.catalogue import machine, model
from simcore.residuals import residuals
from simcore.spec import LatencySpec
from simcore.trust import phase_error as rules
from simcore.trust.groups import ErrorGroup, Place, error_groups
from simcore.trust.phase_error import NORMAL, phase_error, student
from simcore.trust.time_error import time_error

HERE = Place("llama-3.1-70b", "h100-80gb", 8, "bf16")


def group(points=1000, mean=0.0, spread=0.1, fitted=False, phase="decode", **place):
    return ErrorGroup(Place(**{**HERE.__dict__, **place}), phase, points, mean, spread, fitted, "made up")


@pytest.fixture
def measured(monkeypatch):
    def use(*groups):
        monkeypatch.setattr(rules, "error_groups", lambda engine: groups if engine == "kernel" else ())

    return use


def test_at_a_measured_place_its_own_points_count(measured):
    measured(group(mean=0.03, spread=0.04), group(tensor_parallel=4, spread=0.5))
    found = phase_error(HERE, "decode", "kernel")
    assert found.steps == 0
    assert found.longer == pytest.approx(NORMAL * 0.04 + 0.03, rel=0.01)
    assert found.shorter == pytest.approx(NORMAL * 0.04 - 0.03, rel=0.01)


def test_what_is_always_longer_than_predicted_is_not_shorter(measured):
    measured(group(mean=0.3, spread=0.05))
    assert phase_error(HERE, "decode", "kernel").shorter == 0.0


def test_points_that_were_fitted_yield_to_those_that_were_not(measured):
    measured(group(spread=0.01, fitted=True), group(spread=0.08))
    assert phase_error(HERE, "decode", "kernel").half == pytest.approx(NORMAL * 0.08, rel=0.01)


def test_few_points_widen(measured):
    measured(group(points=3))
    few = phase_error(HERE, "decode", "kernel").half
    measured(group(points=300))
    assert few > 1.3 * phase_error(HERE, "decode", "kernel").half


def test_a_point_or_two_do_not_stand_alone(measured):
    measured(group(points=2, spread=0.01), group(tensor_parallel=4, spread=0.3))
    found = phase_error(HERE, "decode", "kernel")
    assert (found.steps, found.points) == (1, 1002)
    assert found.half > 0.3


def test_elsewhere_the_spread_of_the_nearest_places_grows_with_the_distance(measured):
    near = [group(tensor_parallel=tp, spread=0.1) for tp in (1, 2, 4)]
    measured(*near, group(model="bloom-176b", accelerator="a100-80gb", tensor_parallel=2, spread=0.01))
    one = phase_error(HERE, "decode", "kernel")
    two = phase_error(Place("yi-34b", "h100-80gb", 8, "bf16"), "decode", "kernel")
    assert (one.steps, two.steps) == (1, 2)
    assert one.half == pytest.approx(student(3) * 0.1)
    assert two.half == pytest.approx(one.half * math.sqrt(2))


def test_errors_at_fitted_points_are_doubled_elsewhere(measured):
    measured(group(tensor_parallel=4, fitted=True))
    fitted = phase_error(HERE, "decode", "kernel").half
    measured(group(tensor_parallel=4))
    assert fitted == pytest.approx(2 * phase_error(HERE, "decode", "kernel").half)


def test_without_any_measurement_of_the_phase_there_is_none(measured):
    measured(group())
    assert phase_error(HERE, "hybrid", "kernel") is None
    assert phase_error(HERE, "decode", "vllm-2023") is None


@pytest.mark.parametrize(("count", "quantile"), [(3, 2.353), (5, 2.015), (10, 1.812), (30, 1.697)])
def test_the_widening_is_students(count, quantile):
    """Tables of t at 95 % (one-sided)."""
    assert student(count) == pytest.approx(quantile, rel=0.02)


def test_residuals_become_logarithms_of_measured_over_predicted():
    one = next(one for one in residuals() if one.engine == "vllm-2023" and one.phase == "decode")
    told = next(of for of in error_groups("vllm-2023") if (of.place.model, of.phase) == (one.model, "decode"))
    assert math.exp(-told.mean) == pytest.approx(1 + one.bias)
    assert (told.place.software, told.place.precision) == ("vllm", "bf16")


@pytest.mark.parametrize("engine", ["kernel", "vllm-2023", "vllm-2026"])
def test_every_machine_and_model_has_an_error(engine):
    for name in ("bloom-176b", "deepseek-v3", "gpt-oss-120b"):
        for where in ("dgx-a100", "dgx-b200"):
            error = time_error(model(name), machine(where), 8, 1, LatencySpec(engine=engine))
            for phase in ("prefill", "decode", "hybrid"):
                assert 0 < error.longer(phase) + error.shorter(phase) < 5, (name, where, error)


def test_host_time_that_nobody_measured_adds_to_device_times():
    of = (model("llama-3.1-70b"), machine("dgx-b200"), 8, 1)
    kernel, whole = (time_error(*of, LatencySpec(engine=engine)) for engine in ("kernel", "vllm-2026"))
    assert whole.longer("decode") > kernel.longer("decode")


def test_what_whole_engines_take_longer_for_decodes_comes_with_every_iteration():
    """Of B200 decodes were measured in whole engines, hybrids by their kernels alone."""
    of = (model("llama-3.1-8b"), machine("dgx-b200"), 1, 1)
    kernel, whole = (time_error(*of, LatencySpec(engine=engine)) for engine in ("kernel", "vllm-2026"))
    assert whole.longer("hybrid") > kernel.longer("hybrid")
    assert whole.longer("hybrid") < whole.longer("decode"), "the same host time is a lesser share of a longer iteration"


def test_measured_tables_scatter_and_are_bent_between_knots():
    of = (model("bloom-176b"), machine("dgx-h100"), 8, 1)
    error = time_error(*of, LatencySpec(source="measured"))
    assert 0.02 < error.longer("decode") < error.longer("prefill") < 0.15
    assert error.longer("hybrid") > math.log(1.1)
    assert "Splitwise" in error.basis


def test_a_cap_is_an_assumption_on_prefills():
    latency = LatencySpec(source="measured")
    free, capped = (time_error(model("bloom-176b"), machine(m), 8, 1, latency) for m in ("dgx-h100", "dgx-h100-pcap"))
    assert capped.longer("prefill") == pytest.approx(math.hypot(free.longer("prefill"), 0.5 * math.log(1.3)), rel=1e-3)
    assert capped.longer("decode") == free.longer("decode")
    assert capped.key == free.key


def test_times_of_the_user_claim_no_error():
    times = {"tokens": (1, 10), "prefill_s": (0.1, 0.2), "decode_s": (0.1, 0.2), "hybrid_s": (0.1, 0.2)}
    error = time_error(model("bloom-176b"), machine("dgx-h100"), 8, 1, LatencySpec(source="curve", **times))
    assert error.longer("decode") == 0.0
    assert "given by the user" in error.spans(["decode"])
    assert error.basis == ""
