"""Files and names that somebody sends to do harm, at every place that takes a file or a name."""

import functools
import gzip
import pickle
import resource
import zlib
from collections.abc import Callable

import pytest
from backports import zstd
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from kombu.exceptions import ContentDisallowed
from kombu.serialization import loads

from planner.celery import app
from planner.workloads.models import Workload

MARK = "<img src=x onerror=alert(1)>"
HEADER = b"arrival_s,prompt_tokens,output_tokens\n"
FIGURES = b"id,field,value,unit,source,date,status\n"
EVIL_FIGURE = f'evil,name,"{MARK}",,=HYPERLINK("x"),2026-01-01,user\n'
DEEP = 200_000
BOMB_BYTES = 3_000_000_000
GROWTH_BYTES = 700_000_000


@functools.cache
def gz_bomb() -> bytes:
    """Zeros without end, a thousandth of their size."""
    pack, piece = zlib.compressobj(9, zlib.DEFLATED, 31), bytes(10_000_000)
    return b"".join(pack.compress(piece) for _ in range(BOMB_BYTES // len(piece))) + pack.flush()


@functools.cache
def gz_bomb_of_rows() -> bytes:
    pack, piece = zlib.compressobj(9, zlib.DEFLATED, 31), b"0,1,1\n" * 1_000_000
    return pack.compress(HEADER) + b"".join(pack.compress(piece) for _ in range(60)) + pack.flush()


@functools.cache
def zst_bomb() -> bytes:
    pack, piece = zstd.ZstdCompressor(level=3), bytes(10_000_000)
    return b"".join(pack.compress(piece) for _ in range(BOMB_BYTES // len(piece))) + pack.flush()


FILES: dict[str, Callable[[], bytes]] = {
    "gz bomb": gz_bomb,
    "gz bomb of rows": gz_bomb_of_rows,
    "zst bomb": zst_bomb,
    "gz in gz": lambda: gzip.compress(gzip.compress(HEADER + b"0,1,1\n")),
    "cut gz": lambda: gzip.compress(HEADER + b"0,1,1\n" * 1000)[:40],
    "deep list": lambda: b"[" * DEEP + b"]" * DEEP,
    "deep object": lambda: b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "huge number": lambda: HEADER + b"0,1e400,1\n" + b"1," + b"9" * 5000 + b",1\n",
    "huge number in JSON": lambda: b'{"timestamp": 1e400, "input_length": ' + b"9" * 5000 + b', "output_length": 1}\n',
    "not a number": lambda: HEADER + b"NaN,Infinity,-1\n",
    "one endless line": lambda: HEADER + b"1" * 20_000_000,
    "endless columns": lambda: b",".join(b"c%d" % n for n in range(200_000)) + b"\n",
    "NUL bytes": lambda: HEADER + b"0,1\x00,1\n",
    "no text": lambda: bytes(range(256)) * 1000,
    "script": lambda: MARK.encode() + b"\n" + HEADER,
    "formula": lambda: HEADER + b"=cmd|'/c calc'!A1,@SUM(1),+1\n",
    "figures with script and formula": lambda: FIGURES + EVIL_FIGURE.encode(),
}
PLACES: dict[str, tuple[str, str, dict[str, str]]] = {
    "trace": ("/workloads/upload", "file", {}),
    "config.json": ("/catalogue/models/new", "file", {"name": "mine"}),
    "machines": ("/catalogue/machines/import", "file", {}),
    "prices": ("/catalogue/prices/import", "file", {}),
    "benchmark": ("/calibrations/new", "benchmarks", {"name": "b", "model": "llama-3.1-8b", "machine": "dgx-h100"}),
    "power log": ("/calibrations/power/new", "logs", {"name": "p", "machine": "dgx-h100", "utc_offset": "+00:00"}),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_hostile_file_is_refused_in_words_and_nothing_breaks(place: str, alice_client: Client) -> None:
    address, field, others = PLACES[place]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    for kind, made in FILES.items():
        name = f"../../etc/{MARK}=1+1.csv" + (".gz" if "gz" in kind else ".zst" if "zst" in kind else "")
        answer = alice_client.post(address, others | {field: SimpleUploadedFile(name, made())})
        page = answer.content.decode() if answer.status_code == 200 else ""
        assert answer.status_code < 500, kind
        assert MARK not in page, kind
        if answer.status_code == 302:  # what it leads to shows what was read
            page = alice_client.get(answer["Location"]).content.decode()
            assert MARK not in page, kind
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
    assert grown < GROWTH_BYTES


@pytest.mark.parametrize("field", ["inputs", "name", "slo"])
def test_deep_json_to_rest_is_refused(field: str, alice_client: Client) -> None:
    deep = f'{{"{field}": ' + "[" * DEEP + "]" * DEEP + "}"
    for address in ("/api/v1/scenarios/", "/api/v1/studies/", "/api/v1/workloads/"):
        answer = alice_client.post(address, deep, content_type="application/json")
        assert 400 <= answer.status_code < 500, address


def test_a_name_with_script_is_text_on_every_page_that_shows_it(alice_client: Client, alice: object) -> None:
    file = SimpleUploadedFile("t.csv", HEADER + b"".join(b"%d,100,10\n" % n for n in range(60)))
    read = alice_client.post("/workloads/upload", {"name": MARK, "file": file})
    saved = alice_client.post(read["Location"], {"name": MARK})
    workload = Workload.objects.visible_to(alice).get(name=MARK)  # type: ignore[arg-type]
    assert saved["Location"] == f"/workloads/{workload.pk}"
    for address in ("/workloads/", saved["Location"], "/", f"/?workload={workload.pk}"):
        page = alice_client.get(address).content.decode()
        assert MARK not in page, address
    assert "&lt;img src=x" in alice_client.get("/workloads/").content.decode()


def test_an_upload_is_never_served_back_inline(alice_client: Client, alice: object) -> None:
    file = SimpleUploadedFile("t.html", HEADER + b"0,100,10\n1,100,10\n")
    read = alice_client.post("/workloads/upload", {"name": "t", "file": file})
    alice_client.post(read["Location"], {"name": "t"})
    workload = Workload.objects.visible_to(alice).get(name="t")  # type: ignore[arg-type]
    answer = alice_client.get(f"/workloads/{workload.pk}/trace.csv")
    assert answer["Content-Disposition"].startswith("attachment")
    assert answer["Content-Type"].startswith("text/csv")
    assert answer["X-Content-Type-Options"] == "nosniff"


def test_a_message_to_a_worker_is_json_with_one_id() -> None:
    assert app.conf.accept_content == ["json"]
    assert app.conf.task_serializer == "json"
    with pytest.raises(ContentDisallowed):
        loads(pickle.dumps(1), "application/x-python-serialize", "binary", accept=app.conf.accept_content)
