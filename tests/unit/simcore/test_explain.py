import re
from dataclasses import replace

import pytest

from simcore.answer.against import against
from simcore.answer.result import study_result
from simcore.answer.why_not import why_not
from simcore.catalogue import price_book
from simcore.evaluation import Evaluation, LimitResult, LimitsAt, Replication
from simcore.explain import Progress, answer, headline
from simcore.study import next_designs
from simcore.trust.margins import Margin
from simcore.words import number
from tests.unit.simcore.questions import asked, explored

BOTH_ON_H100 = ["sarathi:dgx-h100", "splitwise:dgx-h100+dgx-h100"]
EACH = {"sarathi:dgx-h100": (2.0,), "splitwise:dgx-h100+dgx-a100": (6.0, 4.0)}


def answered(each=EACH, **changes):
    context = asked(**changes)
    designs, done = explored(context, each)
    return study_result(context.spec, designs, done, price_book("splitwise-2023"))


def texts(result, progress=None):
    return {line.key: line for line in answer(result, progress)}


def test_a_says_what_to_buy_and_what_it_costs():
    line = texts(answered())["A"]
    assert line.text == "Buy 12 DGX H100 for prefill and 18 DGX A100 for decode (tensor parallel 8)."
    assert line.detail.startswith("$566,000 a month (730 h, Splitwise paper 2023), 239 kW nameplate")


def test_a_prices_the_tokens_of_the_requests_that_were_served():
    """Of 1,000 + 4 x 100 tokens each, though the run took ten times as long as its requests came for."""
    result = answered()
    winner = result.winner
    kept = result.evaluations[winner.design_id]
    run = replace(kept.at_required, input_tokens_per_s=7_000.0, output_tokens_per_s=700.0, finished_req_per_s=7.0)
    evaluations = {**result.evaluations, winner.design_id: replace(kept, at_required=run)}
    price = float(winner.usd_per_hour) / 3600 / 70 / 1400 * 1e6
    detail = texts(replace(result, evaluations=evaluations))["A"].detail
    assert f"${price:.2f} / ${4 * price:.2f} per 1M input / output tokens at 70 requests/s" in detail
    assert "per 1M" not in texts(result)["A"].detail, "of a study that did not keep it"


def test_a_says_that_prompts_are_chunked():
    options = {"chunked": True, "token_budget": 1024}
    line = texts(answered(families=["splitwise:dgx-h100+dgx-a100"], scheduler_options=options))["A"]
    assert line.text == (
        "Buy 12 DGX H100 for prefill and 18 DGX A100 for decode, prompts in chunks beside decodes with a budget of 1024"
        " tokens (tensor parallel 8)."
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"pipeline_parallel": 2}, "tensor parallel 4, pipeline parallel 2"),
        ({"decode_pipeline_parallel": 2}, "tensor parallel 4, pipeline parallel 1 and 2"),
    ],
)
def test_a_says_the_stages_of_a_pipeline(options, words):
    question = {"model": "llama-3.1-70b", "latency": {"source": "roofline"}}
    options = {"tensor_parallel": 4} | options
    line = texts(answered(families=["splitwise:dgx-h100+dgx-a100"], scheduler_options=options, **question))["A"]
    assert line.text.endswith(f"({words}).")


def test_b_compares_with_the_best_of_the_other_kind():
    text = texts(answered())["B"].text
    assert text.startswith("Costs 42 % less than the best co-located design, Sarathi on 35 DGX H100, 512-token budget.")


def test_what_each_seed_warns_of_is_said_once():
    result = answered()
    found = result.evaluations[result.winner.design_id]
    short = [f"the workload has 7,515 requests where {needed} are asked for" for needed in ("12,023", "11,786")]
    warned = replace(found, warnings=(*short, "short run"))
    detail = texts(replace(result, evaluations={**result.evaluations, found.design_id: warned}))["C"].detail
    assert detail.count("The workload has 7,515 requests") == 1
    assert "12,023" in detail
    assert "Short run." in detail


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


def test_c_says_how_far_it_holds_and_what_binds():
    text = texts(answered())["C"].text
    assert text == (
        "Holds to 72 requests/s (68.2 to 76): P90 TTFT slowdown binds first in the prefill pool"
        " (2.97× of 3× at capacity)."
    )


def test_c_says_what_the_interval_is_of():
    assert texts(answered())["C"].detail == (
        "For 90 % confidence at 70 requests/s add 4 DGX H100 for prefill and 7 DGX A100 for decode: +$202,000 a month;"
        " by its interval's share about 13 prefill and 19 decode machines of the answer's kind would (not simulated)."
        " The interval, 9 times in 10, joins iteration times (DGX H100 TP8: prefills ±8 %;"
        " DGX A100 TP8: decodes ±3 %)."
    )


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


def test_e_says_what_times_and_watts_were_compared_with():
    text = texts(answered())["E"].text
    assert text.startswith("Based on measured step times; the answer's times compared with 7 measured points of bloom")
    span = r"-\d+ to \+\d+ %"
    assert re.search(f"; drawn watts of H100 80 GB SXM {span} and of A100 80 GB SXM {span}, measured against", text)


def test_c_does_not_say_less_than_the_rate_that_a_run_held():
    result = answered()
    winner = result.winner.design_id
    just_under = replace(result.evaluations[winner], capacity_req_per_s=69.5, capacity_low=69.5, capacity_high=69.5)
    result = replace(result, evaluations=result.evaluations | {winner: just_under})
    assert texts(result)["C"].text.startswith("Holds to 70 requests/s (68.2 to 76): ")


def test_co_located_answers_name_scheduler_and_budget():
    result = answered({"sarathi:dgx-h100": (8.0,), "splitwise:dgx-h100+dgx-a100": (6.0, 4.0)})
    assert texts(result)["A"].text == (
        "Buy 9 DGX H100, each serving whole requests under Sarathi with a budget of 512 tokens (tensor parallel 8)."
    )


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("vllm_v1", "vLLM V1 (2025) with a budget of 512 tokens"),
        ("orca", "Orca"),
        ("request_level", "FasterTransformer"),
    ],
)
def test_each_scheduler_is_named(kind, words):
    family = f"{kind}:dgx-h100"
    result = answered({family: (8.0,)}, families=[family])
    assert texts(result)["A"].text == f"Buy 9 DGX H100, each serving whole requests under {words} (tensor parallel 8)."


def test_a_budget_left_to_the_objective_is_said_as_it_was_chosen():
    options = {"token_budget": "auto", "tensor_parallel": 8}
    result = answered({"sarathi:dgx-h100": (8.0,)}, families=["sarathi:dgx-h100"], scheduler_options=options)
    chosen = result.rows[0].token_budget
    assert chosen % 128 == 0
    assert f"under Sarathi with a budget of {chosen} tokens" in texts(result)["A"].text


def test_nothing_feasible_lists_the_closest_misses_and_what_each_needs():
    result = answered(limits={"power_limit_kw": 200})
    lines = answer(result)
    assert lines[0].text == (
        "No design within 200 kW nameplate holds Splitwise's nine slowdown limits at 70 requests/s."
    )
    misses = [line.text for line in lines if line.key.startswith("miss")]
    assert len(misses) == 3
    assert "holds 60 requests/s instead of 70 (P90 TTFT slowdown 3.6× instead of 3×)" in misses[0]
    assert "needs 39.4 kW more nameplate power" in misses[1]


def test_a_rate_beyond_the_largest_design_that_is_searched_is_said_with_the_machines_that_it_takes():
    vast = texts(answered({"sarathi:dgx-h100": (2.0,)}, families=["sarathi:dgx-h100"], rate_req_per_s=1e6))
    assert vast["A"].text.endswith("at 1,000,000 requests/s.")
    assert vast["A"].detail == (
        "By what Sarathi on 40 DGX H100, 512-token budget hold the rate takes about 500,000 such machines; designs of"
        " more than 10,000 are not searched, so none that would hold it is shown."
    )
    near = texts(answered({"sarathi:dgx-h100": (2.0,)}, families=["sarathi:dgx-h100"], rate_req_per_s=90))
    assert near["A"].detail == ""


def test_the_most_that_is_searched_is_said_where_the_most_capable_design_is_asked_for():
    changes = {"families": ["sarathi:dgx-h100"], "goal": "throughput"}
    most = texts(answered({"sarathi:dgx-h100": (2.0,)}, limits={"machines": 10**6}, **changes))["A"]
    assert most.text.startswith("Buy 10000 DGX H100")
    assert most.detail.endswith(" Designs of more than 10,000 machines were not tried.")
    by_money = texts(answered({"sarathi:dgx-h100": (2.0,)}, limits={"usd_per_month": 1e8}, **changes))["A"]
    assert by_money.detail.endswith(" machines were not tried.")
    by_power = texts(answered({"sarathi:dgx-h100": (2.0,)}, **changes))["A"]
    assert by_power.text.startswith("Buy 40 DGX H100")
    assert "not tried" not in by_power.detail


def test_a_limit_that_nothing_meets_is_named_with_its_value():
    result = answered({"sarathi:dgx-h100": (0.0,), "splitwise:dgx-h100+dgx-a100": (0.0, 0.0)})
    misses = [line.text for line in answer(result) if line.key.startswith("miss")]
    assert "holds the limits at no rate (P90 TTFT slowdown 3.6× instead of 3×)" in misses[0]


def test_where_nothing_is_met_at_any_rate_the_limit_is_named_not_the_queue():
    context = asked()
    designs, done = explored(context, {family: (0.0,) * len(each) for family, each in EACH.items()})
    done = {name: replace(found, at_required=replace(found.at_required, stable=False)) for name, found in done.items()}
    misses = [line.text for line in answer(study_result(context.spec, designs, done, price_book("list")))]
    assert "(P90 TTFT slowdown is missed even by requests that are all but alone)" in misses[1]


def test_limits_missed_by_lone_requests_are_told_with_their_values_and_the_nearest_first():
    context = asked()
    designs, done = explored(context, {family: (0.0,) * len(each) for family, each in EACH.items()})
    limits = [LimitResult("tbt_s", 99, 0.03, 0.036, False), LimitResult("ttft_s", 99, 0.25, 0.75, False)]
    nearer = [limits[0], LimitResult("ttft_s", 99, 0.25, 0.2, True)]
    for name, found in done.items():
        missed = nearer if len(next(d for d in designs if d.design_id == name).case.pools) == 1 else limits
        alone = (LimitsAt(0.01, tuple(missed)),)
        done[name] = replace(found, at_required=None, binding_limit="ttft_p99", around=alone)
    misses = [line.text for line in answer(study_result(context.spec, designs, done, price_book("list")))]
    assert "no rate (P99 TBT 36 ms instead of 30 ms, even for requests that are all but alone)" in misses[1]
    assert misses[1].startswith("Sarathi")
    assert "P99 TTFT 0.75 s instead of 0.25 s and P99 TBT 36 ms instead of 30 ms, even for requests" in misses[2]


def test_what_does_not_fit_is_no_close_miss_while_others_run():
    context = asked()
    designs, done = explored(context, {family: (0.0,) * len(each) for family, each in EACH.items()})
    first = designs[0].design_id
    done[first] = Evaluation(first, "infeasible", "does not fit")
    lines = [line.text for line in answer(study_result(context.spec, designs, done, price_book("list")))]
    assert not any("does not fit" in text for text in lines)


def test_a_model_that_does_not_fit_is_said_with_its_reason():
    context = asked(memory={"usable": 0.3})
    designs = next_designs(context, {})
    reason = context.lines[0].reason
    done = {design.design_id: Evaluation(design.design_id, "infeasible", reason) for design in designs}
    result = study_result(context.spec, designs, done, price_book("list"))
    lines = answer(result)
    assert lines[0].text == "No design can run BLOOM 176B as asked."
    assert [reason in line.text for line in lines if line.key.startswith("miss")] == [True]


def test_a_running_study_says_how_far_it_is_and_a_cancelled_one_that_it_is_partial():
    result = answered()
    assert answer(result, Progress(41, 412))[0].text.startswith("So far: buy 12")
    assert answer(result, Progress(41, 412))[0].text.endswith(", 41 of 412 tried.")
    partial = answer(result, Progress(41, 412, "cancelled"))[0].text
    assert partial.startswith("Partial answer, cancelled after 41 of 412 designs: buy 12")
    failed = answer(result, Progress(41, 412, "failed"))[0].text
    assert failed.startswith("Partial answer, failed after 41 of 412 designs: buy 12")


def test_a_study_without_rows_yet_says_so():
    empty = replace(answered(), rows=(), winner=None, closest=())
    assert answer(empty, Progress(0, 12))[0].text == "So far: no design has been evaluated yet, 0 of 12 tried."
    assert answer(empty, Progress(0, 0))[0].text == "No design has been evaluated yet."


def test_a_limit_missed_by_a_hair_is_told_apart_from_what_it_missed():
    context = asked()
    designs, done = explored(context, EACH)
    hair = LimitResult("tbt_slowdown", 50, 1.25, 1.25004, False)
    done = {
        name: replace(found, at_required=replace(found.at_required, met=False, limits=(hair,)))
        for name, found in done.items()
        if found.at_required
    }
    result = study_result(context.spec, designs, done, price_book("list"))
    assert "P50 TBT slowdown 1.25004× instead of 1.25×" in answer(result)[1].text


def test_a_limit_that_is_far_off_is_not_said_to_bind():
    result = answered()
    far = LimitResult("ttft_slowdown", 90, 3.0, 0.77, True)
    found = result.evaluations[result.winner.design_id]
    far_off = replace(found, at_capacity=replace(found.at_capacity, limits=(far,)), warnings=("the trace is short",))
    line = texts(replace(result, evaluations={**result.evaluations, found.design_id: far_off}))["C"]
    assert (
        "P90 TTFT slowdown comes nearest, though nothing tried broke it in the prefill pool (0.77× of 3×" in line.text
    )
    assert line.detail.endswith(". The trace is short.")


def test_poisson_arrivals_are_said_in_the_answer():
    assert "Poisson arrivals in place of the workload's own" in texts(answered(arrivals="poisson"))["E"].text


def test_counts_given_are_said_where_nothing_of_them_will_do():
    result = answered(counts={"mixed": [2], "prefill": [2], "decode": [2]})
    assert "No design of the counts given within 408 kW nameplate holds" in answer(result)[0].text


def test_the_headline_fits_a_list():
    assert headline(answered()) == "12 DGX H100 prefill + 18 DGX A100 decode, $566,000 a month"
    assert headline(answered(limits={"power_limit_kw": 5})) == "no design holds it"


def test_the_evidence_names_source_and_amount():
    assert texts(answered())["E"].text.startswith("Based on measured step times; ")


def test_the_evidence_says_what_a_capacity_took():
    result = answered()
    found = [one for one in result.evaluations.values() if one.status == "evaluated"]
    told = {one.design_id: replace(one, events=1000 * place) for place, one in enumerate(found, 1)}
    mean = number(500 * (len(found) + 1))
    line = texts(replace(result, evaluations={**result.evaluations, **told}))["E"]
    assert f" requests in all ({mean} events a capacity)" in line.text


def test_the_evidence_says_which_designs_other_seeds_were_run_for():
    result = answered()
    several = replace(result, spec=replace(result.spec, seeds=(0, 1, 2)))
    assert "seeds" not in texts(result)["E"].text
    assert ", 0 designs that are close to another by 3 seeds, the rest by one;" in texts(several)["E"].text
    name = result.winner.design_id
    one = replace(result.evaluations[name], replications=(Replication(0, 1.0, 1.0, 1.0, "kv", "mixed"),))
    close = replace(several, evaluations={**result.evaluations, name: one})
    assert ", 1 design that is close to another by 3 seeds, the rest by one;" in texts(close)["E"].text
