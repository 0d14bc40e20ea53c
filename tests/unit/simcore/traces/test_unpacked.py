"""gzip and Zstandard: read as they come, whole or refused."""

import gzip
import io
import zlib
from collections import deque

import pytest

from simcore.traces import TraceError, read_trace
from simcore.traces.unpacked import unpacked, zstd

CSV = b"arrival_s,prompt_tokens,output_tokens\n" + b"".join(
    b"%d,%d,7\n" % (n, 1 + n * 7919 % 5000) for n in range(50_000)
)
PACKERS = [gzip.compress, zstd().compress]
pack = pytest.mark.parametrize("pack", PACKERS, ids=["gzip", "zstd"])


@pack
def test_a_packed_trace_is_the_same(pack: object) -> None:
    plain, _ = read_trace(io.BytesIO(CSV), "t")
    packed, report = read_trace(io.BytesIO(pack(CSV)), "t")
    assert packed.content_hash() == plain.content_hash()
    assert (report.rows_read, report.repaired.total) == (50_000, 0)


@pack
def test_several_packed_pieces_are_one_file(pack: object) -> None:
    middle = CSV.index(b"\n", len(CSV) // 2) - 3
    packed, _ = read_trace(io.BytesIO(pack(CSV[:middle]) + pack(CSV[middle:])), "t")
    assert len(packed) == 50_000


@pack
@pytest.mark.parametrize("kept", [0.3, 0.999])
def test_a_file_that_ends_early_is_refused(pack: object, kept: float) -> None:
    data = pack(CSV)
    with pytest.raises(TraceError, match=r"file that ends early, after [0-9,]+ bytes of its content"):
        read_trace(io.BytesIO(data[: int(len(data) * kept)]), "t")


@pack
def test_a_damaged_file_is_refused(pack: object) -> None:
    data = bytearray(pack(CSV))
    data[len(data) // 2 : len(data) // 2 + 50] = b"\xff" * 50
    with pytest.raises(TraceError, match=r"found a damaged (gzip|Zstandard) file"):
        read_trace(io.BytesIO(bytes(data)), "t")


@pack
def test_other_data_after_the_end_is_refused(pack: object) -> None:
    with pytest.raises(TraceError, match="found other data after the"):
        read_trace(io.BytesIO(pack(CSV) + b"extra,bytes\n"), "t")


@pack
def test_packed_twice_is_refused(pack: object) -> None:
    with pytest.raises(TraceError, match="found a file that is packed twice"):
        read_trace(io.BytesIO(gzip.compress(pack(CSV))), "t")


@pack
def test_too_much_when_unpacked_is_refused(pack: object) -> None:
    with pytest.raises(TraceError, match="found more than 0 MB when unpacked, expected at most"):
        read_trace(io.BytesIO(pack(CSV)), "t", max_bytes=100_000)


@pack
def test_a_bomb_is_stopped_in_little_memory(pack: object) -> None:
    stream = unpacked(io.BytesIO(pack(bytes(80 << 20))), "t")
    with pytest.raises(TraceError, match=r"found 6\d MB unpacked from 0\.\d+ MB, expected at most 250 times"):
        deque(iter(lambda: stream.read(1 << 20), b""), maxlen=0)


def test_padding_after_gzip_is_none_of_the_content() -> None:
    stream = unpacked(io.BytesIO(gzip.compress(b"abc") + bytes(512)), "t")
    assert stream.read(10) == b"abc"


def test_a_stream_that_gives_a_byte_at_a_time_is_recognised() -> None:
    class Slow(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(min(size or 1, 1))

    assert len(read_trace(Slow(gzip.compress(CSV[: CSV.index(b"\n", 400) + 1])), "t")[0]) > 10


def test_raw_deflate_is_no_text() -> None:
    with pytest.raises(TraceError, match="found byte"):
        read_trace(io.BytesIO(zlib.compress(CSV)), "t")
