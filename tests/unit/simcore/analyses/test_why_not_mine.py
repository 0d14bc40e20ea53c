"""A design that was typed in is told in a sentence beside the answer."""

from typing import Any

import pytest

from simcore.analyses import analyse, kind_of, parameters_of
from simcore.analyses.kind import Run
from simcore.spec import Case, SpecError
from tests.unit.simcore.analyses.subjects import NOTHING, MadeUp, held, rate_result, subject

SARATHI = {"family": "sarathi:dgx-h100", "tensor_parallel": 8}


def lab(capacity: float, met: bool) -> MadeUp:
    def run(case: Case, rate: float) -> Run:
        return Run(rate_result(rate, met=met), *[NOTHING] * 5)

    return MadeUp(lambda case: held(capacity), run)


def said(capacity: float, met: bool, **given: Any) -> str:
    text: str = analyse("why_not_mine", subject(), lab(capacity, met), {**SARATHI, **given})["sentences"][0]
    return text


def test_one_that_misses_says_which_limit_at_which_rate() -> None:
    text = said(50.0, False, machines=5)
    assert text.startswith(
        "Sarathi on 5 DGX H100, 512-token budget is not the answer: it misses P90 TTFT slowdown, 4× of 3×"
    )
    assert "at 70 requests/s (it holds 50)" in text


def test_one_that_holds_says_what_it_costs_more() -> None:
    assert "more cost than the answer" in said(100.0, True, machines=9)


def test_one_that_comes_before_the_answer_says_so() -> None:
    text = said(75.0, True, machines=6)
    assert "comes before the answer: costs 14 % less than Sarathi on 7 DGX H100" in text


def test_one_that_the_study_has_is_told_at_once() -> None:
    about = subject()
    kind = kind_of("why_not_mine")
    given = parameters_of(kind, {**SARATHI, "machines": 4})
    task = kind.task(about, given)
    assert kind.cpu_s(task, about.statistics) == 0
    assert "misses" in kind.told(about, given, task, {})["sentences"][0]
    given = parameters_of(kind, {**SARATHI, "machines": 7})
    assert kind.told(about, given, kind.task(about, given), {})["sentences"][0].endswith("is the answer.")


def test_without_a_budget_it_is_the_best_tried_one() -> None:
    about = subject(scheduler_options={"token_budgets": [256, 512, 1024]})
    kept = {row.design_id: row for row in about.result.rows}
    best = max(
        (row for row in kept.values() if row.family == "sarathi:dgx-h100" and row.req_per_usd),
        key=lambda row: row.req_per_usd or 0.0,
    )
    told = analyse("why_not_mine", about, lab(50.0, False), {"family": "sarathi:dgx-h100", "machines": 6})
    assert told["row"]["token_budget"] == best.token_budget


def test_any_family_of_the_machines_will_do() -> None:
    told = analyse(
        "why_not_mine",
        subject(),
        lab(80.0, True),
        {"family": "splitwise:dgx-a100+dgx-h100", "prefill_machines": 3, "decode_machines": 4},
    )
    assert told["row"]["prefill_machine"] == "dgx-a100"
    assert (told["row"]["prefill_machines"], told["row"]["decode_machines"]) == (3, 4)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({}, "parameters.family: missing"),
        ({"family": "sarathi:dgx-h100"}, "parameters.machines: missing"),
        ({"family": "splitwise:dgx-h100+dgx-h100", "prefill_machines": 2}, "parameters.decode_machines: missing"),
        ({"family": "sarathi:dgx-b200", "machines": 2}, "expected one of the study's machines"),
        ({"family": "sarathi:dgx-h100", "machines": 2, "tensor_parallel": 1}, "cannot run"),
    ],
)
def test_what_cannot_be_formed_says_why(given: dict[str, Any], reason: str) -> None:
    with pytest.raises(SpecError, match=reason):
        analyse("why_not_mine", subject(), lab(80.0, True), given)


def test_the_form_offers_the_answer_s_family_first() -> None:
    family = next(field for field in kind_of("why_not_mine").fields if field.name == "family")
    assert family.choices is not None
    choices = family.choices(subject())
    assert choices[0] == ("sarathi:dgx-h100", "Sarathi, DGX H100")
    assert ("splitwise:dgx-a100+dgx-h100", "Split, DGX A100 + DGX H100") in choices


def test_a_degree_typed_in_stands_in_place_of_the_listed_ones() -> None:
    about = subject(scheduler_options={"token_budget": 512, "tensor_parallels": [8]})
    given = {"family": "splitwise:dgx-h100+dgx-a100", "prefill_machines": 20, "decode_machines": 20}
    for typed in ({}, {"tensor_parallel": 8}, {"decode_tensor_parallel": 8}):
        row = analyse("why_not_mine", about, lab(50.0, False), {**given, **typed})["row"]
        assert (row["tensor_parallel"], row["decode_tensor_parallel"]) == (8, 8)
