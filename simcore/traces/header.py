"""The first lines of a table: what stands before the header, its delimiter and columns, and whose format it is."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from simcore.traces import recognise
from simcore.traces.azure import TIMESTAMP
from simcore.traces.errors import TraceError
from simcore.traces.format import TableFormat
from simcore.traces.numbers import NUMBER
from simcore.traces.report import Issue, shown

DELIMITERS = ",;\t|"
SEPARATOR = re.compile(r"sep=(.)", re.IGNORECASE)
"""Excel's own first line."""
METRICS = ("# help", "# type")
"""Comments that say what the file is: Prometheus'."""


@dataclass(frozen=True)
class Header:
    """names: as the format writes them. rest: what follows in the bytes read so far, its first line being `line`."""

    table: TableFormat
    names: list[str]
    delimiter: str
    notes: list[Issue]
    rest: bytes
    line: int


def read_header(name: str, data: bytes, tables: Sequence[TableFormat], known: str) -> Header:
    """The header of a table that begins with data, whole lines; known: the formats that there are, for messages.
    TraceError where there is none of them."""
    line, text, rest, notes = _first(name, data)
    said = _Said(name, line, known)
    delimiter = _delimiter(text, tables, notes)
    raw = _columns(said, text, delimiter)
    if delimiter != ",":
        notes.append(issue("delimiter", line, "", f"fields separated by {delimiter!r}", "read so", "commas"))
    names = [column.strip() for column in raw]
    if names != raw:
        notes.append(issue("spaces in the header", line, "", "spaces around names", "removed"))
    table, names = _recognised(said, names, text, tables, notes)
    notes.extend(_unused(table, names, line))
    return Header(table, names, delimiter, notes, rest, line + 1)


def issue(kind: str, line: int, field: str, found: str, action: str, expected: str = "none") -> Issue:
    """A repair of the whole file."""
    return Issue(kind, line, field, found, expected, action)


@dataclass(frozen=True)
class _Said:
    """What every message begins with, and what could be there."""

    name: str
    line: int
    known: str

    def error(self, text: str) -> TraceError:
        return TraceError(f"{self.name}: line {self.line}: {text}")


def _first(name: str, data: bytes) -> tuple[int, str, bytes, list[Issue]]:
    """The line that is to be the header, with its number, and what comes after it; empty lines, comments and Excel's
    sep= before it are passed over."""
    notes: list[Issue] = []
    line, rest = 0, data
    while True:
        line += 1
        first, _, rest = rest.partition(b"\n")
        text = decoded(name, line, first)
        what = _passed_over(text)
        if what is None or not rest:
            return line, text, rest, notes
        notes.append(issue(what, line, "", shown(text), "passed over", "the header"))


def decoded(name: str, line: int, data: bytes) -> str:
    """A line's text without its end. TraceError where it is none."""
    try:
        text = data.decode("utf-8").removesuffix("\r")
    except UnicodeDecodeError as error:
        found = f"byte 0x{data[error.start]:02x} at {error.start}"
        raise TraceError(f"{name}: line {line}: found {found}, expected UTF-8 text") from None
    if "\r" in text:
        raise TraceError(f"{name}: line {line}: found lines that end in CR alone, expected LF or CRLF")
    return text


def _passed_over(text: str) -> str | None:
    if not text.strip():
        return "empty line before the header"
    if SEPARATOR.fullmatch(text):
        return "separator line"
    return "comment" if text.startswith("#") and not text.lower().startswith(METRICS) else None


def _delimiter(header: str, tables: Sequence[TableFormat], notes: Sequence[Issue]) -> str:
    """What separates most of a known format's columns: else what separates most."""

    def known(delimiter: str) -> tuple[int, int]:
        names = {name.strip().strip('"').casefold() for name in header.split(delimiter)}
        fits = max(len(names & {name.casefold() for name in table.required}) for table in tables)
        return fits, header.count(delimiter)

    return max(DELIMITERS, key=known)


def _columns(said: _Said, text: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([text], strict=True, delimiter=delimiter), [])
    except csv.Error as error:
        raise said.error(f"found {error}, expected {said.known}") from None


def _recognised(
    said: _Said, names: list[str], text: str, tables: Sequence[TableFormat], notes: list[Issue]
) -> tuple[TableFormat, list[str]]:
    """The format, and the columns as it writes them."""
    written = {table.id: _as_written(table, names) for table in tables}
    nearest = min(tables, key=lambda table: (len(table.missing(written[table.id])), len(table.missing(names))))
    as_format = written[nearest.id]
    missing = nearest.missing(as_format)
    if missing:
        raise _unknown(said, names, text, nearest, missing)
    for theirs, ours in zip(names, as_format, strict=True):
        if theirs != ours:
            notes.append(issue("other letters in the header", said.line, ours, shown(theirs), "read so", ours))
    twice = next((column for column in as_format if column and as_format.count(column) > 1), None)
    if twice is not None:
        raise said.error(f"found column {twice} twice, expected it once")
    return nearest, as_format


def _as_written(table: TableFormat, names: list[str]) -> list[str]:
    """Names that differ from the format's in capitals alone, as the format has them."""
    own = {name.casefold(): name for name in table.names}
    return [name if name in table.names else own.get(name.casefold(), name) for name in names]


def _unknown(said: _Said, names: list[str], text: str, nearest: TableFormat, missing: list[str]) -> TraceError:
    other = recognise.table(names, text)
    if other is not None:
        return said.error(other)
    found = shown(",".join(names))
    if names and all(NUMBER.fullmatch(name) or TIMESTAMP.fullmatch(name) for name in names):
        return said.error(f"found a row of values, {found}, and no header before it, expected {said.known}")
    if len(missing) == len(nearest.required):
        return said.error(f"found {found}, expected {said.known}")
    return said.error(f"found {found}, expected also the column {' and '.join(missing)} ({nearest.label})")


def _unused(table: TableFormat, names: list[str], line: int) -> Iterator[Issue]:
    """Columns that the format is not known to have."""
    for column in names:
        if column not in (*table.names, *table.unused):
            read = ", ".join(table.names)
            yield issue("unused column", line, column, f"column {shown(column)}", "not read", read)
