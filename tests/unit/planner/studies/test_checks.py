"""Consistency checks: what does not go together is said before it is asked, and what does is not."""

import re
from collections.abc import Callable
from datetime import date
from html import unescape
from typing import Any

import pytest
from django.test import Client

from planner.accounts.models import Team, User
from planner.scenarios.bare import Bare, requests_of
from planner.scenarios.forms import clean_inputs
from planner.scenarios.limit_checks import OLD_PRICES_DAYS, of_money
from planner.studies.spec import compile_question
from planner.workloads.models import Workload
from planner.workloads.services import save_mix
from simcore.study import context
from simcore.traces import SyntheticSpec
from tests.unit.planner.studies.conftest import Inputs

Told = Callable[..., str]


@pytest.fixture
def told(inputs: Inputs, alice_client: Client) -> Told:
    def of(**changes: Any) -> str:
        return unescape(alice_client.get("/preview", {**inputs, **changes}).content.decode())

    return of


@pytest.fixture
def long(alice: User, team: Team) -> Workload:
    """Enough requests for 10 a second."""
    return save_mix(team, alice, "Long chat", SyntheticSpec("conversation", 10.0, 12_000))


def test_requests_beyond_the_models_context(told: Told) -> None:
    assert "than the 2,048 tokens of BLOOM 176B's context (the longest 5,191)" in told()
    assert "context (the longest" not in told(model="llama-3.1-70b", latency="roofline")
    assert "context (the longest" not in told(max_model_tokens="2048")


def test_more_refused_than_the_limits_leave_is_no_question(told: Told) -> None:
    text = told(max_model_tokens="2048")
    assert "the limits leave 1 %. No design holds them." in text
    assert "data-impossible" in text
    assert "data-impossible" not in told(max_model_tokens="8192")


def test_a_workload_too_short_for_the_rate(told: Told, long: Workload) -> None:
    assert "The workload has 300 requests: at 10 requests/s, they are over in 30 s." in told()
    assert "they are over in" not in told(workload=str(long.pk))
    assert "times the trace's own, they are over in" in told(workload=str(long.pk), rate_req_per_s="900")


def test_slowdowns_against_a_faster_machine_are_tight(told: Told) -> None:
    slow = {"machines": ["dgx-a100"], "families": ["sarathi:dgx-a100"]}
    text = told(**slow, slowdown_reference="dgx-h100", slowdown_multiplier="0.7")
    assert "Tight: a median request alone on the fastest machine, DGX A100, takes" in text
    assert "Tight" not in told(**slow)


def test_too_few_machines_on_hand_by_the_work_alone(told: Told) -> None:
    few = {"on_hand-dgx-h100": "1", "on_hand-dgx-a100": "1", "rate_req_per_s": "40"}
    assert "Within 1 DGX A100 on hand and 1 DGX H100 on hand, the work alone allows" in told(**few)
    assert "the work alone allows" not in told(**{**few, "on_hand-dgx-h100": "40", "on_hand-dgx-a100": "40"})
    assert "Within 2 machines, the work alone allows" in told(rate_req_per_s="40", most_machines="2")
    assert "Within 20 kW nameplate, the work alone allows" in told(rate_req_per_s="40", power_limit_kw="20")


def test_a_budget_under_the_work_alone(told: Told) -> None:
    assert "the budget is $1,000: the answer will say" in told(usd_per_month="1000")
    assert "the budget is" not in told(usd_per_month="10M")


def test_a_replica_that_spans_machines_takes_all_of_their_power(told: Told) -> None:
    spans = {"machines": ["dgx-a100"], "families": ["sarathi:dgx-a100"], "latency": "roofline"}
    text = told(**spans, tensor_parallel="8", pipeline_parallel="2", power_limit_kw="10")
    assert "is under 2 DGX A100, the smallest design (13 kW nameplate)" in text


def test_sources_of_iteration_times_that_differ(told: Told) -> None:
    text = told(**{"latency_by_machine-dgx-h100": "roofline-2023"})
    assert "different sources" in text
    assert "DGX H100: roofline (vllm-2023)" in text
    assert "different sources" not in told()


def test_old_prices_say_their_age(inputs: Inputs, alice: User) -> None:
    question = compile_question(alice, clean_inputs(alice, inputs))
    requests = requests_of(question.workload.pk, question.trace_hash)
    bare = Bare(question.spec, requests, context(question.spec, requests.trace))
    day = date(2026, 4, 27)
    young = date.fromordinal(day.toordinal() + OLD_PRICES_DAYS)
    assert list(of_money(bare, question.prices, None, young)) == []
    said = list(of_money(bare, question.prices, None, date(2027, 5, 1)))
    assert said == ["List Apr 2026: of DGX H100 and DGX A100, the prices are 12 months old (2026-04-27)."]


def test_a_budget_is_called_small_only_below_what_any_schedule_needs(told: Told) -> None:
    """Sarathi on 22 DGX H100 holds 66 requests/s of the conversation mix: its money is not said to be too little."""
    each = 36 * 730
    enough = told(rate_req_per_s="66", latency="measured", usd_per_month=str(22 * each), power_limit_kw="")
    assert "will say how far" not in enough
    few = told(rate_req_per_s="66", latency="measured", usd_per_month=str(5 * each), power_limit_kw="")
    assert "The machines that the work alone keeps busy cost at least $" in few


def test_the_work_alone_is_the_least_of_what_may_be_tried(told: Told) -> None:
    """78 decode machines of DeepSeek V3 on B200 hold 2,000 requests/s at TP8: batches of 64 would need 119."""
    inputs = {"model": "deepseek-v3", "machines": ["dgx-b200"], "latency": "roofline", "rate_req_per_s": "2000"}
    text = told(**inputs, slo_kind="absolute", tpot_limit_s="0.05", power_limit_kw="", families=[])
    found = re.search(r"needs ([\d.]+) DGX B200 for prefill and ([\d.]+) for decode, each phase in the", text)
    assert found
    assert float(found[1]) < 79
    assert float(found[2]) < 78


def test_limits_in_milliseconds_beside_the_objective(told: Told) -> None:
    assert "first token 566 / 848 / 1,700 ms, then 61.6 / 73.9 / 246 ms a token" in told()
    text = told(slo_kind="absolute", tbt_limit_x_decode="5", ttft_limit_s="2")
    assert "P99 TBT on DGX H100, TP8" in text
    assert "P99 TBT on DGX A100, TP8" in text
    attained = told(slo_kind="attainment", attainment_ttft_s="450 ms", attainment_tpot_s="40 ms")
    assert "first token 450 ms, then 40 ms a token" in attained


def test_a_listed_degree_that_cannot_run_is_told_and_hides_none_that_can(told: Told) -> None:
    one = {"model": "llama2-70b", "machines": ["dgx-h100"], "families": ["splitwise:dgx-h100+dgx-h100"]}
    limits = {"slo_kind": "absolute", "tbt_limit_x_decode": "5"}
    text = told(**one, **limits, latency="roofline", tensor_parallels="1, 4, 8")
    assert "P99 TBT on DGX H100, TP4" in text
    assert "P99 TBT on DGX H100, TP8" in text
    assert "Llama2-70b does not fit dgx-h100 at tensor_parallel 1" in text
    assert "Found 4, 8 beside tensor parallel 2" in told(**one, tensor_parallels="4, 8", tensor_parallel="2")


def test_a_rack_s_odd_number_of_accelerators_stands_in_no_question_s_way(told: Told) -> None:
    """A lone request is of the pools that run: 72 accelerators share no 112 heads, 16 do."""
    rack = {"machines": ["nvidia-gb200"], "families": [], "latency": "roofline", "price_book": "list"}
    text = told(**rack, slo_kind="attainment", attainment_ttft_s="1", attainment_tpot_s="0.1")
    assert "Before any queueing: one request alone on a" in text
    assert "data-impossible" not in text


def test_limits_of_ones_own_are_not_said_to_be_of_a_paper(told: Told) -> None:
    assert "Table VI: nine limits" in told()
    assert "Table VI: nine limits" not in told(slo_kind="absolute", ttft_limit_s="2")
