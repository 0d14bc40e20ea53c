"""Line B: what the answer is compared with."""

import re
from dataclasses import replace

import pytest

from simcore.answer.against import against
from simcore.answer.result import study_result
from simcore.answer.why_not import why_not
from simcore.catalogue import price_book
from simcore.evaluation import Evaluation
from simcore.trust.margins import Margin
from tests.unit.simcore.answers import BOTH_ON_H100, EACH, answered, texts
from tests.unit.simcore.questions import asked, explored


def test_b_compares_with_the_best_of_the_other_kind():
    text = texts(answered())["B"].text
    assert text.startswith("Costs 42 % less than the best co-located design, Sarathi on 35 DGX H100, 512-token budget.")


def test_b_does_not_call_a_split_rival_the_best_of_its_kind_for_its_cheapest_pair_was_not_looked_for():
    text = texts(answered({"sarathi:dgx-h100": (9.0,), "splitwise:dgx-h100+dgx-a100": (6.0, 4.0)}))["B"].text
    assert re.match(r"Costs \d+ % less than the best phase-split design tried, \d+ DGX H100 prefill \+", text), text


def test_b_does_not_call_a_rival_the_best_of_its_kind_where_one_machine_less_was_not_tried():
    context = asked()
    designs, done = explored(context, EACH)
    whole = study_result(context.spec, designs, done, price_book("splitwise-2023"))
    rival = next(row for row in whole.best_by_family if row.family == "sarathi:dgx-h100")
    fewer = {row.design_id for row in whole.rows if row.family == rival.family and not row.met}
    known = {name: found for name, found in done.items() if name not in fewer}
    text = texts(study_result(context.spec, designs, known, price_book("splitwise-2023")))["B"].text
    assert text.startswith(f"Costs 42 % less than the best co-located design tried, {rival.label}."), text


def test_b_says_of_the_most_throughput_how_much_more_is_held():
    result = answered(goal="throughput")
    assert result.winner.family.startswith("splitwise")
    other = next(row for row in result.best_by_family if row.family == "sarathi:dgx-h100")
    held, others = result.winner.capacity_req_per_s, other.capacity_req_per_s
    more = f"{100 * (held / others - 1):.0f} %"
    text = against(replace(result, margins={}), result.winner, True)
    assert text.startswith(f"Holds {more} more requests/s than the best co-located design"), text
    wide = Margin(100.0, 3.0, 0.5, ())
    text = against(
        replace(result, margins=dict.fromkeys((result.winner.design_id, other.design_id), wide)), result.winner, True
    )
    assert re.match(rf"Holds {more} more requests/s \([\d,]+ % more to \d+ % fewer\) than the best", text), text
    assert f"{100 * (1 - others / held):.0f} % fewer requests/s than the answer" in why_not(result, other)


def test_b_claims_no_range_where_neither_takes_other_machines_whatever_they_hold():
    """At a rate far below what the smallest designs hold."""
    result = answered({"sarathi:dgx-h100": (2.0,), "splitwise:dgx-h100+dgx-a100": (6.0, 4.0)}, rate_req_per_s=0.5)
    other = next(row for row in result.best_by_family if row.family.startswith("splitwise"))
    assert (result.winner.mixed_machines, other.prefill_machines, other.decode_machines) == (1, 1, 1)
    wide = dict.fromkeys((result.winner.design_id, other.design_id), Margin(2.0, 0.5, 0.5, ()))
    sure = replace(result, margins=wide, winner=replace(result.winner, capacity_low=1.0))
    assert re.match(r"Costs \d+ % less than the best phase-split", against(sure, sure.winner, True))
    unsure = replace(sure, winner=replace(result.winner, capacity_low=0.4))
    assert re.match(r"Costs \d+ % less \(\d+ % less to \d+ % more\)", against(unsure, unsure.winner, True))


def test_nothing_that_costs_more_is_tied_where_neither_takes_other_machines():
    """What both hold at capacity may overlap; only what costs as much is tied, and larger ones of a kind never are."""
    each = {"sarathi:dgx-h100": (8.0,), "vllm:dgx-h100": (8.1,), "sarathi:dgx-a100": (6.0,)}
    context = asked(families=list(each), rate_req_per_s=0.5, counts={"mixed": [1, 2]})
    designs, done = explored(context, each)
    unsure = dict.fromkeys(done, Margin(8.0, 0.5, 0.5, ()))

    def tied(margins):
        found = study_result(context.spec, designs, done, price_book("list"), margins=margins)
        return found, {row.label for row in found.rows if row.tied_with_answer}

    found, names = tied(unsure)
    assert found.winner.label.startswith("Sarathi on 1 DGX A100")
    assert names == set()
    assert against(found, found.winner, True).endswith(
        "No other is tied with the answer, whatever the capacities are within their intervals."
    )
    _, names = tied(dict.fromkeys(done, Margin(0.6, 3.0, 3.0, ())))
    assert names, "where the answer may not hold the rate"


def test_b_says_what_is_known_of_a_difference_that_stands():
    result = answered()
    other = next(row for row in result.best_by_family if row.family == "sarathi:dgx-h100")
    narrow = {result.winner.design_id: Margin(100.0, 0.1, 0.05, ()), other.design_id: Margin(100.0, 0.0, 0.0, ())}
    text = against(replace(result, margins=narrow), result.winner, True)
    assert text.startswith("Costs 42 % (36 to 45) less than the best co-located design"), text


def test_b_says_in_words_that_what_is_known_may_turn_it_round():
    result = answered()
    other = next(row for row in result.best_by_family if row.family == "sarathi:dgx-h100")
    names = (result.winner.design_id, other.design_id)
    wide = Margin(100.0, 3.0, 0.5, ())
    text = against(replace(result, margins=dict.fromkeys(names, wide)), result.winner, True)
    assert re.match(r"Costs 42 % less \(\d\d % less to 1,1\d\d % more\) than the best co-located design", text), text


@pytest.mark.parametrize(
    ("bound", "words"),
    [(1.0, "No phase-split design tried holds the rate"), (80.0, "screened designs that may were not run at it.")],
)
def test_b_claims_nothing_of_designs_that_were_not_run_at_the_rate(bound, words):
    context = asked()
    designs, done = explored(context, {"sarathi:dgx-h100": (2.0,), "splitwise:dgx-h100+dgx-a100": (0.1, 0.1)})
    split = [design.design_id for design in designs if len(design.case.pools) == 2]
    done |= {name: Evaluation(name, "screened", "a better one uses no more", capacity_high=bound) for name in split}
    text = texts(study_result(context.spec, designs, done, price_book("splitwise-2023")))["B"].text
    assert words in text


def test_b_calls_best_what_was_run_where_a_cheaper_design_was_not():
    context = asked()
    designs, done = explored(context, EACH)
    prices = price_book("splitwise-2023")
    row = texts(study_result(context.spec, designs, done, prices))["B"].text
    cheap = min((design for design in designs if len(design.case.pools) == 1), key=lambda d: d.case.pools[0].machines)
    done[cheap.design_id] = Evaluation(cheap.design_id, "screened", "a better one uses no more", capacity_high=1e4)
    text = texts(study_result(context.spec, designs, done, prices))["B"].text
    assert text == row.replace("the best co-located design,", "the best co-located design run at that rate,") != row


THREE = {**EACH, "sarathi:dgx-a100": (1.5,)}


@pytest.mark.parametrize(
    ("bound", "words"),
    [
        (60.0, "Third: Sarathi on"),
        (80.0, "; 1 screened design that may come before it holds at most 80 requests/s."),
    ],
)
def test_b_says_of_the_next_family_what_is_known_of_designs_not_run_at_the_rate(bound, words):
    context = asked(families=list(THREE))
    designs, done = explored(context, THREE)
    prices = price_book("splitwise-2023")
    plain = study_result(context.spec, designs, done, prices)
    following = plain.best_by_family[2]
    assert following.family == "sarathi:dgx-h100"
    cheap = min(
        (row for row in plain.rows if row.family == following.family), key=lambda row: (row.usd_per_hour, row.design_id)
    )
    assert cheap.usd_per_hour < following.usd_per_hour
    done[cheap.design_id] = Evaluation(cheap.design_id, "screened", "a better one uses no more", capacity_high=bound)
    text = texts(study_result(context.spec, designs, done, prices))["B"].text
    assert words in text
    assert ("Third of those run at that rate: " in text) == (bound > 70)


def test_b_says_that_both_kinds_cost_as_much():
    result = answered({"sarathi:dgx-h100": (4.0,), "splitwise:dgx-h100+dgx-h100": (8.0, 8.0)}, families=BOTH_ON_H100)
    assert texts(result)["B"].text.startswith("Costs as much as the best ")


def test_b_says_when_no_other_kind_holds_the_rate():
    result = answered({"sarathi:dgx-h100": (0.5,), "splitwise:dgx-h100+dgx-a100": (6.0, 4.0)})
    assert "No co-located design tried holds the rate within the limits." in texts(result)["B"].text


def test_b_says_nothing_of_a_kind_that_was_not_tried():
    result = answered(families=["splitwise:dgx-h100+dgx-a100"])
    assert "B" not in texts(result)


def test_b_says_that_nothing_else_reaches_the_answer():
    assert texts(answered())["B"].text.endswith(" No other's interval of requests a dollar reaches the answer's.")


def test_b_names_what_is_tied_with_the_answer_and_what_decides():
    result = answered()
    rows = tuple(replace(row, tied_with_answer=row is not result.winner) for row in result.best_by_family)
    result = replace(result, best_by_family=rows)
    assert texts(result)["B"].text.endswith(
        " Sarathi on 35 DGX H100, 512-token budget is tied with the answer: what is known of simulation and times does"
        " not tell their requests a dollar apart; the least cost decides."
    )
