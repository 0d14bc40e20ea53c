"""What an evaluation is predicted to take, against what is known of it without a clock."""

from dataclasses import replace

import pytest

from simcore.evaluation import Design
from simcore.fluid.bounds import WorkloadStatistics
from simcore.search.cost import RUN_S, RUNS, predicted_cpu_s
from simcore.spec import MemorySpec, decode_case
from tests.unit.simcore.questions import asked

CONTEXT = asked(
    workload={"synthetic": {"mix": "conversation", "rate_req_per_s": 70, "requests": 200_000, "seed": 1}},
    counts={"mixed": [4, 40, 400], "prefill": [4, 40, 400], "decode": [4, 40, 400]},
)
STATISTICS = WorkloadStatistics.of(CONTEXT.trace)
DESIGNS = [CONTEXT.design(index) for index in range(len(CONTEXT.candidates))]


def cost(design: Design, statistics: WorkloadStatistics = STATISTICS, runs: float = RUNS) -> float:
    return predicted_cpu_s(design.case, statistics, runs)


def test_more_machines_hold_more_and_so_take_longer_until_the_workload_has_no_more_requests() -> None:
    together = [cost(design) for design in DESIGNS if len(design.case.pools) == 1]
    assert together == sorted(together)
    assert together[0] < together[1] < 20 * together[0]
    short = replace(STATISTICS, requests=10_000)
    assert len({cost(design, short) for design in DESIGNS if len(design.case.pools) == 1}) == 1


def test_a_split_design_takes_longer_than_one_of_the_same_requests_together() -> None:
    short = replace(STATISTICS, requests=10_000)
    one = {len(design.case.pools): cost(design, short) for design in DESIGNS}
    assert one[2] > one[1]


def test_runs_multiply() -> None:
    assert cost(DESIGNS[0], runs=5 * RUNS) == pytest.approx(5 * cost(DESIGNS[0]))


def test_what_cannot_run_takes_next_to_nothing() -> None:
    case = replace(DESIGNS[0].case, memory=MemorySpec(usable=0.01))
    assert predicted_cpu_s(case, STATISTICS) >= RUN_S
    unknown = decode_case(
        {"model": "nothing", "pools": [{"role": "mixed", "machine": "x"}], "scheduler": {"kind": "vllm"}}
    )
    assert predicted_cpu_s(unknown, STATISTICS) == RUN_S
