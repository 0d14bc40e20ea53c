"""Watts by machine: their sum is the run's own, and racks are sums of machines."""

from dataclasses import replace

import numpy as np
import pytest

from simcore.capacity.find import at_rate
from simcore.detail.machine_watts import machine_watts
from simcore.detail.racks import rack_watts
from simcore.engine.oracle import cluster as oracle
from simcore.latency.curve import PS_PER_S
from simcore.metrics.drawn_power import NJ_PER_J, idle_w
from tests.unit.simcore.detail.test_run_detail import CASES, RATE, case_of, traffic


@pytest.mark.parametrize("name", CASES)
def test_all_machines_together_draw_what_the_run_draws(name: str) -> None:
    case = case_of(name)
    probe = at_rate(case, traffic(), RATE, name="oracle")
    seconds = (10, 60)
    run = oracle.run(replace(probe.inputs, log_ps=(seconds[0] * PS_PER_S, seconds[1] * PS_PER_S)))
    assert run.log is not None
    drawn = machine_watts(case, probe.inputs, run.log, seconds)
    ours = sum(pool.sum(axis=0) for pool in drawn)
    theirs = run.energy_by_second_nj[slice(*seconds)] / NJ_PER_J + idle_w(case)
    assert np.asarray(ours) == pytest.approx(theirs, rel=1e-5)  # times floored to whole microseconds
    assert theirs.max() > idle_w(case)
    assert [len(pool) for pool in drawn] == [pool.machines for pool in case.pools]


def test_a_replica_over_several_machines_draws_from_each_alike() -> None:
    pools = [{"role": "mixed", "machine": "dgx-h100", "machines": 4, "tensor_parallel": 8, "pipeline_parallel": 2}]
    case = case_of("sarathi", pools=pools)
    probe = at_rate(case, traffic(), RATE, name="oracle")
    run = oracle.run(replace(probe.inputs, log_ps=(10 * PS_PER_S, 30 * PS_PER_S)))
    assert run.log is not None
    (drawn,) = machine_watts(case, probe.inputs, run.log, (10, 30))
    assert np.array_equal(drawn[0], drawn[1])
    assert np.array_equal(drawn[2], drawn[3])
    assert not np.array_equal(drawn[0], drawn[2])


def test_racks_are_machines_side_by_side() -> None:
    pools = [{"role": "mixed", "machine": "dgx-h100", "machines": 3, "tensor_parallel": 8}]
    case = case_of("sarathi", pools=pools)
    (pool,) = rack_watts(case, traffic(), 12.0, [8], "oracle")
    assert [rack["machines"] for rack in pool["racks"]] == [1, 2, 3]
    one, two, three = pool["racks"]
    assert one["p99_w"] <= one["most_w"] <= two["most_w"] <= 2 * one["most_w"]
    assert pool["mean_w"] < one["p99_w"]
    assert 3 * pool["mean_w"] < three["p99_w"] <= three["most_w"]
    assert rack_watts(case, traffic(), 12.0, [2], "fast")[0]["racks"] == pool["racks"][:2]
