"""What was measured with known coefficients is fitted back; what results do not hold stays as shipped."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simcore.latency.calibrated import Calibration
from simcore.spec import decode, encode
from tests.unit.simcore.calibration import known
from tests.unit.simcore.calibration.fitting import fitted, fitted_once


def test_serving_results_of_known_coefficients_are_fitted_back(tmp_path):
    calibration, _ = fitted(tmp_path, known.serving(known.SLOWER))
    errors = {error.phase: error for error in calibration.errors}
    assert errors["TPOT"].before > 0.3
    assert errors["TPOT"].held_out is not None
    assert errors["TPOT"].held_out < 0.03
    assert errors["TTFT"].held_out is not None
    assert errors["TTFT"].held_out < 0.06
    true, found = known.curve(known.SLOWER), known.curve(calibration.coefficients)
    for chunks, contexts in (([(2000, 0)], []), ([], [1500] * 32), ([(1000, 0)], [2000] * 16)):
        assert found.iteration_ps(chunks, contexts) == pytest.approx(true.iteration_ps(chunks, contexts), rel=0.06)


FACTORS = st.fixed_dictionaries(
    {
        "flops_share": st.floats(0.5, 1.1),
        "bandwidth_share": st.floats(0.5, 1.1),
        "attention_bandwidth_share": st.floats(0.5, 1.05),
    }
)


@settings(max_examples=4, deadline=None, derandomize=True)
@given(factors=FACTORS, host_ms=st.floats(0.3, 6.0))
def test_steps_of_any_coefficients_are_fitted_back_within_a_few_per_cent(tmp_path_factory, factors, host_ms):
    changes = {name: getattr(known.SHIPPED, name) * factor for name, factor in factors.items()}
    true = replace(known.SHIPPED, **changes, host_step_s=host_ms * 1e-3)
    calibration, _ = fitted_once(tmp_path_factory.mktemp("known"), known.steps(true))
    assert all(error.after < 0.03 for error in calibration.errors)
    for residual in calibration.residuals:
        assert residual.after_s == pytest.approx(residual.measured_s, rel=0.1)


def test_what_is_as_shipped_stays_so(tmp_path):
    calibration, _ = fitted(tmp_path, known.steps(known.SHIPPED))
    for replaced in calibration.replaced:
        assert replaced.fitted == pytest.approx(replaced.shipped, rel=0.01)
    assert all(error.before < 1e-3 for error in calibration.errors)


def test_one_result_moves_little_and_says_that_nothing_was_held_out(tmp_path):
    calibration, _ = fitted(tmp_path, known.serving(known.SLOWER, (8,)).splitlines()[0])
    assert len(calibration.replaced) <= 2
    assert all(error.held_out is None for error in calibration.errors)
    assert calibration.validity.sequences.least == calibration.validity.sequences.most == 8


def test_one_wrong_point_moves_the_fit_little(tmp_path):
    rows = known.steps(known.SLOWER).splitlines()
    spoilt = rows[4].split(",")
    spoilt[6] = str(float(spoilt[6]) * 5)
    calibration, _ = fitted_once(tmp_path, "\n".join([*rows[:4], ",".join(spoilt), *rows[5:]]))
    right = [abs(r.after_s / r.measured_s - 1) for r in calibration.residuals if "line 5" not in r.where]
    assert sum(right) / len(right) < 0.05


def test_a_calibration_is_the_same_after_json(tmp_path):
    calibration, _ = fitted(tmp_path, known.steps(known.SLOWER))
    assert decode(Calibration, json.loads(json.dumps(encode(calibration)))) == calibration
