"""Reading a trace of any supported format, found by its content."""

from __future__ import annotations

import csv
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
from simcore.traces.lines import Block, ByteStream, blocks
from simcore.traces.mooncake import MOONCAKE
from simcore.traces.phaseplan import PHASEPLAN
from simcore.traces.report import Issue, ParseReport, shown
from simcore.traces.table import TableReader
from simcore.traces.trace import Trace
from simcore.traces.unpacked import unpacked
from simcore.traces.vllm_bench import TABLE as VLLM

# A new table is one file that makes a TableFormat, and its name here; a new kind of JSON one in json_file.py.
TABLES: tuple[TableFormat, ...] = (PHASEPLAN, AZURE, BURSTGPT)
FORMATS: tuple[TableFormat, ...] = (*TABLES, MOONCAKE.table, AIPERF.table, VLLM)

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
DELIMITERS = ",;\t|"
EXPECTED_TEXT = "expected requests as CSV or JSON in UTF-8"


def read_trace(
    source: str | PathLike[str] | ByteStream,
    name: str | None = None,
    max_rows: int | None = None,
    max_bytes: int | None = None,
) -> tuple[Trace, ParseReport]:
    """Reads a file or a binary stream; rows that cannot be used are refused and reported.

    The trace is sorted by arrival (a counted repair where it was not). name is what messages and
    the trace call it, by default the file's name. Raises TraceError, one line, where the whole is
    unusable: empty, binary, no known format, no usable row, more than max_rows rows, packed and more than max_bytes
    when unpacked. A missing or unreadable file is a TraceError too.
    """
    if isinstance(source, (str, PathLike)):
        path = Path(source)
        try:
            with path.open("rb") as stream:
                return _read(stream, name or path.name, max_rows, max_bytes)
        except OSError as error:
            raise TraceError(f"{path}: found {error.strerror}, expected a readable file") from None
    return _read(source, name or "trace", max_rows, max_bytes)


def _read(packed: ByteStream, name: str, max_rows: int | None, max_bytes: int | None) -> tuple[Trace, ParseReport]:
    stream = unpacked(packed, name, max_bytes)
    head = stream.read(json_file.HEAD_BYTES)
    if not head.removeprefix(BYTE_ORDER_MARK).strip():
        raise TraceError(f"{name}: found an empty file, expected {_known_headers()}")
    what = recognise.container(head)
    if what is not None:
        raise TraceError(f"{name}: found {what}, {EXPECTED_TEXT}")
    marked = head.startswith(BYTE_ORDER_MARK)
    content = _Rest(head.removeprefix(BYTE_ORDER_MARK), stream)
    notes = [_header_issue("byte order mark", "", "a byte order mark", "skipped")] if marked else []
    if head.removeprefix(BYTE_ORDER_MARK).lstrip()[:1] in (b"{", b"["):
        return json_file.read(content, name, notes, max_rows)
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
    _check_text(name, first.data)
    line, _, rest = first.data.partition(b"\n")
    text = line.decode("utf-8").removesuffix("\r")
    if "\r" in text:
        raise TraceError(f"{name}: line 1: found lines that end in CR alone, expected LF or CRLF")
    delimiter = _delimiter(text)
    header, spaced = _header(name, text, delimiter)
    table = _recognise(name, header, text)
    report = ParseReport(table.id)
    if delimiter != ",":
        notes.append(_header_issue("delimiter", "", f"fields separated by {delimiter!r}", "read so", "commas"))
    if spaced:
        notes.append(_header_issue("spaces in the header", "", "spaces around names", "removed"))
    for note in (*notes, *_unused(table, header)):
        report.repaired.add(note)
    body: Iterator[Block] = chain([Block(rest, 2)] if rest else [], lines)
    return TableReader(name, table, header, report, delimiter).read(body, max_rows), report


def _check_text(name: str, data: bytes) -> None:
    line = data.partition(b"\n")[0]
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as error:
        found = f"byte 0x{line[error.start]:02x} at {error.start}"
        raise TraceError(f"{name}: line 1: found {found}, expected UTF-8 text") from None
    if b"\0" in data:
        line_number = data[: data.index(b"\0")].count(b"\n") + 1
        raise TraceError(f"{name}: line {line_number}: found binary data, {EXPECTED_TEXT}")


def _delimiter(header: str) -> str:
    """What separates most of a known format's columns: else what separates most."""

    def known(delimiter: str) -> tuple[int, int]:
        names = {name.strip().strip('"') for name in header.split(delimiter)}
        return max(len(names & set(table.required)) for table in TABLES), header.count(delimiter)

    return max(DELIMITERS, key=known)


def _header(name: str, text: str, delimiter: str) -> tuple[list[str], bool]:
    try:
        raw = next(csv.reader([text], strict=True, delimiter=delimiter), [])
    except csv.Error as error:
        raise TraceError(f"{name}: line 1: found {error}, expected {_known_headers()}") from None
    header = [column.strip() for column in raw]
    twice = next((column for column in header if column and header.count(column) > 1), None)
    if twice is not None:
        raise TraceError(f"{name}: line 1: found column {twice} twice, expected it once")
    return header, header != raw


def _recognise(name: str, header: list[str], text: str) -> TableFormat:
    nearest = min(TABLES, key=lambda table: len(table.missing(header)))
    missing = nearest.missing(header)
    if not missing:
        return nearest
    other = recognise.table(header, text)
    if other is not None:
        raise TraceError(f"{name}: line 1: {other}")
    found = shown(",".join(header))
    if len(missing) == len(nearest.required):
        raise TraceError(f"{name}: line 1: found {found}, expected {_known_headers()}")
    raise TraceError(
        f"{name}: line 1: found {found}, expected also the column {' and '.join(missing)} ({nearest.label})"
    )


def _unused(table: TableFormat, header: list[str]) -> Iterator[Issue]:
    """Columns that the format is not known to have."""
    for column in header:
        if column not in (*table.names, *table.unused):
            known = ", ".join(table.names)
            yield _header_issue("unused column", column, f"column {shown(column)}", "not read", known)


def _header_issue(kind: str, field: str, found: str, action: str, expected: str = "none") -> Issue:
    return Issue(kind, 1, field, found, expected, action)


def _known_headers() -> str:
    headers = [f"{','.join(table.required)} ({table.label})" for table in TABLES]
    return f"a header with {' or '.join(headers)}, or JSON of Mooncake, AIPerf or vLLM bench"
