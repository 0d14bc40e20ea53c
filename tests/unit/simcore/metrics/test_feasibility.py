"""Feasibility is what the summary says, without one."""

import math

import pytest

from simcore.engine.oracle.cluster import run
from simcore.engine.outputs import FINISHED, NEVER, UNFINISHED
from simcore.metrics.feasibility import JUST_ABOVE_ONE, feasibility
from simcore.metrics.summary import summarise
from simcore.slo.objective import objective
from simcore.spec import SlowdownSlo
from simcore.traces.synthetic import SyntheticSpec, generate
from tests.unit.simcore.runs import case, inputs_of, run_result, trace

LIMITS = [{"metric": metric, "percentile": 99, "limit": 0.5} for metric in ("ttft_s", "tbt_s", "tpot_s", "e2e_s")]
SLOS = [{"kind": "absolute", "limits": LIMITS}, {"kind": "attainment", "share": 0.9, "ttft_s": 0.5, "tpot_s": 0.1}]


def by_hand(first, finish, status=None, limit=1.0):
    asked = case(slo={"kind": "absolute", "limits": [{"metric": "ttft_s", "percentile": 99, "limit": limit}]})
    inputs = inputs_of(asked, trace([1.0, 2.0, 4.0], [100, 200, 300], [1, 3, 2]))
    result = run_result([1.0, 2.5, 4.0], first, finish, status=status)
    return feasibility(inputs, result, objective(asked), (0, 3))


@pytest.mark.parametrize("slo", SLOS)
@pytest.mark.parametrize("rate", [1.0, 20.0, 60.0])
def test_it_is_the_summary_s(slo, rate):
    asked, window = case(slo=slo), (20, 180)
    requests = generate(SyntheticSpec("conversation", rate_req_per_s=rate, requests=200))
    inputs = inputs_of(asked, requests, window)
    done, goal = run(inputs), objective(asked)
    found, summary = feasibility(inputs, done, goal, window), summarise(asked, inputs, done, goal, window)
    assert (found.slo, found.stability, found.feasible) == (summary.slo, summary.stability, summary.feasible)
    assert (found.pressure <= 1) == found.feasible
    if found.stability.stable and summary.binding.ratio is not None:
        assert found.pressure == pytest.approx(summary.binding.ratio)


def test_pressure_is_the_worst_value_over_its_limit():
    assert by_hand([1.1, 2.75, 4.25], [1.1, 3.25, 4.5]).pressure == 0.75
    assert by_hand([1.1, 2.75, 4.25], [1.1, 3.25, 4.5], limit=0.5).pressure == 1.5


def test_pressure_says_which_side_of_one_it_is_where_rounding_might_not():
    met = by_hand([1.1, 2.75, 4.25], [1.1, 3.25, 4.5], limit=0.75)
    assert (met.feasible, met.pressure) == (True, 1.0)
    missed = by_hand([1.1, 2.75, 4.25], [1.1, 3.25, 4.5], limit=math.nextafter(0.75, 0))
    assert (missed.feasible, missed.pressure) == (False, JUST_ABOVE_ONE)


def test_a_request_that_never_finishes_is_beyond_any_pressure():
    found = by_hand([1.1, 2.75, NEVER], [1.1, 3.25, NEVER], status=[FINISHED, FINISHED, UNFINISHED])
    assert (found.feasible, found.stability.stable, found.pressure) == (False, False, math.inf)


def test_slowdowns_are_judged_alike():
    asked, window = case(slo={"kind": "slowdown", "reference_latency": {"source": "roofline"}}), (5, 45)
    assert isinstance(asked.slo, SlowdownSlo)
    inputs = inputs_of(asked, generate(SyntheticSpec("coding", rate_req_per_s=5.0, requests=50)), window)
    done, goal = run(inputs), objective(asked)
    assert feasibility(inputs, done, goal, window).slo == summarise(asked, inputs, done, goal, window).slo
