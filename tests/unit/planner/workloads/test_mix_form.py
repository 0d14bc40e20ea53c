"""The form of a generated workload: classes, users, a week, what is wrong at its field, a preview."""

from typing import Any

import pytest
from django.test import Client

from planner.accounts.models import User
from planner.workloads.length_text import parsed
from planner.workloads.models import Workload
from simcore.traces import SyntheticSpec, generate

CHAT = {
    "name": "chat",
    "share": "80",
    "prompt": "P50 1,020; P99 4,142",
    "output": "median 129, sigma 0.9",
    "cached": "50",
}
DOCUMENTS = {"name": "documents", "share": "20", "mix": "coding"}


def typed(*classes: dict[str, str], **changes: str) -> dict[str, str]:
    fields = {"mix": "classes", "rate_req_per_s": "5", "requests": "300", "arrivals": "poisson", "seed": "1"}
    for n, one in enumerate(classes or (CHAT, DOCUMENTS)):
        fields |= {f"class-{n}-{name}": value for name, value in one.items()}
    return fields | changes


def test_classes_are_saved_as_their_spec(alice_client: Client, alice: User) -> None:
    response = alice_client.post("/workloads/mix", typed())
    workload = Workload.objects.visible_to(alice).get(name="Mix of chat, documents, seed 1")
    assert workload.spec is not None
    spec = SyntheticSpec.from_json(workload.spec)
    assert spec.classes[0].cached_prompt_share == 0.5
    assert workload.trace().content_hash() == generate(spec).content_hash() == workload.content_hash
    page = alice_client.get(response["Location"]).content.decode()
    assert "2 classes of requests; 300 requests, Poisson at 5 requests/s, seed 1." in page
    assert "P50 1,020; P99 4,142" in page
    assert "of the coding mix" in page


def test_users_a_week_bursts_and_growth(alice_client: Client, alice: User) -> None:
    wave = {"week_shape": "wave", "busiest_hour": "14", "quietest": "20", "weekend": "50"}
    users = {"traffic": "users", "users": "600", "think_time_s": "50", "response_s": "10"}
    data = typed(**wave, **users, arrivals="gamma", gap_cv="2", growth="5", name="all of it")
    page = alice_client.get(alice_client.post("/workloads/mix", data)["Location"]).content.decode()
    spec = Workload.objects.visible_to(alice).get(name="all of it").spec or {}
    assert (spec["rate_req_per_s"], spec["gap_cv"], spec["growth_per_month"]) == (10, 2, 0.05)
    assert "600 users who ask again after 50 s of thought and 10 s for an answer make 10 requests/s." in page
    assert "the most on Monday at 14:00" in page
    assert "Traffic grows by 5 % a month: 1.8 times in a year." in page
    assert "at its busiest, 19.4 requests/s" in page


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (typed(CHAT, DOCUMENTS | {"share": "30"}), "Found shares that add up to 110 %, expected 100 %."),
        (typed(CHAT | {"prompt": "about 500"}), "Found ‘about 500’, expected percentiles such as"),
        (typed(CHAT | {"share": "100", "output": "P50 90; P90 20"}), "Class 1: Found 20, expected at least 90"),
        (typed(CHAT | {"share": "100", "correlation": "2"}), "Class 1: Found 2, expected at most 1."),
        (typed(CHAT | {"share": "100", "cached": "1000"}), "Found 1000, expected 0 to 100."),
        (typed(traffic="users", users="5"), "Found nothing, expected a number."),
        (typed(week_shape="hours", week="1 2 3"), "Found 1 lines, expected 7, Monday first."),
        (typed(week_shape="hours", week="\n".join(["1 " * 23 + "x"] * 7)), "Line 1: found ‘x’, expected 24 numbers."),
        (typed(week_shape="wave", busiest_hour="24", quietest="1", weekend="1"), "Found 24, expected 0 to 23."),
        (typed(arrivals="gamma"), "Found without gap_cv"),
    ],
)
def test_what_is_wrong_is_said_in_the_form_and_in_its_preview(
    alice_client: Client, data: dict[str, Any], message: str
) -> None:
    for address in ("/workloads/mix", "/workloads/mix/preview"):
        page = alice_client.post(address, data).content.decode()
        assert message in page
    assert Workload.unscoped.filter(shipped=None).count() == 0


def test_the_preview_shows_what_would_come(alice_client: Client) -> None:
    page = alice_client.post("/workloads/mix/preview", typed(requests="400000")).content.decode()
    assert "400,000 requests, Poisson at 5 requests/s" in page
    assert "Below, the first 20,000 of them." in page
    assert 'data-chart="lengths-figure"' in page
    assert "<h1" not in page


def test_a_class_is_added_and_removed_and_the_rest_stays(alice_client: Client) -> None:
    page = alice_client.post("/workloads/mix", typed(go="add", gap_cv="oops")).content.decode()
    assert page.count('<fieldset class="class">') == 3
    assert 'value="oops"' in page
    assert "Not saved yet" not in page
    page = alice_client.post("/workloads/mix", typed(go="remove-0")).content.decode()
    assert page.count('<fieldset class="class">') == 1
    assert 'value="documents"' in page
    assert 'value="chat"' not in page


def test_lengths_as_people_type_them() -> None:
    assert parsed("1,024") == {"percentiles": {"50": 1024}}
    assert parsed("p50=900, P99.9: 10'000; max 12000") == {"percentiles": {"50": 900, "99.9": 10000}, "most": 12000}
    assert parsed("mean 211.5; sigma 0.9; least 5") == {"mean": 211.5, "sigma": 0.9, "least": 5}
    for wrong in ("", "P50", "median 0,9", "P50 1,02", "sigma"):
        with pytest.raises(ValueError, match="Found"):
            parsed(wrong)
