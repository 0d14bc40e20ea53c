"""Uploading: the trace is kept, what is wrong is said at its field, what was typed stays."""

import gzip
import io
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client

from planner.accounts.models import Membership, Role, Team, User
from planner.workloads.models import TraceChunk, Workload
from simcore.traces import read_trace
from tests.unit.simcore.traces.samples import document, mooncake, vllm

HEADER = b"arrival_s,prompt_tokens,output_tokens\n"
UPLOAD = "/workloads/upload"


def look(client: Client, data: bytes, name: str = "", file_name: str = "mine.csv") -> HttpResponse:
    """The upload alone: its report, or what is wrong with it."""
    return client.post(UPLOAD, {"name": name, "file": SimpleUploadedFile(file_name, data)})


def upload(client: Client, data: bytes, name: str = "", file_name: str = "mine.csv") -> HttpResponse:
    """An upload that is saved once it is read."""
    read = look(client, data, name, file_name)
    return client.post(read["Location"], {"name": name}) if read.status_code == 302 else read


def test_the_page_says_what_can_be_read(alice_client: Client) -> None:
    page = alice_client.get(UPLOAD).content.decode()
    for name in (
        "arrival_s",
        "TIMESTAMP",
        "Request tokens",
        "input_length",
        "metadata.request_start_ns",
        "start_times",
    ):
        assert f"<code>{name}</code>" in page
    assert "At most 200 MB as it is sent, 2,000 MB unpacked and 4,000,000 requests over at most 62.5 days." in page


def test_an_upload_is_kept_as_it_was(alice_client: Client, alice: User, shared_data: Path) -> None:
    path = shared_data / "traces" / "azure_conv_2023.csv"
    response = upload(alice_client, path.read_bytes(), file_name=path.name)
    workload = Workload.objects.visible_to(alice).get(name="azure_conv_2023")
    assert response.status_code == 302
    assert response["Location"] == f"/workloads/{workload.pk}"
    assert (workload.requests, workload.kind, workload.created_by) == (19366, "uploaded", alice)
    assert workload.content_hash == workload.trace().content_hash() == read_trace(path)[0].content_hash()
    page = alice_client.get(response["Location"]).content.decode()
    assert "Read 19,366 rows of azure_conv_2023.csv (Azure LLM inference trace): 19,366 accepted" in page
    assert "none repaired; none refused" in page


def test_optional_columns_are_kept(alice_client: Client, alice: User) -> None:
    data = (
        b"arrival_s,prompt_tokens,output_tokens,cached_prompt_tokens,max_output_tokens,class,session\n"
        b"0,10,3,4,5,chat,s1\n1.5,20,3,,,,s2\n"
    )
    upload(alice_client, data, "mine")
    trace = Workload.objects.visible_to(alice).get(name="mine").trace()
    assert trace.content_hash() == read_trace(io.BytesIO(data))[0].content_hash()
    assert (trace.classes, trace.sessions) == (("chat", ""), ("s1", "s2"))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "mine.csv: found an empty file"),
        (b"\x89PNG\r\n\x1a\n\x00", "found byte 0x89 at 0, expected UTF-8 text"),
        (HEADER, "line 2: found the end of the file after the header"),
        (HEADER + b"1,two,3\n", "line 2, column prompt_tokens: found &#x27;two&#x27;"),
        (HEADER + b"1,-2,3\n1,0,3\n", "found &#x27;-2&#x27;, expected a whole number from 1"),
        (HEADER + b"nan,2,3\n", "column arrival_s: found &#x27;nan&#x27;"),
        (b"a,b\n1,2\n", "line 1: found &#x27;a,b&#x27;, expected a header with"),
    ],
)
def test_a_useless_file_is_said_at_the_field_and_the_name_stays(
    alice_client: Client, data: bytes, message: str
) -> None:
    response = upload(alice_client, data, "July, region west")
    page = response.content.decode()
    assert response.status_code == 200
    assert page.count(message) == 2  # in the summary and at the field
    assert 'value="July, region west"' in page
    assert Workload.unscoped.filter(shipped=None).count() == 0


def test_refused_and_repaired_rows_are_shown_with_their_lines(alice_client: Client) -> None:
    rows = b"3,10,5\n1,20.0,5\n2,x,5\n" + b"2,1,0\n" * 120
    response = upload(alice_client, HEADER + rows, "messy")
    page = alice_client.get(response["Location"]).content.decode()
    assert "Read 123 rows of mine.csv (Phaseplan trace): 2 accepted, of which 1 repaired; 121 refused." in page
    assert "not a number: 1" in page
    assert "out of range: 120" in page
    assert "These are the first 100; 21 more are counted above." in page
    assert "whole number written as a decimal: 1" in page
    assert "an arrival 2 s before a row above it" in page
    assert '<td class="number">4</td><td>prompt_tokens</td>' in page


def test_no_file_is_said_at_the_field(alice_client: Client) -> None:
    page = alice_client.post(UPLOAD, {"name": "kept"}).content.decode()
    assert "Found no file, expected a trace" in page
    assert 'value="kept"' in page


def test_a_file_beyond_the_limit_is_stopped_and_the_name_stays(
    alice_client: Client, settings: pytest.FixtureRequest
) -> None:
    settings.TRACE_MAX_BYTES = 1_000_000
    response = upload(alice_client, HEADER + b"1,1,1\n" * 200_000, "kept")
    page = response.content.decode()
    assert response.status_code == 200
    assert "Found a file of more than 1 MB, expected at most 1 MB." in page
    assert 'value="kept"' in page


def test_more_rows_than_the_limit_is_an_error(alice_client: Client, settings: pytest.FixtureRequest) -> None:
    settings.TRACE_MAX_ROWS = 10
    page = upload(alice_client, HEADER + b"1,1,1\n" * 11).content.decode()
    assert "line 12: found more than 10 rows, expected at most 10" in page


def test_a_name_is_used_once_in_a_team(alice_client: Client, charlie_client: Client) -> None:
    data = HEADER + b"1,1,1\n"
    assert upload(alice_client, data, "same").status_code == 302
    page = upload(alice_client, data, "same").content.decode()
    assert "which your team has already" in page
    assert upload(charlie_client, data, "same").status_code == 302


def test_a_large_trace_is_kept_in_parts(alice_client: Client, alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planner.workloads.models.CHUNK_BYTES", 1000)
    rows = b"".join(b"%d,%d,%d\n" % (n, 1 + n * 7919 % 3000, 1 + n * 104729 % 900) for n in range(3000))
    upload(alice_client, HEADER + rows, "large")
    workload = Workload.objects.visible_to(alice).get(name="large")
    assert workload.chunks.count() > 3
    assert workload.trace().content_hash() == workload.content_hash


def test_a_damaged_trace_is_never_used(alice_client: Client, alice: User) -> None:
    upload(alice_client, HEADER + b"1,1,1\n", "mine")
    workload = Workload.objects.visible_to(alice).get(name="mine")
    other = HEADER + b"1,1,2\n"
    upload(alice_client, other, "other")
    stranger = TraceChunk.objects.get(workload__name="other")
    workload.chunks.update(data=bytes(stranger.data))
    with pytest.raises(RuntimeError, match="is not the one that was uploaded"):
        workload.trace()
    workload.chunks.update(data=b"PK")
    with pytest.raises(RuntimeError, match="cannot be read"):
        workload.trace()


def test_who_may_only_read_cannot_upload(client: Client, team: Team, charlie: User) -> None:
    Membership.objects.all().delete()
    Membership.objects.create(team=team, user=charlie, role=Role.VIEWER)
    client.force_login(charlie)
    assert client.get(UPLOAD).status_code == 403
    assert upload(client, HEADER + b"1,1,1\n").status_code == 403


def test_a_packed_upload_is_called_after_what_it_holds(alice_client: Client, alice: User) -> None:
    rows = mooncake((0, 10, 2), (1500, 20, 3)) + b'{"timestamp": 2000, "input_length": 20, "output_length": 0}\n'
    response = upload(alice_client, gzip.compress(rows), file_name="toolagent.jsonl.gz")
    page = alice_client.get(response["Location"]).content.decode()
    assert Workload.objects.visible_to(alice).get(name="toolagent").trace().prompt_tokens.tolist() == [10, 20]
    assert "Read 3 rows of toolagent.jsonl.gz (Mooncake trace (JSON lines)): 2 accepted" in page
    assert "the rate would be 50.0% higher" in page


def test_what_unpacks_to_too_much_is_said_at_the_field(alice_client: Client, settings: pytest.FixtureRequest) -> None:
    settings.TRACE_MAX_UNPACKED_BYTES = 1_000_000
    page = upload(alice_client, gzip.compress(HEADER + b"1,1,1\n" * 400_000), file_name="a.csv.gz").content.decode()
    assert "a.csv.gz: found more than 1 MB when unpacked, expected at most that: cut the file." in page


def test_entries_of_a_run_are_called_entries(alice_client: Client) -> None:
    data = document(vllm(errors=["", "timeout", "", ""]))
    page = alice_client.get(upload(alice_client, data, file_name="run.json")["Location"]).content.decode()
    assert '<th scope="col" class="number">entry</th>' in page
    assert "failed request: 1" in page
