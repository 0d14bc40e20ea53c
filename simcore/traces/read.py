"""Reading a trace of any supported format, found by its content."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from os import PathLike
from pathlib import Path

from simcore.traces import json_file, recognise
from simcore.traces.aiperf import AIPERF
from simcore.traces.azure import AZURE
from simcore.traces.burstgpt import BURSTGPT
from simcore.traces.errors import TraceError
from simcore.traces.format import TableFormat
from simcore.traces.header import decoded, issue, read_header
from simcore.traces.lines import Block, ByteStream, blocks
from simcore.traces.mooncake import MOONCAKE
from simcore.traces.phaseplan import PHASEPLAN
from simcore.traces.report import Issue, ParseReport
from simcore.traces.table import TableReader
from simcore.traces.trace import Trace
from simcore.traces.unpacked import unpacked
from simcore.traces.vllm_bench import TABLE as VLLM

# A new table is one file that makes a TableFormat, and its name here; a new kind of JSON one in json_file.py.
TABLES: tuple[TableFormat, ...] = (PHASEPLAN, AZURE, BURSTGPT)
FORMATS: tuple[TableFormat, ...] = (*TABLES, MOONCAKE.table, AIPERF.table, VLLM)

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
EXPECTED_TEXT = "expected requests as CSV or JSON in UTF-8"


def read_trace(
    source: str | PathLike[str] | ByteStream,
    name: str | None = None,
    max_rows: int | None = None,
    max_bytes: int | None = None,
    with_blocks: bool = False,
) -> tuple[Trace, ParseReport]:
    """Reads a file or a binary stream; rows that cannot be used are refused and reported.

    The trace is sorted by arrival (a counted repair where it was not). name is what messages and
    the trace call it, by default the file's name. Raises TraceError, one line, where the whole is
    unusable: empty, binary, no known format, no usable row, more than max_rows rows, packed and more than max_bytes
    when unpacked. A missing or unreadable file is a TraceError too. with_blocks: the report has also the prompt blocks
    of a file that says some.
    """
    if isinstance(source, (str, PathLike)):
        path = Path(source)
        try:
            with path.open("rb") as stream:
                return _read(stream, name or path.name, max_rows, max_bytes, with_blocks)
        except OSError as error:
            raise TraceError(f"{path}: found {error.strerror}, expected a readable file") from None
    return _read(source, name or "trace", max_rows, max_bytes, with_blocks)


def _read(
    packed: ByteStream, name: str, max_rows: int | None, max_bytes: int | None, with_blocks: bool
) -> tuple[Trace, ParseReport]:
    stream = unpacked(packed, name, max_bytes)
    head = stream.read(json_file.HEAD_BYTES)
    if not head.removeprefix(BYTE_ORDER_MARK).strip():
        raise TraceError(f"{name}: found an empty file, expected {_known_headers()}")
    what = recognise.container(head)
    if what is not None:
        raise TraceError(f"{name}: found {what}, {EXPECTED_TEXT}")
    marked = head.startswith(BYTE_ORDER_MARK)
    content = _Rest(head.removeprefix(BYTE_ORDER_MARK), stream)
    notes = [issue("byte order mark", 1, "", "a byte order mark", "skipped")] if marked else []
    if head.removeprefix(BYTE_ORDER_MARK).lstrip()[:1] in (b"{", b"["):
        return json_file.read(content, name, notes, max_rows, with_blocks)
    return _read_table(content, name, notes, max_rows)


class _Rest:
    """A stream whose beginning was read already."""

    def __init__(self, head: bytes, stream: ByteStream) -> None:
        self.head, self.stream = head, stream

    def read(self, size: int, /) -> bytes:
        if not self.head:
            return self.stream.read(size)
        found, self.head = self.head[:size], self.head[size:]
        return found


def _read_table(stream: ByteStream, name: str, notes: list[Issue], max_rows: int | None) -> tuple[Trace, ParseReport]:
    lines = blocks(stream, name)
    first = next(lines)
    decoded(name, 1, first.data.partition(b"\n")[0])  # what is no text at all is said to be that
    if b"\0" in first.data:
        line = first.data[: first.data.index(b"\0")].count(b"\n") + 1
        raise TraceError(f"{name}: line {line}: found binary data, {EXPECTED_TEXT}")
    header = read_header(name, first.data, TABLES, _known_headers())
    report = ParseReport(header.table.id)
    for note in (*notes, *header.notes):
        report.repaired.add(note)
    body: Iterator[Block] = chain([Block(header.rest, header.line)] if header.rest else [], lines)
    return TableReader(name, header.table, header.names, report, header.delimiter).read(body, max_rows), report


def _known_headers() -> str:
    headers = [f"{','.join(table.required)} ({table.label})" for table in TABLES]
    return f"a header with {' or '.join(headers)}, or JSON of Mooncake, AIPerf or vLLM bench"
