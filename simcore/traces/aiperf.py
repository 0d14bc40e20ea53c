"""AIPerf's profile_export.jsonl: a JSON object a request, arrivals at metadata.request_start_ns.

Requests of other phases than profiling (warm-up), cancelled and failed ones are refused, each as what it is. A run that
kept so many requests in flight is refused as a whole: its starts say when others ended.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Any

import numpy as np

from simcore.traces.digits import nanoseconds_since_1970 as many_nanoseconds
from simcore.traces.format import ArrivalColumn, TableFormat
from simcore.traces.in_flight import closed_loop
from simcore.traces.json_lines import JsonFormat
from simcore.traces.numbers import RefusalError
from simcore.traces.numbers import nanoseconds_since_1970 as one_nanosecond
from simcore.traces.report import shown

TABLE = TableFormat(
    id="aiperf",
    label="AIPerf profile_export.jsonl",
    arrival=ArrivalColumn("metadata.request_start_ns", 1_000, True, many_nanoseconds, one_nanosecond, "nanoseconds"),
    prompt="metrics.input_sequence_length.value",
    output="metrics.output_sequence_length.value",
    layout="lines",
)
PROFILING = "profiling"
LONGEST_NS = 18 + 1


def is_ours(value: Mapping[str, Any]) -> bool:
    """Whether a JSON object is such a record."""
    return isinstance(value.get("metadata"), Mapping) and "request_start_ns" in value["metadata"]


def refuse(record: Mapping[str, Any]) -> None:
    """RefusalError for a record that is no finished request of the measured phase."""
    metadata = record.get("metadata")
    metadata = metadata if isinstance(metadata, Mapping) else {}
    phase = metadata.get("benchmark_phase") or PROFILING
    if phase != PROFILING:
        raise RefusalError("warm-up", shown(str(phase)), PROFILING, "metadata.benchmark_phase")
    if metadata.get("was_cancelled") is True:
        raise RefusalError("cancelled request", "true", "false", "metadata.was_cancelled")
    error = record.get("error")
    if error is not None:
        said = error.get("message") or error.get("type") if isinstance(error, Mapping) else error
        raise RefusalError("failed request", shown(str(said)), "null", "error")


class PlainRecords:
    """Reads lines of finished requests, and remembers when they were in flight."""

    def __init__(self) -> None:
        import msgspec

        self.decode = msgspec.json.Decoder(_record(msgspec)).decode
        self.starts, self.ends = array("q"), array("q")

    def __call__(self, line: bytes) -> tuple[bytes, ...]:
        """The texts of a line's three numbers; ValueError for a line that is no finished request."""
        found = self.decode(line)
        about, sizes = found.metadata, found.metrics
        phase, cancelled, error = bytes(about.benchmark_phase), bytes(about.was_cancelled), bytes(found.error)
        if phase not in (b"", b'"profiling"') or cancelled not in (b"", b"false") or error not in (b"", b"null"):
            raise ValueError("no finished request")
        start = bytes(about.request_start_ns)
        if about.request_end_ns and len(start) <= LONGEST_NS and start.isdigit():
            self.starts.append(int(start))
            self.ends.append(about.request_end_ns)
        return start, bytes(sizes.input_sequence_length.value), bytes(sizes.output_sequence_length.value)

    def refusal(self) -> str | None:
        """Why the whole cannot drive arrivals."""
        kept = closed_loop(np.array(self.starts, np.int64), np.array(self.ends, np.int64))
        if kept is None:
            return None
        return (
            f"found a closed loop of {kept} requests in flight, each sent when another ended: its times say how fast"
            " that system answered, not when users ask. Expected a run at a request rate (--request-rate, without"
            " --concurrency), or a mix made from its lengths"
        )


def _record(msgspec: Any) -> Any:
    raw, empty = msgspec.Raw, msgspec.Raw(b"")
    value = msgspec.defstruct("Value", [("value", raw, empty)])
    about = [(name, raw, empty) for name in ("request_start_ns", "benchmark_phase", "was_cancelled")]
    metadata = msgspec.defstruct("Metadata", [*about, ("request_end_ns", int | None, None)])
    lengths = [(name, value) for name in ("input_sequence_length", "output_sequence_length")]
    metrics = msgspec.defstruct("Metrics", lengths)
    return msgspec.defstruct("Record", [("metadata", metadata), ("metrics", metrics), ("error", raw, empty)])


AIPERF = JsonFormat(TABLE, is_ours, PlainRecords, refuse)
