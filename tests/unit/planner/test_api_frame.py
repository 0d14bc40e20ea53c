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


def test_every_error_is_problem_details_that_name_the_field(alice_client: Client) -> None:
    synthetic = {"mix": "conversation", "rate_req_per_s": -5, "requests": 50}
    refused = alice_client.post("/api/v1/workloads/", {"synthetic": synthetic}, content_type="application/json")
    told = refused.json()
    assert (refused.status_code, refused["Content-Type"]) == (400, "application/problem+json")
    (words,) = told["error"]["fields"]["synthetic"]
    assert "rate_req_per_s" in words
    assert {name: value for name, value in told.items() if name != "error"} == {
        "type": "about:blank",
        "title": "Bad Request",
        "status": 400,
        "detail": "Some fields are not valid.",
        "code": "invalid",
        "errors": [{"field": "synthetic", "detail": words}],
    }
    for at, status in (("/api/v1/nothing", 404), ("/shared/nothing/api/v1/studies/1", 404)):
        missing = alice_client.get(at)
        assert (missing.status_code, missing["Content-Type"]) == (status, "application/problem+json")
        assert missing.json()["title"] == "Not Found"
        assert missing.json()["detail"] == missing.json()["error"]["message"]


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
