import numpy as np
import pytest

from simcore.engine.outputs import NEVER, CountedGaps
from simcore.latency.curve import IterationCurve
from simcore.slo.latencies import Latencies
from simcore.slo.objective import Objective, check, limit_values, objective
from simcore.spec import AbsoluteSlo, AttainmentSlo, Limit, SlowdownSlo, SpecError
from simcore.traces import PS_PER_S
from tests.unit.simcore.runs import CURVE, case, ps

REFERENCE = IterationCurve((1,), (PS_PER_S,), (PS_PER_S // 10,), (PS_PER_S,), 0, 0, 0, 0)
"""Alone: first token after 1 s, then one every 0.1 s."""


def latencies(ttft, tpot, output, gaps=None, never=0, queue=None):
    """Requests with 100-token prompts; ttft None: never finished."""
    done = np.array([t is not None for t in ttft])
    first = ps([t or 0.0 for t in ttft])
    outputs = np.array(output)
    finish = first + ps(tpot) * (outputs - 1)
    gaps = gaps or {}
    return Latencies(
        np.zeros(len(ttft), np.int64),
        np.full(len(ttft), 100),
        np.zeros(len(ttft), np.int64),
        outputs,
        ps(queue) if queue else np.zeros(len(ttft), np.int64),
        np.where(done, first, NEVER),
        np.where(done, finish, NEVER),
        done,
        CountedGaps(ps(sorted(gaps)), np.array([gaps[g] for g in sorted(gaps)], np.int64)),
        never + sum(gaps.values()),
    )


def results(outcome):
    return {limit.name: (limit.value, limit.met) for limit in outcome.limits}


def test_a_request_alone_on_the_reference_has_slowdown_one():
    outcome = check(Objective(SlowdownSlo(), REFERENCE), latencies([1.0], [0.1], [11]))
    assert outcome.met
    assert len(outcome.limits) == 9
    assert {value for value, _ in results(outcome).values()} == {1.0}


def test_slowdowns_are_of_each_request_and_of_its_mean_token_time():
    outcome = check(Objective(SlowdownSlo(), REFERENCE), latencies([1.0, 4.0], [0.1, 0.3], [11, 11]))
    found = results(outcome)
    assert found["ttft_slowdown_p50"] == (1.0, True)
    assert found["ttft_slowdown_p90"] == (4.0, False)
    assert found["tbt_slowdown_p99"] == (pytest.approx(3.0), True)
    assert found["e2e_slowdown_p90"] == (pytest.approx(3.5), False)
    assert not outcome.met


def test_one_output_token_has_no_token_time():
    outcome = check(Objective(SlowdownSlo(), REFERENCE), latencies([1.0], [0.0], [1]))
    assert results(outcome)["tbt_slowdown_p99"] == (0.0, True)


def test_a_request_that_never_finished_is_an_infinite_miss():
    outcome = check(Objective(SlowdownSlo(), REFERENCE), latencies([1.0, None], [0.1, 0.1], [11, 11]))
    assert results(outcome)["ttft_slowdown_p50"] == (1.0, True)
    assert results(outcome)["e2e_slowdown_p99"] == (None, False)


def test_the_multiplier_scales_all_nine_limits():
    outcome = check(Objective(SlowdownSlo(multiplier=2.0), REFERENCE), latencies([4.0], [0.1], [11]))
    assert results(outcome)["ttft_slowdown_p50"] == (4.0, True)


def test_absolute_token_gaps_are_over_all_gaps_not_over_requests():
    slo = AbsoluteSlo((Limit("tbt_s", 99, 0.1), Limit("tpot_s", 99, 0.1)))
    outcome = check(Objective(slo), latencies([1.0], [0.05], [101], gaps={0.04: 98, 0.54: 2}))
    assert results(outcome) == {"tbt_p99": (0.54, False), "tpot_p99": (0.05, True)}


def test_gaps_that_never_came_are_infinite():
    slo = AbsoluteSlo((Limit("tbt_s", 50, 0.1), Limit("tbt_s", 90, 0.1)))
    outcome = check(Objective(slo), latencies([1.0], [0.05], [101], gaps={0.05: 80}, never=20))
    assert results(outcome) == {"tbt_p50": (0.05, True), "tbt_p90": (None, False)}


def test_scheduling_delay_and_end_to_end():
    slo = AbsoluteSlo((Limit("queue_s", 50, 2.0), Limit("e2e_s", 100, 1.9)))
    outcome = check(Objective(slo), latencies([1.0, 1.0], [0.1, 0.1], [11, 11], queue=[2.0, 3.0]))
    assert results(outcome) == {"queue_p50": (2.0, True), "e2e_p100": (2.0, False)}


def test_attainment_wants_the_same_request_to_meet_both():
    mixed = latencies([9.0, 1.0, 1.0, 1.0], [0.1, 0.9, 0.1, 0.1], [5, 5, 5, 5])
    outcome = check(Objective(AttainmentSlo(ttft_s=1.0, tpot_s=0.1, share=0.75)), mixed)
    assert results(outcome) == {"attainment": (0.5, False), "ttft_p75": (1.0, True), "tpot_p75": (0.1, True)}
    assert not outcome.met


def test_attainment_counts_one_token_requests_and_those_that_never_finished():
    mixed = latencies([1.0, 1.0, None, 1.0], [0.0, 0.1, 0.0, 0.1], [1, 5, 1, 5])
    outcome = check(Objective(AttainmentSlo(ttft_s=1.0, tpot_s=0.1, share=0.75)), mixed)
    assert results(outcome)["attainment"] == (0.75, True)
    assert outcome.met


@pytest.mark.parametrize("share", [0.07, 0.29, 0.57, 0.99])
def test_where_the_share_is_met_its_own_limits_are_too(share):
    count = round(100 * share)
    ttft = [1.0] * count + [9.0] * (100 - count)
    outcome = check(Objective(AttainmentSlo(1.0, 0.1, share)), latencies(ttft, [0.1] * 100, [5] * 100))
    assert outcome.met


def test_decode_iterations_are_of_the_designs_own_replica():
    asked = case(
        latency={**CURVE, "context_s": 1e-6, "decode_seq_s": 1e-4},
        slo={"kind": "absolute", "limits": [{"metric": "tbt_s", "percentile": 99, "limit_x_decode": 5}]},
    )
    found = objective(asked)
    assert found.decode_iteration_s == pytest.approx(0.02 + 32 * 1e-4 + 32 * 4096 * 1e-6)
    outcome = check(found, latencies([1.0], [0.05], [2], gaps={0.05: 1}))
    assert outcome.limits[0].limit == pytest.approx(5 * found.decode_iteration_s)


def test_the_reference_of_a_curve_must_be_given():
    with pytest.raises(SpecError, match=r"slo\.reference_latency: missing"):
        objective(case(slo={"kind": "slowdown"}))


def test_a_given_reference_latency_is_used():
    asked = case(slo={"kind": "slowdown", "reference_latency": {**CURVE, "prefill_s": [0.3, 0.3]}})
    outcome = check(objective(asked), latencies([0.3], [0.02], [2]))
    assert {value for value, _ in results(outcome).values()} == {1.0}


def test_the_reference_takes_the_designs_source():
    asked = case(model="bloom-176b", latency={"source": "measured"}, slo={"kind": "slowdown"})
    assert "a100-80gb" in objective(asked).reference.source


@pytest.mark.parametrize(
    ("slo", "message"),
    [
        ({"kind": "slowdown", "reference": "dgx-a10"}, r"slo\.reference: .*dgx-a10"),
        ({"kind": "slowdown", "reference_latency": {"sauce": "x"}}, r"slo\.reference_latency\.sauce: unknown key"),
        (
            {"kind": "absolute", "limits": [{"metric": "ttft_slowdown", "percentile": 50, "limit": 2}]},
            r"slo\.limits\[0\]\.metric: found ttft_slowdown",
        ),
    ],
)
def test_what_does_not_suit_is_named(slo, message):
    with pytest.raises(SpecError, match=message):
        objective(case(slo=slo))


def test_a_limits_values_are_of_each_request():
    two = latencies([1.0, 4.0], [0.1, 0.3], [11, 11])
    goal = Objective(SlowdownSlo(), REFERENCE)
    limit = check(goal, two).limits[0]
    assert list(limit_values(goal, two, limit)) == [1.0, 4.0]
