import re
from dataclasses import replace

import pytest

from simcore.evaluation import LimitResult, Replication
from simcore.explain import Progress, answer, headline
from simcore.words import number
from tests.unit.simcore.answers import answered, texts


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


def test_a_of_the_most_requests_tells_watts_and_tokens_at_what_is_held():
    """At the required rate they would be those of machines that are half idle."""
    result = answered(goal="throughput")
    winner = result.winner
    kept = result.evaluations[winner.design_id]
    held = kept.at_capacity.rate_req_per_s
    served = {"input_tokens_per_s": 1000 * held, "output_tokens_per_s": 100 * held, "finished_req_per_s": held}
    evaluation = replace(kept, at_capacity=replace(kept.at_capacity, mean_w=54_321.0, **served))
    detail = texts(replace(result, evaluations={**result.evaluations, winner.design_id: evaluation}))["A"].detail
    assert held > 71
    assert f"54.3 kW drawn at {number(held)} requests/s" in detail
    price = float(winner.usd_per_hour) / 3600 / held / 1400 * 1e6
    assert f"${price:.2f} / ${4 * price:.2f} per 1M input / output tokens at {number(held)} requests/s" in detail


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


def test_what_each_seed_warns_of_is_said_once():
    result = answered()
    found = result.evaluations[result.winner.design_id]
    short = [f"the workload has 7,515 requests where {needed} are asked for" for needed in ("12,023", "11,786")]
    warned = replace(found, warnings=(*short, "short run"))
    detail = texts(replace(result, evaluations={**result.evaluations, found.design_id: warned}))["C"].detail
    assert detail.count("The workload has 7,515 requests") == 1
    assert "12,023" in detail
    assert "Short run." in detail


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
