"""What has become of the costs since they were approved: by input, by hand, and adding up to the cent."""

from collections.abc import Callable
from decimal import Decimal
from html import unescape
from typing import Any

import pytest
from django.test import Client

from planner.accounts.models import Team, User
from planner.catalogue.models import Price, PriceBook
from planner.finance.models import Approval
from planner.scenarios.models import Revision
from planner.scenarios.services import save_revision
from planner.sharing import links
from planner.studies import services
from planner.studies.models import Study
from planner.studies.results import study_result
from tests.unit.planner.finance.test_finance import address, shown

Json = dict[str, Any]
JANUARY, FEBRUARY = 744, 672
ONE_MONTH = {"demand.start": "2027-01", "demand.months": "1"}


def save(client: Client, study: Study, **entered: str) -> None:
    saved = client.post(f"{address(study)}assumptions", {**ONE_MONTH, **entered})
    assert saved.status_code == 302, saved.content


def approve(client: Client, study: Study) -> Approval:
    assert client.post(f"{address(study)}approvals").status_code == 302
    return Approval.unscoped.latest("pk")


def waterfall(client: Client, study: Study, **query: str) -> Json:
    answer = client.get(f"/api/v1/studies/{study.pk}/finance/waterfall", query)
    assert answer.status_code == 200, answer.content
    found: Json = answer.json()
    steps = sum(Decimal(step["amount_usd"]) for step in found["steps"])
    assert Decimal(found["approved_usd"]) + steps == Decimal(found["now_usd"])
    return found


def told(found: Json) -> list[tuple[str, Decimal, list[str]]]:
    return [(" ".join(step["kinds"]), Decimal(step["amount_usd"]), step["inputs"]) for step in found["steps"]]


@pytest.fixture
def revised(
    alice: User,
    alice_client: Client,
    costed: Study,
    work: Callable[[], None],
    django_capture_on_commit_callbacks: Any,
) -> Callable[..., Study]:
    """The next revision of the question, answered and its costs worked out."""

    def revise(**changes: Any) -> Study:
        scenario = costed.revision.scenario
        revision: Revision = save_revision(alice, scenario, scenario.latest.inputs | changes)
        with django_capture_on_commit_callbacks(execute=True):
            study = services.start_study(alice, revision)
        work()
        with django_capture_on_commit_callbacks(execute=True):
            alice_client.post(f"/studies/{study.pk}/analyses/costing/", {})
        work()
        study.refresh_from_db()
        return study

    return revise


def test_each_input_by_the_pocket_calculator(alice_client: Client, costed: Study) -> None:
    save(alice_client, costed)
    approve(alice_client, costed)
    page = shown(alice_client, costed)
    assert "No input has changed" in page
    assert "since-figure" not in page
    row = study_result(costed).winner
    assert row is not None
    machines, price = row.mixed_machines, row.usd_per_hour / row.mixed_machines
    dearer = {"machines.0.on_demand_usd_per_hour": str(price + 1), "overheads.staff_usd_per_month": "1,000"}
    save(alice_client, costed, **dearer, **{"demand.start": "2027-02", "allocation": "tokens"})
    found = waterfall(alice_client, costed)
    assert Decimal(found["approved_usd"]) == machines * JANUARY * price
    assert told(found) == [
        ("months", machines * (FEBRUARY - JANUARY) * price, ["First month 2027-01 → 2027-02"]),
        ("prices", Decimal(machines * FEBRUARY), [
            f"DGX H100, by the hour {price.normalize():f} → {(price + 1).normalize():f} $/h",
            "DGX H100, price by the hour from list/dgx-h100 → what was entered",
        ]),
        ("overheads", Decimal(1000), ["Staff 0 → 1,000 $ a month"]),
    ]  # fmt: skip
    assert found["beside"] == ["Shared by accelerator time of prefill and decode → tokens, all alike"]
    page = shown(alice_client, costed)
    for words in (
        "since-figure",
        "First month 2027-01 → 2027-02",
        "+$1,000.00",
        "Changed, and moves no amount: Shared by",
    ):
        assert words in page


def test_another_rate_is_told_with_its_machines(
    alice_client: Client, client: Client, alice: User, costed: Study, revised: Callable[..., Study]
) -> None:
    save(alice_client, costed)
    approve(alice_client, costed)
    study = revised(rate_req_per_s=0.5)
    save(alice_client, study)
    before, after = (study_result(one).winner for one in (costed, study))
    assert before is not None
    assert after is not None
    found = waterfall(alice_client, study)
    more = (after.usd_per_hour - before.usd_per_hour) * JANUARY
    assert more < 0
    assert told(found) == [("rate", more, ["rate 2 → 0.5 requests/s"])]
    assert (found["approval"]["revision"], found["steps"][0]["design"]) == (1, after.label)
    assert "Since revision 1 was approved" in shown(alice_client, study)
    _, token = links.create(alice, study)  # shows its own study alone
    assert "was approved" not in unescape(client.get(f"/shared/{token}{address(study)}").content.decode())
    approve(alice_client, study)
    assert waterfall(alice_client, study)["steps"] == []
    first = str(Approval.unscoped.earliest("pk").pk)
    assert told(waterfall(alice_client, study, since=first))[0][1] == more
    assert alice_client.get(f"/api/v1/studies/{study.pk}/finance/waterfall", {"since": "999"}).status_code == 404


def test_a_book_that_moved_is_one_step_with_the_question(
    alice_client: Client, team: Team, costed: Study, revised: Callable[..., Study]
) -> None:
    """Approved with the study's own assumptions: the price is the question's, and what costs are made of."""
    approve(alice_client, costed)
    kept = Approval.unscoped.get()
    before = study_result(costed).winner
    assert before is not None
    book = PriceBook.objects.create(team=team, book_id="ours", name="Ours", date="2026-11-01")
    Price.objects.create(book=book, machine="dgx-h100", usd_per_hour=20, source="offer", date="2026-11-01")
    study = revised(rate_req_per_s=0.5, price_book="ours", pue=1.4)
    found = waterfall(alice_client, study)
    assert Decimal(found["approved_usd"]) == Decimal(kept.kept["totals"]["book"])
    hours = 365 * 24 + 366 * 24 + 365 * 24  # 2027, 2028, 2029
    (prices, pue, rate) = told(found)
    assert prices == (
        "prices",
        before.mixed_machines * hours * Decimal(20 - 36),
        [
            "DGX H100 $36.00 → $20.00 an hour",
            "DGX H100, price by the hour from list/dgx-h100 → ours/dgx-h100",
        ],
    )
    assert (pue[0], pue[1]) == ("PUE", 0)  # rented machines have their electricity in the price
    fewer = study_result(study).winner.mixed_machines - before.mixed_machines
    assert rate == ("rate", Decimal(20 * hours * fewer), ["rate 2 → 0.5 requests/s"])


def test_figures_that_another_version_made_say_so(alice_client: Client, costed: Study) -> None:
    one = approve(alice_client, costed)
    one.kept["totals"] = {view: str(Decimal(usd) - 7) for view, usd in one.kept["totals"].items()}
    one.definition_version = "0"
    one.save()
    assert told(waterfall(alice_client, costed)) == [
        ("definitions", Decimal("7.00"), ["definition of the lines 0 → 1"])
    ]
    one.kept["assumptions"]["gone"] = 1
    one.save()
    found = waterfall(alice_client, costed)
    assert told(found) == [("question", Decimal("7.00"), [])]
    assert "cannot be worked out anew by this version: gone:" in found["problem"]
    assert found["problem"] in shown(alice_client, costed)


def test_nothing_approved(alice_client: Client, costed: Study) -> None:
    answer = alice_client.get(f"/api/v1/studies/{costed.pk}/finance/waterfall")
    assert (answer.status_code, answer.json()["detail"]) == (404, "Nothing of this question is approved.")
