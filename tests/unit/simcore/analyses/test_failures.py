"""Loss of machines, from made-up runs: 10 requests/s a machine of the smaller pool."""

from dataclasses import replace
from typing import Any

import pytest

from simcore.analyses import analyse, failures
from simcore.analyses.kind import Run
from simcore.evaluation import Evaluation
from simcore.spec import Case, SpecError, encode
from simcore.words import number
from tests.unit.simcore.analyses.subjects import NOTHING, MadeUp, held, rate_result, subject


def capacity(case: Case) -> Evaluation:
    rate = 10.0 * min(pool.machines or 1 for pool in case.pools)
    return held(rate, rate - 1, rate + 1)


def run(case: Case, rate: float) -> Run:
    """At the rate."""
    met = capacity(case).capacity_req_per_s >= rate
    return Run(rate_result(rate, met=met), NOTHING, NOTHING, NOTHING, NOTHING, NOTHING)


def failure(case: Case, rate: float, pool: int, machines: int) -> dict[str, Any]:
    """Got over in 5 s a machine where one is lost; two are never got over."""
    kept = machines == 1
    limits = [encode(limit) for limit in rate_result(rate, met=kept).limits]
    times = {"measured_s": 60.0, "requests": 600, "recovered_s": 5.0 if kept else None}
    return {"lost_replicas": machines, "met": kept, "stable": machines < 4, "limits": limits, **times}


def told(mixed: int = 8, **parameters: Any) -> dict[str, Any]:
    asked = subject(counts={"mixed": [mixed], "prefill": [7], "decode": [7]})
    return analyse("failures", asked, MadeUp(capacity, run, failure=failure), parameters)


def test_what_is_left_after_each_loss() -> None:
    rows = told()["losses"]
    # of 8 DGX H100, four to a rack
    assert [(row["lost"], row["rack"], row["left"], row["capacity_req_per_s"], row["holds"]) for row in rows] == [
        (1, False, 7, 70.0, True),
        (2, False, 6, 60.0, False),
        (4, True, 4, 40.0, False),
    ]
    assert rows[2]["served_share"] == pytest.approx(40 / 70)


def test_the_words_say_what_is_survived() -> None:
    assert told()["sentences"] == [
        "Without 1 DGX H100 (mixed) it holds 70 requests/s, enough; as they fail the SLO is kept, and after 5 s"
        " requests are served as before.",
        "Without 2 DGX H100 (mixed) it holds 60 requests/s, not the 70 asked for; in the 60 s after they fail the SLO"
        " is missed (P90 TTFT slowdown), and nothing is as before by then.",
        "Without a rack of 4 DGX H100 (mixed) it holds 40 requests/s, not the 70 asked for; as they fail the queue"
        " grows without end.",
        f"The design is N+1: whichever one machine is lost, it holds the rate, though at its interval’s low end only"
        f" {number(told()['losses'][0]['capacity_low'])} requests/s.",
    ]


def test_near_the_rate_the_run_at_it_decides() -> None:
    """7 machines hold 70 by the search, and miss it in the run."""
    missing = lambda case, rate: replace(run(case, rate), result=rate_result(rate, met=False))  # noqa: E731
    asked = subject(counts={"mixed": [8], "prefill": [7], "decode": [7]})
    found = analyse("failures", asked, MadeUp(capacity, missing, failure=failure), {"machines": [1]})
    assert found["losses"][0]["capacity_req_per_s"] == 70.0
    assert not found["losses"][0]["holds"]


def test_what_one_more_machine_of_each_pool_costs() -> None:
    found = told(mixed=7, machines=[1])
    # one DGX H100 at $36 an hour, 730 h
    assert found["one_more_of_each"] == {"machines": {"DGX H100": 1}, "usd_per_month": "26280.00"}
    assert found["sentences"][-1] == (
        "With 1 DGX H100 more, $26,300 a month, the loss of any one machine would leave what holds the rate."
    )


def test_each_pool_of_a_split_design_loses_its_own() -> None:
    asked = subject()
    split = next(row for row in asked.result.rows if row.scheduler == "splitwise")
    given = {"design": split.design_id, "machines": [1]}
    rows = analyse("failures", asked, MadeUp(capacity, run, failure=failure), given)["losses"]
    assert [(row["pool"], row["lost"], row["left"]) for row in rows] == [
        ("prefill", 1, 6),
        ("prefill", 4, 3),
        ("decode", 1, 6),
        ("decode", 4, 3),
    ]


def test_a_pool_of_one_machine_is_lost_whole_and_not_simulated() -> None:
    asked = subject(
        counts={"mixed": [1], "prefill": [1], "decode": [1]}, rate_req_per_s=5, families=["sarathi:dgx-h100"]
    )
    found = analyse("failures", asked, MadeUp(), {})
    assert [(row["lost"], row["left"], row["failing"]) for row in found["losses"]] == [(1, 0, None)]
    assert found["sentences"][0] == "Without 1 DGX H100 (mixed) its mixed pool is gone: nothing is promised."
    assert failures.cpu_s(failures.task(asked, failures.Parameters()), asked.statistics) == 0


def test_a_machine_without_a_rack_has_no_rack_to_lose() -> None:
    task = failures.task(subject(), failures.Parameters())
    pool = replace(task.case.pools[0], machine=replace(task.case.pools[0].machine, machines_per_rack=None))
    case = replace(task.case, pools=(pool,))
    assert [loss.machines for loss in failures._losses(case, 0, failures.Parameters(machines=(1, 3)))] == [1, 3]


@pytest.mark.parametrize("machines", [[], [0], list(range(1, 12))])
def test_odd_losses_are_refused(machines: list[int]) -> None:
    with pytest.raises(SpecError, match=r"parameters\.machines"):
        told(machines=machines)
