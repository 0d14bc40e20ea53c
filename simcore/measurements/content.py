"""A benchmark file's text: unpacked, decoded, and refused in one line where it is something else altogether."""

from __future__ import annotations

import hashlib
import importlib
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path

from simcore.spec import SpecError

MOST_BYTES = 256 << 20
"""Of a file, unpacked: guidellm keeps every prompt unless told not to."""
GZIP, ZSTANDARD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
BYTE_ORDER_MARKS = {b"\xef\xbb\xbf": "utf-8", b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
OTHERS = {b"PK\x03\x04": "a zip or XLSX file", b"PAR1": "a Parquet file", b"%PDF": "a PDF file"}
EXPECTED = "expected the JSON or CSV of a benchmark"


@dataclass(frozen=True)
class Content:
    """A file's name as messages call it, the hash of its bytes, and its text."""

    name: str
    sha256: str
    text: str


def load(path: str) -> Content:
    """The text of a file, packed with gzip or not. SpecError, one line, where there is none."""
    try:
        if Path(path).is_file() and Path(path).stat().st_size > MOST_BYTES:
            raise SpecError(f"{path}: found more than {MOST_BYTES >> 20} MiB, expected a smaller file")
        data = Path(path).read_bytes()
    except OSError as error:
        raise SpecError(f"{path}: found {_words(error)}, expected a readable file") from None
    return content_of(path.encode("utf-8", "replace").decode(), data)  # a path may be no text, a message is


def _words(error: OSError) -> str:
    if isinstance(error, IsADirectoryError):
        return "a folder"
    return (error.strerror or str(error)).lower()


def content_of(name: str, data: bytes) -> Content:
    """A file's bytes as its text; SpecError as ``load``."""
    return Content(name, hashlib.sha256(data).hexdigest(), text_of(name, data))


def text_of(name: str, data: bytes) -> str:
    """The text of a file's bytes; SpecError where they are no text, or none of a benchmark."""
    text = _decoded(name, _unpacked(name, data))
    start = text.lstrip()[:200].lower()
    if not start:
        raise SpecError(f"{name}: found an empty file, {EXPECTED}")
    if start.startswith(("<!doctype", "<html", "<?xml")):
        raise SpecError(f"{name}: found an HTML or XML page, {EXPECTED} (was a link saved in place of the file?)")
    if start.startswith("version https://git-lfs"):
        raise SpecError(f"{name}: found a Git LFS pointer, {EXPECTED} (fetch the file itself)")
    return text


def _unpacked(name: str, data: bytes) -> bytes:
    if data.startswith(GZIP):
        return _gunzipped(name, data)
    if data.startswith(ZSTANDARD):
        return _unzstd(name, data)
    for magic, what in OTHERS.items():
        if data.startswith(magic):
            raise SpecError(f"{name}: found {what}, {EXPECTED}")
    return data


def _gunzipped(name: str, data: bytes) -> bytes:
    unpacked, rest = bytearray(), data
    try:
        while rest.startswith(GZIP):
            reader = zlib.decompressobj(wbits=31)
            unpacked += reader.decompress(rest, MOST_BYTES + 1 - len(unpacked))
            if len(unpacked) > MOST_BYTES:
                raise SpecError(
                    f"{name}: found more than {MOST_BYTES >> 20} MiB when unpacked, expected a smaller file"
                )
            if not reader.eof:
                raise SpecError(f"{name}: found a gzip file that ends early, expected a whole one")
            rest = reader.unused_data
    except zlib.error as error:
        raise SpecError(f"{name}: found a damaged gzip file ({error}), expected a whole one") from None
    return bytes(unpacked)


def _unzstd(name: str, data: bytes) -> bytes:
    """Python unpacks these itself from 3.14 on."""
    zstd = importlib.import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    try:
        unpacked: bytes = zstd.ZstdDecompressor().decompress(data, MOST_BYTES + 1)
    except zstd.ZstdError as error:
        raise SpecError(f"{name}: found a damaged Zstandard file ({error}), expected a whole one") from None
    if len(unpacked) > MOST_BYTES:
        raise SpecError(f"{name}: found more than {MOST_BYTES >> 20} MiB when unpacked, expected a smaller file")
    return unpacked


def _decoded(name: str, data: bytes) -> str:
    mark, encoding = next(((m, e) for m, e in BYTE_ORDER_MARKS.items() if data.startswith(m)), (b"", "utf-8"))
    try:
        text = data[len(mark) :].decode(encoding)
    except UnicodeDecodeError as error:
        found = f"byte 0x{error.object[error.start]:02x} at {error.start + len(mark)}"
        raise SpecError(f"{name}: found {found}, expected text in UTF-8") from None
    if "\0" in text:
        raise SpecError(f"{name}: found binary data, {EXPECTED}")
    return text
