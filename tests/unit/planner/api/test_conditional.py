"""ETag and If-None-Match: the same bytes have the same tag, and who has them is not sent them again."""

from collections.abc import Callable

import pytest
from django.test import Client

from planner.accounts import tokens
from planner.accounts.models import Team, User
from planner.studies.models import Study
from planner.workloads.models import Workload
from tests.unit.planner.studies.conftest import *  # noqa: F403 - its fixtures
from tests.unit.planner.studies.conftest import Counted

REST = "/api/v1/"


@pytest.fixture
def study(start: Callable[[], Study], work: Callable[..., int], counted: Counted) -> Study:
    study = start()
    work()
    study.refresh_from_db()
    return study


def test_every_read_is_answered_304_until_it_changes(study: Study, workload: Workload, alice_client: Client) -> None:
    own, files = f"{REST}studies/{study.pk}", f"/studies/{study.pk}/designs"
    reads = [f"{REST}studies/", own, f"{own}/designs", f"{own}/designs?limit=1", f"{own}/analyses"]
    reads += [f"{REST}workloads/", f"{REST}workloads/{workload.pk}", f"{files}.csv", f"{files}.json"]
    reads += [f"{REST}catalogue/machines/", f"{REST}catalogue/models/bloom-176b/", f"{REST}catalogue/price-books/"]
    tags = set()
    for at in reads:
        first = alice_client.get(at)
        tag = first["ETag"]
        assert (first.status_code, tag[0]) == (200, '"'), at
        assert first["Cache-Control"] == "private, no-cache", at
        assert {"Authorization", "Cookie"} <= set(first["Vary"].split(", ")), at
        again = alice_client.get(at, headers={"If-None-Match": tag})
        assert (again.status_code, again.content, again["ETag"]) == (304, b"", tag), at
        assert again["Cache-Control"] == "private, no-cache", at
        assert alice_client.get(at, headers={"If-None-Match": '"other", ' + tag}).status_code == 304, at
        assert alice_client.get(at, headers={"If-None-Match": '"other"'}).content == first.content, at
        tags.add(tag)
    assert len(tags) == len(reads)
    tag = alice_client.get(own)["ETag"]
    Study.unscoped.filter(pk=study.pk).update(state="cancelled")
    changed = alice_client.get(own, headers={"If-None-Match": tag})
    assert changed.status_code == 200
    assert changed["ETag"] != tag


def test_packed_it_is_still_known(study: Study, alice_client: Client) -> None:
    """Packed bytes differ from time to time, so that their tag is a weak one."""
    at = f"{REST}studies/{study.pk}/designs"
    packed = alice_client.get(at, headers={"Accept-Encoding": "gzip"})
    assert packed["ETag"] == "W/" + alice_client.get(at)["ETag"]
    headers = {"Accept-Encoding": "gzip", "If-None-Match": packed["ETag"]}
    assert alice_client.get(at, headers=headers).status_code == 304


def test_what_is_computed_still_has_no_tag(start: Callable[[], Study], alice_client: Client) -> None:
    answer = alice_client.get(f"{REST}studies/{start().pk}", headers={"If-None-Match": "*"})
    assert answer.status_code == 202
    assert not answer.has_header("ETag")


def test_a_tag_opens_nothing(study: Study, alice_client: Client, charlie_client: Client, client: Client) -> None:
    at = f"{REST}studies/{study.pk}"
    headers = {"If-None-Match": alice_client.get(at)["ETag"]}
    assert charlie_client.get(at, headers=headers).status_code == 404
    assert client.get(at, headers=headers).status_code == 401


def test_by_token_too(study: Study, alice: User, team: Team, client: Client) -> None:
    headers = {"Authorization": f"Bearer {tokens.issue(team, 'bi', alice)[1]}"}
    tag = client.get(f"{REST}studies/{study.pk}", headers=headers)["ETag"]
    again = client.get(f"{REST}studies/{study.pk}", headers={**headers, "If-None-Match": tag})
    assert again.status_code == 304


def test_pages_have_none(alice_client: Client, workload: Workload) -> None:
    assert not alice_client.get("/workloads/").has_header("ETag")
