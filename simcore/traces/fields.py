"""Where the fields of each line of a block are, found for all lines at once.

Only plain lines are split here: printable ASCII, as many fields as the header, each quoted as a whole or not
at all. Every other line is left to the reader of single rows, which knows quoting, UTF-8 and what to refuse.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simcore.traces.trace import IntArray

Bytes = NDArray[np.uint8]
Mask = NDArray[np.bool_]

LINE_FEED, CARRIAGE_RETURN, COMMA, QUOTE = 10, 13, 44, 34
FIRST_PRINTABLE, LAST_PRINTABLE = 32, 126


@dataclass(frozen=True)
class Lines:
    """line_starts, line_ends: each line's bytes without its line end. plain: which lines have
    their fields in starts and ends, both (plain lines) x (fields)."""

    line_starts: IntArray
    line_ends: IntArray
    plain: Mask
    starts: IntArray
    ends: IntArray


def split(data: Bytes, fields: int, delimiter: int = COMMA) -> Lines:
    """Splits a block of whole lines, see the module's text."""
    feeds = np.flatnonzero(data == LINE_FEED)
    line_starts = np.concatenate(([0], feeds[:-1] + 1))
    line_ends = feeds - ((feeds > line_starts) & (data[feeds - 1] == CARRIAGE_RETURN))
    marks = np.flatnonzero(data == delimiter)
    first_mark = np.searchsorted(marks, line_starts)
    mark_count = np.searchsorted(marks, line_ends) - first_mark
    plain = (mark_count == fields - 1) & (line_ends > line_starts)
    plain[_lines_of(_unusual(data, line_ends, delimiter), feeds)] = False
    inner = marks[first_mark[plain, None] + np.arange(fields - 1)]
    starts = np.column_stack((line_starts[plain], inner + 1))
    ends = np.column_stack((inner, line_ends[plain]))
    if (quotes := np.flatnonzero(data == QUOTE)).size:
        return _unquoted(data, Lines(line_starts, line_ends, plain, starts, ends), quotes)
    return Lines(line_starts, line_ends, plain, starts, ends)


def _unquoted(data: Bytes, lines: Lines, quotes: IntArray) -> Lines:
    """Without the quotes around whole fields; a line with any other quote is not plain."""
    starts, ends = lines.starts, lines.ends
    quoted = (ends - starts >= 2) & (data[starts] == QUOTE) & (data[ends - 1] == QUOTE)
    before = np.searchsorted(quotes, lines.line_starts[lines.plain])
    count = np.searchsorted(quotes, lines.line_ends[lines.plain]) - before
    whole = count == 2 * quoted.sum(axis=1)
    plain = lines.plain.copy()
    plain[np.flatnonzero(plain)[~whole]] = False
    kept = quoted[whole]
    return Lines(lines.line_starts, lines.line_ends, plain, starts[whole] + kept, ends[whole] - kept)


def _unusual(data: Bytes, line_ends: IntArray, delimiter: int) -> IntArray:
    """Positions of bytes that a plain line has not; a line's own end and a tab that separates do not count."""
    unusual = (data < FIRST_PRINTABLE) | (data > LAST_PRINTABLE)
    unusual[(data == LINE_FEED) | (data == delimiter)] = False
    unusual[line_ends] = False
    return np.flatnonzero(unusual)


def _lines_of(positions: IntArray, feeds: IntArray) -> IntArray:
    return np.unique(np.searchsorted(feeds, positions)) if len(positions) else positions
