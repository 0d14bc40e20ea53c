"""A byte stream as blocks of whole lines, in bounded memory."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from simcore.traces.errors import TraceError

BLOCK_BYTES = 1 << 20
LONGEST_LINE_BYTES = 1 << 16
LONGEST_RECORD_BYTES = 1 << 23
"""Of JSON: a record may hold a time for each of its tokens."""


class ByteStream(Protocol):
    """What is read from: an open binary file, or anything else that reads bytes."""

    def read(self, size: int, /) -> bytes: ...


@dataclass(frozen=True)
class Block:
    """Whole lines, each ended by a line feed; first_line counts from 1."""

    data: bytes
    first_line: int


def blocks(
    stream: ByteStream, name: str, block_bytes: int = BLOCK_BYTES, longest: int = LONGEST_LINE_BYTES
) -> Iterator[Block]:
    """The stream's lines, the last one completed if its line end is missing.

    Raises TraceError for a line of more than `longest` bytes: that is no table of requests.
    """
    rest, line = b"", 1
    while chunk := stream.read(block_bytes):
        head, found, tail = (rest + chunk).rpartition(b"\n")
        if len(tail) > longest:
            line += head.count(b"\n") + (1 if found else 0)
            raise TraceError(
                f"{name}: line {line}: found more than {longest} bytes without a line end, expected one request a line"
            )
        if found:
            yield Block(head + b"\n", line)
            line += head.count(b"\n") + 1
        rest = tail
    if rest:
        yield Block(rest + b"\n", line)
