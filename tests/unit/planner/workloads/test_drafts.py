"""An upload is looked at before it is saved: its report stands over a reload, and it is saved or gone."""

import json
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from planner.accounts.models import User
from planner.workloads.models import TraceChunk, Workload
from planner.workloads.services import forget_drafts
from tests.unit.planner.workloads.test_upload import HEADER, look

ROWS = HEADER + b"0,10,5\n0.5,x,5\n2,20,7\n3,30,9\n"
WITH_MORE = (
    b"arrival_s,prompt_tokens,output_tokens,cached_prompt_tokens,max_output_tokens,class,region\n"
    b"0,10,3,5,4,chat,eu\n1,10,3,,,rag,eu\n"
)


def test_the_report_comes_before_the_workload(alice_client: Client, alice: User) -> None:
    response = look(alice_client, ROWS, "mine")
    assert not Workload.objects.visible_to(alice).filter(team__isnull=False).exists()
    for _ in range(2):  # a reload shows the same
        page = alice_client.get(response["Location"]).content.decode()
        assert "Read 4 rows of mine.csv (Phaseplan trace): 3 accepted, of which none repaired; 1 refused." in page
        assert "3 requests in 3 s: 0.667 requests/s on average." in page
        assert '<td class="number">3</td><td>prompt_tokens</td>' in page
        assert "Burstiness:" in page
        assert "Kept: arrival, prompt tokens and output tokens of 3 requests." in page
        assert "Not kept: 1 refused row and the file itself." in page
        assert 'value="mine"' in page


def test_it_says_what_else_is_kept(alice_client: Client) -> None:
    page = alice_client.get(look(alice_client, WITH_MORE)["Location"]).content.decode()
    assert (
        "Kept: arrival, prompt tokens and output tokens of 2 requests; cached prompt tokens (25% of the prompt tokens);"
        " max_output_tokens of 1 request; the class of each (2 different)."
    ) in page
    assert "Not kept: column region and the file itself." in page


def test_it_is_saved_under_the_name_that_is_typed_then(alice_client: Client, alice: User) -> None:
    where = look(alice_client, ROWS, "first thought")["Location"]
    saved = alice_client.post(where, {"name": "second thought"})
    workload = Workload.objects.visible_to(alice).get(name="second thought")
    assert saved["Location"] == f"/workloads/{workload.pk}"
    assert workload.trace().content_hash() == workload.content_hash
    assert not Workload.objects.drafts_of(alice).exists()
    assert alice_client.get(where)["Location"] == saved["Location"]  # back, and again
    assert alice_client.post(where, {"name": "third"})["Location"] == saved["Location"]


def test_a_name_that_was_taken_since_is_said_and_the_draft_stays(alice_client: Client, alice: User) -> None:
    first, second = (look(alice_client, ROWS, "same")["Location"] for _ in range(2))
    assert alice_client.post(first, {"name": "same"}).status_code == 302
    page = alice_client.post(second, {"name": "same"}).content.decode()
    assert "Found ‘same’, which your team has already; expected another name." in page
    assert Workload.objects.drafts_of(alice).count() == 1


def test_discarded_it_leaves_nothing(alice_client: Client) -> None:
    where = look(alice_client, ROWS)["Location"]
    response = alice_client.post(f"{where}/discard", follow=True)
    assert "mine.csv is discarded: nothing of it is kept." in response.content.decode()
    assert not TraceChunk.objects.exists()
    assert alice_client.get(where).status_code == 404


def test_nobody_else_sees_a_draft(
    alice_client: Client, bob_client: Client, charlie_client: Client, client: Client, bob: User
) -> None:
    where = look(alice_client, ROWS, "mine")["Location"]
    pk = where.rsplit("/", 1)[1]
    for other in (bob_client, charlie_client):
        assert other.get(where).status_code == 404
        assert other.post(where, {"name": "taken"}).status_code == 404
        assert other.post(f"{where}/discard").status_code == 404
        for page in (f"/workloads/{pk}", f"/workloads/{pk}/trace.csv", f"/api/v1/workloads/{pk}"):
            assert other.get(page).status_code == 404
        assert "mine.csv" not in other.get("/workloads/").content.decode()
    assert alice_client.get(f"/api/v1/workloads/{pk}").status_code == 404  # no question can ask about it yet
    assert client.get(where).status_code == 302
    assert Workload.objects.editable_by(bob).count() == 0


def test_the_list_and_the_form_lead_back_to_it(alice_client: Client) -> None:
    where = look(alice_client, ROWS)["Location"]
    for page in ("/workloads/", "/workloads/upload"):
        assert (
            f'<a href="{where}">mine.csv</a> <span class="muted">3 requests, read'
            in alice_client.get(page).content.decode()
        )


def test_what_is_not_saved_within_a_day_is_removed(alice_client: Client, alice: User) -> None:
    old, new = (int(look(alice_client, ROWS)["Location"].rsplit("/", 1)[1]) for _ in range(2))
    saved = look(alice_client, ROWS, "saved")["Location"]
    alice_client.post(saved, {"name": "saved"})
    yesterday = timezone.now() - timedelta(days=1, minutes=1)
    Workload.unscoped.filter(pk__in=[old, int(saved.rsplit("/", 1)[1])]).update(created_at=yesterday)
    forget_drafts()
    assert [draft.pk for draft in Workload.objects.drafts_of(alice)] == [new]
    assert set(TraceChunk.objects.values_list("workload__name", flat=True)) == {"mine", "saved"}
    assert Workload.objects.visible_to(alice).filter(name="saved").exists()


def test_rest_tells_what_it_would_read(alice_client: Client, alice: User) -> None:
    file = SimpleUploadedFile("mine.csv", ROWS)
    told = alice_client.post("/api/v1/workloads/", {"file": file, "dry_run": "1"})
    assert told.status_code == 200
    assert (told.json()["report"]["refused_rows"], told.json()["statistics"]["requests"]) == (1, 3)
    assert not Workload.unscoped.filter(team__isnull=False).exists()


def turns() -> bytes:
    """Ten users of four turns each, every turn's prompt two blocks longer."""
    rows = [
        {"timestamp": 1000 * n, "input_length": 1024 * turn + 100, "output_length": 9, "hash_ids": ids}
        for n, (turn, user) in enumerate((turn, user) for turn in range(1, 5) for user in range(10))
        for ids in [[100 * user + block for block in range(2 * turn)]]
    ]
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


SHARE = 10 * 1024 * (1 + 2 + 3) / (10 * (1024 * (1 + 2 + 3 + 4) + 400))


def test_what_a_prefix_cache_would_hold_is_told_and_counted_only_if_chosen(alice_client: Client, alice: User) -> None:
    where = look(alice_client, turns(), file_name="turns.jsonl")["Location"]
    page = alice_client.get(where).content.decode()
    assert f"a prefix cache without end would have held {SHARE:.0%} of the prompt tokens. None are counted" in page
    assert f'<option value="1000000">1,000,000 tokens: {SHARE:.0%} of prompt tokens</option>' in page
    assert f'<option value="unlimited">without end: {SHARE:.0%} of prompt tokens</option>' in page
    alice_client.post(where, {"name": "none", "prefix_cache": ""})
    none = Workload.objects.visible_to(alice).get(name="none")
    assert (none.trace().cached_prompt_tokens.sum(), none.blocks()) == (0, None)
    assert "prefix cache" not in alice_client.get(f"/workloads/{none.pk}").content.decode()


@pytest.mark.parametrize(("choice", "words"), [("unlimited", "without end"), ("1000000", "of 1,000,000 tokens")])
def test_a_cache_that_is_chosen_is_said_for_good(alice_client: Client, alice: User, choice: str, words: str) -> None:
    where = look(alice_client, turns(), file_name="turns.jsonl")["Location"]
    alice_client.post(where, {"name": "turns", "prefix_cache": choice})
    workload = Workload.objects.visible_to(alice).get(name="turns")
    trace = workload.trace()
    assert trace.content_hash() == workload.content_hash
    assert trace.cached_prompt_tokens.sum() == 10 * 1024 * (1 + 2 + 3)
    page = alice_client.get(f"/workloads/{workload.pk}").content.decode()
    assert f"{words} would have held, by the file&#x27;s hash_ids: {SHARE:.0%} of all." in page
    assert f"{SHARE:.0%} of prompt tokens are cached." in page


def test_a_cache_of_another_size_is_no_choice(alice_client: Client, alice: User) -> None:
    where = look(alice_client, turns(), file_name="turns.jsonl")["Location"]
    assert alice_client.post(where, {"name": "turns", "prefix_cache": "huge"}).status_code == 200
    assert Workload.objects.drafts_of(alice).count() == 1


def test_rest_counts_a_cache_of_any_size(alice_client: Client) -> None:
    def post(**more: str) -> HttpResponse:
        file = SimpleUploadedFile("turns.jsonl", turns())
        return alice_client.post("/api/v1/workloads/", {"file": file, **more})

    assert post(name="a", prefix_cache="2048").json()["report"]["prefix_cache"]["cache_tokens"] == 2048
    assert post(dry_run="1").json()["prefix_cache_shares"][-1]["share"] == pytest.approx(SHARE)
    assert "expected unlimited or tokens from 512 up" in post(name="b", prefix_cache="some").content.decode()
