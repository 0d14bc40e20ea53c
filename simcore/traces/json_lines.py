"""Requests as JSON objects, one a line, a block of lines at a time.

Plain lines are decoded by msgspec into the texts of their numbers, which are then read as those of a table are: all at
once and exactly. Every other line is read by itself, by the rules of a single row.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from simcore.traces.collected import Collected, Rows, Spans
from simcore.traces.errors import TraceError
from simcore.traces.fields import Bytes
from simcore.traces.format import TableFormat
from simcore.traces.lines import Block
from simcore.traces.numbers import RefusalError
from simcore.traces.prefix_cache import BlockReader, PromptBlocks
from simcore.traces.report import ParseReport, shown
from simcore.traces.rows import RowReader, RowResult, Written
from simcore.traces.trace import Trace

NO_JSON = (ValueError, RecursionError)
"""What decoding raises, msgspec's errors among them: no JSON, or nested too deeply."""


class PlainTexts(Protocol):
    """Reads plain lines of one file."""

    def __call__(self, line: bytes, /) -> tuple[bytes, ...]:
        """The texts of a line's numbers; ValueError for a line that is not plain."""

    def refusal(self) -> str | None:
        """Why the file, read to its end, cannot drive arrivals, if so."""


def usable(_: Mapping[str, Any]) -> None:
    """Of a format in which every record is a request."""


@dataclass(frozen=True)
class JsonFormat:
    """is_ours: whether an object is such a record. plain: makes the reader of a file's plain lines. refuse:
    RefusalError for a record that is no request to count."""

    table: TableFormat
    is_ours: Callable[[Mapping[str, Any]], bool]
    plain: Callable[[], PlainTexts]
    refuse: Callable[[Mapping[str, Any]], None] = usable
    blocks: Callable[[], BlockReader] | None = None
    """Makes the reader of a file's prompt blocks, where records have some."""


class Twice(str):
    """What a key that one object gives twice is read as: no number."""

    __slots__ = ()


class JsonLinesReader:
    """Reads one file's records into arrays; report says what was found on the way."""

    def __init__(self, name: str, format: JsonFormat, report: ParseReport, with_blocks: bool = False) -> None:
        self.blocks = format.blocks() if with_blocks and format.blocks is not None else None
        self.format, self.columns = format, format.table.required
        self.rows = RowReader(format.table, list(self.columns))
        self.plain = format.plain()
        self.keys = [f'"{column.removesuffix(".value").split(".")[-1]}"'.encode() for column in self.columns]
        self.found = Collected(name, format.table, {}, report)

    def read(self, blocks: Iterable[Block], max_rows: int | None) -> Trace:
        """All records as a trace in order of arrival. Raises TraceError where none is usable."""
        for block in blocks:
            lines = block.data.split(b"\n")[:-1]
            kept = self.found.add(self._rows(block, lines))
            if self.blocks is not None:
                self.blocks.add(lines[index] for index in np.flatnonzero(kept).tolist())
            self.found.check_rows(max_rows)
        if (why := self.plain.refusal()) is not None:
            raise TraceError(f"{self.found.name}: {why}")
        return self.found.trace()

    def prompt_blocks(self) -> PromptBlocks | None:
        """Of the trace's requests, once it has been read."""
        return None if self.blocks is None else self.blocks.blocks(self.found.order)

    def _rows(self, block: Block, lines: list[bytes]) -> Rows:
        texts = self._texts(block.data, lines)
        kept = [found for found in texts if found is not None]
        data, spans = columns_of(self.columns, list(zip(*kept, strict=True)) if kept else [()] * len(self.columns))
        return Rows(
            block.first_line + np.arange(len(lines)),
            data,
            np.array([found is not None for found in texts], dtype=np.bool_),
            spans,
            lambda index: self.single(block.first_line + index, lines[index]),
        )

    def _texts(self, data: bytes, lines: list[bytes]) -> list[tuple[bytes, ...] | None]:
        """The texts of each plain line; None for a line to be read by itself, as all are where a key may be there
        twice."""
        texts = [self._line(line) for line in lines]
        if not is_text(data):
            texts = [found if is_text(line) else None for line, found in zip(lines, texts, strict=True)]
        others = b"".join(line for line, found in zip(lines, texts, strict=True) if found is None)
        for place, key in enumerate(self.keys):
            once = sum(found is not None and found[place] != b"" for found in texts)
            if data.count(key) != once + others.count(key):
                return [None] * len(lines)
        return texts

    def _line(self, line: bytes) -> tuple[bytes, ...] | None:
        try:
            return self.plain(line)
        except NO_JSON:
            return None

    def single(self, line: int, data: bytes) -> RowResult:
        """One line by itself."""
        return self.rows.read_fields(line, lambda _: self._fields(data))

    def _fields(self, data: bytes) -> dict[str, str]:
        record = json_object(data)
        self.format.refuse(record)
        return {column: at(record, column) for column in self.columns}


def is_text(data: bytes) -> bool:
    """Whether bytes are UTF-8, what is passed over unread too."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def columns_of(names: Iterable[str], columns: Iterable[Iterable[bytes]]) -> tuple[Bytes, Spans]:
    """Texts as one array of bytes, and where each of a column's begins and ends in it."""
    parts, spans, offset = [], {}, 0
    for name, texts in zip(names, columns, strict=True):
        found = list(texts)
        ends = offset + np.cumsum(np.fromiter(map(len, found), np.int64, len(found)) + 1) - 1
        starts = np.concatenate(([offset], ends + 1))[: len(found)]
        spans[name] = (starts, ends)
        parts.append(b"\n".join([*found, b""]))
        offset += len(parts[-1])
    return np.frombuffer(b"".join(parts) or b"\n", dtype=np.uint8), spans


def json_object(data: bytes) -> Mapping[str, Any]:
    """A line's object, its numbers as they are written. RefusalError where it is none."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RefusalError("not UTF-8", f"byte 0x{data[error.start]:02x}", "UTF-8 text") from None
    if not text.strip():
        raise RefusalError("empty line", "an empty line", "a JSON object")
    try:
        value = json.loads(
            text, parse_int=Written, parse_float=Written, parse_constant=Written, object_pairs_hook=_object
        )
    except NO_JSON as error:
        why = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply"
        raise RefusalError("no JSON", f"{shown(text)} ({why})", "a JSON object a line") from None
    if not isinstance(value, Mapping):
        raise RefusalError("no object", shown(text), "a JSON object a line")
    return value


def at(record: Mapping[str, Any], column: str) -> str:
    """The text of a value, by its keys joined by points. RefusalError where there is none."""
    value: Any = record
    for key in column.split("."):
        if not isinstance(value, Mapping) or value.get(key) is None:
            raise RefusalError("missing key", "nothing", f"a number at {key}", column)
        value = value[key]
    if isinstance(value, Twice):
        raise RefusalError("key given twice", str(value), "it once", column)
    if not isinstance(value, str):
        raise RefusalError("not a number", shown(json.dumps(value)), "a number", column)
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        again = key in found and found[key] != value
        found[key] = Twice(f"{shown(str(found[key]))} and {shown(str(value))}") if again else value
    return found
