"""Which kind of JSON a file is: requests one a line, a benchmark's result, or something that drives no arrivals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simcore.traces import recognise, vllm_bench
from simcore.traces.aiperf import AIPERF
from simcore.traces.errors import TraceError
from simcore.traces.json_lines import JsonFormat, JsonLinesReader, json_object
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


def read(stream: ByteStream, name: str, notes: list[Issue], max_rows: int | None) -> tuple[Trace, ParseReport]:
    """The requests of a file that begins as JSON does; notes are of the whole file. TraceError as read_trace."""
    kept = Kept(stream, name)
    first = _first_record(kept.head)
    format = next((one for one in LINE_FORMATS if first is not None and one.is_ours(first)), None)
    report = ParseReport(format.table.id if format else vllm_bench.TABLE.id)
    for note in notes:
        report.repaired.add(note)
    if format is not None:
        lines = blocks(kept, name, longest=LONGEST_RECORD_BYTES)
        return JsonLinesReader(name, format, report).read(lines, max_rows), report
    data = kept.whole()
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


def _check_document(name: str, data: bytes) -> None:
    """TraceError for anything but a run of vLLM bench."""
    import msgspec

    if data.lstrip()[:1] == b"[":
        raise TraceError(f"{name}: {_of_list(data)}")
    try:
        text = vllm_bench.NO_NUMBER.sub(b"null", data[:LOOKED_INTO_BYTES])
        top: dict[str, Any] = dict(msgspec.json.decode(text, type=dict[str, msgspec.Raw]))
    except msgspec.DecodeError:
        top = dict.fromkeys(key for key in vllm_bench.OWN if b'"%s"' % key.encode() in data)
        top |= {"duration": None} if b'"duration"' in data else {}
    if not vllm_bench.is_ours(top):
        raise TraceError(f"{name}: {_of_object(data, sorted(top))}")


def _of_list(data: bytes) -> str:
    import msgspec

    try:
        values = msgspec.json.decode(data[:LOOKED_INTO_BYTES])
    except msgspec.DecodeError:
        values = []
    first = values[0] if isinstance(values, list) and values and isinstance(values[0], dict) else {}
    known = recognise.document(first)
    return known or "found a JSON list, expected one JSON object a line (jq -c '.[]' writes a list so)"


def _of_object(data: bytes, keys: list[str]) -> str:
    import msgspec

    try:
        value = msgspec.json.decode(data[:LOOKED_INTO_BYTES])
    except msgspec.DecodeError:
        line = data.split(b"\n", 1)[0]
        try:
            value = msgspec.json.decode(line)
        except msgspec.DecodeError as error:
            return f"found broken JSON ({error}), expected a whole file: was it cut off?"
    known = recognise.document(value) if isinstance(value, dict) else None
    named = ", ".join(keys[:6]) or "no keys"
    return known or f"found a JSON object with {named}, {EXPECTED}"
