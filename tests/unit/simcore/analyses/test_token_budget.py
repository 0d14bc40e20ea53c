"""The token budget's section, from made-up runs whose figures can be worked out by hand."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from simcore.analyses import analyse, token_budget
from simcore.analyses.key import analysis_key
from simcore.analyses.kind import Run
from simcore.catalogue import price_book
from simcore.evaluation import Evaluation
from simcore.fluid.workload_statistics import WorkloadStatistics
from simcore.spec import Case, PriceBook, SpecError
from tests.unit.simcore.analyses.subjects import NOTHING, MadeUp, held, rate_result, subject, times

CAPACITIES = {128: 20.0, 256: 60.0, 512: 75.0, 1024: 90.0, 4096: 40.0}


def budget(case: Case) -> int:
    assert isinstance(case.scheduler.token_budget, int)
    return case.scheduler.token_budget


def capacity(case: Case) -> Evaluation:
    rate = CAPACITIES[budget(case)]
    return held(rate, rate - 1, rate + 1)


def run(case: Case, rate: float) -> Run:
    """TBT grows with the budget, TTFT falls with it; 128 tokens cannot keep up."""
    tokens = budget(case)
    tbt, ttft = times(tokens / 1e5, tokens / 5e4, tokens / 1e4), times(51.2 / tokens, 102.4 / tokens, 512 / tokens)
    stable = tokens > 128
    result = rate_result(rate, met=CAPACITIES[tokens] >= rate, stable=stable)
    return Run(result, ttft, tbt, NOTHING, NOTHING, NOTHING)


def told(**parameters: Any) -> dict[str, Any]:
    return told_at(price_book("list"), **parameters)


def told_at(book: PriceBook, **parameters: Any) -> dict[str, Any]:
    given = {"budgets": [128, 256, 1024, 4096], **parameters}
    return analyse("token_budget", subject(book), MadeUp(capacity, run), given)


def priced(usd_per_hour: str) -> PriceBook:
    book = price_book("list")
    return replace(book, prices=tuple(replace(price, usd_per_hour=Decimal(usd_per_hour)) for price in book.prices))


def test_each_budget_has_its_capacity_and_its_tails() -> None:
    found = told()
    assert [row["token_budget"] for row in found["budgets"]] == [128, 256, 512, 1024, 4096]  # its own is among them
    assert [row["capacity_req_per_s"] for row in found["budgets"]] == list(CAPACITIES.values())
    assert [row["met"] for row in found["budgets"]] == [False, False, True, True, False]
    at_1024 = found["budgets"][3]
    assert (at_1024["tbt_p99_s"], at_1024["ttft_p50_s"]) == (0.1024, 0.05)
    assert at_1024["tokens_per_s_at_capacity"] == 1000.0


def test_the_words_say_what_is_best_what_holds_and_what_is_traded() -> None:
    assert told()["sentences"] == [
        "1,024 tokens hold most, 90 requests/s, 20 % more than 75 with its own 512 tokens.",
        "At 70 requests/s the SLO holds with 512 to 1,024 tokens.",
        "At 70 requests/s P99 TBT is shortest with 256 tokens, 25.6 ms, and longest with 4,096, 410 ms; P99 TTFT is"
        " shortest with 4,096 tokens, 125 ms, and longest with 256, 2 s.",
    ]


def test_a_difference_within_the_noise_is_called_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CAPACITIES, 1024, 76.5)
    assert told()["sentences"][0] == (
        "1,024 tokens hold most, 76.5 requests/s, against 75 with its own 512 tokens: within the noise of the"
        " simulation."
    )


def test_requests_for_a_dollar_are_of_the_prices_that_it_is_read_with() -> None:
    # 7 DGX H100, the cheapest Sarathi that holds 70 at 10 a machine, at $40 an hour each: 3600 x 75 / 280
    row = next(row for row in told_at(priced("40"))["budgets"] if row["is_yours"])
    assert row["req_per_usd"] == pytest.approx(3600 * 75 / 280)


def test_the_key_knows_no_money_and_no_names() -> None:
    keys = {
        analysis_key("token_budget", token_budget.task(asked, token_budget.Parameters()), "requests", "code")
        for asked in (subject(), subject(priced("99")), subject(pue=1.1))
    }
    assert len(keys) == 1
    other = token_budget.task(subject(), token_budget.Parameters(rate_req_per_s=60))
    assert analysis_key("token_budget", other, "requests", "code") not in keys


def test_a_design_may_be_named() -> None:
    asked = subject()
    eight = next(row for row in asked.result.rows if row.mixed_machines == 8)
    task = token_budget.task(asked, token_budget.Parameters(design=eight.design_id))
    assert {case.pools[0].machines for case in task.cases} == {8}


def test_it_takes_time_for_each_budget() -> None:
    asked = subject()
    some, more = (
        token_budget.cpu_s(token_budget.task(asked, token_budget.Parameters(budgets=budgets)), asked.statistics)
        for budgets in ((512,), (512, 1024, 2048))
    )
    assert isinstance(asked.statistics, WorkloadStatistics)
    assert 0 < 2 * some < more


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"budget": 5}, "parameters.budget: unknown key"),
        ({"budgets": []}, "parameters.budgets: found 0, expected 1 to 32"),
        ({"budgets": [0]}, r"parameters.budgets\[0\]: found 0, expected at least 1"),
        ({"design": "abc"}, "parameters.design: found 'abc', expected the id of a design of this study"),
        ({"rate_req_per_s": 0}, "parameters.rate_req_per_s: found 0, expected more than 0"),
    ],
)
def test_bad_parameters_are_named(parameters: dict[str, Any], complaint: str) -> None:
    with pytest.raises(SpecError, match=complaint):
        told(**parameters)


def test_a_split_design_has_no_budget_to_vary() -> None:
    asked = subject()
    split = next(row for row in asked.result.rows if row.scheduler == "splitwise")
    with pytest.raises(SpecError, match="has no token budget"):
        token_budget.task(asked, token_budget.Parameters(design=split.design_id))
    with pytest.raises(SpecError, match="no Sarathi or vLLM V1, 2025 design of this study was evaluated"):
        token_budget.task(subject(families=["splitwise:dgx-h100+dgx-a100"]), token_budget.Parameters())
