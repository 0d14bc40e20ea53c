"""Two people change a question at once: a clear choice for who saves second, and nothing typed is lost."""

import re
from collections.abc import Callable
from html import unescape

import pytest
from django.http import HttpResponse
from django.test import Client

from planner.accounts.models import User
from planner.scenarios.models import Revision, Scenario
from planner.scenarios.services import SavedMeanwhileError, Start, save_revision
from planner.studies.models import Study
from tests.unit.planner.studies.conftest import Inputs

Begin = Callable[[], Study]


@pytest.fixture
def study(start: Begin) -> Study:
    return start()


def seen(client: Client, study: Study) -> dict[str, str]:
    """What the page's form carries of the revision that it shows."""
    page = client.get(f"/studies/{study.pk}/").content.decode()
    found = re.search(r'name="revision_seen" value="(\d+)"', page)
    assert found is not None
    return {"revision_seen": found[1]}


@pytest.fixture
def conflict(study: Study, inputs: Inputs, alice_client: Client, bob_client: Client) -> HttpResponse:
    """Bob changes the rate while Alice changes the rate and the memory."""
    mine, theirs = seen(alice_client, study), seen(bob_client, study)
    bob_client.post(f"/studies/{study.pk}/ask", {**inputs, **theirs, "rate_req_per_s": "12", "pue": "1.2"})
    return alice_client.post(
        f"/studies/{study.pk}/ask", {**inputs, **mine, "rate_req_per_s": "14", "memory_usable": "0.8"}
    )


def settled(client: Client, page: HttpResponse, go: str) -> HttpResponse:
    typed = re.search(r'name="mine" value="([^"]+)"', page.content.decode())
    where = re.search(r'action="(/questions/\d+/meanwhile)"', page.content.decode())
    assert typed is not None
    assert where is not None
    return client.post(where[1], {"mine": typed[1], "go": go})


def test_both_changes_are_told_and_nothing_is_saved(conflict: HttpResponse, study: Study) -> None:
    assert conflict.status_code == 409
    page = re.sub(r"<[^>]+>", " ", unescape(conflict.content.decode()))
    assert "You changed revision 1 of" in page
    assert "Revision 2, bob" in re.sub(r"\s+", " ", page).replace(" ,", ",")
    assert "rate 10 → 14 requests/s" in page
    assert "rate 10 → 12 requests/s" in page
    assert "PUE" in page
    assert "rate 14 requests/s instead of 12 requests/s" in page
    assert study.revision.scenario.latest.number == 2


def test_mine_on_top_of_theirs(conflict: HttpResponse, study: Study, alice_client: Client) -> None:
    response = settled(alice_client, conflict, "mine")
    latest = study.revision.scenario.latest
    assert response["Location"] == f"/studies/{latest.studies.get().pk}/"
    assert latest.number == 3
    assert [latest.inputs[name] for name in ("rate_req_per_s", "memory_usable", "pue")] == [14, 0.8, 1.2]


def test_theirs(conflict: HttpResponse, study: Study, alice_client: Client) -> None:
    response = settled(alice_client, conflict, "theirs")
    latest = study.revision.scenario.latest
    assert response["Location"] == f"/studies/{latest.studies.get().pk}/"
    assert (latest.number, latest.inputs["rate_req_per_s"]) == (2, 12)


def test_mine_as_a_copy(conflict: HttpResponse, study: Study, alice: User, alice_client: Client) -> None:
    settled(alice_client, conflict, "copy")
    copy = Scenario.objects.visible_to(alice).exclude(pk=study.revision.scenario_id).get()
    asked = copy.latest.inputs
    assert [asked["rate_req_per_s"], asked["memory_usable"]] == [14, 0.8]
    assert copy.origin.endswith("revision 1, changed")
    assert study.revision.scenario.latest.number == 2


def test_saved_again_while_one_chooses(
    conflict: HttpResponse, study: Study, inputs: Inputs, alice_client: Client, bob: User
) -> None:
    save_revision(bob, study.revision.scenario, {**inputs, "rate_req_per_s": "13"})
    again = settled(alice_client, conflict, "mine")
    assert again.status_code == 409
    assert "rate 10 → 13 requests/s" in unescape(again.content.decode())
    settled(alice_client, again, "mine")
    latest = study.revision.scenario.latest
    assert (latest.number, latest.inputs["rate_req_per_s"]) == (4, 14)


def test_what_was_typed_is_not_to_be_tampered_with(conflict: HttpResponse, study: Study, alice_client: Client) -> None:
    where = f"/questions/{study.revision.scenario_id}/meanwhile"
    assert alice_client.post(where, {"mine": "x", "go": "mine"}).status_code == 404
    assert settled(alice_client, conflict, "neither").status_code == 404


def test_one_s_own_other_tab_is_told_too(study: Study, inputs: Inputs, alice_client: Client) -> None:
    tabs = [seen(alice_client, study), seen(alice_client, study)]
    codes = [
        alice_client.post(f"/studies/{study.pk}/ask", {**inputs, **tab, "rate_req_per_s": rate}).status_code
        for tab, rate in zip(tabs, ("12", "14"), strict=True)
    ]
    assert codes == [302, 409]


def test_one_s_own_earlier_revision_is_changed_without_more_ado(
    study: Study, inputs: Inputs, alice_client: Client
) -> None:
    alice_client.post(f"/studies/{study.pk}/ask", {**inputs, **seen(alice_client, study), "rate_req_per_s": "12"})
    known = seen(alice_client, study)
    assert known == {"revision_seen": "2"}
    changed = {**inputs, **known, "rate_req_per_s": "14"}
    assert alice_client.post(f"/studies/{study.pk}/ask", changed).status_code == 302


def test_an_old_answer_of_a_question_that_somebody_else_went_on_with(
    study: Study, inputs: Inputs, alice_client: Client, bob: User
) -> None:
    save_revision(bob, study.revision.scenario, {**inputs, "rate_req_per_s": "12"})
    changed = {**inputs, **seen(alice_client, study), "rate_req_per_s": "14"}
    assert alice_client.post(f"/studies/{study.pk}/ask", changed).status_code == 409


def test_a_page_with_errors_remembers_what_it_knew(
    study: Study, inputs: Inputs, alice_client: Client, alice: User
) -> None:
    known = seen(alice_client, study)
    save_revision(alice, study.revision.scenario, {**inputs, "rate_req_per_s": "12"})
    wrong = alice_client.post(f"/studies/{study.pk}/ask", {**inputs, **known, "rate_req_per_s": "none"})
    assert 'name="revision_seen" value="1"' in wrong.content.decode()


def test_the_same_change_twice_is_no_conflict(study: Study, inputs: Inputs, alice_client: Client, bob: User) -> None:
    known = seen(alice_client, study)
    save_revision(bob, study.revision.scenario, {**inputs, "rate_req_per_s": "12"})
    same = {**inputs, **known, "rate_req_per_s": "12"}
    assert alice_client.post(f"/studies/{study.pk}/ask", same).status_code == 302


def test_a_kept_what_if_is_a_change_too(
    study: Study, revision: Revision, inputs: Inputs, alice_client: Client, bob: User
) -> None:
    save_revision(bob, revision.scenario, {**inputs, "rate_req_per_s": "12"})
    page = alice_client.post(f"/studies/{study.pk}/simulate?pue=1.4", {"go": "keep"})
    assert page.status_code == 409
    settled(alice_client, page, "mine")
    latest = revision.scenario.latest
    assert [latest.inputs[name] for name in ("rate_req_per_s", "pue")] == [12, 1.4]


def test_it_is_found_out_under_the_lock(revision: Revision, inputs: Inputs, alice: User, bob: User) -> None:
    start = Start(revision, 1)
    save_revision(bob, revision.scenario, {**inputs, "rate_req_per_s": "12"}, start=start)
    with pytest.raises(SavedMeanwhileError):
        save_revision(alice, revision.scenario, {**inputs, "rate_req_per_s": "14"}, start=start)
