"""Links to files: what one opens, for how long, and who makes them."""

import re
from datetime import timedelta
from html import unescape
from typing import Any

from django.test import Client
from django.utils import timezone

from planner.accounts import tokens
from planner.accounts.limits import FILES_FETCHED, LINKS_TRIED
from planner.accounts.models import ApiToken, AuditEntry, Membership, Role, Team, User
from planner.api.models import KeptAnswer
from planner.finance.file_links import FILES
from planner.finance.models import AssumptionSet, FileLink
from planner.scenarios import granting
from planner.sharing.middleware import HEADERS
from planner.studies.models import Study
from tests.unit.planner.finance.test_finance import address, save

JSON = "application/json"
GONE = "There is no such link, or it was revoked or is over.\n"


def page(study: Study) -> str:
    return f"{address(study)}links/"


def rest(study: Study) -> str:
    return f"/api/v1/studies/{study.pk}/file-links/"


def made_by_page(client: Client, study: Study, query: str = "", **typed: str) -> str:
    """The path of a new link's address."""
    answer = client.post(f"{page(study)}{query}", {"file": "lines.csv", **typed})
    assert answer.status_code == 201, unescape(answer.content.decode())
    assert "no-store" in answer["Cache-Control"]
    found = re.search(r'id="new-address" value="http://testserver(/files/[\w-]{22}\.csv)"', answer.content.decode())
    assert found
    return found[1]


def made(client: Client, study: Study, **sent: Any) -> dict[str, Any]:
    answer = client.post(rest(study), {"file": "lines.csv", **sent}, content_type=JSON)
    assert answer.status_code == 201, answer.content
    return dict(answer.json())


def path_of(told: dict[str, Any]) -> str:
    return str(told["address"]).removeprefix("http://testserver")


def test_anybody_has_the_pages_bytes_with_nothing_kept_or_told(alice_client: Client, costed: Study) -> None:
    save(alice_client, costed)
    for file in FILES:
        at = path_of(made(alice_client, costed, file=file, view="cash", locale="de-DE", bom=True))
        own = f"/studies/{costed.pk}/designs.csv" if file == "designs.csv" else f"{address(costed)}{file}"
        expected = alice_client.get(own, {"view": "cash", "locale": "de-DE", "bom": "1"})
        client = Client()
        answer = client.get(at)
        assert answer.status_code == 200, file
        assert answer.content == expected.content == client.get(at).content, file
        assert answer.content.count(b"\n") > 1, file
        assert answer["Content-Type"] == "text/csv; charset=utf-8"
        assert {name: answer[name] for name in HEADERS} == HEADERS
        assert not answer.cookies
        assert not client.cookies
        head = client.head(at)
        assert (head.status_code, head.content) == (200, b"")


def test_what_it_is_of_is_fixed(alice_client: Client, costed: Study) -> None:
    """Neither the address nor assumptions saved later change it."""
    at = made_by_page(alice_client, costed)
    before = Client().get(at).content
    save(alice_client, costed)
    assert alice_client.get(f"{address(costed)}lines.csv").content != before
    assert Client().get(at).content == before
    asked = f"{at}?view=cash&locale=de-DE&bom=1&set={AssumptionSet.unscoped.get().pk}&design=x&file=focus.csv"
    assert Client().get(asked).content == before
    assert Client().get(at.replace(".csv", ".json")).status_code == 404
    for method in ("post", "put", "patch", "delete"):
        assert getattr(Client(enforce_csrf_checks=True), method)(at).status_code == 405
    later = made_by_page(alice_client, costed)
    assert Client().get(later).content == alice_client.get(f"{address(costed)}lines.csv").content


def test_a_link_that_is_over_is_one_that_never_was(alice_client: Client, costed: Study) -> None:
    revoked, expired = (made(alice_client, costed) for _ in range(2))
    assert alice_client.delete(f"{rest(costed)}{revoked['id']}").status_code == 204
    FileLink.unscoped.filter(pk=expired["id"]).update(expires_at=timezone.now())
    unknown = f"/files/{'x' * 22}.csv"
    for at in (path_of(revoked), path_of(expired), unknown):
        answer = Client().get(at)
        assert (answer.status_code, answer.content.decode()) == (404, GONE), at
        assert answer["Content-Type"] == "text/plain; charset=utf-8"
        assert {name: answer[name] for name in HEADERS} == HEADERS
        assert not answer.cookies
    states = {one["id"]: one["state"] for one in alice_client.get(rest(costed)).json()["results"]}
    assert states == {revoked["id"]: "revoked", expired["id"]: "expired"}
    first = FileLink.unscoped.get(pk=revoked["id"]).revoked_at
    alice_client.delete(f"{rest(costed)}{revoked['id']}")
    assert FileLink.unscoped.get(pk=revoked["id"]).revoked_at == first


def test_only_a_keyed_hash_of_the_secret_is_kept(alice_client: Client, costed: Study) -> None:
    told = alice_client.post(
        rest(costed), {"file": "lines.csv"}, content_type=JSON, headers={"Idempotency-Key": "one"}
    ).json()
    secret = path_of(told).removeprefix("/files/").removesuffix(".csv")
    assert len(secret) == 22  # 128 bits
    (row,) = FileLink.unscoped.values()
    assert row["secret_hash"] == tokens.keyed_hash(secret)
    assert secret not in str(row)
    assert secret not in alice_client.get(page(costed)).content.decode()
    assert secret not in alice_client.get(f"{rest(costed)}{told['id']}").content.decode()
    again = alice_client.post(
        rest(costed), {"file": "lines.csv"}, content_type=JSON, headers={"Idempotency-Key": "one"}
    )
    assert again.json() == {**told, "address": None}
    assert secret.encode() not in bytes(KeptAnswer.objects.get().content)
    assert FileLink.unscoped.count() == 1


def test_uses_are_counted(alice_client: Client, costed: Study) -> None:
    told = made(alice_client, costed, label="board pack", days=7)
    assert (told["uses"], told["last_used_at"], told["label"]) == (0, None, "board pack")
    for _ in range(3):
        Client().get(path_of(told))
    row = FileLink.unscoped.get()
    assert row.uses == 3
    assert row.last_used_at is not None
    assert timedelta(days=6, hours=23) < row.expires_at - timezone.now() < timedelta(days=7)
    listed = unescape(alice_client.get(page(costed)).content.decode())
    assert "board pack" in listed
    assert "3 times" in listed
    for locale, end in (("en-US", '.csv")'), ("de-DE", '.csv"; ";")')):
        shown = alice_client.post(page(costed), {"file": "lines.csv", "locale": locale}).content.decode()
        formula = re.search(r'id="new-formula" value="([^"]*)"', shown)
        assert formula
        assert unescape(formula[1]).startswith('=IMPORTDATA("http://testserver/files/')
        assert unescape(formula[1]).endswith(end)


def test_neither_guessing_nor_fetching_goes_on_without_end(alice_client: Client, costed: Study) -> None:
    told, other = made(alice_client, costed), made(alice_client, costed)
    at = path_of(told)
    for _ in range(LINKS_TRIED.most):
        LINKS_TRIED.take("127.0.0.1")
    refused = Client().get(f"/files/{'x' * 22}.csv")
    assert refused.status_code == 429
    assert int(refused["Retry-After"]) > 0
    assert refused["Content-Type"].startswith("text/plain")
    assert Client().get(at).status_code == 200, "one that opens is not kept out by those that do not"
    for _ in range(FILES_FETCHED.most):
        FILES_FETCHED.take(str(told["id"]))
    refused = Client().get(at)
    assert refused.status_code == 429
    assert int(refused["Retry-After"]) > 0
    assert Client().get(path_of(other)).status_code == 200


def test_it_is_the_teams_and_goes_on_without_its_maker(
    alice_client: Client, bob: User, bob_client: Client, costed: Study, alice: User
) -> None:
    told = made(alice_client, costed)
    Membership.objects.filter(user=alice).delete()
    assert Client().get(path_of(told)).status_code == 200
    assert alice_client.get(page(costed)).status_code == 404
    assert bob_client.post(f"{page(costed)}{told['id']}/revoke").status_code == 302
    assert Client().get(path_of(told)).status_code == 404
    actions = list(AuditEntry.objects.visible_to(bob).values_list("action", "by_name"))
    assert ("revoked a link to a file of", "bob") in actions
    assert ("made a link to a file of", "alice") in actions


def test_who_may_not_write_in_the_team_makes_none(
    alice_client: Client, alice: User, costed: Study, team: Team, charlie: User, charlie_client: Client
) -> None:
    told = made(alice_client, costed)
    one, revoke = f"{rest(costed)}{told['id']}", f"{page(costed)}{told['id']}/revoke"
    assert charlie_client.get(page(costed)).status_code == 404
    assert charlie_client.post(page(costed), {"file": "lines.csv"}).status_code == 404
    granting.grant(alice, costed.revision.scenario, "charlie", may_write=True)
    assert told["file"] not in charlie_client.get(page(costed)).content.decode().partition("<h2 id=")[2]
    assert charlie_client.post(page(costed), {"file": "lines.csv"}).status_code == 403
    assert charlie_client.post(rest(costed), {"file": "lines.csv"}, content_type=JSON).status_code == 403
    assert charlie_client.get(rest(costed)).json()["count"] == 0
    for refused in (charlie_client.get(one), charlie_client.delete(one), charlie_client.post(revoke)):
        assert refused.status_code == 404
    Membership.objects.create(team=team, user=charlie, role=Role.VIEWER)
    listed = charlie_client.get(page(costed)).content.decode()
    assert "lines.csv" in listed
    assert "Make a link" not in listed
    assert "Revoke" not in listed
    reader = {"Authorization": f"Bearer {tokens.issue(team, 'reads', alice)[1]}"}
    assert Client().post(rest(costed), {"file": "lines.csv"}, content_type=JSON, headers=reader).status_code == 403
    writer = {"Authorization": f"Bearer {tokens.issue(team, 'writes', alice, ApiToken.Scope.WRITE)[1]}"}
    by_token = Client().post(rest(costed), {"file": "lines.csv"}, content_type=JSON, headers=writer)
    assert by_token.status_code == 201
    assert FileLink.unscoped.count() == 2


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"file": "costs.xlsx"}, "file", "Found 'costs.xlsx', expected one of lines.csv"),
    ({"file": "lines.csv", "days": 366}, "days", "Found 366, expected at most 365."),
    ({"file": "lines.csv", "days": 0}, "days", "Found 0, expected at least 1."),
    ({"file": "lines.csv", "locale": "tlh"}, "locale", "Found 'tlh', expected one of cs-CZ"),
    ({"file": "lines.csv", "view": "taxes"}, "view", "Found 'taxes', expected one of cash"),
    ({"days": 3}, "file", "Missing."),
]


def test_what_cannot_be_is_named(alice_client: Client, costed: Study) -> None:
    for wrong, field, words in WRONG:
        refused = alice_client.post(rest(costed), wrong, content_type=JSON)
        assert refused.status_code == 400, wrong
        assert refused.json()["error"]["fields"][field][0].startswith(words)
    for typed, said in (
        ({"days": "9" * 9}, "Days: found '999999999', expected from 1 to 365."),
        ({"file": "x"}, "File: found 'x'"),
    ):
        shown = alice_client.post(page(costed), {"file": "lines.csv", **typed})
        assert shown.status_code == 422
        assert said in unescape(shown.content.decode())
    assert not FileLink.unscoped.exists()


def test_there_is_none_to_a_file_that_is_not_there(alice_client: Client, costed: Study) -> None:
    save(alice_client, costed, **{"machines.0.capex_usd": ""})
    refused = alice_client.post(rest(costed), {"file": "lines.csv"}, content_type=JSON)
    assert refused.status_code == 409
    assert "capex_usd" in refused.json()["detail"]
    shown = alice_client.post(page(costed), {"file": "lines.csv"})
    assert shown.status_code == 422
    assert "capex_usd" in shown.content.decode()
    unknown = alice_client.post(rest(costed), {"file": "lines.csv", "design": "none"}, content_type=JSON)
    assert unknown.status_code == 409
    assert alice_client.post(rest(costed), {"file": "lines.csv", "set": "77"}, content_type=JSON).status_code == 404
    assert made(alice_client, costed, file="lines.csv", set="own")["set"] is None
    assert FileLink.unscoped.count() == 1
