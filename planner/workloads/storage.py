"""A trace as bytes, and back: NumPy's archive, compressed as a whole; arrivals as gaps, which compress better."""

import io
import json
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simcore.traces import Trace
from simcore.traces.prefix_cache import PromptBlocks

COUNTS = ("prompt_tokens", "output_tokens", "cached_prompt_tokens", "max_output_tokens")
TEXTS = ("classes", "sessions")
FAST = 1  # zlib's level: the default takes six times as long for one per cent fewer bytes


class StoredTraceError(RuntimeError):
    """Stored bytes are not the trace that they should be."""


def packed(trace: Trace) -> bytes:
    columns = {column: getattr(trace, column).astype(np.int32) for column in COUNTS}  # at most ten million each
    for column in TEXTS:
        if (texts := getattr(trace, column)) is not None:
            columns[column] = np.frombuffer(json.dumps(texts).encode(), dtype=np.uint8)
    stream = io.BytesIO()
    np.savez(stream, gap_ps=np.diff(trace.arrival_ps, prepend=0), **columns)
    return zlib.compress(stream.getbuffer(), FAST)


def arrivals(data: bytes, name: str) -> NDArray[np.int64]:
    """The arrivals alone, in picoseconds: a third of the time."""
    with _columns(data, name) as columns:
        return np.cumsum(columns["gap_ps"])


def packed_blocks(blocks: PromptBlocks) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, ids=blocks.ids, counts=blocks.counts)
    return zlib.compress(stream.getbuffer(), FAST)


def unpacked_blocks(data: bytes, name: str) -> PromptBlocks:
    with _columns(data, name) as columns:
        return PromptBlocks(columns["ids"], columns["counts"])


def unpacked(data: bytes, name: str) -> Trace:
    with _columns(data, name) as columns:
        return Trace.of(
            name,
            np.cumsum(columns["gap_ps"]),
            *(columns[column] for column in COUNTS),
            *(json.loads(columns[column].tobytes()) if column in columns else None for column in TEXTS),
        )


@contextmanager
def _columns(data: bytes, name: str) -> Iterator[Any]:
    try:
        with np.load(io.BytesIO(zlib.decompress(data)), allow_pickle=False) as columns:
            yield columns
    except (OSError, ValueError, KeyError, EOFError, zlib.error, zipfile.BadZipFile) as error:
        raise StoredTraceError(f"{name}: the stored trace cannot be read ({error})") from error
