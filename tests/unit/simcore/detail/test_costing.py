"""What money takes of runs: time of mixed batches by what each part would need alone, and throughput at saturation."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from simcore.capacity.find import at_rate, find_capacity
from simcore.detail.costing import costing, mean_context, prompt_shares
from simcore.engine.outputs import log_in_order
from simcore.fluid.workload_statistics import WorkloadStatistics
from simcore.latency.curve import BatchKind, IterationCurve
from simcore.traces import Trace
from tests.unit.simcore.detail.test_run_detail import RATE, case_of, traffic


@pytest.mark.parametrize("name", ["sarathi", "splitwise"])
def test_both_engines_say_the_same(name):
    assert costing(case_of(name), traffic(), RATE, 6.0) == costing(case_of(name), traffic(), RATE, 6.0, "oracle")


def test_machines_that_never_wait_finish_more_than_they_hold_under_the_slo():
    case = case_of("sarathi")
    capacity = find_capacity(case, traffic()).rate_req_per_s
    saturation = costing(case, traffic(), RATE, capacity)["saturation_req_per_s"]
    assert saturation > capacity
    assert saturation > at_rate(case, traffic(), 3 * capacity).summary.throughput_req_per_s  # with its drain
    offered_more = costing(case, traffic(), RATE, 2 * capacity)["saturation_req_per_s"]
    assert saturation == pytest.approx(offered_more, rel=0.05)


def test_the_share_of_requests_within_the_slo_is_that_of_the_run():
    limits = {"kind": "attainment", "ttft_s": 0.3, "tpot_s": 0.03, "share": 0.9}
    case = case_of("sarathi", slo=limits)
    both, *_ = at_rate(case, traffic(), RATE).summary.slo.limits
    assert costing(case, traffic(), RATE, 6.0)["slo_attainment"] == pytest.approx(both.value, abs=1e-12)
    assert 0 < both.value < 1


@pytest.mark.parametrize("metric", ["ttft_s", "tbt_s"])
def test_of_a_percentile_at_least_its_share_is_within_the_value_that_it_came_to(metric):
    limits = [{"metric": metric, "percentile": 90, "limit": 1.0}]
    (found,) = at_rate(
        case_of("sarathi", slo={"kind": "absolute", "limits": limits}), traffic(), RATE
    ).summary.slo.limits
    limits[0]["limit"] = found.value
    case = case_of("sarathi", slo={"kind": "absolute", "limits": limits})
    share = costing(case, traffic(), RATE, 6.0)["slo_attainment"]
    assert 0.9 <= share < 1
    limits[0]["limit"] = found.value * 0.999
    less = case_of("sarathi", slo={"kind": "absolute", "limits": limits})
    assert costing(less, traffic(), RATE, 6.0)["slo_attainment"] < 0.9


def test_pools_that_never_mix_have_no_share():
    assert costing(case_of("splitwise"), traffic(), RATE, 6.0)["prompt_share_of_mixed"] == [None, None]
    (share,) = costing(case_of("sarathi"), traffic(), RATE, 6.0)["prompt_share_of_mixed"]
    assert 0 < share < 1


def test_a_batch_is_split_by_what_each_part_takes_alone():
    # alone: 100 prompt tokens 100 ps and 20 of attention, 10 decodes 10 ps and 10 x (1 + 2 x 3) of context
    curve = IterationCurve((0, 1000), (0, 1000), (0, 1000), (0, 2000), 0, 0, 3, 1)
    took = 220 + 20 + 10 * (1 + 3 * 2)
    log = log_in_order(*(np.array([value]) for value in (0, 0, took, int(BatchKind.HYBRID), 110, 10)))
    assert prompt_shares(_one_replica(curve), log, 2.0, 1) == [pytest.approx(120 / (120 + 10 + 70))]


def test_a_decode_step_reads_the_prompt_and_what_was_generated():
    trace = Trace.of("made", np.array([0, 1]), np.array([10, 20]), np.array([3, 1]))
    assert mean_context(WorkloadStatistics.of(trace)) == 10.5  # steps at 10 and 11
    assert mean_context(WorkloadStatistics.of(Trace.of("made", np.array([0]), np.array([5]), np.array([1])))) == 0


def _one_replica(curve: IterationCurve) -> Any:
    return SimpleNamespace(replicas=[SimpleNamespace(pool=0, curve=curve)])
