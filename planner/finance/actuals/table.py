"""An uploaded file as a table: gzip or not, UTF-8, bounded, read line by line."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

MOST_BYTES = 50_000_000
MOST_UNPACKED_BYTES = 200_000_000
MOST_ROWS = 100_000
MOST_COLUMNS = 300
GZIP = b"\x1f\x8b"
DELIMITERS = (",", ";", "\t")


class FileError(ValueError):
    """The file cannot be read: one line a fault, each with its row and field where it has them."""

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines


class Table:
    """The header of a file, and then its rows."""

    def __init__(self, upload: Any) -> None:
        """``upload``: a binary file, from its start. FileError where there is no table in it."""
        self._bytes = _Counted(upload)
        text = io.TextIOWrapper(self._bytes, "utf-8-sig", newline="")  # type: ignore[type-var]
        try:
            first = text.readline()
        except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
            raise _unreadable(error, 1) from None
        if not first.strip():
            raise FileError("line 1: found nothing, expected a row of column names")
        self._lines = text
        self.delimiter = max(DELIMITERS, key=first.count)
        self.header = [cell.strip() for cell in next(csv.reader([first], delimiter=self.delimiter))]
        if len(self.header) > MOST_COLUMNS:
            raise FileError(f"line 1: found {len(self.header)} columns, expected at most {MOST_COLUMNS}")

    def rows(self) -> Iterator[tuple[int, Sequence[str]]]:
        """Each row's line and cells; rows of nothing are left out. FileError where they end before the file does."""
        reader = csv.reader(self._lines, delimiter=self.delimiter)
        count = 0
        line = 2
        try:
            for cells in reader:
                if any(cell.strip() for cell in cells):
                    count += 1
                    if count > MOST_ROWS:
                        raise FileError(
                            f"line {line}: found more than {MOST_ROWS:,} rows, expected at most so many: "
                            "leave out other services, or give months in files of their own"
                        )
                    if len(cells) != len(self.header):
                        raise FileError(f"line {line}: found {len(cells)} cells, expected {len(self.header)}")
                    yield line, cells
                line = reader.line_num + 2
        except (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as error:
            raise _unreadable(error, line) from None
        if not count:
            raise FileError("line 2: found no rows below the column names, expected at least one")

    @property
    def content_hash(self) -> str:
        """Of what has been read."""
        return self._bytes.digest.hexdigest()


class _Counted(io.BufferedIOBase):
    """What is unpacked, up to a limit, and its hash."""

    def __init__(self, upload: Any) -> None:
        packed = upload.read(2)
        upload.seek(0)
        self._file = gzip.GzipFile(fileobj=upload) if packed == GZIP else upload
        self._read = 0
        self.digest = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def read1(self, size: int | None = -1) -> bytes:
        return self.read(size)

    def read(self, size: int | None = -1) -> bytes:
        data: bytes = self._file.read(io.DEFAULT_BUFFER_SIZE if size is None or size < 0 else size)
        self._read += len(data)
        if self._read > MOST_UNPACKED_BYTES:
            raise FileError(f"found more than {MOST_UNPACKED_BYTES // 1_000_000} MB unpacked, expected at most so much")
        self.digest.update(data)
        return data


def _unreadable(error: Exception, line: int) -> FileError:
    if isinstance(error, UnicodeDecodeError):
        return FileError(f"line {line} or later: found bytes that are no UTF-8, expected text in UTF-8")
    if isinstance(error, csv.Error):
        return FileError(f"line {line}: {error}, expected CSV")
    return FileError(f"line {line} or later: the gzip file ends early or is damaged")
