"""A table of requests read block by block: plain rows all at once, the others one by one."""

import sys
from collections.abc import Iterable

import numpy as np

from simcore.traces import digits
from simcore.traces.errors import TraceError
from simcore.traces.fields import Bytes, Lines, Mask, split
from simcore.traces.format import CACHED, CLASS, LIMIT, SESSION, TableFormat
from simcore.traces.lines import Block
from simcore.traces.report import LISTED_ISSUES, Issue, ParseReport
from simcore.traces.rows import LONGEST_TEXT, Row, RowReader, RowResult
from simcore.traces.trace import MAX_ARRIVAL_S, MAX_TOKENS, PS_PER_S, IntArray, Trace

OUT_OF_ORDER = "arrival out of order"
COLUMNS = ("arrival", "prompt_tokens", "output_tokens", "cached_prompt_tokens", "max_output_tokens")


class TableReader:
    """Reads one table's rows into arrays; report says what was found on the way."""

    def __init__(self, name: str, table: TableFormat, header: list[str], report: ParseReport) -> None:
        self.name, self.table, self.header, self.report = name, table, header, report
        self.rows = RowReader(table, header)
        self.parts: list[IntArray] = []
        self.classes: list[str] | None = [] if CLASS in self.rows.reads else None
        self.sessions: list[str] | None = [] if SESSION in self.rows.reads else None
        self.latest: int | None = None
        self.first_refusal: Issue | None = None

    def read(self, blocks: Iterable[Block], max_rows: int | None) -> Trace:
        """All rows as a trace in order of arrival. Raises TraceError where no row is usable."""
        for block in blocks:
            self._read_block(block)
            if max_rows is not None and self.report.rows_read > max_rows:
                raise TraceError(
                    f"{self.name}: line {max_rows + 2}: found more than {max_rows:,} rows, "
                    f"expected at most {max_rows:,}"
                )
        return self._trace()

    def _read_block(self, block: Block) -> None:
        data = np.frombuffer(block.data, dtype=np.uint8)
        lines = split(data, len(self.header))
        values = np.zeros((len(COLUMNS), len(lines.plain)), dtype=np.int64)
        good = lines.plain.copy()
        values[:, lines.plain], good[lines.plain] = self._plain_values(data, lines)
        texts = self._plain_texts(block.data, lines, good)
        changed = np.zeros_like(good)
        for index in np.flatnonzero(~good):
            line = block.data[lines.line_starts[index] : lines.line_ends[index]]
            result = self._single_row(block.first_line + int(index), line)
            if result.row is not None:
                good[index], changed[index] = True, bool(result.issues)
                values[:, index] = _numbers(result.row)
                texts[CLASS][index], texts[SESSION][index] = result.row.request_class, result.row.session
        self._keep(block.first_line, values, texts, good, changed)

    def _plain_values(self, data: Bytes, lines: Lines) -> tuple[IntArray, Mask]:
        def span(column: str) -> tuple[IntArray, IntArray]:
            position = self.header.index(column)
            return lines.starts[:, position], lines.ends[:, position]

        arrival, good = self.table.arrival.many(data, *span(self.table.arrival.header))
        values = np.zeros((len(COLUMNS), len(arrival)), dtype=np.int64)
        values[0] = arrival
        required = [(1, self.table.prompt, False), (2, self.table.output, False)]
        optional = [(3, CACHED, True), (4, LIMIT, True)]
        for place, column, may_be_empty in required + [o for o in optional if o[1] in self.rows.reads]:
            starts, ends = span(column)
            values[place], fits = digits.whole_numbers(data, starts, ends)
            good &= fits | (may_be_empty & (starts == ends))
        return values, good & self._in_range(values) & _short_texts(lines)

    def _in_range(self, values: IntArray) -> Mask:
        arrival, prompt, output, cached, limit = values
        counts = (prompt >= 1) & (prompt <= MAX_TOKENS) & (output >= 1) & (output <= MAX_TOKENS)
        limits = (limit == 0) | ((limit >= output) & (limit <= MAX_TOKENS))
        in_time = self.table.arrival.relative | (arrival <= MAX_ARRIVAL_S * PS_PER_S)
        usable: Mask = counts & limits & (cached < prompt) & in_time
        return usable

    def _plain_texts(self, data: bytes, lines: Lines, good: Mask) -> dict[str, list[str]]:
        texts = {CLASS: [""] * len(good), SESSION: [""] * len(good)}
        for column in self.rows.reads & {CLASS, SESSION}:
            position = self.header.index(column)
            where = np.flatnonzero(lines.plain).tolist()
            spans = zip(lines.starts[:, position].tolist(), lines.ends[:, position].tolist(), strict=True)
            for index, (start, end) in zip(where, spans, strict=True):
                texts[column][index] = sys.intern(data[start:end].decode("ascii"))
        return texts

    def _single_row(self, line: int, data: bytes) -> RowResult:
        result = self.rows.read(line, data)
        findings = self.report.refused if result.row is None else self.report.repaired
        for issue in result.issues:
            findings.add(issue)
        if result.row is None:
            self.first_refusal = self.first_refusal or result.issues[0]
        return result

    def _keep(self, first_line: int, values: IntArray, texts: dict[str, list[str]], good: Mask, changed: Mask) -> None:
        kept = np.flatnonzero(good)
        late = self._late(values[0, kept])
        self._report_late(late, first_line + kept)
        changed[kept[late > 0]] = True
        self.report.rows_read += len(good)
        self.report.accepted += len(kept)
        self.report.repaired_rows += int(changed.sum())
        self.parts.append(values[:, kept])
        for column, collected in ((CLASS, self.classes), (SESSION, self.sessions)):
            if collected is not None:
                collected.extend(texts[column][index] for index in kept.tolist())

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

    def _trace(self) -> Trace:
        if not self.report.accepted:
            raise TraceError(self._nothing_usable())
        values = np.concatenate(self.parts, axis=1)
        order = np.argsort(values[0], kind="stable")
        arrivals, prompts, outputs, cached, limits = values[:, order]
        return Trace(
            self.name,
            self._picoseconds(arrivals),
            prompts,
            outputs,
            cached,
            limits,
            None if self.classes is None else tuple(self.classes[i] for i in order),
            None if self.sessions is None else tuple(self.sessions[i] for i in order),
        )

    def _picoseconds(self, arrivals: IntArray) -> IntArray:
        column = self.table.arrival
        zero = int(arrivals[0]) if column.relative else 0
        span_s = (int(arrivals[-1]) - zero) * column.unit_ps // PS_PER_S
        if span_s > MAX_ARRIVAL_S:
            raise TraceError(
                f"{self.name}: column {column.header}: found {span_s} s from the earliest row to the "
                f"latest, expected at most {MAX_ARRIVAL_S}"
            )
        return (arrivals - zero) * column.unit_ps

    def _nothing_usable(self) -> str:
        if self.first_refusal is None:
            return f"{self.name}: line 2: found the end of the file after the header, expected at least one row"
        first = self.first_refusal
        where = f"line {first.line}" + (f", column {first.field}" if first.field else "")
        return (
            f"{self.name}: {where}: found {first.found}, expected {first.expected} "
            f"(none of {self.report.rows_read:,} rows is usable; this is the first)"
        )


def _out_of_order(line: int, field: str, found: str) -> Issue:
    return Issue(OUT_OF_ORDER, line, field, found, "rows in order of arrival", "sorted by arrival")


def _numbers(row: Row) -> tuple[int, int, int, int, int]:
    return (
        row.arrival,
        row.prompt_tokens,
        row.output_tokens,
        row.cached_prompt_tokens,
        row.max_output_tokens,
    )


def _short_texts(lines: Lines) -> Mask:
    short: Mask = np.all(lines.ends - lines.starts <= LONGEST_TEXT, axis=1)
    return short
