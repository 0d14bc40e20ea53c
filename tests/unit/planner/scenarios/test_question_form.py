"""What is typed becomes a revision's inputs, or says at each field what was found and what is expected."""

import json

import pytest
from django.http import QueryDict

from planner.accounts.models import Team, User
from planner.scenarios import choices
from planner.scenarios.errors import FieldErrors
from planner.scenarios.forms import QuestionForm, clean_inputs
from planner.workloads.models import Workload
from planner.workloads.services import save_mix, ship_mixes
from simcore.families import SCHEDULER_NAMES
from simcore.spec import SCHEDULER_KINDS
from simcore.traces import SyntheticSpec
from tests.unit.planner.scenarios.conftest import Inputs


def refused(user: User, inputs: Inputs) -> dict[str, str]:
    with pytest.raises(FieldErrors) as caught:
        clean_inputs(user, inputs)
    return caught.value.fields


def test_what_is_left_out_takes_its_default(alice: User, typed: Inputs) -> None:
    inputs = clean_inputs(alice, typed)
    assert inputs["rate_req_per_s"] == 70.0
    expected = {
        "slo_kind": "slowdown",
        "slowdown_multiplier": 1.0,
        "slowdown_reference": "dgx-a100",
        "goal": "cost",
        "power_kind": "nameplate",
        "power_limit_kw": None,
        "families": [],
        "arrivals": "trace",
        "latency": "roofline",
        "seed": 0,
        "mixed_counts": None,
    }
    assert {name: inputs[name] for name in expected} == expected


def test_inputs_are_plain_json_and_clean_to_themselves(alice: User, typed: Inputs) -> None:
    changes = {"power_limit_kw": "0.4 MW", "mixed_counts": "5-15/5", "tbt_limit_s": "100 ms", "token_budget": "2k"}
    inputs = clean_inputs(alice, typed | changes)
    again = json.loads(json.dumps(inputs))
    assert again == inputs == clean_inputs(alice, again)
    assert (inputs["power_limit_kw"], inputs["mixed_counts"]) == (400.0, [5, 10, 15])
    assert (inputs["tbt_limit_s"], inputs["token_budget"]) == (0.1, 2000)


@pytest.mark.parametrize(("text", "cleaned"), [("auto", "auto"), (" Auto ", "auto"), ("512", 512), ("", None)])
def test_a_token_budget_is_a_number_or_left_to_the_objective(
    alice: User, typed: Inputs, text: str, cleaned: object
) -> None:
    inputs = clean_inputs(alice, typed | {"token_budget": text})
    assert inputs["token_budget"] == cleaned
    assert clean_inputs(alice, inputs) == inputs
    fields = refused(alice, typed | {"token_budget": "automatic"})
    assert fields == {
        "token_budget": "Found ‘automatic’, expected a whole number from 1 up, such as 512 or 2k, or auto."
    }


def test_every_scheduler_is_offered_on_every_machine_chosen(alice: User, typed: Inputs) -> None:
    families = dict(QuestionForm(alice, typed).offered.families())
    for kind, words in SCHEDULER_NAMES.items():
        assert families[f"{kind}:dgx-h100"].startswith(f"{words} on ")
    assert set(SCHEDULER_NAMES) == {*SCHEDULER_KINDS} - {"splitwise"}


def test_a_browsers_form_is_read_alike(alice: User, typed: Inputs) -> None:
    data = QueryDict(mutable=True)
    for name, value in typed.items():
        data.setlist(name, value if isinstance(value, list) else [value])
    assert clean_inputs(alice, data) == clean_inputs(alice, typed)


def test_every_error_is_at_its_field_and_the_rest_is_kept(alice: User, typed: Inputs) -> None:
    bad = typed | {"rate_req_per_s": "fast", "power_limit_kw": "-1", "model": "bloom", "seed": "x"}
    fields = refused(alice, bad)
    assert set(fields) == {"rate_req_per_s", "power_limit_kw", "model", "seed"}
    expected = "requests a second such as 70, 0.5 or 10k, from 0.0001 to a million"
    assert fields["rate_req_per_s"] == f"Found ‘fast’, expected {expected}."
    assert "nearest: 'bloom-176b'" in fields["model"]
    form = QuestionForm(alice, bad)
    assert form["rate_req_per_s"].value() == "fast"
    assert form["machines"].value() == ["dgx-h100", "dgx-a100"]


@pytest.mark.parametrize("name", ["model", "workload", "rate_req_per_s", "machines", "price_book"])
def test_the_sentence_has_no_gaps(alice: User, typed: Inputs, name: str) -> None:
    assert set(refused(alice, {key: value for key, value in typed.items() if key != name})) == {name}


def test_an_unknown_machine_is_named(alice: User, typed: Inputs) -> None:
    fields = refused(alice, typed | {"machines": ["dgx-h100", "dgx-h1000"]})
    assert fields["machines"].startswith("Found ‘dgx-h1000’, expected one of ")


def test_a_family_needs_its_machines(alice: User, typed: Inputs) -> None:
    fields = refused(alice, typed | {"families": ["splitwise:dgx-h100+dgx-h200"]})
    assert fields == {"families": "Found splitwise:dgx-h100+dgx-h200, but dgx-h200 is not among the machines chosen."}


def test_a_machine_without_a_price_is_named(alice: User, typed: Inputs) -> None:
    fields = refused(alice, typed | {"machines": ["dgx-b200"], "price_book": "splitwise-2023"})
    assert "has no price for dgx-b200" in fields["price_book"]


def test_limits_in_seconds_need_one(alice: User, typed: Inputs) -> None:
    assert set(refused(alice, typed | {"slo_kind": "absolute"})) == {"ttft_limit_s"}
    both = {"slo_kind": "absolute", "tbt_limit_s": "0.1", "tbt_limit_x_decode": "5x"}
    assert set(refused(alice, typed | both)) == {"tbt_limit_x_decode"}


def test_an_attainment_needs_both_limits(alice: User, typed: Inputs) -> None:
    fields = refused(alice, typed | {"slo_kind": "attainment", "attainment_ttft_s": "450 ms"})
    assert set(fields) == {"attainment_tpot_s"}


@pytest.mark.parametrize("text", ["nan", "inf", "0", "-5", "1e7", "9e-5", "1e-300", "70 kg", "=1+1", "<script>"])
def test_a_rate_that_is_none_is_refused(alice: User, typed: Inputs, text: str) -> None:
    assert set(refused(alice, typed | {"rate_req_per_s": text})) == {"rate_req_per_s"}


@pytest.mark.parametrize(("name", "text"), [("power_limit_kw", "1e-300"), ("usd_per_month", "$0.001")])
def test_a_limit_of_next_to_nothing_is_refused(alice: User, typed: Inputs, name: str, text: str) -> None:
    assert set(refused(alice, typed | {name: text})) == {name}


def test_workloads_of_strangers_cannot_be_chosen(charlie: User, alice: User, bob: User, typed: Inputs) -> None:
    assert clean_inputs(bob, typed)["workload"] == typed["workload"]
    assert set(refused(charlie, typed)) == {"workload"}


def test_shipped_workloads_are_offered_to_everyone(charlie: User, team: Team, typed: Inputs) -> None:
    ship_mixes()
    shipped = Workload.of_mix("coding")
    assert clean_inputs(charlie, typed | {"workload": str(shipped.pk)})["workload"] == str(shipped.pk)


def test_a_revision_is_shown_as_it_was_typed(alice: User, typed: Inputs) -> None:
    inputs = clean_inputs(alice, typed | {"power_limit_kw": "408 kW", "prefill_counts": "1,2"})
    form = QuestionForm(alice, initial=inputs)
    shown = {name: form[name].value() for name in ("rate_req_per_s", "power_limit_kw", "prefill_counts")}
    assert shown == {"rate_req_per_s": "70", "power_limit_kw": "408", "prefill_counts": "1, 2"}


def test_the_choices_take_few_queries(alice: User, team: Team, typed: Inputs, django_assert_max_num_queries) -> None:
    for number in range(5):
        save_mix(team, alice, f"mix {number}", SyntheticSpec("coding", 10.0, 20))
    with django_assert_max_num_queries(12):  # one a table, however many rows
        QuestionForm(alice, typed).is_valid()


def test_a_rate_that_would_keep_the_workers_busy_for_hours_is_refused_before_it_starts(
    alice: User, typed: Inputs
) -> None:
    errors = refused(alice, {**typed, "rate_req_per_s": "100k"})
    assert "each run would simulate 12,000,000 requests" in errors["rate_req_per_s"]
    assert "Expected at most 4,166 requests/s" in errors["rate_req_per_s"]
    assert clean_inputs(alice, {**typed, "rate_req_per_s": "4166"})["rate_req_per_s"] == 4166


def test_of_many_machines_families_of_the_chosen_ones_are_offered(
    alice: User, typed: Inputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = dict(QuestionForm(alice, initial=typed).fields["families"].choices)  # type: ignore[attr-defined]
    assert len(every) > 300
    monkeypatch.setattr(choices, "MOST_PAIRED", 5)
    form = QuestionForm(alice, initial={**typed, "machines": ["dgx-h100", "dgx-a100"]})
    offered = dict(form.fields["families"].choices)  # type: ignore[attr-defined]
    assert len(offered) == len(choices.CO_LOCATED) * 2 + 4
    assert offered.items() <= every.items()
    data = {**typed, "machines": ["dgx-h100"], "families": ["sarathi:dgx-h100"]}
    assert clean_inputs(alice, data)["families"] == ["sarathi:dgx-h100"]
    assert "families" in refused(alice, {**data, "families": ["sarathi:dgx-a100"]})
