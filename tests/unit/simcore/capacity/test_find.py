import numpy as np
import pytest

from simcore.capacity.find import at_rate, find_capacity
from simcore.capacity.interval import BLOCKS, RESAMPLES, SEED, resampled
from simcore.capacity.probes import Prober
from simcore.search.rate_grid import grid_at_most, grid_rate
from simcore.slo.distribution import rank
from simcore.spec import SpecError
from simcore.traces import PS_PER_S, Trace, TraceError
from tests.unit.simcore.runs import CURVE, case, trace


def poisson_trace(requests=600, prompt=100, output=5, seed=1):
    random = np.random.default_rng(seed)
    arrivals = np.cumsum(random.exponential(1.0, requests))
    return Trace.of("poisson", np.round(arrivals * PS_PER_S), np.full(requests, prompt), np.full(requests, output))


def found(asked, requests, **options):
    return find_capacity(asked, requests, name="oracle", **options)


def absolute(*limits):
    names = ("metric", "percentile", "limit")
    return {"kind": "absolute", "limits": [dict(zip(names, limit, strict=True)) for limit in limits]}


def test_the_rate_found_holds_and_one_percent_more_does_not():
    asked, requests = case(slo=absolute(("ttft_s", 90, 0.3))), poisson_trace()
    capacity = found(asked, requests)
    assert capacity.probe.feasible
    assert capacity.probe.rate_req_per_s == capacity.rate_req_per_s
    k = grid_at_most(capacity.rate_req_per_s)
    assert capacity.rate_req_per_s == grid_rate(k)
    assert not at_rate(asked, requests, grid_rate(k + 1), name="oracle").feasible
    assert capacity.low_req_per_s <= capacity.rate_req_per_s <= capacity.high_req_per_s
    assert capacity.binding.limit == "ttft_p90"


def test_a_single_server_holds_what_queueing_theory_says():
    """One request a batch, 0.1 s each: M/D/1, whose mean wait is rho/(2(1 - rho)) services (Pollaczek-Khinchine)."""
    asked = case(
        scheduler={"kind": "vllm", "max_batch_tokens": 100},
        slo=absolute(("ttft_s", 50, 1000.0)),
    )
    capacity = found(asked, poisson_trace(3000, output=1))
    assert 8.5 < capacity.rate_req_per_s <= 10.0
    assert capacity.binding.limit == "unstable"
    at_half = at_rate(asked, poisson_trace(3000, output=1), 5.0, name="oracle").summary
    assert at_half.queue_s.mean == pytest.approx(0.1 * 0.5 / (2 * 0.5), rel=0.15)


@pytest.mark.parametrize("metric", ["tbt_s", "tpot_s"])
def test_limits_on_later_tokens_hold_as_far_as_the_queue_is_stable_where_no_request_has_any(metric):
    """M/D/1 as above: nothing counts for the SLO but stability."""
    scheduler = {"kind": "vllm", "max_batch_tokens": 100}
    capacity = found(case(scheduler=scheduler, slo=absolute((metric, 99, 0.1))), poisson_trace(3000, output=1))
    assert 8.5 < capacity.rate_req_per_s <= 10.0
    assert capacity.binding.limit == "unstable"


def test_looser_limits_hold_more():
    tight, loose = (found(case(slo=absolute(("ttft_s", 90, s))), poisson_trace()).rate_req_per_s for s in (0.3, 0.9))
    assert 0 < tight < loose


def test_an_slo_that_a_lone_request_misses_has_no_capacity():
    capacity = found(case(slo=absolute(("ttft_s", 50, 0.05))), poisson_trace())
    assert capacity.rate_req_per_s == 0.0
    assert capacity.probe.summary.slo.limits[0].value == pytest.approx(0.1)
    assert capacity.binding.limit == "ttft_p50"
    assert any("does not hold even at" in warning for warning in capacity.warnings)
    assert capacity.simulations <= 8


def test_a_short_trace_is_used_once_and_said_so():
    capacity = found(case(slo=absolute(("ttft_s", 90, 0.5))), poisson_trace())
    assert any("the workload has 600 requests" in warning for warning in capacity.warnings)


def test_a_trace_too_short_to_overload_says_so():
    asked = case(slo=absolute(("tpot_s", 50, 1000.0)))
    capacity = found(asked, trace([0.0, 1.0, 2.0], [10, 10, 10], [2, 2, 2]))
    assert any("too short to overload" in warning for warning in capacity.warnings)


def test_a_seed_redraws_poisson_arrivals_and_the_cases_own_is_the_default():
    asked, requests = case(slo=absolute(("ttft_s", 90, 0.5)), arrivals="poisson"), poisson_trace()
    each = [found(asked, requests, seed=seed).rate_req_per_s for seed in (0, 1, 2)]
    assert len(set(each)) > 1
    assert each[asked.seed] == found(asked, requests).rate_req_per_s


def test_the_same_question_has_the_same_answer():
    asked, requests = case(slo=absolute(("ttft_s", 90, 0.5))), poisson_trace(300)
    first, second = found(asked, requests), found(asked, requests)
    assert (first.rate_req_per_s, first.low_req_per_s) == (second.rate_req_per_s, second.low_req_per_s)


def test_gaps_have_no_bootstrap_and_say_what_the_interval_is():
    asked = case(slo=absolute(("tbt_s", 99, 0.14)), latency={**CURVE, "hybrid_s": [0.1, 0.3]})
    capacity = found(asked, poisson_trace(300))
    assert capacity.rate_req_per_s > 0
    assert capacity.interval == "resolution"


def test_a_trace_without_a_rate_is_refused():
    with pytest.raises(TraceError, match="at one instant"):
        found(case(), trace([1.0, 1.0], [10, 10], [2, 2]))


def test_a_design_that_does_not_fit_is_refused_with_the_reason():
    with pytest.raises(SpecError, match="does not fit"):
        found(
            case(model="bloom-176b", pools=[{"role": "mixed", "machine": "dgx-h100", "tensor_parallel": 1}]),
            poisson_trace(20),
        )


def test_a_rate_is_simulated_once():
    prober = Prober.of(case(), poisson_trace(50), 0, "oracle")
    assert prober.probe(1.0, 50) is prober.probe(1.0, 9999)
    assert len(prober.done) == 1


@pytest.mark.parametrize("requests", [1, 7, 40, 41, 999])
@pytest.mark.parametrize("percentile", [1, 50, 99.5, 100])
def test_a_resampled_percentile_is_that_of_the_drawn_blocks_joined(requests, percentile):
    random = np.random.default_rng(requests)
    blocks = min(BLOCKS, requests)
    size = requests // blocks
    picks = np.random.default_rng(SEED).integers(0, blocks, (RESAMPLES, blocks))
    for values in (random.exponential(1.0, requests), random.integers(0, 3, requests).astype(float)):
        values[random.random(requests) < 0.1] = np.inf
        joined = np.sort(values[: blocks * size].reshape(blocks, size)[picks].reshape(RESAMPLES, -1), axis=1)
        expected = joined[:, rank(percentile, blocks * size) - 1]
        assert np.array_equal(resampled(values, percentile), expected)


def test_resampled_percentiles_scatter_around_the_percentile():
    values = np.random.default_rng(2).exponential(1.0, 8000)
    spread = resampled(values, 99)
    assert np.mean(spread) == pytest.approx(np.log(100), rel=0.05)
    # the standard error of a quantile: sqrt(p(1 - p)/n) / density
    assert np.std(spread) == pytest.approx(np.sqrt(0.99 * 0.01 / 8000) / 0.01, rel=0.5)
