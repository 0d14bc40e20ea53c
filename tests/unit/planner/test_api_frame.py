"""What every address of the REST interface does alike."""

import pytest
from django.test import Client


def test_a_visitor_is_refused_in_the_common_form(client: Client, db: None) -> None:
    answer = client.get("/api/v1/")
    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == "not_authenticated"


def test_an_unknown_address_is_a_json_404(alice_client: Client) -> None:
    answer = alice_client.get("/api/v1/nothing/here")
    assert answer.status_code == 404
    assert answer.json()["error"] == {"status": 404, "code": "not_found", "message": "Not found.", "fields": {}}


def test_a_wrong_method_is_named(alice_client: Client) -> None:
    answer = alice_client.delete("/api/v1/")
    assert answer.status_code == 405
    assert answer.json()["error"]["code"] == "method_not_allowed"


def test_the_root_lists_addresses_that_exist(alice_client: Client) -> None:
    listed = alice_client.get("/api/v1/").json()
    assert listed["root"] == "http://testserver/api/v1/"


@pytest.mark.parametrize("path", ["/", "/healthz"])
def test_pages_carry_the_strict_policy(client: Client, db: None, path: str) -> None:
    policy = client.get(path)["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy + ";"
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
