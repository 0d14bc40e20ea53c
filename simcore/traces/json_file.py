"""Which kind of JSON a file is: requests one a line, a benchmark's result, or something that drives no arrivals."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import Any

from simcore.traces import recognise, vllm_bench
from simcore.traces.aiperf import AIPERF
from simcore.traces.errors import TraceError
from simcore.traces.header import issue
from simcore.traces.json_lines import NO_JSON, JsonFormat, JsonLinesReader, json_object
from simcore.traces.lines import LONGEST_RECORD_BYTES, ByteStream, blocks
from simcore.traces.mooncake import MOONCAKE
from simcore.traces.numbers import RefusalError
from simcore.traces.report import Issue, ParseReport
from simcore.traces.trace import Trace

LINE_FORMATS: tuple[JsonFormat, ...] = (MOONCAKE, AIPERF)
HEAD_BYTES = 1 << 20
LINES_LOOKED_AT = 10
DOCUMENT_BYTES = 1 << 30
"""One JSON object is read as a whole."""
LOOKED_INTO_BYTES = 64 << 20
EXPECTED = (
    "expected timestamp, input_length and output_length (Mooncake), AIPerf's records,"
    " or a detailed result of vLLM bench"
)


class Kept:
    """A stream of which the beginning can be looked at before it is read."""

    def __init__(self, stream: ByteStream, name: str) -> None:
        self.stream, self.name = stream, name
        self.head = stream.read(HEAD_BYTES)

    def read(self, size: int, /) -> bytes:
        if self.head:
            found, self.head = self.head[:size], self.head[size:]
            return found
        return self.stream.read(size)

    def whole(self) -> bytes:
        """All of it. TraceError for more than DOCUMENT_BYTES."""
        parts, length = [], 0
        while part := self.read(HEAD_BYTES):
            parts.append(part)
            length += len(part)
            if length > DOCUMENT_BYTES:
                raise TraceError(
                    f"{self.name}: found one JSON object of more than {DOCUMENT_BYTES >> 20} MiB, expected a smaller"
                    " one: save it without generated_texts and itls"
                )
        return b"".join(parts)


def read(
    stream: ByteStream, name: str, notes: list[Issue], max_rows: int | None, with_blocks: bool
) -> tuple[Trace, ParseReport]:
    """The requests of a file that begins as JSON does; notes are of the whole file. TraceError as read_trace."""
    kept = Kept(stream, name)
    first = _first_record(kept.head)
    format = next((one for one in LINE_FORMATS if first is not None and one.is_ours(first)), None)
    report = ParseReport(format.table.id if format else vllm_bench.TABLE.id)
    for note in notes:
        report.repaired.add(note)
    if format is not None:
        return _lines(JsonLinesReader(name, format, report, with_blocks), kept, max_rows)
    data = kept.whole()
    if data.lstrip()[:1] == b"[":
        return _list(name, data, notes, max_rows, with_blocks)
    _check_document(name, data)
    report.counted_by = "entry"
    return vllm_bench.VllmBenchReader(name, report).read(data, max_rows), report


def _first_record(head: bytes) -> Mapping[str, Any] | None:
    """The first line that is a JSON object, of the first few."""
    for line in head.split(b"\n", LINES_LOOKED_AT)[:LINES_LOOKED_AT]:
        try:
            return json_object(line)
        except RefusalError:
            continue
    return None


def _lines(reader: JsonLinesReader, stream: ByteStream, max_rows: int | None) -> tuple[Trace, ParseReport]:
    report = reader.found.report
    trace = reader.read(blocks(stream, reader.found.name, longest=LONGEST_RECORD_BYTES), max_rows)
    report.blocks = reader.prompt_blocks()
    return trace, report


def _list(
    name: str, data: bytes, notes: list[Issue], max_rows: int | None, with_blocks: bool
) -> tuple[Trace, ParseReport]:
    """The requests of one JSON list, as lines of their own would be read."""
    import msgspec

    try:
        entries = msgspec.json.decode(data, type=list[msgspec.Raw])
    except NO_JSON as error:
        raise TraceError(f"{name}: found broken JSON ({_why(error)}), expected a whole file: was it cut off?") from None
    first = _first_record(bytes(entries[0]).replace(b"\n", b" ")) if entries else None
    format = next((one for one in LINE_FORMATS if first is not None and one.is_ours(first)), None)
    if format is None:
        raise TraceError(f"{name}: {_of_list(first or {})}")
    report = ParseReport(format.table.id, counted_by="entry")
    for note in (*notes, issue("list", 1, "", "a JSON list", "read entry by entry", "one JSON object a line")):
        report.repaired.add(note)
    one_a_line = b"".join(bytes(entry).replace(b"\n", b" ").replace(b"\r", b" ") + b"\n" for entry in entries)
    return _lines(JsonLinesReader(name, format, report, with_blocks), BytesIO(one_a_line), max_rows)


def _why(error: Exception) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)


def _check_document(name: str, data: bytes) -> None:
    """TraceError for anything but a run of vLLM bench."""
    import msgspec

    try:
        text = vllm_bench.NO_NUMBER.sub(b"null", data[:LOOKED_INTO_BYTES])
        top: dict[str, Any] = dict(msgspec.json.decode(text, type=dict[str, msgspec.Raw]))
    except NO_JSON:
        top = dict.fromkeys(key for key in vllm_bench.OWN if b'"%s"' % key.encode() in data)
        top |= {"duration": None} if b'"duration"' in data else {}
    if not vllm_bench.is_ours(top):
        raise TraceError(f"{name}: {_of_object(data, sorted(top))}")


def _of_list(first: Mapping[str, Any]) -> str:
    named = f" of objects with {', '.join(sorted(first)[:6])}" if first else ""
    return recognise.document(first) or f"found a JSON list{named}, {EXPECTED}"


def _of_object(data: bytes, keys: list[str]) -> str:
    import msgspec

    try:
        value = msgspec.json.decode(data[:LOOKED_INTO_BYTES])
    except NO_JSON as error:
        value = _first_record(data[:HEAD_BYTES])
        if value is None:
            return _broken(data, _why(error))
    known = recognise.document(value) if isinstance(value, Mapping) else None
    named = ", ".join((keys or sorted(value))[:6]) or "no keys"
    return known or f"found a JSON object with {named}, {EXPECTED}"


def _broken(data: bytes, why: str) -> str:
    """What is written instead of JSON lines, where that can be told."""
    first = data.lstrip()[:HEAD_BYTES].split(b"\n", 1)[0].rstrip()
    if first.endswith(b"},"):
        return "found commas at the ends of lines, expected one JSON object a line with nothing between them"
    if first.startswith(b"{'"):
        return "found names in single quotes, Python's way, expected JSON: json.dumps writes it"
    if first == b"{" and b"\n}\n{" in data:
        return "found JSON objects over several lines, expected one a line (jq -c . writes them so)"
    return f"found broken JSON ({why}), expected a whole file: was it cut off?"
