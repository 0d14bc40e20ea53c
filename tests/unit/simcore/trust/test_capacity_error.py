"""What an error of the times does to a capacity: the formula against itself, and against runs with other times."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore.capacity.find import find_capacity
from simcore.evaluation import Evaluation, LimitResult, LimitsAt
from simcore.trust.capacity_error import LEAST_SHARE, REFERENCE, Line, Response, response
from tests.unit.simcore.capacity.test_find import absolute, poisson_trace
from tests.unit.simcore.runs import case

RATES = tuple(i / 400 for i in range(601))


def power_line(eta, **names):
    """M(r) = r^eta of its limit, which is just met at the capacity."""
    return Line(**{"role": "mixed", "relative_to": ""} | names, rates=RATES, values=tuple(r**eta for r in RATES))


@pytest.mark.parametrize("eta", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("error", [-0.15, -0.05, 0.05, 0.2])
def test_a_limit_in_seconds_costs_one_plus_one_over_eta_times_the_error(eta, error):
    answers = Response((power_line(eta),), "", math.inf)
    assert answers.log_capacity({"mixed": error}) == pytest.approx(-error * (1 + 1 / eta), rel=0.02)


def test_a_slowdown_whose_reference_is_off_alike_costs_the_error_itself():
    answers = Response((power_line(1.0, relative_to=REFERENCE),), "", math.inf)
    assert answers.log_capacity({"mixed": 0.1, REFERENCE: 0.1}) == pytest.approx(-0.1, abs=1e-3)
    assert answers.log_capacity({"mixed": 0.1}) == pytest.approx(-0.2, abs=2e-3)
    assert answers.log_capacity({REFERENCE: 0.1}) == pytest.approx(0.1, abs=2e-3)


def test_a_full_pool_works_off_one_over_k():
    answers = Response((), "decode", math.inf)
    assert answers.log_capacity({"decode": 0.1, "prefill": 5.0}) == pytest.approx(-0.1)


def test_links_carry_no_more_for_quicker_machines():
    answers = Response((), "decode", 1.05)
    assert answers.log_capacity({"decode": -0.5}) == pytest.approx(math.log(1.05))


def test_a_limit_that_a_request_alone_then_misses_leaves_nothing():
    line = Line("mixed", "", (0.0, 0.9, 1.0, 1.01), (0.9, 0.95, 0.99, 1.01))
    assert Response((line,), "", math.inf).log_capacity({"mixed": 0.2}) == pytest.approx(math.log(LEAST_SHARE))


def test_the_first_limit_to_be_broken_counts():
    slack, near = power_line(1.0), power_line(3.0, role="prefill")
    answers = Response((slack, near), "", math.inf)
    assert answers.log_capacity({"prefill": 0.3}) == pytest.approx(-0.4, rel=0.02)
    assert answers.log_capacity({"mixed": 0.3, "prefill": 0.3}) == pytest.approx(-0.6, rel=0.02)
    assert answers.log_capacity({"prefill": -0.3}) == 0.0


@given(
    st.floats(0.05, 0.9),
    st.lists(st.floats(0.05, 2.0), min_size=2, max_size=5),
    st.floats(-0.4, 0.4),
    st.floats(0.0, 0.3),
)
def test_longer_times_never_hold_more(alone, values, error, more):
    rates = tuple(i / len(values) for i in range(len(values) + 1))
    answers = Response((Line("mixed", "", rates, (alone, *values)),), "mixed", math.inf)
    assert answers.log_capacity({"mixed": error + more}) <= answers.log_capacity({"mixed": error}) + 1e-12
    assert answers.log_capacity({}) == 0.0


def scaled(k):
    curve = {"tokens": [1, 2000], "prefill_s": [0.05, 0.4], "decode_s": [0.02, 0.3], "hybrid_s": [0.06, 0.5]}
    return {"source": "curve"} | {name: [k * t for t in of] if name != "tokens" else of for name, of in curve.items()}


def found(slo, k):
    asked = case(latency=scaled(k), slo=slo, scheduler={"kind": "vllm_v1", "max_batch_size": 64}, arrivals="poisson")
    return find_capacity(asked, poisson_trace(2500, prompt=200, output=20))


@pytest.mark.parametrize(
    ("slo", "tolerance"),
    [
        (absolute(("ttft_s", 90, 0.5)), 0.05),
        (absolute(("tpot_s", 90, 0.09)), 0.05),
        (absolute(("e2e_s", 90, 2.0)), 0.05),
        (absolute(("ttft_s", 99, 30.0)), 0.05),
    ],
)
def test_runs_with_other_times_hold_what_the_formula_says(slo, tolerance):
    """The gain is from 1 (a queue that grows without end) to 3 (TPOT): all within ``tolerance`` of ln of the rate."""
    base = found(slo, 1.0)
    told = Evaluation(
        "x", "evaluated", capacity_req_per_s=base.rate_req_per_s, binding_limit=base.binding.limit,
        binding_pool=base.binding.pool, at_capacity=base.probe.result, around=base.around,
    )  # fmt: skip
    for k in (0.88, 1.12):
        changed = math.log(found(slo, k).rate_req_per_s / base.rate_req_per_s)
        said = response(told, case(slo=slo).slo).log_capacity({"mixed": math.log(k)})
        assert said == pytest.approx(changed, abs=tolerance), (k, said, changed)


def limit(value, metric="tpot_s", percentile=90):
    return LimitResult(metric, percentile, 1.0, value, value is not None and value <= 1.0)


def test_what_is_kept_about_a_capacity_becomes_lines():
    around = tuple(
        LimitsAt(rate, (limit(value),)) for rate, value in ((0.0, 0.5), (8.0, 0.9), (10.0, 1.0), (10.1, None))
    )
    told = Evaluation("x", "evaluated", capacity_req_per_s=10.0, binding_limit="tpot_p90", around=around)
    answers = response(told, case().slo)
    assert answers.saturated == ""
    assert answers.lines[0].rates == pytest.approx((0.0, 0.8, 1.0, 1.01))
    assert answers.lines[0].values == (0.5, 0.9, 1.0, 100.0)


def test_a_request_alone_never_waits_longer_than_one_among_others():
    around = tuple(
        LimitsAt(rate, (limit(value),)) for rate, value in ((0.0, 1.2), (8.0, 0.9), (10.0, 1.0), (10.1, 1.1))
    )
    told = Evaluation("x", "evaluated", capacity_req_per_s=10.0, binding_limit="tpot_p90", around=around)
    assert response(told, case().slo).lines[0].values[0] == 0.9


def test_where_nothing_above_was_run_the_replicas_are_full():
    around = tuple(LimitsAt(rate, (limit(value),)) for rate, value in ((0.0, 0.5), (8.0, 0.6), (10.0, 0.7)))
    told = Evaluation(
        "x", "evaluated", capacity_req_per_s=10.0, binding_limit="tpot_p90", binding_pool="mixed", around=around
    )
    assert response(told, case().slo).log_capacity({"mixed": 0.1}) == pytest.approx(-0.1)


def test_a_limit_in_decode_iterations_is_counted_in_the_designs_own_times():
    slo = case(slo={"kind": "absolute", "limits": [{"metric": "tbt_s", "percentile": 99, "limit_x_decode": 5}]}).slo
    around = tuple(
        LimitsAt(r, (limit(v, "tbt_s", 99),)) for r, v in ((0.0, 0.5), (9.0, 0.9), (10.0, 1.0), (10.1, 1.01))
    )
    told = Evaluation("x", "evaluated", capacity_req_per_s=10.0, binding_limit="tbt_p99", around=around)
    assert response(told, slo).log_capacity({"mixed": 0.1}) == pytest.approx(-0.1, abs=1e-6)
