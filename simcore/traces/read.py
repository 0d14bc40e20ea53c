"""Reading a trace of any supported format, found by its content."""

import csv
from collections.abc import Iterator
from itertools import chain
from os import PathLike
from pathlib import Path

from simcore.traces.azure import AZURE
from simcore.traces.errors import TraceError
from simcore.traces.format import TableFormat
from simcore.traces.lines import Block, ByteStream, blocks
from simcore.traces.phaseplan import PHASEPLAN
from simcore.traces.report import Issue, ParseReport, shown
from simcore.traces.table import TableReader
from simcore.traces.trace import Trace

# A new format is one file that makes a TableFormat, and its name here.
FORMATS: tuple[TableFormat, ...] = (PHASEPLAN, AZURE)

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
CONTAINERS = {
    b"\x1f\x8b": "a gzip file",
    b"PK\x03\x04": "a zip or XLSX file",
    b"\x28\xb5\x2f\xfd": "a Zstandard file",
    b"PAR1": "a Parquet file",
    b"%PDF": "a PDF file",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
}


def read_trace(
    source: str | PathLike[str] | ByteStream, name: str | None = None, max_rows: int | None = None
) -> tuple[Trace, ParseReport]:
    """Reads a file or a binary stream; rows that cannot be used are refused and reported.

    The trace is sorted by arrival (a counted repair where it was not). name is what messages and
    the trace call it, by default the file's name. Raises TraceError, one line, where the whole is
    unusable: empty, binary, no known header, no usable row, more than max_rows rows. A missing
    or unreadable file is a TraceError too.
    """
    if isinstance(source, (str, PathLike)):
        path = Path(source)
        try:
            with path.open("rb") as stream:
                return _read(stream, name or path.name, max_rows)
        except OSError as error:
            raise TraceError(f"{path}: found {error.strerror}, expected a readable file") from None
    return _read(source, name or "trace", max_rows)


def _read(stream: ByteStream, name: str, max_rows: int | None) -> tuple[Trace, ParseReport]:
    lines = blocks(stream, name)
    first = next(lines, None)
    if first is None or not first.data.strip():
        raise TraceError(f"{name}: found an empty file, expected {_known_headers()}")
    _check_text(name, first.data)
    line, _, rest = first.data.removeprefix(BYTE_ORDER_MARK).partition(b"\n")
    header, spaced = _header(name, line)
    table = _recognise(name, header)
    report = ParseReport(table.id)
    if first.data.startswith(BYTE_ORDER_MARK):
        report.repaired.add(_header_issue("byte order mark", "", "a byte order mark", "skipped"))
    if spaced:
        report.repaired.add(_header_issue("spaces in the header", "", "spaces around names", "removed"))
    _note_unused(table, header, report)
    body: Iterator[Block] = chain([Block(rest, 2)] if rest else [], lines)
    return TableReader(name, table, header, report).read(body, max_rows), report


def _check_text(name: str, data: bytes) -> None:
    for magic, what in CONTAINERS.items():
        if data.startswith(magic):
            raise TraceError(f"{name}: found {what}, expected a CSV file in UTF-8")
    line = data.partition(b"\n")[0]
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as error:
        found = f"byte 0x{line[error.start]:02x} at {error.start}"
        raise TraceError(f"{name}: line 1: found {found}, expected UTF-8 text") from None
    if b"\0" in data:
        line_number = data[: data.index(b"\0")].count(b"\n") + 1
        raise TraceError(f"{name}: line {line_number}: found binary data, expected a CSV file in UTF-8")


def _header(name: str, line: bytes) -> tuple[list[str], bool]:
    text = line.decode("utf-8").removesuffix("\r")
    try:
        raw = next(csv.reader([text], strict=True), [])
    except csv.Error as error:
        raise TraceError(f"{name}: line 1: found {error}, expected {_known_headers()}") from None
    header = [column.strip() for column in raw]
    twice = next((column for column in header if column and header.count(column) > 1), None)
    if twice is not None:
        raise TraceError(f"{name}: line 1: found column {twice} twice, expected it once")
    return header, header != raw


def _recognise(name: str, header: list[str]) -> TableFormat:
    nearest = min(FORMATS, key=lambda table: len(table.missing(header)))
    missing = nearest.missing(header)
    if not missing:
        return nearest
    found = shown(",".join(header))
    if len(missing) == len(nearest.required):
        raise TraceError(f"{name}: line 1: found {found}, expected {_known_headers()}")
    raise TraceError(
        f"{name}: line 1: found {found}, expected also the column {' and '.join(missing)} ({nearest.label})"
    )


def _note_unused(table: TableFormat, header: list[str], report: ParseReport) -> None:
    for column in header:
        if column not in (*table.required, *table.optional):
            known = ", ".join((*table.required, *table.optional))
            issue = _header_issue("unused column", column, f"column {shown(column)}", "not read", known)
            report.repaired.add(issue)


def _header_issue(kind: str, field: str, found: str, action: str, expected: str = "none") -> Issue:
    return Issue(kind, 1, field, found, expected, action)


def _known_headers() -> str:
    return "a header with " + " or ".join(f"{','.join(table.required)} ({table.label})" for table in FORMATS)
