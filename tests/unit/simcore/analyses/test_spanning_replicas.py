"""Questions whose replicas span machines: every analysis counts whole replicas."""

from typing import Any

import pytest

from simcore.analyses import Subject, kind_of, slo_cost, where_splitting_pays
from simcore.analyses.contest import Contest
from simcore.fleet import carried, pool_machines
from simcore.fluid.workload_statistics import WorkloadStatistics
from simcore.spec import Case
from tests.unit.simcore.analyses.subjects import held, subject

BOTH = ["sarathi:dgx-h100", "splitwise:dgx-h100+dgx-h100"]
TWO_EACH = {"tensor_parallel": 8, "pipeline_parallel": 2, "token_budget": 512}


@pytest.fixture(scope="module")
def asked() -> Subject:
    """4 machines, two replicas."""
    return subject(
        each=20.0,
        model="llama-3.1-70b",
        latency={"source": "roofline"},
        scheduler_options=TWO_EACH,
        families=BOTH,
        counts={"mixed": [4, 8], "prefill": [4], "decode": [4]},
    )


def is_whole(case: Case) -> bool:
    return all(carried(pool) and pool_machines(pool) % 2 == 0 for pool in case.pools)


@pytest.mark.parametrize("kind", ["token_budget", "racks", "growth", "failures", "week_hours", "slo_cost", "stress"])
def test_what_it_takes_is_told_before_it_is_asked(asked: Subject, kind: str) -> None:
    found: Any = kind_of(kind)
    task = found.task(asked, found.parameters())
    assert found.cpu_s(task, asked.statistics) >= 0


def test_sizes_under_another_slo_are_whole_replicas(asked: Subject) -> None:
    cases = slo_cost.task(asked, slo_cost.Parameters()).cases
    assert all(map(is_whole, cases))
    assert {pool_machines(case.pools[0]) for case in cases if len(case.pools) == 1} >= {2, 4, 6, 8}


def test_money_is_spent_on_whole_replicas(asked: Subject) -> None:
    task = where_splitting_pays.task(asked, where_splitting_pays.Parameters())
    assert where_splitting_pays.cpu_s(task, asked.statistics) > 0
    for spender in (*task.together, *task.split):
        assert is_whole(spender.as_large())
        for counts in spender.divisions():
            assert all(count % 2 == 0 and count > 0 for count in counts)
            moved = spender.moved(counts, 1) if len(counts) == 2 else None
            assert moved is None or (moved[0] == counts[0] + 2 and moved[1] % 2 == 0)


class Lab:
    """Designs hold 10 requests/s a replica of their smaller pool."""

    def __init__(self, statistics: WorkloadStatistics) -> None:
        self.statistics = statistics

    def holds(self, case: Case, rate_req_per_s: float) -> bool:
        return self.capacity(case).capacity_req_per_s >= rate_req_per_s

    def capacity(self, case: Case) -> Any:
        return held(10.0 * min(carried(pool) for pool in case.pools))


def test_machines_too_few_for_a_replica_hold_nothing(asked: Subject) -> None:
    task = where_splitting_pays.task(asked, where_splitting_pays.Parameters())
    best = Contest(Lab(asked.statistics), task.split).winner()  # type: ignore[arg-type]
    assert best.capacity_req_per_s >= 10.0
    assert is_whole(task.split[0].as_large())
