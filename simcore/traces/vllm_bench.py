"""``vllm bench serve --save-result --save-detailed``: one JSON object a run, a list entry a request.

A request arrived when it was sent (start_times) less what it waited in the client for a place under --max-concurrency
(queue_times, in newer files). Where that wait is not known, where the rate was infinite, or where there is no entry a
request, the file cannot drive arrivals, and the error says why and what to do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from simcore.traces.collected import Collected, Rows
from simcore.traces.digits import MOST_NS_SECONDS, NS_DIGITS, scaled_decimals
from simcore.traces.digits import nanoseconds as many_nanoseconds
from simcore.traces.errors import TraceError
from simcore.traces.format import ArrivalColumn, TableFormat
from simcore.traces.json_lines import NO_JSON, columns_of
from simcore.traces.numbers import RefusalError, seconds_as_ns
from simcore.traces.numbers import nanoseconds as one_nanosecond
from simcore.traces.report import ParseReport, shown
from simcore.traces.rows import RowReader, RowResult, Written
from simcore.traces.statistics import percentile
from simcore.traces.trace import Trace

TABLE = TableFormat(
    id="vllm",
    label="vLLM bench result with --save-detailed (JSON)",
    arrival=ArrivalColumn("start_times", 1_000, True, many_nanoseconds, one_nanosecond),
    prompt="input_lens",
    output="output_lens",
    failed="1 or more: vLLM's failed requests have 0",
    layout="document",
)
WAITS = "queue_times"
OWN = ("input_lens", "start_times", "ttfts", "request_throughput", "mean_ttft_ms", "median_ttft_ms")
NO_NUMBER = re.compile(rb"(?<=[\[,:\s])-?(?:NaN|Infinity)(?=\s*[\],}])")
BURST_SHARE = 0.05
"""Of a run's duration: requests at an infinite rate that are all there within it are one burst."""
RUN_OPEN = "a run with a finite --request-rate and without --max-concurrency"
SETTINGS = ("request_rate", "max_concurrency", "max_concurrent_requests", "duration", "ramp_up_strategy")
LISTS = (*TABLE.required, WAITS, "errors")


def is_ours(value: Mapping[str, Any]) -> bool:
    """Whether a JSON object is such a run, detailed or not."""
    return "input_lens" in value or ("duration" in value and any(key in value for key in OWN))


class VllmBenchReader:
    """Reads one run's requests into arrays; report says what was found on the way."""

    def __init__(self, name: str, report: ParseReport) -> None:
        self.name = name
        self.rows = RowReader(TABLE, list(TABLE.required))
        self.found = Collected(name, TABLE, {}, report)

    def read(self, data: bytes, max_rows: int | None) -> Trace:
        """The run's requests in order of arrival. TraceError where it cannot drive arrivals."""
        self.run = self._decoded(data)
        self._check_lists()
        self._check_waits()
        self.found.add(self._entries())
        self.found.check_rows(max_rows)
        trace = self.found.trace()
        self._check_burst(trace)
        return trace

    def _decoded(self, data: bytes) -> Any:
        import msgspec

        lists: list[Any] = [(name, list[msgspec.Raw] | None, None) for name in (*TABLE.required, WAITS)]
        lists.append(("errors", list[Any] | None, None))
        settings = [(name, Any, None) for name in SETTINGS]
        decode = msgspec.json.Decoder(msgspec.defstruct("Run", [*lists, *settings])).decode
        try:
            return decode(data)
        except NO_JSON:
            try:
                return decode(NO_NUMBER.sub(b"null", data))  # Python writes what is no number so
            except NO_JSON as error:
                raise TraceError(f"{self.name}: {self._broken(data, str(error))}") from None

    def _broken(self, data: bytes, why: str) -> str:
        runs = 1 + data.strip().count(b"\n{")
        if "trailing" in why and runs > 1:
            return (
                f"found {runs} runs, one after the other (--append-result), expected one: each has times of its own."
                " Save the run that you mean as a file of its own"
            )
        return f"found broken JSON ({why}), expected a whole {TABLE.label}: was it cut off?"

    def _check_lists(self) -> None:
        run = self.run
        if run.input_lens is None or run.output_lens is None:
            self._refuse("found a run's summary without an entry a request", "a run with --save-result --save-detailed")
        if run.start_times is None:
            self._refuse(
                "found no start_times, which older versions of vLLM, and sglang's bench_serving, do not save",
                f"a run of a newer one, or a mix made from its lengths{self._lengths()}",
            )
        sizes = {name: len(values) for name in LISTS if (values := getattr(run, name)) is not None}
        if len(set(sizes.values())) > 1:
            found = ", ".join(f"{size:,} {name}" for name, size in sizes.items())
            raise TraceError(f"{self.name}: found {found}, expected as many of each")

    def _check_waits(self) -> None:
        """A limit of requests in flight that was reached, where nothing says how long requests waited for it."""
        limit, peak = self.run.max_concurrency, self.run.max_concurrent_requests
        if limit is None or self.run.queue_times is not None:
            return
        if isinstance(peak, int | float) and peak < limit and not self._is_infinite():
            return
        self._refuse(
            f"found --max-concurrency {limit} and no queue_times: requests waited in the client for a place, so that"
            " start_times say when the server was ready for them, not when they came",
            f"{RUN_OPEN}, one of a newer vLLM (it saves queue_times), or a mix made from its lengths{self._lengths()}",
        )

    def _check_burst(self, trace: Trace) -> None:
        """An infinite rate: all at once. (A trace that was replayed has one too, and times of its own.)"""
        duration = self.run.duration
        whole = duration if isinstance(duration, int | float) and duration > 0 else float("inf")
        if self._is_infinite() and self.run.ramp_up_strategy is None and trace.duration_s < BURST_SHARE * whole:
            self._refuse(
                f"found request_rate inf: all {len(trace):,} requests were sent at once, within"
                f" {trace.duration_s:.3g} s, so that their times say how fast the client sent",
                f"{RUN_OPEN}, or a mix made from its lengths{self._lengths()}",
            )

    def _is_infinite(self) -> bool:
        return self.run.request_rate in (None, "inf", "Infinity")

    def _refuse(self, found: str, expected: str) -> None:
        raise TraceError(f"{self.name}: {found}: it cannot drive arrivals. Expected {expected}")

    def _lengths(self) -> str:
        """Percentiles to type into a mix; nothing where the lists do not hold plain counts."""
        said = []
        for name, texts in (("prompt", self.run.input_lens), ("output", self.run.output_lens)):
            counts = np.array([int(text) for raw in texts if (text := bytes(raw)).isdigit() and len(text) < 9])
            if len(counts):
                values = " / ".join(f"{percentile(counts, percent):,}" for percent in (50, 90, 99))
                said.append(f"{name} P50 / P90 / P99 {values} tokens")
        return f" ({'; '.join(said)})" if said else ""

    def _entries(self) -> Rows:
        run = self.run
        count = len(run.input_lens)
        arrivals = list(self._arrivals())
        data, spans = columns_of(TABLE.required, (arrivals, map(bytes, run.input_lens), map(bytes, run.output_lens)))
        plain = np.array([bool(text) for text in arrivals], dtype=np.bool_)
        for index, error in enumerate(run.errors or []):
            plain[index] &= not error
        kept = {name: (starts[plain], ends[plain]) for name, (starts, ends) in spans.items()}
        return Rows(1 + np.arange(count), data, plain, kept, self._single)

    def _arrivals(self) -> Iterator[bytes]:
        """Whole nanoseconds as text; nothing where it takes the rules of a single entry."""
        starts, plain = self._nanoseconds("start_times")
        if self.run.queue_times:
            waits, good = self._nanoseconds(WAITS)
            starts, plain = starts - waits, plain & good & (waits <= starts)
        for start, good_one in zip(starts.tolist(), plain.tolist(), strict=True):
            yield b"%d" % start if good_one else b""

    def _nanoseconds(self, name: str) -> Any:
        data, spans = columns_of([name], [map(bytes, getattr(self.run, name))])
        return scaled_decimals(data, *spans[name], decimals=NS_DIGITS, most_whole=MOST_NS_SECONDS - 1)

    def _single(self, index: int) -> RowResult:
        return self.rows.read_fields(1 + index, lambda _: self._fields(index))

    def _fields(self, index: int) -> dict[str, str]:
        error = self.run.errors[index] if self.run.errors else None
        if error:
            raise RefusalError("failed request", shown(str(error)), "no error", "errors")
        prompt, output = (self._text(name, index) for name in ("input_lens", "output_lens"))
        if output == "0":
            raise RefusalError("failed request", "0", TABLE.failed, "output_lens")
        start, wait = (self._seconds(name, index) for name in ("start_times", WAITS))
        return {"start_times": Written(start - wait), "input_lens": prompt, "output_lens": output}

    def _seconds(self, name: str, index: int) -> int:
        if not getattr(self.run, name):
            return 0
        try:
            return seconds_as_ns(self._text(name, index))
        except RefusalError as refusal:
            raise RefusalError(refusal.kind, refusal.found, refusal.expected, name) from None

    def _text(self, name: str, index: int) -> str:
        """An entry's text; of JSON null nothing."""
        import msgspec

        raw = bytes(getattr(self.run, name)[index])
        if raw.startswith(b'"'):
            return str(msgspec.json.decode(raw))
        return Written("" if raw == b"null" else raw.decode())
