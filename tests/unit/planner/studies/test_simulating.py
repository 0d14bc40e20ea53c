"""What is supposed, simulated: as a revision, or as designs tried beside those that the search picked."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from html import unescape
from typing import Any

import pytest
from django.test import Client

from planner.accounts.models import Membership, Role, User
from planner.scenarios.kept_changes import kept_changes
from planner.scenarios.services import save_revision
from planner.studies.contexts import context_of
from planner.studies.leases import State
from planner.studies.models import Study
from planner.studies.repriced import price_change
from planner.studies.results import study_result
from planner.studies.simulating import changed_inputs
from planner.studies.spec import compile_question
from planner.studies.workers import Worker
from simcore.explain import answer
from simcore.what_if.changes import Changes, what_if
from simcore.what_if.untried import untried
from tests.unit.planner.studies.conftest import Counted


@pytest.fixture
def study(start: Callable[[], Study], work: Callable[..., int], counted: Counted) -> Study:
    started = start()
    work()
    started.refresh_from_db()
    Worker.objects.create(name="w", engine_version=started.engine_version)
    return started


@dataclass
class Asker:
    """A press of the button, and the work that it makes."""

    client: Client
    capture: Any
    work: Callable[..., int]

    def simulate(self, study: Study, query: str) -> tuple[Study, str]:
        with self.capture(execute=True):
            response = self.client.post(f"/studies/{study.pk}/simulate{query}")
        self.work()
        return Study.unscoped.latest("pk"), response["Location"]


@pytest.fixture
def asker(alice_client: Client, django_capture_on_commit_callbacks: Any, work: Callable[..., int]) -> Asker:
    return Asker(alice_client, django_capture_on_commit_callbacks, work)


def page_of(client: Client, study: Study, query: str) -> str:
    return unescape(client.get(f"/studies/{study.pk}/{query}").content.decode())


def test_another_rate_becomes_a_revision_with_all_that_is_supposed(
    study: Study, asker: Asker, alice: User, alice_client: Client
) -> None:
    query = "?rate=12&usd.dgx-h100=10&tariff=0.11&pue=1.3&budget=none&power_limit=350"
    assert "Simulate it" in page_of(alice_client, study, query)
    new, location = asker.simulate(study, query)
    assert location == f"/studies/{new.pk}/"
    assert (new.revision.scenario_id, new.revision.number) == (study.revision.scenario_id, 2)
    moved = {"rate_req_per_s": 12.0, "pue": 1.3, "usd_per_month": None, "power_limit_kw": 350.0}
    assert new.revision.inputs == {**study.revision.inputs, **moved}
    assert new.state == State.DONE
    book = study_result(new).book
    assert (book.price("dgx-h100").usd_per_hour, book.usd_per_kwh) == (Decimal(10), Decimal("0.11"))
    page = page_of(alice_client, new, "")
    assert "DGX H100 -" in page
    assert "electricity at $0.11/kWh" in page
    assert "The catalogue has changed" not in page  # it never said these prices
    assert price_change(alice, new) == ""
    later = save_revision(alice, new.revision.scenario, new.revision.inputs | {"rate_req_per_s": 11.0})
    assert compile_question(alice, later.inputs, later.rows).spec.rate_req_per_s == 11.0
    assert later.rows["prices"] == new.revision.rows["prices"]
    said = [change.label for change in kept_changes(study.revision.rows, new.revision.rows)]
    assert said == ["price of DGX H100", "electricity"]


def test_a_rate_that_was_simulated_before_is_pointed_to(study: Study, asker: Asker, alice_client: Client) -> None:
    new, _ = asker.simulate(study, "?rate=12")
    page = page_of(alice_client, study, "?rate=12&usd.dgx-h100=10")
    assert f'href="/studies/{new.pk}/?usd.dgx-h100=10"' in page


def test_what_needs_no_simulation_is_kept_when_asked_and_answered_at_once(
    study: Study, asker: Asker, alice_client: Client
) -> None:
    query = "?usd.dgx-h100=10"
    found = what_if(study_result(study), Changes(usd_per_hour={"dgx-h100": Decimal(10)}))
    assert "Keep this" in page_of(alice_client, study, query)
    with asker.capture(execute=True):
        response = alice_client.post(f"/studies/{study.pk}/simulate{query}", {"go": "keep"})
    new = Study.unscoped.latest("pk")
    assert response["Location"] == f"/studies/{new.pk}/"
    assert new.state == State.DONE
    assert answer(study_result(new))[0].text == answer(found.result)[0].text
    assert "What if:" not in page_of(alice_client, new, "")


def test_what_needs_no_simulation_starts_none(study: Study, asker: Asker) -> None:
    found = what_if(study_result(study), Changes(pue=1.3))
    assert not untried(context_of(study), found).count
    new, location = asker.simulate(study, "?pue=1.3")
    assert new == study
    assert location == f"/studies/{study.pk}/?pue=1.3"


@pytest.fixture
def few_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a study of hundreds of machines: not every pair that may come first at other prices is tried."""
    monkeypatch.setattr("simcore.search.boundary.between", lambda *_: [])


@pytest.mark.usefixtures("few_pairs")
def test_designs_that_were_not_tried_are_checked_and_the_question_stays(
    study: Study, asker: Asker, alice_client: Client
) -> None:
    query = "?usd.dgx-a100=12&usd.dgx-h100=100"
    page = page_of(alice_client, study, query)
    assert "not tried that would cost less" in page
    assert " more design" in page.partition("<button")[2]
    new, location = asker.simulate(study, query)
    assert location == f"/studies/{new.pk}/?usd.dgx-a100=12&usd.dgx-h100=100"
    assert new != study
    assert new.revision == study.revision
    assert new.state == State.DONE
    tried = {row.design_id for row in study_result(new).rows}
    assert tried > {row.design_id for row in study_result(study).rows}
    assert "not tried that would cost less" not in page_of(alice_client, new, query)


def test_a_viewer_sees_what_is_supposed_and_has_nothing_simulated(
    study: Study, charlie: User, charlie_client: Client
) -> None:
    Membership.objects.filter(user=charlie).delete()
    Membership.objects.create(team=study.team, user=charlie, role=Role.VIEWER)
    page = page_of(charlie_client, study, "?rate=12")
    assert "What if:" in page
    assert "Simulate it" not in page
    assert charlie_client.post(f"/studies/{study.pk}/simulate?rate=12").status_code == 403
    assert Study.unscoped.count() == 1


@pytest.mark.parametrize(
    ("inputs", "scaled"),
    [
        ({"slo_kind": "slowdown", "slowdown_multiplier": 1.5}, {"slowdown_multiplier": 1.8}),
        (
            {"slo_kind": "attainment", "attainment_ttft_s": 0.5, "attainment_tpot_s": 0.04, "attainment_share": 0.9},
            {"attainment_ttft_s": 0.6, "attainment_tpot_s": 0.048},
        ),
        (
            {
                "slo_kind": "absolute",
                "ttft_limit_s": None,
                "tbt_limit_s": 0.1,
                "tpot_limit_s": None,
                "e2e_limit_s": 10.0,
                "queue_limit_s": None,
                "tbt_limit_x_decode": None,
            },
            {"tbt_limit_s": 0.12, "e2e_limit_s": 12.0},
        ),
    ],
)
def test_every_latency_limit_is_scaled(inputs: dict[str, Any], scaled: dict[str, Any]) -> None:
    assert changed_inputs(inputs, Changes(slo_multiplier=1.2)) == inputs | scaled


def test_downloads_and_rest_say_what_the_page_says(study: Study, alice_client: Client) -> None:
    found = what_if(study_result(study), replace(Changes(), pue=1.4, rate_req_per_s=7.0))
    query = "?rate=7&pue=1.4"
    told = alice_client.get(f"/api/v1/studies/{study.pk}{query}").json()
    assert told["what_if"]["query"] == {"rate": "7", "pue": "1.4"}
    assert told["what_if"]["to_simulate"] == ["rate"]
    page = page_of(alice_client, study, query)
    assert all(line["text"] in page for line in told["answer"])
    rows = alice_client.get(f"/api/v1/studies/{study.pk}/designs{query}").json()["results"]
    assert [row["met"] for row in rows] == [row.met for row in found.result.rows]
    file = alice_client.get(f"/studies/{study.pk}/designs.csv{query}")
    assert "-what-if.csv" in file["Content-Disposition"]
    assert f'href="/studies/{study.pk}/designs.csv?rate=7&pue=1.4"' in page


@pytest.mark.parametrize(
    "path", ["/api/v1/studies/{}?pue=9", "/api/v1/studies/{}/designs?pue=9", "/studies/{}/designs.csv?pue=9"]
)
def test_a_value_that_cannot_be_is_refused_to_programs(study: Study, path: str, alice_client: Client) -> None:
    response = alice_client.get(path.format(study.pk))
    assert response.status_code == 400
    assert "Found 9, expected a number of at least 1 and at most 5." in response.content.decode()
