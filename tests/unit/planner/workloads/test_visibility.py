"""Who sees which workload: the team its own, everybody the shipped ones, a stranger neither page nor file."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client

from planner.accounts.models import Team, User
from planner.scenarios.models import Scenario
from planner.studies.models import Study
from planner.workloads import services
from planner.workloads.models import Workload
from simcore.traces import SyntheticSpec


@pytest.fixture
def workload(team: Team, alice: User) -> Workload:
    return services.save_mix(team, alice, "ours", SyntheticSpec("coding", 5, 100))


PAGES = ["/workloads/{}", "/workloads/{}/trace.csv", "/api/v1/workloads/{}"]


@pytest.mark.parametrize("page", PAGES)
def test_the_team_sees_its_workload_and_a_stranger_finds_nothing(
    workload: Workload, alice_client: Client, bob_client: Client, charlie_client: Client, client: Client, page: str
) -> None:
    url = page.format(workload.pk)
    assert [c.get(url).status_code for c in (alice_client, bob_client, charlie_client)] == [200, 200, 404]
    assert client.get(url).status_code in (302, 401, 403)


@pytest.mark.parametrize("page", PAGES)
def test_everybody_signed_in_sees_the_shipped_mixes(charlie_client: Client, client: Client, page: str) -> None:
    url = page.format(Workload.of_mix("conversation").pk)
    assert charlie_client.get(url).status_code == 200
    assert client.get(url).status_code in (302, 401, 403)


def test_lists_hold_what_may_be_seen(
    workload: Workload, alice_client: Client, charlie_client: Client, charlie: User
) -> None:
    assert "ours" in alice_client.get("/workloads/").content.decode()
    page = charlie_client.get("/workloads/").content.decode()
    assert "ours" not in page
    assert "Conversation mix" in page
    listed = charlie_client.get("/api/v1/workloads/").json()["results"]
    assert {row["name"] for row in listed} == {"Conversation mix", "Coding mix"}
    assert not Workload.objects.visible_to(AnonymousUser()).exists()


def test_only_editors_of_the_team_delete(workload: Workload, bob_client: Client, charlie_client: Client) -> None:
    url = f"/workloads/{workload.pk}/delete"
    assert charlie_client.post(url).status_code == 404
    assert bob_client.get(url).status_code == 405
    assert bob_client.post(url).status_code == 302
    assert not Workload.unscoped.filter(pk=workload.pk).exists()


def test_a_workload_that_a_study_used_is_kept(workload: Workload, alice_client: Client, team: Team) -> None:
    revision = Scenario.objects.create(team=team, name="asked").revisions.create(number=1, inputs={})
    Study.objects.create(team=team, revision=revision, workload=workload, spec={}, prices={}, trace_hash="")
    page = alice_client.post(f"/workloads/{workload.pk}/delete", follow=True).content.decode()
    assert "ours is kept, for questions ask about it: asked (1 answer)." in page
    assert Workload.unscoped.filter(pk=workload.pk).exists()


def test_nobody_deletes_a_shipped_mix(alice_client: Client) -> None:
    shipped = Workload.of_mix("coding")
    assert alice_client.post(f"/workloads/{shipped.pk}/delete").status_code == 404
    assert "Delete" not in alice_client.get(f"/workloads/{shipped.pk}").content.decode()


@pytest.mark.django_db
def test_shipping_again_changes_nothing() -> None:
    before = list(Workload.unscoped.values_list("pk", "content_hash"))
    services.ship_mixes()
    assert list(Workload.unscoped.values_list("pk", "content_hash")) == before
    assert len(before) == 2


def test_the_same_workload_is_one_row_for_members_of_many(workload: Workload, alice: User, bob: User) -> None:
    assert Workload.objects.visible_to(alice).filter(pk=workload.pk).count() == 1
    assert Workload.objects.visible_to(alice).count() == 3
    assert [row.name for row in Workload.objects.visible_to(bob)] == ["Conversation mix", "Coding mix", "ours"]
