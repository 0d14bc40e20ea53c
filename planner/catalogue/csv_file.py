"""An uploaded CSV as rows of cells with their line numbers; what is no such file is refused in a sentence."""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass

from planner.spreadsheet import unguarded
from simcore.spec import SpecError

MOST_BYTES = 2_000_000
MOST_ROWS = 20_000
MOST_COLUMNS = 64
MOST_CHARACTERS = 1000
"""Of a cell."""
DELIMITERS = (",", ";", "\t")
SIGNATURES = {
    b"PK\x03\x04": "an Excel or zip file",
    b"\xd0\xcf\x11\xe0": "an old Excel file",
    b"\x1f\x8b": "a gz file",
    b"%PDF": "a PDF",
    b"\xff\xfe": "UTF-16, as Excel writes Unicode text",
    b"\xfe\xff": "UTF-16",
}
"""What files that are no CSV begin with."""


@dataclass(frozen=True)
class CsvFile:
    """A file's header and its rows: the line each begins on, and its cells by column."""

    header: tuple[str, ...]
    rows: list[tuple[int, dict[str, str]]]


def read_csv(data: bytes) -> CsvFile:
    """The rows of a CSV file; SpecError says why it is none. Empty rows are left out."""
    text = _text(data)
    head = next((line for line in text.splitlines() if line.strip() and not _is_for_excel(line)), "")
    if not head:
        raise SpecError("line 1: found nothing, expected the names of the columns")
    records = _records(text, max(DELIMITERS, key=head.count))
    _, names = next(records)
    header = tuple(name.strip().lower() for name in names)
    _check_header(header)
    return CsvFile(header, [(line, _cells(line, header, cells)) for line, cells in records])


def _is_for_excel(line: str) -> bool:
    """``sep=;``, by which Excel knows how a file is separated."""
    return line.lower().startswith("sep=")


def _text(data: bytes) -> str:
    if len(data) > MOST_BYTES:
        raise SpecError(f"found more than {MOST_BYTES:,} bytes, expected a CSV file of at most that")
    for signature, words in SIGNATURES.items():
        if data.startswith(signature):
            raise SpecError(f"found {words}, expected CSV: save the table as CSV (UTF-8)")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise SpecError(f"line {line}: found bytes that are not UTF-8, expected CSV saved as UTF-8") from None
    if "\0" in text:
        raise SpecError(f"line {text[: text.index(chr(0))].count(chr(10)) + 1}: found a NUL character, expected text")
    return text


def _records(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Line and cells of each record that says something, one in quotes over several lines too."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for number, cells in enumerate(reader):
            if number > MOST_ROWS:
                raise SpecError(f"found more than {MOST_ROWS:,} rows, expected at most that")
            if any(cell.strip() for cell in cells) and not _is_for_excel(cells[0]):
                yield line, [cell.strip() for cell in cells]
            line = reader.line_num + 1
    except csv.Error as error:
        raise SpecError(f"line {line}: found what is not CSV ({error})") from None


def _check_header(header: tuple[str, ...]) -> None:
    if len(header) > MOST_COLUMNS:
        raise SpecError(f"line 1: found {len(header)} columns, expected at most {MOST_COLUMNS}")
    twice = [name for name in header if name and header.count(name) > 1]
    if twice:
        raise SpecError(f"line 1: found the column ‘{twice[0]}’ twice, expected it once")


def _cells(line: int, header: tuple[str, ...], cells: list[str]) -> dict[str, str]:
    if len(cells) > len(header) and any(cells[len(header) :]):
        raise SpecError(f"line {line}: found {len(cells)} cells, expected {len(header)} as the first line has")
    for name, cell in zip(header, cells, strict=False):
        if len(cell) > MOST_CHARACTERS:
            raise SpecError(
                f"line {line}: {name}: found {len(cell):,} characters, expected at most {MOST_CHARACTERS:,} in a cell"
            )
    return {name: unguarded(cell) for name, cell in zip(header, cells, strict=False) if name}
