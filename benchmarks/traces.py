"""Reading traces: a million requests of each format, plain and packed, CPU time and memory of a process of its own.

    python -m benchmarks.traces FILE      reads one file and prints its figures

Files are made as the tools write them: lengths of the conversation mix, Poisson at 100 requests/s; AIPerf's records
with what it writes without times a token, a vLLM run with five gaps a request.
"""

from __future__ import annotations

import argparse
import gzip
import json
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import IO, Any

from benchmarks.measure import report
from benchmarks.memory import peak_bytes
from simcore.traces import SyntheticSpec, Trace, generate, read_trace
from simcore.traces.unpacked import zstd
from simcore.traces.write import csv_rows

ROOT = Path(__file__).resolve().parents[1]
MILLION, FEW = 1_000_000, 1_000
START_NS = 1_759_813_207_532_900_363
PACKERS: dict[str, Callable[[Path], IO[bytes]]] = {
    "gzip": lambda path: gzip.GzipFile(path, "wb", compresslevel=6),
    "zstd": lambda path: zstd().ZstdFile(path, "wb"),
}

Requests = Iterator[tuple[int, int, int]]
"""Arrival in ns, prompt and output tokens."""


def main(quick: bool = False) -> None:
    """A line a file."""
    trace = generate(SyntheticSpec("conversation", 100.0, FEW if quick else MILLION))
    with tempfile.TemporaryDirectory() as folder:
        plain, packed = Path(folder) / "trace", Path(folder) / "trace.packed"
        for name, lines in FORMATS.items():
            with plain.open("wb") as written:
                written.writelines(lines(trace))
            _report(f"{name}/plain", plain)
            for packing, packer in PACKERS.items():
                with plain.open("rb") as whole, packer(packed) as stream:
                    shutil.copyfileobj(whole, stream, 1 << 20)
                _report(f"{name}/{packing}", packed)


def _report(case: str, path: Path) -> None:
    report("traces", case=case, file_bytes=path.stat().st_size, **_measured(path))


def _measured(path: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.traces", str(path)]
    figures: dict[str, Any] = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
    return figures


def read_here(path: Path) -> dict[str, float]:
    """The file read in this process: CPU time from when Python and NumPy are there, and peak memory of it all."""
    before, base = _cpu_s(), peak_bytes()
    trace, found = read_trace(path)
    return {
        "requests": len(trace),
        "refused": found.refused_rows,
        "cpu_s": _cpu_s() - before,
        "peak_bytes": peak_bytes(),
        "peak_bytes_before": base,
    }


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _requests(trace: Trace) -> Requests:
    columns = (trace.arrival_ps // 1000, trace.prompt_tokens, trace.output_tokens)
    return zip(*(column.tolist() for column in columns), strict=True)


def _own(trace: Trace) -> Iterator[bytes]:
    return (line.encode() for line in csv_rows(trace))


def _azure(trace: Trace) -> Iterator[bytes]:
    rows = (
        b"2023-11-%02d %02d:%02d:%02d.%07d,%d,%d\r\n"
        % (16 + s // 86_400, s // 3600 % 24, s // 60 % 60, s % 60, ns % 10**9 // 100, prompt, output)
        for ns, prompt, output in _requests(trace)
        for s in [ns // 10**9]
    )
    return chain([b"TIMESTAMP,ContextTokens,GeneratedTokens\r\n"], rows)


def _azure_2024(trace: Trace) -> Iterator[bytes]:
    rows = (
        b"2024-05-%02d %02d:%02d:%02d.%06d+00:00,%d,%d\n"
        % (10 + s // 86_400, s // 3600 % 24, s // 60 % 60, s % 60, ns % 10**9 // 1000, prompt, output)
        for ns, prompt, output in _requests(trace)
        for s in [ns // 10**9]
    )
    return chain([b"TIMESTAMP,ContextTokens,GeneratedTokens\n"], rows)


def _quoted(trace: Trace) -> Iterator[bytes]:
    rows = (b'"%d.%09d","%d","%d"\n' % (*divmod(ns, 10**9), p, o) for ns, p, o in _requests(trace))
    return chain([b'"arrival_s","prompt_tokens","output_tokens"\n'], rows)


def _burstgpt(trace: Trace) -> Iterator[bytes]:
    header = b"Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
    rows = (
        b"%d,conv-%d,9.80,GPT-4,%d,%d,%d,Conversation log\n" % (ns // 10**9, n // 4, prompt, output, prompt + output)
        for n, (ns, prompt, output) in enumerate(_requests(trace))
    )
    return chain([header], rows)


def _mooncake(trace: Trace) -> Iterator[bytes]:
    for n, (ns, prompt, output) in enumerate(_requests(trace)):
        blocks = list(range(n, n + -(-prompt // 512)))
        line = {"timestamp": ns // 10**6, "input_length": prompt, "output_length": output, "hash_ids": blocks}
        yield json.dumps(line).encode() + b"\n"


def _aiperf(trace: Trace) -> Iterator[bytes]:
    for n, (ns, prompt, output) in enumerate(_requests(trace)):
        at, name = START_NS + ns, f"{n:08x}-aa53-4ab1-98f4-f35ecafefd25"
        metadata = {"session_num": n, "x_request_id": name, "x_correlation_id": name, "conversation_id": name}
        metadata |= {
            "turn_index": 0,
            "request_start_ns": at,
            "request_ack_ns": at + 9,
            "request_end_ns": at + 10**9 + n,
        }
        metadata |= {"worker_id": "worker_359d423a", "record_processor_id": "record_processor_1fa47cd7"}
        metadata |= {"benchmark_phase": "profiling", "was_cancelled": False, "cancellation_time_ns": None}
        values = {"input_sequence_length": prompt, "time_to_first_token": 255.886568, "request_latency": 297.525228}
        values |= {"output_token_count": output, "output_sequence_length": output, "inter_token_latency": 5.2048325}
        metrics = {key: {"value": value, "unit": "ms"} for key, value in values.items()}
        yield json.dumps({"metadata": metadata, "metrics": metrics, "error": None}).encode() + b"\n"


def _vllm(trace: Trace) -> Iterator[bytes]:
    rows = list(_requests(trace))
    run: dict[str, Any] = {"backend": "vllm", "request_rate": 100.0, "max_concurrency": None, "duration": 10_000.0}
    run |= {"input_lens": [row[1] for row in rows], "output_lens": [row[2] for row in rows]}
    run |= {"ttfts": [0.1234567890123] * len(rows), "itls": [[0.0123456789012345] * 5] * len(rows)}
    run |= {"start_times": [16_000_000 + row[0] / 1e9 for row in rows], "errors": [""] * len(rows)}
    yield json.dumps(run).encode()


FORMATS: dict[str, Callable[[Trace], Iterator[bytes]]] = {
    "phaseplan": _own,
    "phaseplan quoted": _quoted,
    "azure 2023": _azure,
    "azure 2024": _azure_2024,
    "burstgpt": _burstgpt,
    "mooncake": _mooncake,
    "aiperf": _aiperf,
    "vllm": _vllm,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    print(json.dumps(read_here(parser.parse_args().file)))
