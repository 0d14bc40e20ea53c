"""A question is deleted with all that is part of it, undone, and removed for good."""

from collections.abc import Callable
from datetime import timedelta
from html import unescape
from io import StringIO
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries
from pytest_django.fixtures import Settings

from planner.accounts.models import AuditEntry, Membership, Role, Team, User
from planner.analyses.models import Analysis
from planner.finance import file_links
from planner.finance.costs import Costs
from planner.finance.models import Approval, AssumptionSet
from planner.scenarios import deleting, granting
from planner.scenarios.models import Revision, Scenario
from planner.scenarios.services import create_scenario, save_revision
from planner.sharing import links
from planner.studies import services
from planner.studies.leases import State
from planner.studies.models import Shard, Study, StudyDesign, Wave
from tests.unit.planner.studies.conftest import Counted, Inputs

Start = Callable[[], Study]
Work = Callable[..., int]
pytestmark = pytest.mark.usefixtures("collected_static")


@pytest.fixture
def study(start: Start, work: Work, counted: Counted) -> Study:
    study = start()
    work()
    study.refresh_from_db()
    return study


def delete(client: Client, scenario_id: int) -> str:
    response = client.post(f"/questions/{scenario_id}/delete", follow=True)
    assert response.redirect_chain == [("/", 302)]
    return unescape(response.content.decode())


def undo(page: str) -> str:
    """Where the notice's button posts to."""
    notice = page[page.index('class="messages"') :]
    return notice.split('action="', 1)[1].split('"', 1)[0]


def test_deleted_and_undone_it_is_as_it_was(
    study: Study, alice: User, alice_client: Client, bob_client: Client
) -> None:
    scenario = study.revision.scenario
    _, token = links.create(alice, study)
    wanted = file_links.Wanted("designs.csv")
    _, secret = file_links.create(alice, Costs(study, "", None), wanted)
    addresses = [
        f"/questions/{scenario.pk}/", f"/studies/{study.pk}/", f"/studies/{study.pk}/designs.csv",
        f"/api/v1/scenarios/{scenario.pk}", f"/api/v1/studies/{study.pk}", f"/api/v1/studies/{study.pk}/designs",
        f"/studies/{study.pk}/finance/", f"/shared/{token}/", f"/shared/{token}/studies/{study.pk}/designs.csv",
        f"/files/{secret}.csv",
    ]  # fmt: skip
    assert [bob_client.get(one).status_code for one in addresses] == [200] * len(addresses)
    before = bob_client.get(f"/api/v1/studies/{study.pk}/designs").content
    page = delete(alice_client, scenario.pk)
    assert f"{study.revision.title} is deleted, with its answers and links." in page
    assert [bob_client.get(one).status_code for one in addresses] == [404] * len(addresses)
    assert bob_client.get("/api/v1/scenarios/").json()["count"] == 0
    assert bob_client.get("/api/v1/studies/").json()["count"] == 0
    back = bob_client.post(undo(page), follow=True)
    assert back.redirect_chain == [(f"/questions/{scenario.pk}/", 302)]
    assert f"{study.revision.title} is back." in unescape(back.content.decode())
    assert [bob_client.get(one).status_code for one in addresses] == [200] * len(addresses)
    assert bob_client.get(f"/api/v1/studies/{study.pk}/designs").content == before
    said = AuditEntry.objects.visible_to(alice).values_list("action", "by_name", "subject")[:2]
    subject = study.revision.title
    assert list(said) == [("restored", "bob", subject), ("deleted", "alice", subject)]


def test_the_page_of_what_was_deleted(
    revision: Revision, inputs: Inputs, alice: User, alice_client: Client, bob_client: Client, charlie_client: Client
) -> None:
    save_revision(alice, revision.scenario, {**inputs, "rate_req_per_s": "12"})
    delete(bob_client, revision.scenario_id)
    page = unescape(alice_client.get("/deleted/").content.decode())
    assert revision.scenario.latest.title in page
    assert "12 requests/s" in page
    assert "bob, " in page
    assert f'action="/deleted/scenarios/{revision.scenario_id}/restore"' in page
    assert "Nothing." in charlie_client.get("/deleted/").content.decode()
    assert charlie_client.post(f"/deleted/scenarios/{revision.scenario_id}/restore").status_code == 404
    assert alice_client.get("/deleted/scenarios/1/restore").status_code == 405
    assert alice_client.post("/deleted/nothing/1/restore").status_code == 404


def test_who_may(revision: Revision, team: Team, alice: User, charlie: User, charlie_client: Client) -> None:
    root = f"/questions/{revision.scenario_id}"
    assert charlie_client.post(f"{root}/delete").status_code == 404
    granting.grant(alice, revision.scenario, "charlie", may_write=True)
    assert charlie_client.post(f"{root}/delete").status_code == 403  # who it was shared with changes it, and no more
    Membership.objects.create(team=team, user=charlie, role=Role.VIEWER)
    assert charlie_client.post(f"{root}/delete").status_code == 403
    assert "Delete this question" not in charlie_client.get(f"{root}/").content.decode()
    deleting.delete(alice, revision.scenario)
    assert charlie_client.get("/api/v1/deleted/").json()["results"][0]["may_restore"] is False
    assert charlie_client.post(f"/deleted/scenarios/{revision.scenario_id}/restore").status_code == 403
    assert "Restore</button>" not in charlie_client.get("/deleted/").content.decode()
    Membership.objects.filter(user=charlie, team=team).delete()
    assert granting.shared_with(charlie) == []


def test_by_rest(revision: Revision, alice_client: Client, charlie_client: Client) -> None:
    at = f"/api/v1/scenarios/{revision.scenario_id}"
    seen = alice_client.get(at)
    assert charlie_client.delete(at).status_code == 404
    assert alice_client.delete(at, headers={"If-Match": '"older"'}).status_code == 412
    gone = alice_client.delete(at, headers={"If-Match": seen["ETag"]})
    assert gone.status_code == 204
    assert alice_client.delete(at).status_code == 404
    assert alice_client.get(at).status_code == 404
    told = alice_client.get(gone["Location"]).json()
    assert (told["kind"], told["id"], told["deleted_by"]) == ("scenarios", revision.scenario_id, "alice")
    assert alice_client.get("/api/v1/deleted/").json()["results"] == [told]
    assert charlie_client.get(gone["Location"]).status_code == 404
    assert charlie_client.post(told["restore_url"]).status_code == 404
    key = {"Idempotency-Key": "once"}
    back = alice_client.post(told["restore_url"], content_type="application/json", headers=key)
    assert back.status_code == 200
    assert back["Location"].endswith(at)
    again = alice_client.post(told["restore_url"], content_type="application/json", headers=key)
    assert again.json() == back.json()  # not done again
    assert alice_client.post(told["restore_url"]).status_code == 404
    now = alice_client.get(at).json()
    assert {**now, "updated_at": ""} == {**seen.json(), "updated_at": ""}
    assert now["updated_at"] > seen.json()["updated_at"]


def test_a_study_under_way_stops_and_can_be_gone_on_with(
    start: Start, work: Work, counted: Counted, alice: User, alice_client: Client
) -> None:
    study = start()
    work(1)
    page = delete(alice_client, study.revision.scenario_id)
    assert "1 study under way stopped." in page
    study.refresh_from_db()
    assert study.state == State.CANCELLED
    active = (State.QUEUED, State.RUNNING)
    assert not Wave.objects.filter(study=study, state__in=active).exists()
    assert not Shard.objects.filter(wave__study=study, state__in=active).exists()
    calls = len(counted.calls)
    work()
    assert len(counted.calls) == calls
    with pytest.raises(PermissionDenied):
        services.start_study(alice, study.revision)
    alice_client.post(undo(page))
    alice_client.post(f"/studies/{study.pk}/retry")
    study.refresh_from_db()
    assert study.is_active


def test_a_change_that_began_before_is_refused(revision: Revision, inputs: Inputs, alice: User) -> None:
    """As one that waits for the scenario's row while it is deleted."""
    Scenario.unscoped.filter(pk=revision.scenario_id).update(deleted_at=timezone.now())
    with pytest.raises(PermissionDenied):
        save_revision(alice, revision.scenario, {**inputs, "rate_req_per_s": "12"})
    assert revision.scenario.revisions.count() == 1


def test_the_example_stays(revision: Revision, alice_client: Client) -> None:
    Scenario.unscoped.filter(pk=revision.scenario_id).update(shipped_id="example")
    response = alice_client.post(f"/questions/{revision.scenario_id}/delete", follow=True)
    assert "stays as it is shipped" in response.content.decode()
    assert alice_client.delete(f"/api/v1/scenarios/{revision.scenario_id}").status_code == 409


def analysis_of(study: Study, key: str, state: State) -> Analysis:
    return Analysis.objects.create(
        key=key, kind="growth", study=study, task=b"", task_checksum="", code_version="", state=state
    )


def test_what_others_had_worked_out_of_the_same_question_stays(
    study: Study, inputs: Inputs, alice: User, charlie: User, sent: list[Any]
) -> None:
    done = analysis_of(study, "a", State.DONE)
    other = services.start_study(alice, create_scenario(alice, inputs, "The same"))
    assert other.question_key == study.question_key
    deleting.delete(alice, study.revision.scenario)
    done.refresh_from_db()
    assert (done.study, done.state) == (other, State.DONE)
    waiting = analysis_of(other, "b", State.QUEUED)
    deleting.delete(alice, other.revision.scenario)
    waiting.refresh_from_db()
    assert waiting.state == State.CANCELLED  # nobody reads it


def purged(*options: str) -> str:
    out = StringIO()
    call_command("purge", *options, stdout=out)
    return out.getvalue()


def test_a_purge_removes_what_is_old_and_says_first_what_it_would(
    study: Study, revision: Revision, inputs: Inputs, alice: User, team: Team, settings: Settings
) -> None:
    AssumptionSet.objects.create(team=team, study=study, values={})
    lately = create_scenario(alice, {**inputs, "rate_req_per_s": "3"}).scenario
    for scenario in (revision.scenario, lately):
        deleting.delete(alice, scenario)
    month_ago = timezone.now() - timedelta(days=31)
    Scenario.unscoped.filter(pk=revision.scenario_id).update(deleted_at=month_ago)
    assert "Question: 1 would be removed\n" in purged("--dry-run")
    assert "Question: 0 would be removed\n" in purged("--dry-run", "--days", "32")
    assert Scenario.unscoped.count() == 2
    assert "Question: 1 removed\n" in purged()
    assert list(Scenario.unscoped.all()) == [lately]
    for rows in (Study.unscoped, AssumptionSet.unscoped, StudyDesign.objects):
        assert not rows.exists()
    entry = AuditEntry.objects.visible_to(alice)[0]
    assert (entry.action, entry.subject) == ("removed for good", revision.title)
    assert entry.by_name == "manage.py"
    assert "Question: 1 removed\n" in purged("--days", "0")


def test_what_was_approved_is_not_purged(study: Study, alice: User, team: Team) -> None:
    approved = Approval.objects.create(team=team, created_by=alice, study=study, kept={}, lines={})
    deleting.delete(alice, study.revision.scenario)
    assert "Question: 0 removed, 1 kept, for something still needs them\n" in purged("--days", "0")
    Approval.unscoped.filter(pk=approved.pk).update(withdrawn_at=timezone.now())
    assert "Question: 1 removed\n" in purged("--days", "0")


def test_its_queries_do_not_grow_with_the_rows(
    revision: Revision,
    inputs: Inputs,
    alice: User,
    alice_client: Client,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    deleting.delete(alice, revision.scenario)
    alice_client.get("/deleted/")
    with CaptureQueriesContext(connection) as few:
        alice_client.get("/deleted/")
    for rate in range(3, 8):
        deleting.delete(alice, create_scenario(alice, {**inputs, "rate_req_per_s": rate}).scenario)
    with django_assert_num_queries(len(few)):
        alice_client.get("/deleted/")
    assert len(alice_client.get("/api/v1/deleted/").json()["results"]) == 6
