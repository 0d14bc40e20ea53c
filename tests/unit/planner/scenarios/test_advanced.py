"""What stands under Advanced: every input has its place, its default's source, and reaches words."""

from typing import Any

import pytest
from django.http import QueryDict

from planner.accounts.models import User
from planner.scenarios.errors import FieldErrors
from planner.scenarios.forms import QuestionForm, clean_inputs
from planner.scenarios.page import ADVANCED, QuestionPage
from planner.scenarios.sources import SOURCES
from planner.scenarios.words import OF_SLO, SENTENCE, Words, names_for, value_of

Inputs = dict[str, Any]


def test_every_input_is_in_the_sentence_of_an_objective_or_under_advanced_once() -> None:
    placed = [*SENTENCE, *(name for names in OF_SLO.values() for name in names)]
    advanced = [name for names in ADVANCED.values() for name in names]
    assert set(placed) | set(advanced) == set(QuestionForm.base_fields)
    assert len(advanced) == len(set(advanced))
    assert not set(advanced) & set(SENTENCE)


def test_every_default_has_a_source(alice: User) -> None:
    page = QuestionPage(QuestionForm(alice))
    for group in page.groups:
        for field in group.fields:
            assert field.source is not None, field.bound.name
            assert field.default_words, field.bound.name
    assert "ISCA 2024" in SOURCES["slo_kind"].origin


def test_counts_on_hand_are_asked_machine_by_machine(alice: User, typed: Inputs) -> None:
    data = QueryDict(mutable=True)
    for name, value in {**typed, "on_hand-dgx-h100": "12", "on_hand-dgx-b200": "3"}.items():
        data.setlist(name, value if isinstance(value, list) else [value])
    form = QuestionForm(alice, data)
    assert form.is_valid()
    assert form.cleaned_data["on_hand"] == {"dgx-h100": 12}  # of the machines chosen alone
    assert clean_inputs(alice, {**typed, "on_hand": {"dgx-h100": 12}})["on_hand"] == {"dgx-h100": 12}


def test_what_one_user_may_choose_is_no_choice_of_another_s(alice: User) -> None:
    one, other = QuestionForm(alice), QuestionForm(alice)
    assert one.fields["latency_by_machine"].each is not other.fields["latency_by_machine"].each
    one.fields["latency_by_machine"].each.choices = [("mine", "mine")]
    assert "mine" not in str(other["latency_by_machine"])
    assert "mine" in str(one["latency_by_machine"])


@pytest.mark.parametrize(
    ("on_hand", "message"), [({"dgx-h100": "few"}, "DGX H100: Found ‘few’"), ({"x": 1}, "Found ‘x’")]
)
def test_a_wrong_count_on_hand_names_its_machine(alice: User, typed: Inputs, on_hand: Any, message: str) -> None:
    with pytest.raises(FieldErrors, match=message):
        clean_inputs(alice, {**typed, "on_hand": on_hand})


def test_the_most_requests_want_a_limit(alice: User, typed: Inputs) -> None:
    with pytest.raises(FieldErrors, match="Found the most requests/s without a limit"):
        clean_inputs(alice, {**typed, "goal": "throughput"})
    assert clean_inputs(alice, {**typed, "goal": "throughput", "most_machines": "9"})["goal"] == "throughput"
    on_hand = dict.fromkeys(typed["machines"], 4)
    assert clean_inputs(alice, {**typed, "goal": "throughput", "on_hand": on_hand})["on_hand"] == on_hand


@pytest.mark.parametrize(("typed_as", "gb_per_s"), [("50", 50.0), ("400 Gb/s", 50.0), ("50 GB/s", 50.0)])
def test_bytes_and_bits_differ_by_a_letter(alice: User, typed: Inputs, typed_as: str, gb_per_s: float) -> None:
    assert clean_inputs(alice, {**typed, "kv_bandwidth_gb_per_s": typed_as})["kv_bandwidth_gb_per_s"] == gb_per_s
    with pytest.raises(FieldErrors, match="GB/s above 0"):
        clean_inputs(alice, {**typed, "kv_bandwidth_gb_per_s": "400 gb/s"})


@pytest.fixture
def words(alice: User) -> Words:
    return Words(names_for(QuestionForm(alice)))


def test_what_changed_is_said_with_units(alice: User, typed: Inputs, words: Words) -> None:
    before = clean_inputs(alice, typed)
    after = clean_inputs(
        alice,
        {
            **typed,
            "rate_req_per_s": "85",
            "machines": ["dgx-h100"],
            "memory_usable": "0.85",
            "on_hand": {"dgx-h100": 12},
            "usd_per_month": "400k",
            "token_budgets": "512, 1024",
            "tensor_parallels": "2, 4",
        },
    )
    assert [str(change) for change in words.changes(before, after)] == [
        "machines on hand none → DGX H100 12",
        "several tensor parallel degrees none → 2, 4 accelerators",
        "several token budgets none → 512, 1,024 tokens",
        "memory that is used 90 % → 85 %",
        "budget none → $400,000 a month",
        "rate 70 → 85 requests/s",
        "machines DGX A100, DGX H100 → DGX H100",
    ]


def test_what_an_objective_does_not_read_is_no_change(alice: User, typed: Inputs, words: Words) -> None:
    one = clean_inputs(alice, {**typed, "ttft_limit_s": "1"})
    other = clean_inputs(alice, {**typed, "ttft_limit_s": "2"})
    assert words.changes(one, other) == []


def test_an_older_revision_has_the_defaults_of_what_came_later(alice: User, typed: Inputs, words: Words) -> None:
    now = clean_inputs(alice, typed)
    old = {name: value for name, value in now.items() if name not in ("memory_usable", "replications", "on_hand")}
    assert words.changes(old, now) == []
    assert value_of("memory_usable", old) == 0.9


@pytest.mark.parametrize(
    ("slo", "said"),
    [
        ({}, "Splitwise's nine slowdown limits (against a lone request on DGX A100)"),
        ({"slowdown_multiplier": "2"}, "Splitwise's nine slowdown limits, times 2, (against"),
        (
            {"slo_kind": "absolute", "tbt_limit_x_decode": "5", "queue_limit_s": "2"},
            "P99 time between tokens within 5 decode iterations and P50 scheduling delay within 2 s hold",
        ),
        (
            {"slo_kind": "attainment", "attainment_ttft_s": "0.45", "attainment_tpot_s": "40 ms"},
            "a first token within 0.45 s and then one every 0.04 s for 99 % of all requests hold",
        ),
    ],
)
def test_the_question_as_a_sentence(alice: User, typed: Inputs, words: Words, slo: Inputs, said: str) -> None:
    sentence = words.sentence(clean_inputs(alice, {**typed, **slo, "power_limit_kw": "408"}))
    assert sentence.startswith("Serve BLOOM 176B to A little chat at 70 requests/s so that ")
    assert said in sentence
    assert sentence.endswith(
        "DGX A100 and DGX H100 priced by List Apr 2026 within 408 kW nameplate for the least cost."
    )


def test_what_differs_is_called_by_its_name(alice: User, typed: Inputs) -> None:
    chosen = {**typed, "latency_by_machine": {"dgx-h100": "roofline-2023"}, "on_hand": {"dgx-a100": 4}}
    page = QuestionPage(QuestionForm(alice, initial=chosen))
    assert page.differing == [
        "machines on hand DGX A100 4",
        "iteration times of single machines DGX H100 Roofline, engines of 2023",
    ]
