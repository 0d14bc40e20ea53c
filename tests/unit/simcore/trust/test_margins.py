import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore.evaluation import Evaluation, PoolResult, RateResult
from simcore.trust.margins import Effect, Margin, joined, margin
from tests.unit.simcore.runs import case

LOG = st.floats(0.0, 0.8)


def made(noise=(0.0, 0.0), *effects):
    return Margin(100.0, *noise, tuple(Effect(f"curve {i}", -down, up) for i, (down, up) in enumerate(effects)))


@given(LOG, LOG, st.lists(st.tuples(LOG, LOG), max_size=3))
def test_an_interval_contains_the_capacity_and_widens_with_every_error(down, up, effects):
    one = made((down, up), *effects)
    assert one.low <= 100.0 <= one.high
    wider = made((down + 0.1, up + 0.1), *effects)
    assert wider.low < one.low or one.low == 0.0
    assert wider.high > one.high
    further = made((down, up), *effects, (0.2, 0.2))
    assert further.low < one.low or one.low == 0.0
    assert further.high > one.high


def test_independent_errors_add_their_squares():
    assert joined(0.03, [0.04]) == pytest.approx(0.05)
    assert made((0.03, 0.0), (0.04, 0.0)).low == pytest.approx(100 * math.exp(-0.05))


def test_a_reference_that_is_slower_than_said_lets_hold_more():
    effect = Effect("reference", 0.1, -0.2)
    assert (effect.down, effect.up) == (0.2, 0.1)


def test_where_no_rate_may_hold_the_low_end_is_none():
    assert made((0.0, 0.0), (math.log(100), 0.1)).low == 0.0


def told(**changes):
    plain = {"capacity_req_per_s": 10.0, "capacity_low": 9.0, "capacity_high": 12.0, "binding_limit": "unstable"}
    return Evaluation("x", "evaluated", binding_pool="mixed", **plain | changes)


def test_times_that_the_user_gives_leave_the_noise_alone():
    found = margin(case(), told())
    assert (found.low, found.high) == (pytest.approx(9.0), pytest.approx(12.0))


def test_a_roofline_joins_noise_and_the_error_of_its_times():
    found = margin(case(latency={"source": "roofline", "engine": "kernel"}), told())
    (effect,), (error,) = found.effects, found.errors
    assert effect.down == pytest.approx((error.longer("prefill") + error.longer("decode")) / 2)
    assert effect.up == pytest.approx((error.shorter("prefill") + error.shorter("decode")) / 2)
    assert found.low == pytest.approx(10 * math.exp(-math.hypot(math.log(10 / 9), effect.down)))
    assert found.low < 9.0
    assert found.high > 12.0


def test_the_pools_time_says_which_phase_counts():
    latency = {"source": "measured"}
    pools = [{"role": "mixed", "machine": "dgx-h100", "tensor_parallel": 8}]
    asked = case(model="bloom-176b", latency=latency, pools=pools)
    shares = {"prefill": (1.0, 0.0, 0.0), "decode": (0.0, 1.0, 0.0), "hybrid": (0.0, 0.0, 1.0)}
    for phase, of in shares.items():
        pool = PoolResult("mixed", "dgx-h100", 1, 1, 1.0, *of, *[0.0] * 6)
        at = RateResult(10.0, True, True, (), (pool,), 0.0, 0.0, 0.0, 0.0)
        found = margin(asked, told(capacity_low=10.0, capacity_high=10.0, at_capacity=at))
        assert found.high == pytest.approx(10 * math.exp(found.errors[0].shorter(phase)))


def test_a_slowdown_against_the_same_machines_is_one_error_not_two():
    slo = {"kind": "slowdown", "reference": "dgx-h100"}
    latency = {"source": "roofline", "engine": "kernel"}
    same = margin(case(slo=slo, latency=latency), told())
    other = margin(case(slo={"kind": "slowdown", "reference": "dgx-a100"}, latency=latency), told())
    assert len(same.effects) == 1
    assert len(other.effects) == 2


def test_each_phase_alone_does_no_more_than_all_together():
    (effect,) = margin(case(latency={"source": "roofline", "engine": "kernel"}), told()).effects
    alone = {phase: (longer, shorter) for phase, longer, shorter in effect.phases}
    assert sum(longer for longer, _ in alone.values()) == pytest.approx(effect.longer)
    assert alone["hybrid"] == (0.0, 0.0)
