"""A file's bytes unpacked as they are read: gzip and Zstandard by their first bytes, whatever the file is called."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import Any, Protocol

from simcore.traces.errors import TraceError
from simcore.traces.lines import ByteStream

GZIP, ZSTANDARD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
SKIPPABLE = tuple(bytes([0x50 + n]) + b"\x2a\x4d\x18" for n in range(16))
"""Zstandard's frames of no content, which some packers begin with."""
PIECE_BYTES = 1 << 18
UNPACKED_PIECE_BYTES = 1 << 20
MOST_RATIO, RATIO_FROM_BYTES = 250, 64 << 20
"""Of what is unpacked to what is packed, once there is so much: traces come to 3 to 40."""


class Decompressor(Protocol):
    """One gzip member or one Zstandard frame."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def piece(self, data: bytes) -> tuple[bytes, bytes]:
        """Some bytes unpacked, and the packed ones that are left for another call."""


class Limits:
    """What a file may come to when unpacked."""

    def __init__(self, name: str, most_bytes: int | None) -> None:
        self.name, self.most_bytes = name, most_bytes
        self.packed = self.unpacked = 0

    def count(self, unpacked: int) -> None:
        """TraceError where it is too much, or too much for what it was packed in."""
        self.unpacked += unpacked
        if self.most_bytes is not None and self.unpacked > self.most_bytes:
            most = f"{self.most_bytes / 1e6:,.0f} MB"
            raise TraceError(f"{self.name}: found more than {most} when unpacked, expected at most that: cut the file")
        if self.unpacked > RATIO_FROM_BYTES and self.unpacked > MOST_RATIO * self.packed:
            raise TraceError(
                f"{self.name}: found {self.unpacked / 1e6:,.0f} MB unpacked from {self.packed / 1e6:,.3f} MB, expected"
                f" at most {MOST_RATIO} times the packed size: no trace of requests is so repetitive"
            )


def unpacked(stream: ByteStream, name: str, most_bytes: int | None = None) -> ByteStream:
    """The stream's content: unpacked where it is packed, else as it is. TraceError for a damaged or cut-off file, for
    one packed twice, and for one of more than most_bytes when unpacked."""
    head = _head(stream)
    limits = Limits(name, most_bytes)
    if head.startswith(GZIP):
        pieces = _pieces(stream, head, "gzip", _Gzip, (GZIP,), limits)
    elif head.startswith((ZSTANDARD, *SKIPPABLE)):
        pieces = _pieces(stream, head, "Zstandard", _Zstandard, (ZSTANDARD, *SKIPPABLE), limits)
    else:
        return _Pieces(_plain(stream, head))
    content = _Pieces(pieces)
    start = content.read(len(ZSTANDARD))
    if start.startswith((GZIP, ZSTANDARD)):
        raise TraceError(f"{name}: found a file that is packed twice, expected it packed once")
    return _Pieces(_plain(content, start))


def _head(stream: ByteStream) -> bytes:
    head = b""
    while len(head) < len(ZSTANDARD) and (more := stream.read(PIECE_BYTES)):
        head += more
    return head


def _plain(stream: ByteStream, head: bytes) -> Iterator[bytes]:
    if head:
        yield head
    while piece := stream.read(UNPACKED_PIECE_BYTES):
        yield piece


def _pieces(
    stream: ByteStream,
    head: bytes,
    what: str,
    new: Callable[[], Decompressor],
    magics: tuple[bytes, ...],
    limits: Limits,
) -> Iterator[bytes]:
    """Member after member: packers write several into one file, and files are joined."""
    data, limits.packed = head, len(head)
    reader = new()
    while True:
        found, data = _unpack(reader, data, what, limits.name)
        if found:
            limits.count(len(found))
            yield found
        if reader.eof:
            data = reader.unused_data
            while len(data) < len(ZSTANDARD) and (more := stream.read(PIECE_BYTES)):
                data, limits.packed = data + more, limits.packed + len(more)
            if not data.strip(b"\0"):
                return
            if not data.startswith(magics):
                raise TraceError(f"{limits.name}: found other data after the {what} data, expected its end")
            reader = new()
        elif not data and not found:
            data = stream.read(PIECE_BYTES)
            limits.packed += len(data)
            if not data:
                raise TraceError(
                    f"{limits.name}: found a {what} file that ends early, after {limits.unpacked:,} bytes of its"
                    " content, expected a whole one: was a copy broken off?"
                )


def _unpack(reader: Decompressor, data: bytes, what: str, name: str) -> tuple[bytes, bytes]:
    try:
        return reader.piece(data)
    except (zlib.error, zstd().ZstdError) as error:
        raise TraceError(f"{name}: found a damaged {what} file ({error}), expected a whole one") from None


class _Gzip:
    def __init__(self) -> None:
        self.reader = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self.reader.eof

    @property
    def unused_data(self) -> bytes:
        return self.reader.unused_data

    def piece(self, data: bytes) -> tuple[bytes, bytes]:
        found = self.reader.decompress(data, UNPACKED_PIECE_BYTES)
        return found, self.reader.unconsumed_tail


class _Zstandard:
    def __init__(self) -> None:
        self.reader = zstd().ZstdDecompressor()

    @property
    def eof(self) -> bool:
        return bool(self.reader.eof)

    @property
    def unused_data(self) -> bytes:
        return bytes(self.reader.unused_data)

    def piece(self, data: bytes) -> tuple[bytes, bytes]:
        return self.reader.decompress(data, UNPACKED_PIECE_BYTES), b""  # it keeps what it has not unpacked yet


@cache
def zstd() -> Any:
    """Python's own module from 3.14 on, before that the same as a library."""
    return import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")


class _Pieces:
    """An iterator of bytes as a stream."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self.pieces, self.rest = pieces, b""

    def read(self, size: int, /) -> bytes:
        parts, length = [self.rest], len(self.rest)
        while length < size and (piece := next(self.pieces, None)) is not None:
            parts.append(piece)
            length += len(piece)
        whole = parts[0] if len(parts) == 1 else b"".join(parts)
        self.rest = whole[size:]
        return whole[:size]
