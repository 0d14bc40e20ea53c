"""REST by API token: every route as the team's reader, its writer and a stranger; what voids a token; its page."""

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from html import unescape

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone
from pytest_django.fixtures import Settings
from rest_framework.throttling import SimpleRateThrottle

from planner.accounts import tokens
from planner.accounts.models import ApiToken, Membership, Role, Team, User
from planner.accounts.teams import local_user
from planner.studies.models import Study
from planner.workloads.models import Workload
from tests.unit.planner.studies.conftest import *  # noqa: F403 - its fixtures
from tests.unit.planner.studies.conftest import Counted

pytestmark = pytest.mark.usefixtures("collected_static")
ROOT = "/api/v1/"
PAGE = "/accounts/tokens/"
Tokens = dict[str, Client]
OF_NO_TEAM = re.compile(
    r"^$|^openapi.json$|^catalogue/|^(workloads|calibrations|power-logs|scenarios|studies|deleted)/$|^compare$|^audit$"
)
"""Routes that name no row of a team."""


def bearer(text: str) -> Client:
    """Neither a session nor a CSRF token; a write without one would be refused were it a session's."""
    return Client(enforce_csrf_checks=True, headers={"Authorization": f"Bearer {text}"})


@pytest.fixture
def by(team: Team, alice: User, charlie: User) -> Tokens:
    strangers = Team.objects.get(name="strangers")
    return {
        "reader": bearer(tokens.issue(team, "reads", alice)[1]),
        "writer": bearer(tokens.issue(team, "writes", alice, ApiToken.Scope.WRITE)[1]),
        "stranger": bearer(tokens.issue(strangers, "reads", charlie, ApiToken.Scope.WRITE)[1]),
    }


@pytest.fixture
def study(start: Callable[[], Study], work: Callable[..., int], counted: Counted) -> Study:
    study = start()
    work()
    study.refresh_from_db()
    return study


def routes(resolver: URLResolver, prefix: str = "") -> Iterator[str]:
    for entry in resolver.url_patterns:
        if isinstance(entry, URLResolver):
            yield from routes(entry, prefix + str(entry.pattern))
        elif isinstance(entry, URLPattern):
            yield prefix + str(entry.pattern)


def filled(route: str, study: Study, workload: Workload) -> str:
    known = {"study_id": study.pk, "workload_id": workload.pk, "table": "machines", "row_id": "dgx-h100"}
    known |= {
        "book_id": "list",
        "kind": "growth",
        "name": "lines",
        "calibration_id": 1,
        "power_log_id": 1,
        "actuals_id": 1,
        "set_id": 1,
        "approval_id": 1,
        "file_link_id": 1,
        "deleted_kind": "scenarios",
        "deleted_id": 999,
        "file": "designs.csv",
        "scenario_id": study.revision.scenario_id,
        "number": 1,
        "anything": "x",
    }
    address = re.sub(r"<\w+:(\w+)>", lambda found: str(known[found[1]]), route)
    return address + ("?rate_req_per_s=5" if address.endswith("/rescaled") else "")


def rest_routes() -> list[str]:
    (rest,) = [one for one in get_resolver().url_patterns if str(one.pattern) == "api/v1/"]
    found = list(routes(rest))
    assert len(found) > 15
    return found


def test_every_route_by_reader_writer_and_stranger(study: Study, workload: Workload, by: Tokens) -> None:
    missing = re.compile(
        "anything|calibration_id|log_id|actuals_id|set_id|approval_id|file_link_id|deleted_id"
    )  # there is no such row
    for route in rest_routes():
        at = ROOT + filled(route, study, workload)
        waits = "/finance/" in route and not route.endswith("/actuals")  # costs are not worked out yet
        reads = 404 if missing.search(route) else 409 if waits else 200
        reads = 405 if route.endswith(("/cancel", "/retry", "/restore")) else reads
        assert by["reader"].get(at).status_code == reads, at
        assert by["writer"].get(at).status_code == reads, at
        expected = 405 if reads == 405 else 200 if OF_NO_TEAM.match(route) else 404
        assert by["stranger"].get(at).status_code == expected, at
        for method in ("post", "put", "patch", "delete"):
            refused = getattr(by["reader"], method)(at)
            assert refused.status_code == 403, (method, at)
            assert refused.json()["error"]["message"] == "This token has scope read, expected one of scope write."
    assert Workload.unscoped.filter(pk=workload.pk).exists()


def test_writes_are_the_writers_and_not_the_strangers(by: Tokens, team: Team, workload: Workload, alice: User) -> None:
    mix = {"name": "by token", "synthetic": {"mix": "conversation", "rate_req_per_s": 5, "requests": 50}}
    made = by["writer"].post(f"{ROOT}workloads/", mix, content_type="application/json")
    assert made.status_code == 201, made.content
    assert made.cookies == {}
    row = Workload.unscoped.get(name="by token")
    assert (row.team, row.created_by) == (team, alice)
    assert by["stranger"].delete(f"{ROOT}workloads/{workload.pk}").status_code == 404
    assert by["writer"].delete(f"{ROOT}workloads/{row.pk}").status_code == 204


def test_a_token_is_of_one_team_however_many_its_maker_has(by: Tokens, alice: User, team: Team, study: Study) -> None:
    other = Team.objects.create(name="board")
    Membership.objects.create(team=other, user=alice, role=Role.OWNER)
    client = bearer(tokens.issue(other, "board", alice, ApiToken.Scope.WRITE)[1])
    assert client.get(f"{ROOT}studies/").json()["count"] == 0
    assert client.get(f"{ROOT}studies/{study.pk}").status_code == 404
    mix = {"name": "of the board", "synthetic": {"mix": "conversation", "rate_req_per_s": 5, "requests": 50}}
    assert client.post(f"{ROOT}workloads/", mix, content_type="application/json").status_code == 201
    assert Workload.unscoped.get(name="of the board").team == other
    assert "of the board" not in by["reader"].get(f"{ROOT}workloads/").content.decode()


def test_a_viewers_token_of_scope_write_writes_nothing(team: Team, charlie: User, workload: Workload) -> None:
    Membership.objects.create(team=team, user=charlie, role=Role.VIEWER)
    client = bearer(tokens.issue(team, "viewer", charlie, ApiToken.Scope.WRITE)[1])
    at = f"{ROOT}workloads/{workload.pk}"
    assert client.get(at).status_code == 200
    assert client.delete(at).status_code == 404
    assert client.post(f"{ROOT}workloads/", {"name": "x"}, content_type="application/json").status_code == 403


def test_a_token_that_is_no_more_is_a_401(alice: User, team: Team) -> None:
    row, text = tokens.issue(team, "ci", alice)
    client, stands = bearer(text), ApiToken.unscoped.filter(pk=row.pk)
    now = timezone.now()
    assert client.get(ROOT).status_code == 200
    for change, back in (
        ({"revoked_at": now}, {"revoked_at": None}),
        ({"expires_at": now}, {"expires_at": None}),
        ({"created_by": None}, {"created_by": alice}),
    ):
        stands.update(**change)
        refused = client.get(ROOT)
        assert refused.status_code == 401, change
        assert refused["WWW-Authenticate"] == 'Bearer realm="Phaseplan", error="invalid_token"'
        stands.update(**back)
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert client.get(ROOT).status_code == 401
    User.objects.filter(pk=alice.pk).update(is_active=True)
    assert client.get(ROOT).status_code == 200
    Membership.objects.filter(user=alice).delete()
    assert client.get(ROOT).status_code == 401


@pytest.mark.parametrize("text", ["", "pp_", "pp_000000000000." + "x" * 43, "pp_é.x", "x" * 5000])
def test_an_unknown_token_is_refused_even_of_who_is_signed_in(alice_client: Client, text: str) -> None:
    answer = alice_client.get(ROOT, headers={"Authorization": f"Bearer {text}"})
    assert answer.status_code == 401
    assert "invalid_token" in answer["WWW-Authenticate"]


def test_nobody_is_asked_for_a_token(client: Client, db: None) -> None:
    assert client.get(ROOT)["WWW-Authenticate"] == 'Bearer realm="Phaseplan"'


def test_a_token_opens_no_page(by: Tokens) -> None:
    assert by["writer"].get("/workloads/").status_code == 302
    assert by["writer"].get(PAGE).status_code == 302


def test_the_last_use_is_written_once_a_minute(alice: User, team: Team) -> None:
    row, text = tokens.issue(team, "ci", alice)
    client = bearer(text)
    client.get(ROOT)
    row.refresh_from_db()
    first = row.last_used_at
    assert first is not None
    client.get(ROOT)
    row.refresh_from_db()
    assert row.last_used_at == first
    ApiToken.unscoped.filter(pk=row.pk).update(last_used_at=first - timedelta(seconds=61))
    client.get(ROOT)
    row.refresh_from_db()
    assert row.last_used_at is not None
    assert row.last_used_at >= first


def test_each_token_has_a_throttle_of_its_own(
    monkeypatch: pytest.MonkeyPatch, by: Tokens, alice_client: Client
) -> None:
    cache.clear()
    monkeypatch.setattr(SimpleRateThrottle, "THROTTLE_RATES", {"anon": "9/min", "user": "2/min", "write": "9/min"})
    assert [by["reader"].get(ROOT).status_code for _ in range(3)] == [200, 200, 429]
    assert int(by["reader"].get(ROOT)["Retry-After"]) > 0
    assert by["writer"].get(ROOT).status_code == 200
    assert alice_client.get(ROOT).status_code == 200
    cache.clear()


def test_writes_and_tokens_that_fail_are_throttled_apart(
    monkeypatch: pytest.MonkeyPatch, by: Tokens, workload: Workload
) -> None:
    cache.clear()
    rates = {"anon": "9/min", "user": "99/min", "write": "2/min", "failed_token": "3/min"}
    monkeypatch.setattr(SimpleRateThrottle, "THROTTLE_RATES", rates)
    at = f"{ROOT}workloads/"
    written = [by["writer"].post(at, {}, content_type="application/json").status_code for _ in range(3)]
    assert written == [400, 400, 429]
    refused = by["writer"].post(at, {}, content_type="application/json")
    assert int(refused["Retry-After"]) > 0
    assert refused.json()["code"] == "throttled"
    assert by["writer"].get(at).status_code == 200, "reading goes on"
    assert by["stranger"].post(at, {}, content_type="application/json").status_code == 400, "another's token too"
    wrong = bearer(f"pp_000000000000.{'x' * 43}")
    assert [wrong.get(ROOT, REMOTE_ADDR="10.0.0.7").status_code for _ in range(4)] == [401, 401, 401, 429]
    assert int(wrong.get(ROOT, REMOTE_ADDR="10.0.0.7")["Retry-After"]) > 0
    assert wrong.get(ROOT, REMOTE_ADDR="10.0.0.8").status_code == 401, "by address"
    assert by["reader"].get(ROOT, REMOTE_ADDR="10.0.0.7").status_code == 200, "a good one is not kept out"
    cache.clear()


@pytest.mark.django_db
def test_the_local_user_makes_and_uses_one(settings: Settings, client: Client) -> None:
    settings.LOCAL = True
    team = local_user().teams.get()
    page = client.post(PAGE, {"name": "sheet", "team": team.pk, "scope": "read", "days": "30"})
    assert page.status_code == 201
    assert bearer(shown_in(page.content.decode())).get(ROOT).status_code == 200
    assert bearer(shown_in(page.content.decode())[:-1] + "!").get(ROOT, REMOTE_ADDR="127.0.0.1").status_code == 401


def shown_in(page: str) -> str:
    found = re.search(r'<code class="secret">(pp_[^<]+)</code>', page)
    assert found, page
    return unescape(found[1])


def test_the_page_shows_the_secret_once_and_revokes(alice_client: Client, bob_client: Client, team: Team) -> None:
    made = alice_client.post(PAGE, {"name": "warehouse", "team": team.pk, "scope": "write", "days": "90"})
    assert "no-store" in made["Cache-Control"]
    text = shown_in(made.content.decode())
    row = ApiToken.unscoped.get()
    assert (row.scope, row.team) == ("write", team)
    assert row.expires_at is not None
    assert 89 <= (row.expires_at - timezone.now()).days <= 90
    page = bob_client.get(PAGE).content.decode()
    assert "warehouse" in page
    assert text.partition(".")[2] not in page
    assert text.partition(".")[2] not in alice_client.get(PAGE).content.decode()
    assert bob_client.post(f"{PAGE}{row.pk}/revoke").status_code == 403
    assert alice_client.post(f"{PAGE}{row.pk}/revoke").status_code == 302
    assert bearer(text).get(ROOT).status_code == 401
    assert "revoked" in alice_client.get(PAGE).content.decode()


def test_an_owner_revokes_a_members_token_and_a_stranger_finds_none(
    alice_client: Client, charlie_client: Client, bob: User, team: Team
) -> None:
    row, text = tokens.issue(team, "bob's", bob)
    assert charlie_client.post(f"{PAGE}{row.pk}/revoke").status_code == 404
    assert "bob" not in charlie_client.get(PAGE).content.decode()
    assert alice_client.post(f"{PAGE}{row.pk}/revoke").status_code == 302
    assert bearer(text).get(ROOT).status_code == 401


def test_what_cannot_be_made_says_why(charlie_client: Client, charlie: User, team: Team) -> None:
    given = {"name": "sheet", "scope": "read", "days": ""}
    assert charlie_client.post(PAGE, {**given, "team": team.pk}).status_code == 422  # not of the team
    Membership.objects.create(team=team, user=charlie, role=Role.VIEWER)
    page = charlie_client.post(PAGE, {**given, "team": team.pk, "scope": "write"})
    assert "You may read in team planners, but not write" in page.content.decode()
    assert charlie_client.post(PAGE, {**given, "team": team.pk}).status_code == 201
    again = charlie_client.post(PAGE, {**given, "team": team.pk})  # the page reloaded
    assert "has a token of that name" in again.content.decode()
    assert ApiToken.unscoped.count() == 1
