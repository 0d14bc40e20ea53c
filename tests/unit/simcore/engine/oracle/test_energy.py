"""Energy above idle: exact whole nanojoules."""

from simcore.engine.oracle.cluster import run
from simcore.engine.oracle.energy import power_mw
from simcore.latency.curve import IterationCurve
from tests.clusters import cluster, replica, scheduler

SLOW = IterationCurve((1,), (700_000_000_000,), (700_000_000_000,), (700_000_000_000,), 0, 0, 0, 0)
"""0.7 s a step."""


def test_power_is_linear_between_knots_and_flat_beyond() -> None:
    knots, values = (1, 11), (100, 205)
    assert [power_mw(knots, values, n) for n in (0, 1, 2, 6, 11, 50)] == [100, 100, 110, 152, 205, 205]


def test_energy_is_power_by_kind_times_whole_microseconds() -> None:
    machine = replica(curve=SLOW, power_mw=((3000,), (1000,), (2000,)))
    result = run(cluster(scheduler("sarathi"), [(0, 10, 2)], [machine]))
    assert result.replicas.energy_nj.tolist() == [3000 * 700_000 + 1000 * 700_000]


def test_the_cluster_s_series_splits_work_at_whole_seconds() -> None:
    machine = replica(curve=SLOW, power_mw=((3000,), (1000,), (2000,)))
    result = run(cluster(scheduler("sarathi"), [(0, 10, 3)], [machine, machine]))
    # prefill 0 to 0.7, decodes 0.7 to 1.4 and 1.4 to 2.1
    assert result.energy_by_second_nj.tolist() == [
        3000 * 700_000 + 1000 * 300_000,
        1000 * 1_000_000,
        1000 * 100_000,
    ]
    assert int(result.energy_by_second_nj.sum()) == int(result.replicas.energy_nj.sum())


def test_every_stage_draws() -> None:
    machine = replica(curve=SLOW, stages=2)
    result = run(cluster(scheduler("vllm"), [(0, 10, 1)], [machine]))
    assert result.replicas.energy_nj.tolist() == [2 * 1000 * 700_000]
