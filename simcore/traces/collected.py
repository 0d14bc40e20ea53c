"""Rows read so far as arrays, and what became of each: where every format's reader ends."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from simcore.traces import digits
from simcore.traces.doubts import FINER, Noted, doubts
from simcore.traces.errors import TraceError
from simcore.traces.fields import Bytes, Mask
from simcore.traces.format import CACHED, CLASS, LIMIT, SESSION, TableFormat
from simcore.traces.report import LISTED_ISSUES, Issue, ParseReport
from simcore.traces.rows import LONGEST_TEXT, Row, RowResult
from simcore.traces.trace import MAX_ARRIVAL_S, MAX_TOKENS, PS_PER_S, IntArray, Trace

OUT_OF_ORDER = "arrival out of order"
NUMBERS = ("arrival", "prompt_tokens", "output_tokens", "cached_prompt_tokens", "max_output_tokens")

Spans = Mapping[str, tuple[IntArray, IntArray]]
"""By a format's column: where its field starts and ends, one a plain row."""


@dataclass(frozen=True)
class Rows:
    """Some rows of a file: where the fields of the plain ones are in data, and how any one is read by itself."""

    lines: IntArray
    data: Bytes
    plain: Mask
    spans: Spans
    single: Callable[[int], RowResult]


class Collected:
    """Takes rows up, plain ones at once, the others one by one; report says what was found on the way."""

    def __init__(self, name: str, table: TableFormat, reads: Mapping[str, str], report: ParseReport) -> None:
        self.name, self.table, self.reads, self.report = name, table, reads, report
        self.parts: list[IntArray] = []
        self.lines: list[IntArray] = []
        self.noted = Noted()
        self.order: IntArray = np.zeros(0, np.int64)
        """Of the rows kept, by arrival: known once the trace is."""
        self.texts: dict[str, list[str]] = {column: [] for column in (CLASS, SESSION) if column in reads}
        self.last: int | None = None
        self.latest: int | None = None
        self.first_refusal: Issue | None = None

    def add(self, rows: Rows) -> Mask:
        """All rows, in their order; which of them are kept."""
        values = np.zeros((len(NUMBERS), len(rows.plain)), dtype=np.int64)
        good = rows.plain.copy()
        values[:, rows.plain], good[rows.plain] = self._plain_values(rows)
        texts = self._plain_texts(rows)
        changed = np.zeros_like(good)
        for index in np.flatnonzero(~good).tolist():
            result = self._single(rows, index)
            if result.row is not None:
                good[index], changed[index] = True, bool(result.issues)
                values[:, index] = _numbers(result.row)
                for column, text in ((CLASS, result.row.request_class), (SESSION, result.row.session)):
                    if column in texts:
                        texts[column][index] = text
        self._keep(rows.lines, values, texts, good, changed)
        return good

    def check_rows(self, most: int | None) -> None:
        """TraceError where more were read than allowed."""
        if most is not None and self.report.rows_read > most:
            raise TraceError(
                f"{self.name}: line {most + 2}: found more than {most:,} rows, expected at most {most:,}: cut the file"
            )

    def trace(self) -> Trace:
        """All rows in order of arrival. TraceError where none is usable, or they span too long a time."""
        if not self.report.accepted:
            raise TraceError(self._nothing_usable())
        values = np.concatenate(self.parts, axis=1)
        self.parts.clear()
        self.order = order = np.argsort(values[0], kind="stable")
        lines = np.concatenate(self.lines)[order]
        self.lines.clear()
        arrivals, prompts, outputs, cached, limits = (column[order] for column in values)
        classes, sessions = (
            tuple(self.texts[column][i] for i in order) if column in self.texts else None for column in (CLASS, SESSION)
        )
        arrival_ps = self._picoseconds(arrivals, lines)
        self.report.doubts.extend(doubts(self.table, arrival_ps, lines, self.noted, self.report))
        return Trace(self.name, arrival_ps, prompts, outputs, cached, limits, classes, sessions)

    def _plain_values(self, rows: Rows) -> tuple[IntArray, Mask]:
        table, data, spans = self.table, rows.data, rows.spans
        arrival, good = table.arrival.many(data, *spans[table.arrival.header])
        if table.arrival.zones is not None:
            self.noted.note_zones(table.arrival.zones(data, *(ends[good] for ends in spans[table.arrival.header])))
        values = np.zeros((len(NUMBERS), len(arrival)), dtype=np.int64)
        values[0] = arrival
        required = [(1, table.prompt, False), (2, table.output, False)]
        optional = [(3 + place, self.reads[o], True) for place, o in enumerate((CACHED, LIMIT)) if o in self.reads]
        for place, column, may_be_empty in required + optional:
            starts, ends = spans[column]
            values[place], fits = digits.whole_numbers(data, starts, ends)
            good &= fits | (may_be_empty & (starts == ends))
        for column in (CLASS, SESSION):
            if column in self.reads:
                starts, ends = spans[self.reads[column]]
                good &= ends - starts <= LONGEST_TEXT
        return values, good & self._in_range(values)

    def _in_range(self, values: IntArray) -> Mask:
        arrival, prompt, output, cached, limit = values
        counts = (prompt >= 1) & (prompt <= MAX_TOKENS) & (output >= 1) & (output <= MAX_TOKENS)
        limits = (limit == 0) | ((limit >= output) & (limit <= MAX_TOKENS))
        in_time = self.table.arrival.relative | (arrival <= MAX_ARRIVAL_S * PS_PER_S)
        usable: Mask = counts & limits & (cached < prompt) & in_time
        return usable

    def _plain_texts(self, rows: Rows) -> dict[str, list[str]]:
        texts = {column: [""] * len(rows.plain) for column in self.texts}
        if not texts:
            return texts
        where, data = np.flatnonzero(rows.plain).tolist(), rows.data.tobytes()
        for column, found in texts.items():
            starts, ends = rows.spans[self.reads[column]]
            for index, start, end in zip(where, starts.tolist(), ends.tolist(), strict=True):
                found[index] = sys.intern(data[start:end].decode("ascii"))
        return texts

    def _single(self, rows: Rows, index: int) -> RowResult:
        result = rows.single(index)
        findings = self.report.refused if result.row is None else self.report.repaired
        for issue in result.issues:
            findings.add(issue)
        if result.row is None:
            self.first_refusal = self.first_refusal or result.issues[0]
        return result

    def _keep(self, lines: IntArray, values: IntArray, texts: dict[str, list[str]], good: Mask, changed: Mask) -> None:
        kept = np.flatnonzero(good)
        self.noted.note_steps(lines[kept], self.last, values[0, kept], self.table.arrival.unit_ps)
        self.last = int(values[0, kept[-1]]) if len(kept) else self.last
        late = self._late(values[0, kept])
        self._report_late(late, lines[kept])
        changed[kept[late > 0]] = True
        self.report.rows_read += len(good)
        self.report.accepted += len(kept)
        self.report.repaired_rows += int(changed.sum())
        self.parts.append(values[:, kept])
        self.lines.append(lines[kept])
        for column, found in texts.items():
            self.texts[column].extend(found[index] for index in kept.tolist())

    def _late(self, arrivals: IntArray) -> IntArray:
        """By how much each arrival is before the latest of the rows above it."""
        if not len(arrivals):
            return arrivals
        before = int(arrivals[0]) if self.latest is None else self.latest
        latest = np.maximum.accumulate(np.concatenate(([before], arrivals)))
        self.latest = int(latest[-1])
        return latest[:-1] - np.minimum(arrivals, latest[:-1])

    def _report_late(self, late: IntArray, lines: IntArray) -> None:
        behind = np.flatnonzero(late)
        room = max(0, LISTED_ISSUES - len(self.report.repaired.listed))
        unit_s = self.table.arrival.unit_ps / PS_PER_S
        for index in behind[:room]:
            found = f"an arrival {int(late[index]) * unit_s:.6g} s before a row above it"
            self.report.repaired.add(_out_of_order(int(lines[index]), self.table.arrival.header, found))
        self.report.repaired.add_unlisted(OUT_OF_ORDER, len(behind[room:]))

    def _picoseconds(self, arrivals: IntArray, lines: IntArray) -> IntArray:
        column = self.table.arrival
        zero = int(arrivals[0]) if column.relative else 0
        span_s = (int(arrivals[-1]) - zero) * column.unit_ps // PS_PER_S
        if span_s > MAX_ARRIVAL_S:
            most = f"at most {MAX_ARRIVAL_S:,} ({MAX_ARRIVAL_S / 86_400:.1f} days)"
            raise TraceError(
                f"{self.name}: column {column.header}: found {span_s:,} s from the earliest row to the latest, "
                f"expected {most}: {self._how_to_mend(arrivals, lines)}"
            )
        return (arrivals - zero) * column.unit_ps

    def _how_to_mend(self, arrivals: IntArray, lines: IntArray) -> str:
        """At the longest gap, or by another unit."""
        by, at, unit = self.report.counted_by, int(np.diff(arrivals).argmax()), self.table.arrival.unit
        gap_s = int(arrivals[at + 1] - arrivals[at]) * self.table.arrival.unit_ps // PS_PER_S
        finer = f"; if it counts {FINER[unit]}, divide it by 1,000" if unit in FINER else ""
        return (
            f"cut the file; the longest gap, {gap_s:,} s, is between {by} {lines[at]} and {by} {lines[at + 1]}{finer}"
        )

    def _nothing_usable(self) -> str:
        if self.first_refusal is None:
            if self.table.layout == "table":
                return f"{self.name}: line 2: found the end of the file after the header, expected at least one row"
            return f"{self.name}: found no request, expected at least one"
        first = self.first_refusal
        where = f"line {first.line}" + (f", column {first.field}" if first.field else "")
        return (
            f"{self.name}: {where}: found {first.found}, expected {first.expected} "
            f"(none of {self.report.rows_read:,} rows is usable; this is the first)"
        )


def _out_of_order(line: int, field: str, found: str) -> Issue:
    return Issue(OUT_OF_ORDER, line, field, found, "rows in order of arrival", "sorted by arrival")


def _numbers(row: Row) -> tuple[int, int, int, int, int]:
    return (row.arrival, row.prompt_tokens, row.output_tokens, row.cached_prompt_tokens, row.max_output_tokens)
