"""A link opened by anybody: one answer, to be read, and nothing else of any team."""

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from html import unescape

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, get_script_prefix
from pytest_django import DjangoCaptureOnCommitCallbacks

from planner.accounts.models import AuditEntry, Membership, Role, Team, User
from planner.catalogue.models import PriceBook
from planner.scenarios.models import Revision
from planner.scenarios.services import create_scenario
from planner.sharing import links, tokens
from planner.sharing.middleware import HEADERS
from planner.sharing.models import ShareLink
from planner.studies import services
from planner.studies.models import Study
from planner.studies.results import answer, study_result
from planner.workloads.models import Workload
from tests.unit.planner.studies.conftest import Counted, Inputs

Start = Callable[[], Study]
Work = Callable[..., int]
PARTS = ["", "studies/{id}/", "studies/{id}/status", "studies/{id}/headline", "studies/{id}/designs/by-cost/"]


@pytest.fixture
def done(start: Start, work: Work, counted: Counted) -> Study:
    study = start()
    work()
    study.refresh_from_db()
    return study


@pytest.fixture
def token(alice: User, done: Study) -> str:
    return links.create(alice, done, "for finance")[1]


def opened(token: str, address: str = "", client: Client | None = None) -> str:
    response = (client or Client()).get(f"/shared/{token}/{address}")
    assert response.status_code == 200, address
    return unescape(response.content.decode())


def test_a_token_has_128_bits_and_only_its_hash_is_kept(token: str) -> None:
    row = ShareLink.unscoped.get()
    assert len(token) == 22
    assert row.token_hash == tokens.hashed(token)
    assert token not in str({field.name: getattr(row, field.name) for field in ShareLink._meta.fields})


def test_anybody_reads_the_answer_that_the_team_reads(token: str, done: Study, alice_client: Client) -> None:
    page = opened(token)
    for line in answer(done):
        assert line.text[1:] in page
    mine = unescape(alice_client.get(f"/studies/{done.pk}/").content.decode())
    drawn, own = (re.findall(r'<script id="[\w-]*figure".*?</script>', text, re.DOTALL) for text in (page, mine))
    assert drawn
    assert drawn == own


def test_its_preview_in_a_chat_is_the_answer(token: str, done: Study) -> None:
    described = re.search(r'property="og:description" content="(.*?)"', opened(token))
    assert described is not None
    assert described[1].startswith(answer(done)[0].text)


def test_the_question_is_a_sentence_and_nothing_can_be_changed(token: str, done: Study) -> None:
    page = opened(token)
    assert "Serve BLOOM 176B to A little chat at 10 requests/s so that" in page
    assert "choosing among DGX A100 and DGX H100 priced by" in page
    assert 'method="post"' not in page
    assert "Find the designs" not in page
    assert "Share</a>" not in page


def test_every_address_on_the_page_stays_within_the_link(token: str, done: Study) -> None:
    page = opened(token)
    places = re.findall(r'(?:href|hx-get|action|data-[a-z-]*url|data-address)="(/[^"]*)"', page)
    assert len(places) > 5
    outside = [at for at in places if not at.startswith((f"/shared/{token}/", "/static/"))]
    assert outside == []
    asked = [at for at in places if at.startswith("/shared/") and "DESIGN" not in at and not at.endswith("/clone")]
    answered = {at: Client().get(at, HTTP_HX_REQUEST="true").status_code for at in unescape(" ".join(asked)).split()}
    assert {at: code for at, code in answered.items() if code not in (200, 286)} == {}
    row = study_result(done).rows[0]
    assert row.label in opened(token, f"studies/{done.pk}/designs/{row.design_id}/")
    assert row.design_id in opened(token, f"studies/{done.pk}/designs.csv")
    assert get_script_prefix() == "/"


@pytest.mark.parametrize("part", PARTS)
def test_nobody_keeps_it_or_is_told_where_it_was(token: str, done: Study, part: str) -> None:
    response = Client().get(f"/shared/{token}/{part.format(id=done.pk)}", HTTP_HX_REQUEST="true")
    assert response.status_code in (200, 286)
    assert {name: response[name] for name in HEADERS} == HEADERS


def test_a_revoked_link_and_an_unknown_one_are_not_there(token: str) -> None:
    assert Client().get(f"/shared/{'x' * 22}/").status_code == 404
    links.revoke(ShareLink.unscoped.get())
    response = Client().get(f"/shared/{token}/")
    assert response.status_code == 404
    assert response["Cache-Control"] == "no-store"
    assert "There is no such link, or it was revoked or is over." in response.content.decode()


def test_a_link_that_is_followed_astray_leads_back(token: str) -> None:
    response = Client().get(f"/shared/{token}/catalogue/")
    assert response.status_code == 404
    assert f'<a href="/shared/{token}/">To the answer</a>' in response.content.decode()


def test_no_cookie_is_set_for_a_guest(token: str) -> None:
    assert not Client().get(f"/shared/{token}/").cookies


def test_the_owner_too_is_a_guest_there(token: str, alice_client: Client) -> None:
    page = opened(token, client=alice_client)
    assert "Find the designs" not in page
    assert "Sign out" not in page


def routes(resolver: URLResolver, prefix: str = "/") -> Iterator[tuple[str, URLPattern]]:
    for entry in resolver.url_patterns:
        address = prefix + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from routes(entry, address)
        elif isinstance(entry, URLPattern):
            yield address, entry


def filled(route: str, study_id: int) -> str:
    address = route.replace("<int:study_id>", str(study_id))
    return re.sub(r"<int:\w+>", "1", re.sub(r"<(str|path|slug):\w+>", "x", address)).lstrip("/")


def test_no_route_shows_anything_but_the_links_own_study(
    token: str, done: Study, alice: User, inputs: Inputs, sent: list[tuple[str, str]]
) -> None:
    other = services.start_study(alice, create_scenario(alice, {**inputs, "rate_req_per_s": 11}))
    walked = [route for route, _ in routes(get_resolver()) if "static" not in route]
    assert len(walked) > 30
    for route in walked:
        response = Client().get(f"/shared/{token}/{filled(route, other.pk)}")
        is_page = filled(route, other.pk) == ""
        assert response.status_code == (200 if is_page else 404), route
    for route in walked:
        assert Client().post(f"/shared/{token}/{filled(route, done.pk)}").status_code == 405, route


def test_rest_reads_the_links_study_and_nothing_else(token: str, done: Study, alice_client: Client) -> None:
    row = study_result(done).rows[0]
    compared = f"/compare?study={done.pk}&design={done.pk}:{row.design_id}"
    for address in ("", "/designs", "/analyses", "/analyses/growth", compared):
        at = f"api/v1/studies/{done.pk}{address}"
        response = Client().get(f"/shared/{token}/{at}")
        assert response.status_code == 200, address
        assert {name: response[name] for name in HEADERS} == HEADERS
        mine = alice_client.get(f"/{at}").content.decode()
        assert response.content.decode().replace(f"/shared/{token}/", "/") == mine
    for address in ("", "studies/", "workloads/", "catalogue/machines/", f"compare?study={done.pk}"):
        response = Client().get(f"/shared/{token}/api/v1/{address}")
        assert response.status_code == 404, address
        assert response.json()["error"]["code"] == "not_found"
    assert Client().get(f"/api/v1/studies/{done.pk}").status_code == 401
    links.revoke(ShareLink.unscoped.get())
    response = Client().get(f"/shared/{token}/api/v1/studies/{done.pk}")
    assert response.status_code == 404
    assert response.json()["error"]["message"] == "There is no such link, or it was revoked or is over."


def test_designs_of_its_study_are_compared_within_a_link(token: str, done: Study, sent: list[object]) -> None:
    first, second = study_result(done).rows[:2]
    page = opened(
        token, f"studies/{done.pk}/compare/?design={done.pk}:{first.design_id}&design={done.pk}:{second.design_id}"
    )
    assert first.label in page
    assert second.label in page
    places = re.findall(r'(?:href|hx-get|action)="(/[^"]*)"', page)
    assert [at for at in places if not at.startswith((f"/shared/{token}/", "/static/"))] == []
    other = services.start_study(done.created_by or User(), done.revision)
    for query in (f"study={other.pk}", f"study={done.pk}&design={other.pk}:{first.design_id}"):
        response = Client().get(f"/shared/{token}/studies/{done.pk}/compare/?{query}")
        assert response.status_code == 404, query
    assert "Pin to compare" in opened(token, f"studies/{done.pk}/designs/{first.design_id}/")


SECRETS = ("Merger", "alice", "Alice", "planners", "for finance", "for the board", "H100, as we pay it")


def test_no_page_of_a_link_names_anything_else_of_the_team(
    token: str, done: Study, alice: User, team: Team, inputs: Inputs, sent: list[tuple[str, str]]
) -> None:
    services.start_study(alice, create_scenario(alice, {**inputs, "rate_req_per_s": 11}, "Merger"))
    Workload.unscoped.create(
        team=team, created_by=alice, name="Merger trace", content_hash="0", requests=1, spec={}, summary={}, report={}
    )
    PriceBook.objects.create(team=team, created_by=alice, book_id="merger", name="Merger", date="2026-11-01")
    links.create(alice, done, "for the board")
    design = study_result(done).rows[0].design_id
    shown = 0
    for route, _ in routes(get_resolver()):
        address = filled(route.replace("<str:design_id>", design).replace("<slug:kind>", "growth"), done.pk)
        address = address.replace("by-x/", "by-cost/")
        response = Client().get(f"/shared/{token}/{address}", HTTP_HX_REQUEST="true")
        if response.status_code in (200, 202, 286):
            page = unescape(response.content.decode())
            assert [name for name in SECRETS if name in page] == [], route
            shown += 1
    assert shown > 15


def test_a_link_is_frozen_to_its_revision(
    token: str, done: Study, revision: Revision, inputs: Inputs, alice_client: Client
) -> None:
    alice_client.post(f"/studies/{done.pk}/ask", {**inputs, "rate_req_per_s": "85"})
    assert revision.scenario.latest.number == 2
    page = opened(token)
    assert "at 10 requests/s" in page
    assert "Revision 1" in page


def test_opening_it_is_noted_and_polling_it_is_not(token: str, done: Study) -> None:
    opened(token, f"studies/{done.pk}/headline")
    assert ShareLink.unscoped.get().last_opened_at is None
    opened(token)
    assert ShareLink.unscoped.get().last_opened_at is not None


def test_only_who_may_write_shares(done: Study, team: Team, charlie: User, charlie_client: Client) -> None:
    address = f"/questions/{done.revision.scenario_id}/links"
    assert charlie_client.post(address, {"study": done.pk}).status_code == 404
    Membership.objects.create(team=team, user=charlie, role=Role.VIEWER)
    assert charlie_client.post(address, {"study": done.pk}).status_code == 403
    assert not ShareLink.unscoped.exists()


def test_a_link_is_made_shown_once_listed_and_revoked(done: Study, alice_client: Client) -> None:
    scenario = done.revision.scenario_id
    response = alice_client.post(f"/questions/{scenario}/links", {"study": done.pk, "label": "for the board"})
    address = re.search(r'value="http://testserver(/shared/[\w-]{22}/)"', response.content.decode())
    assert address is not None
    assert "no-store" in response["Cache-Control"]
    listed = unescape(alice_client.get(f"/questions/{scenario}/").content.decode())
    assert address[1] not in listed
    assert "for the board" in listed
    assert "Visible to team planners; 1 link." in listed
    alice_client.post(f"/questions/{scenario}/links/{ShareLink.unscoped.get().pk}/revoke")
    assert Client().get(address[1]).status_code == 404
    page = unescape(alice_client.get(f"/studies/{done.pk}/").content.decode())
    assert "Visible to team planners; 1 link (1 revoked)." in page


def test_a_stranger_with_an_account_asks_it_in_a_team_of_their_own(
    token: str,
    done: Study,
    charlie: User,
    charlie_client: Client,
    work: Work,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    assert "Ask it in team strangers" in charlie_client.get(f"/shared/{token}/clone").content.decode()
    with django_capture_on_commit_callbacks(execute=True):
        response = charlie_client.post(f"/shared/{token}/clone")
    own = Study.objects.visible_to(charlie).get()
    assert response["Location"] == f"/studies/{own.pk}/"
    assert own.revision.scenario.origin.endswith("shared by team planners")
    assert own.workload.team == own.team != done.team
    assert own.workload.trace().content_hash() == done.trace_hash
    assert own.question_key == done.question_key
    work()
    own.refresh_from_db()
    assert [line.text for line in answer(own)] == [line.text for line in answer(done)]
    charlie_client.post(f"/shared/{token}/clone")
    assert Workload.objects.visible_to(charlie).filter(team=own.team).count() == 1


def test_without_leave_it_is_not_cloned(alice: User, done: Study, charlie_client: Client) -> None:
    _, token = links.create(alice, done, may_clone=False)
    assert "clone" not in opened(token)
    assert charlie_client.get(f"/shared/{token}/clone").status_code == 404
    assert charlie_client.post(f"/shared/{token}/clone").status_code == 404


def test_a_link_that_follows_shows_the_latest_answered_revision(
    alice: User, done: Study, inputs: Inputs, alice_client: Client, work: Work, sent: list[tuple[str, str]]
) -> None:
    link, token = links.create(alice, done, follows=True)
    assert "at 10 requests/s" in opened(token)
    alice_client.post(f"/studies/{done.pk}/ask", {**inputs, "rate_req_per_s": "11"})
    later = done.revision.scenario.latest.studies.get()
    assert "at 10 requests/s" in opened(token)  # not answered yet
    Study.unscoped.filter(pk=later.pk).update(state="done")
    assert "at 11 requests/s" in opened(token)
    assert "This link shows the latest revision that is answered." in opened(token)
    assert "at 11 requests/s" in opened(token, f"studies/{later.pk}/")
    assert Client().get(f"/shared/{token}/studies/{done.pk}/").status_code == 404
    assert link.title in unescape(alice_client.get(f"/questions/{done.revision.scenario_id}/").content.decode())


def test_a_link_ends_when_it_was_said_to(done: Study, alice_client: Client) -> None:
    scenario = done.revision.scenario_id
    page = alice_client.post(f"/questions/{scenario}/links", {"study": done.pk, "days": "7"}).content.decode()
    address = re.search(r"/shared/[\w-]{22}/", page)
    assert address is not None
    assert Client().get(address[0]).status_code == 200
    row = ShareLink.unscoped.get()
    assert row.expires_at is not None
    assert round((row.expires_at - row.created_at) / timedelta(days=1), 3) == 7
    ShareLink.unscoped.update(expires_at=row.created_at)
    gone = Client().get(address[0])
    assert (gone.status_code, gone["Cache-Control"]) == (404, "no-store")
    assert Client().get(f"{address[0]}clone").status_code in (302, 404)
    assert alice_client.get(f"{address[0]}clone").status_code == 404
    page = unescape(alice_client.get(f"/questions/{scenario}/").content.decode())
    assert "1 link (1 expired)." in page
    assert alice_client.post(f"/questions/{scenario}/links", {"study": done.pk, "days": "-1"}).status_code == 404


def test_links_are_not_guessed(token: str) -> None:
    for _ in range(100):
        assert Client().get(f"/shared/{'x' * 22}/").status_code == 404
    often = Client().get(f"/shared/{'x' * 22}/")
    assert often.status_code == 429
    assert int(often["Retry-After"]) > 0
    assert HEADERS.items() <= often.headers.items()
    assert Client().get(f"/shared/{token}/").status_code == 200


def test_making_and_revoking_a_link_is_kept(done: Study, alice: User) -> None:
    link, _ = links.create(alice, done, "for the board")
    links.revoke(link, alice)
    kept = [
        f"{row.by_name} {row.action} {row.subject}"
        for row in AuditEntry.unscoped.filter(model="sharing.sharelink").order_by("pk")
    ]
    subject = f"{done.revision}: for the board"
    assert kept == [f"alice made a link to {subject}", f"alice revoked a link to {subject}"]
