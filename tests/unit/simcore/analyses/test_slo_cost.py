"""What the SLO costs, from made-up runs whose figures can be worked out by hand."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from simcore.analyses import analyse, slo_cost
from simcore.analyses.key import analysis_key
from simcore.analyses.kind import Run
from simcore.evaluation import LimitResult
from simcore.families import label
from simcore.latency.curve import PS_PER_S
from simcore.slo import slack
from simcore.slo.latencies import Latencies
from simcore.spec import AttainmentSlo, Case, SlowdownSlo, SpecError
from tests.unit.simcore.analyses.subjects import NOTHING, MadeUp, rate_result, subject


class NoGaps:
    """Requests whose gaps nobody asks for."""

    total = 0

    def at_ranks(self, ranks: Sequence[int]) -> list[int]:
        return []


def run(case: Case, rate: float) -> Run:
    """Co-located: 7 over the machines, half of it with 128 tokens; split: 5 over those of the smaller pool."""
    counts = [pool.machines or 1 for pool in case.pools]
    least = 5 / min(counts) if len(counts) == 2 else 7 / counts[0]
    if case.scheduler.token_budget == 128:
        least /= 2
    return Run(rate_result(rate), NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, None if least > 1.6 else least)


def told(changes: dict[str, Any] | None = None, **parameters: Any) -> dict[str, Any]:
    return analyse("slo_cost", subject(**(changes or {})), MadeUp(run=run), parameters)


def by_multiple(found: dict[str, Any], kind: str) -> dict[float, str | None]:
    return {row["multiplier"]: row[kind] and row[kind]["design"] for row in found["multiples"]}


def test_the_cheapest_size_and_budget_at_each_multiple() -> None:
    found = told(multipliers=[0.25, 0.5, 1.0, 2.0], changes={"limits": {}})
    # 128 tokens: 3.5 / n <= m. Sizes about 7: 7 x 1.06^k, rounded: 4 to 17.
    assert by_multiple(found, "co_located") == {
        0.25: "Sarathi on 14 DGX H100, 128-token budget",
        0.5: "Sarathi on 7 DGX H100, 128-token budget",
        1.0: "Sarathi on 4 DGX H100, 128-token budget",
        2.0: "Sarathi on 4 DGX H100, 128-token budget",
    }
    assert by_multiple(found, "split")[1.0] == "5 DGX H100 prefill + 5 DGX A100 decode"
    assert by_multiple(found, "split")[0.25] is None  # 20 of each pool would: 7 x 1.06^15 is 17


def test_the_words_say_what_tighter_limits_cost() -> None:
    # $36 an hour x 730 h: 14 machines $367,920, 4 machines $105,120, the answer's 7 $183,960
    assert told(multipliers=[0.25, 2.0], changes={"limits": {}})["sentences"] == [
        "With limits 0.25 times as long Sarathi on 14 DGX H100, 128-token budget at $368,000 a month is the cheapest,"
        " 250 % more.",
        "With limits 2 times as long the rate costs the same.",
        "The study did not try Sarathi on 4 DGX H100, 128-token budget, which holds the rate for 43 % less.",
    ]


def test_where_the_cheaper_kind_changes_is_said() -> None:
    def own_budget(case: Case, rate: float) -> Run:
        """Co-located 7 / n with its own budget alone; split (5 / n) cubed of each of two pools."""
        least = run(case, rate).least_slo_multiplier
        if len(case.pools) == 2 and least is not None:
            return replace(run(case, rate), least_slo_multiplier=least**3)
        return replace(run(case, rate), least_slo_multiplier=least if case.scheduler.token_budget == 512 else None)

    found = analyse("slo_cost", subject(limits={}), MadeUp(run=own_budget), {"multipliers": [0.5, 1.0]})
    # $36 for a DGX H100 and $28 for a DGX A100: 14 x 36 = 504 > 7 x 64 = 448; 7 x 36 = 252 < 5 x 64 = 320
    assert by_multiple(found, "cheapest") == {
        0.5: "7 DGX H100 prefill + 7 DGX A100 decode",
        1.0: "Sarathi on 7 DGX H100, 512-token budget",
    }
    assert found["sentences"][-2:] == [
        "Limits 0.5 times as long cost co-located serving 2 times and split serving 1.4 times what the limits as they"
        " are cost it.",
        "Split serving is the cheaper up to 0.5 times, co-located serving from 1 times on.",
    ]


def test_the_questions_own_limits_are_kept() -> None:
    # 80 kW: 7 DGX H100 of 10.2 kW; only a half as tight fits
    found = told(multipliers=[0.25, 0.5], changes={"limits": {"power_limit_kw": 80}})
    assert by_multiple(found, "co_located")[0.25] is None
    assert by_multiple(found, "co_located")[0.5] == "Sarathi on 7 DGX H100, 128-token budget"
    assert (
        found["sentences"][0]
        == "With limits 0.25 times as long no design that was run holds the rate within the question’s limits."
    )


def test_multiples_and_prices_are_not_in_the_key() -> None:
    tasks = [
        slo_cost.task(subject(), slo_cost.Parameters()),
        slo_cost.task(subject(), slo_cost.Parameters((0.9,))),
        slo_cost.task(subject(pue=1.2), slo_cost.Parameters()),
    ]
    assert len({analysis_key("slo_cost", task, "requests", "code") for task in tasks}) == 1


def test_a_study_whose_limits_no_size_keeps_says_so() -> None:
    about = subject(limits={"power_limit_kw": 9, "power_kind": "nameplate"})
    with pytest.raises(SpecError, match="keeps the question's limits"):
        slo_cost.KIND.task(about, slo_cost.Parameters())


def test_a_study_without_an_answer_has_no_slo_to_move() -> None:
    with pytest.raises(SpecError, match="no design of this study has a capacity"):
        slo_cost.task(subject(each=0.0), slo_cost.Parameters())


@pytest.mark.parametrize("multipliers", [[], [0], [21.0]])
def test_odd_multipliers_are_refused(multipliers: list[float]) -> None:
    with pytest.raises(SpecError, match="multipliers"):
        told(multipliers=multipliers)


def test_of_limits_the_worst_decides() -> None:
    limits = [LimitResult("ttft_s", 99, 2.0, 1.0, True), LimitResult("tbt_s", 99, 0.1, 0.08, True)]
    assert slack.of_limits(limits) == pytest.approx(0.8)
    assert slack.of_limits([*limits, LimitResult("e2e_s", 50, 9.0, None, False)]) is None
    assert slack.least_multiplier(SlowdownSlo(), limits, served([1.0], [0.1])) == pytest.approx(0.8)


def test_of_an_attainment_the_same_request_meets_both() -> None:
    # over their limits of 2 s and 0.1 s: (0.5, 0.9), (0.6, 0.2), (0.1, 1.5), (2.0, 0.1)
    waited = served([1.0, 1.2, 0.2, 4.0], [0.09, 0.02, 0.15, 0.01])
    assert slack.least_multiplier(AttainmentSlo(2.0, 0.1, 0.75), [], waited) == pytest.approx(1.5)
    assert slack.least_multiplier(AttainmentSlo(2.0, 0.1, 0.5), [], waited) == pytest.approx(0.9)
    unfinished = replace(waited, done=np.array([True, True, True, False]))
    assert slack.least_multiplier(AttainmentSlo(2.0, 0.1, 1.0), [], unfinished) is None


def served(ttft_s: list[float], tpot_s: list[float]) -> Latencies:
    """Requests of 11 output tokens, all arriving at 0."""
    zeros = np.zeros(len(ttft_s), np.int64)
    first = np.array([round(t * PS_PER_S) for t in ttft_s], np.int64)
    finish = first + np.array([round(10 * t * PS_PER_S) for t in tpot_s], np.int64)
    done = np.ones(len(ttft_s), bool)
    return Latencies(zeros, zeros + 100, zeros, zeros + 11, zeros, first, finish, done, NoGaps(), 0)


def test_designs_are_called_as_a_study_calls_them() -> None:
    asked = subject()
    for design in asked.result.designs.values():
        counts = [pool.machines or 1 for pool in design.case.pools]
        assert label(design.case.scheduler, design.case.pools, counts) == design.label
