"""Where splitting pays: both sides' best by a made-up rule, and what is told of them."""

from __future__ import annotations

from typing import Any

import pytest

from simcore.analyses import analyse, kind_of, parameters_of
from simcore.analyses.contest import Contest
from simcore.analyses.where_splitting_pays import Spender
from simcore.evaluation import Evaluation
from simcore.fluid.workload_statistics import WorkloadStatistics
from simcore.spec import Case, SlowdownSlo, SpecError
from simcore.traces import Trace
from simcore.traces.stretch import stretched
from tests.unit.simcore.analyses.subjects import held, subject

BOTH = ["sarathi:dgx-h100", "splitwise:dgx-h100+dgx-h100"]
GRID = {"multipliers": [0.5, 1.0], "outputs": [1.0, 2.0]}


class Rule:
    """A lab whose designs hold by a rule: co-located 0.6 requests/s a machine, less under a tight SLO; split ones what
    their smaller side allows, 1 a prefill machine and, with outputs as they are, 2 a decode machine."""

    def __init__(self, trace: Trace, outputs: float = 1.0) -> None:
        self.trace, self.outputs = trace, outputs
        self.statistics = WorkloadStatistics.of(trace)
        self.asked: list[str] = []

    def with_lengths(self, prompts: float, outputs: float) -> Rule:
        other = Rule(stretched(self.trace, prompts, outputs), outputs)
        other.asked = self.asked
        return other

    def rate(self, case: Case) -> float:
        assert isinstance(case.slo, SlowdownSlo)
        counts = [pool.machines or 0 for pool in case.pools]
        if len(counts) == 1:
            return 0.6 * counts[0] * min(case.slo.multiplier, 1.0)
        return min(1.0 * counts[0], 2.0 * counts[1] / self.outputs)

    def holds(self, case: Case, rate_req_per_s: float) -> bool:
        self.asked.append("holds")
        return self.rate(case) >= rate_req_per_s

    def capacity(self, case: Case) -> Evaluation:
        self.asked.append("capacity")
        return held(self.rate(case))


def about() -> Any:
    """The answer: 12 machines, co-located."""
    return subject(each=6.0, counts={"mixed": [10, 12, 13], "prefill": [6], "decode": [6]}, families=BOTH)


@pytest.fixture
def told() -> dict[str, Any]:
    asked = about()
    return analyse("where_splitting_pays", asked, Rule(asked.statistics.trace), GRID)


def test_each_cell_compares_the_best_of_both_sides(told: dict[str, Any]) -> None:
    """At outputs × 1 twelve machines split as 8 + 4 hold 8, together 7.2, half of it under the tight SLO; at × 2 as
    6 + 6 they hold 6."""
    (tight, tight_long), (asked, long) = told["cells"]
    assert asked["split"]["label"] == "8 DGX H100 prefill + 4 DGX H100 decode"
    assert asked["ratio"] == pytest.approx(40 / 36)
    assert tight["ratio"] == pytest.approx(40 / 18)
    assert long["split"]["label"] == "6 DGX H100 prefill + 6 DGX H100 decode"
    assert long["ratio"] == pytest.approx(30 / 36)
    assert tight_long["ratio"] == pytest.approx(30 / 18)


def test_the_sentences_say_what_the_cells_do(told: dict[str, Any]) -> None:
    yours, where, most = told["sentences"]
    assert yours.startswith("As you ask, splitting costs 10 % less a request: 8 DGX H100 prefill + 4 DGX H100 decode")
    assert where == "Of 4 pairs of SLO and lengths splitting is cheaper in 3, co-located in 1."
    assert most.startswith("It saves most, 55 %, at 0.5 times the SLO’s limits and 1 times")
    assert told["you"] == [1, 0]
    one, two = told["output_over_input"]
    assert two == pytest.approx(2 * one, rel=0.02)


def test_what_cannot_win_is_not_searched(told: dict[str, Any]) -> None:
    asked = about()
    rule = Rule(asked.statistics.trace)
    analyse("where_splitting_pays", asked, rule, GRID)
    assert rule.asked.count("capacity") < rule.asked.count("holds") + 2 * 4
    kind = kind_of("where_splitting_pays")
    assert len(rule.asked) <= kind.steps(kind.task(asked, parameters_of(kind, GRID)))


def test_where_nothing_holds_there_is_no_best() -> None:
    class Never(Rule):
        def rate(self, case: Case) -> float:
            return 0.0

    asked = about()
    contenders = [Spender(d.case, (36.0,) * len(d.case.pools), 400.0) for d in asked.result.designs.values()]
    best = Contest(Never(asked.statistics.trace), contenders).winner()
    assert best.contender == -1


def test_a_question_of_one_side_is_refused() -> None:
    asked = subject(families=["sarathi:dgx-h100"])
    with pytest.raises(SpecError, match="none of the question's families is split"):
        analyse("where_splitting_pays", asked, Rule(asked.statistics.trace), {})


def test_lengths_are_multiplied_and_stay_lengths() -> None:
    given = Trace.of("t", [0, 1, 2], [10, 100, 3], [1, 7, 200], [9, 0, 0], [0, 8, 200])
    shorter = stretched(given, prompts=0.5, outputs=0.25)
    assert shorter.prompt_tokens.tolist() == [5, 50, 2]
    assert shorter.output_tokens.tolist() == [1, 2, 50]
    assert shorter.cached_prompt_tokens.tolist() == [4, 0, 0]
    assert shorter.max_output_tokens.tolist() == [0, 2, 50]
    assert stretched(given).content_hash() == given.content_hash()
