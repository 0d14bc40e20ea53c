"""A question that differs by money from an answered one is answered within the request that asks it."""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from planner.accounts.models import User
from planner.scenarios import services as scenarios
from planner.studies import services, spec, stored, workers
from planner.studies.leases import State
from planner.studies.models import Evaluation, Study, Wave, Worker
from planner.studies.results import answer, progress, study_result
from simcore.engine.version import engine_version
from simcore.study import next_designs
from tests.unit.planner.studies.conftest import Counted, Inputs

Start = Callable[[], Study]
Work = Callable[..., int]


@pytest.fixture
def answered(start: Start, work: Work, counted: Counted) -> Study:
    """A complete study, and a worker that could take up another."""
    study = start()
    work()
    study.refresh_from_db()
    Worker.objects.create(name="one", engine_version=engine_version())
    return study


@pytest.fixture
def dearer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every machine's price another, the dearest the cheapest."""
    real = spec.prices_of

    def changed(*given: Any) -> Any:
        book = real(*given)
        prices = [replace(price, usd_per_hour=Decimal(3000) / price.usd_per_hour) for price in book.prices]
        return replace(book, prices=tuple(prices))

    monkeypatch.setattr(spec, "prices_of", changed)


def test_other_prices_are_answered_at_once(
    answered: Study, start: Start, counted: Counted, sent: list[Any], dearer: None
) -> None:
    calls = (len(counted.calls), len(counted.runs))
    study = start()
    assert (study.state, study.engine_version) == (State.DONE, engine_version())
    assert sent == []
    assert not Wave.objects.filter(study=study).exists()
    assert (len(counted.calls), len(counted.runs)) == calls
    assert stored.evaluations_of(study) == stored.evaluations_of(answered)
    before, after = study_result(answered), study_result(study)
    assert [row.design_id for row in before.rows] == [row.design_id for row in after.rows]
    assert [row.capacity_req_per_s for row in before.rows] == [row.capacity_req_per_s for row in after.rows]
    assert all(old.usd_per_hour != new.usd_per_hour for old, new in zip(before.rows, after.rows, strict=True))
    assert answer(study) != answer(answered)
    assert progress(study).known == progress(study).total == len(after.rows)


def test_a_budget_too(answered: Study, alice_client: Client, inputs: Inputs, sent: list[Any]) -> None:
    response = alice_client.post(f"/studies/{answered.pk}/ask", {**inputs, "usd_per_month": "400000"})
    study = Study.unscoped.latest("pk")
    assert response["Location"] == f"/studies/{study.pk}/"
    assert (study.state, sent) == (State.DONE, [])
    assert b"known before" in alice_client.get(response["Location"]).content


def test_the_same_question_in_another_order_too(
    answered: Study, alice_client: Client, inputs: Inputs, sent: list[Any]
) -> None:
    turned = {name: list(reversed(inputs[name])) for name in ("machines", "families")}
    alice_client.post(f"/studies/{answered.pk}/ask", inputs | turned | {"usd_per_month": "1e6"})
    assert (Study.unscoped.latest("pk").state, sent) == (State.DONE, [])


@pytest.mark.parametrize("change", [{"rate_req_per_s": 11}, {"seed": 7}, {"power_limit_kw": 60}, {"token_budget": 256}])
def test_anything_else_is_planned(
    answered: Study, alice_client: Client, inputs: Inputs, sent: list[Any], change: Inputs
) -> None:
    alice_client.post(f"/studies/{answered.pk}/ask", inputs | change)
    assert Study.unscoped.latest("pk").state == State.QUEUED


@pytest.mark.parametrize("versions", [[], ["another"], ["another", "this"]])
def test_without_a_worker_of_the_engine_that_answered_it_is_planned(
    answered: Study, start: Start, versions: list[str]
) -> None:
    Worker.objects.all().delete()
    for version in versions:
        Worker.objects.create(name=version, engine_version=engine_version() if version == "this" else version)
    assert start().state == State.QUEUED


def test_a_worker_that_is_gone_says_nothing(answered: Study, start: Start) -> None:
    Worker.objects.update(heartbeat_at=timezone.now() - timezone.timedelta(seconds=workers.STALE_S + 1))
    assert workers.engine_at_work() == ""
    assert start().state == State.QUEUED


@pytest.mark.parametrize("harm", ["failure", "state", "result"])
def test_a_study_that_failed_or_is_damaged_answers_no_other(answered: Study, start: Start, harm: str) -> None:
    first = answered.designs.first()
    if harm == "failure":
        answered.designs.filter(pk=first.pk).update(failure="disk full", result=None, origin="")
    elif harm == "result":
        answered.designs.filter(pk=first.pk).update(result=b"harmed")
    else:
        Study.unscoped.filter(pk=answered.pk).update(state=State.CANCELLED)
    assert start().state == State.QUEUED


def test_the_answer_stays_when_its_twin_and_the_store_are_gone(
    answered: Study, start: Start, dearer: None, alice: User
) -> None:
    study = start()
    shown = study_result(study).rows
    answered.delete()
    Evaluation.objects.all().delete()
    stored._result.cache_clear()
    Study.unscoped.filter(pk=study.pk).update(created_at=timezone.now())  # past every cache
    assert study_result(Study.unscoped.get(pk=study.pk)).rows == shown


def test_no_search_looks_at_money(alice: User, inputs: Inputs) -> None:
    """What twins rest on: the same designs in the same order, whatever the book and the budget."""
    from simcore.study import context
    from tests.unit.simcore.questions import explored

    each = {"sarathi:dgx-h100": (2.0,), "splitwise:dgx-h100+dgx-a100": (6.0, 4.0)}
    found = []
    for change in ({}, {"usd_per_month": 100.0}, {"usd_per_month": 1e6, "price_book": "splitwise-2023"}):
        question = spec.compile_question(alice, scenarios.clean_inputs(alice, inputs | change))
        asked = context(question.spec, question.workload.trace())
        designs, _ = explored(asked, each)
        found.append([design.design_id for design in designs])
        assert next_designs(asked, {})
    assert found[0] == found[1] == found[2]


def test_services_answer_for_both_ways_of_asking(answered: Study, alice: User, inputs: Inputs, sent: list[Any]) -> None:
    study = services.ask_new(alice, inputs | {"usd_per_month": 1e6})
    assert (study.state, sent) == (State.DONE, [])
