"""A table of comma-separated requests, a block of lines at a time."""

from collections.abc import Iterable

import numpy as np

from simcore.traces.collected import Collected, Rows
from simcore.traces.fields import COMMA, split
from simcore.traces.format import TableFormat
from simcore.traces.lines import Block
from simcore.traces.report import ParseReport
from simcore.traces.rows import RowReader
from simcore.traces.trace import Trace


class TableReader:
    """Reads one table's rows into arrays; report says what was found on the way."""

    def __init__(
        self, name: str, table: TableFormat, header: list[str], report: ParseReport, delimiter: str = ","
    ) -> None:
        self.table, self.header, self.delimiter = table, header, ord(delimiter) if delimiter else COMMA
        self.rows = RowReader(table, header, delimiter)
        self.found = Collected(name, table, self.rows.reads, report)

    def read(self, blocks: Iterable[Block], max_rows: int | None) -> Trace:
        """All rows as a trace in order of arrival. Raises TraceError where no row is usable."""
        for block in blocks:
            self.found.add(self._rows(block))
            self.found.check_rows(max_rows)
        return self.found.trace()

    def _rows(self, block: Block) -> Rows:
        data = np.frombuffer(block.data, dtype=np.uint8)
        lines = split(data, len(self.header), self.delimiter)
        columns = (*self.table.required, *self.rows.reads.values())
        places = {column: self.header.index(column) for column in columns}
        spans = {column: (lines.starts[:, place], lines.ends[:, place]) for column, place in places.items()}

        def line(index: int) -> bytes:
            return block.data[lines.line_starts[index] : lines.line_ends[index]]

        return Rows(
            block.first_line + np.arange(len(lines.plain)),
            data,
            lines.plain,
            spans,
            lambda index: self.rows.read(block.first_line + index, line(index)),
        )
