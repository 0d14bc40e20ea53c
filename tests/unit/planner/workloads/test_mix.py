"""Generating a workload from a mix."""

import pytest
from django.test import Client

from planner.accounts.models import User
from planner.workloads.models import Workload
from simcore.traces import SyntheticSpec, generate

GOOD = {"name": "", "mix": "coding", "rate_req_per_s": "2.5", "requests": "500", "arrivals": "poisson", "seed": "3"}


def test_a_mix_is_saved_by_its_spec(alice_client: Client, alice: User) -> None:
    response = alice_client.post("/workloads/mix", GOOD)
    workload = Workload.objects.visible_to(alice).get(name="Coding mix, seed 3")
    assert response["Location"] == f"/workloads/{workload.pk}"
    expected = generate(SyntheticSpec("coding", 2.5, 500, seed=3))
    assert workload.trace().content_hash() == workload.content_hash == expected.content_hash()
    page = alice_client.get(response["Location"]).content.decode()
    assert "500 requests, Poisson at 2.5 requests/s, seed 3." in page


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"requests": "0"}, "Found 0, expected at least 1."),
        ({"requests": "4500000"}, "Found 4,500,000, expected at most 4,000,000."),
        ({"rate_req_per_s": "0"}, "Found 0, expected more than 0."),
        ({"rate_req_per_s": "0.0001"}, "expected a trace of at most 2,700,000 s."),
        ({"rate_req_per_s": "nan"}, "Enter a number."),
        ({"seed": "-1"}, "Found -1, expected at least 0."),
        ({"mix": "poetry"}, "poetry is not one of the available choices"),
    ],
)
def test_what_is_wrong_is_said_and_the_rest_stays(alice_client: Client, change: dict[str, str], message: str) -> None:
    response = alice_client.post("/workloads/mix", {**GOOD, "name": "kept", **change})
    page = response.content.decode()
    assert response.status_code == 200
    assert page.count(message) == 2
    assert 'value="kept"' in page


@pytest.mark.parametrize("mix", ["", None])
def test_no_lengths_chosen_save_nothing(alice_client: Client, alice: User, mix: str | None) -> None:
    given = {name: value for name, value in {**GOOD, "mix": mix}.items() if value is not None}
    response = alice_client.post("/workloads/mix", given)
    assert response.status_code == 200
    assert "This field is required." in response.content.decode()
    assert not Workload.objects.editable_by(alice).exists()
