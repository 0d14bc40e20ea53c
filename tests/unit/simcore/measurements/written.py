"""One run as each tool writes it, and how it is read."""

import json

from simcore.measurements import Given, Measurements, read_measurements
from tests.unit.simcore.measurements import bench_files

WRITTEN = {
    "vllm": json.dumps(bench_files.vllm()),
    "inferencex": json.dumps([bench_files.inferencex()]),
    "guidellm": json.dumps(bench_files.guidellm()),
    "guidellm csv": bench_files.guidellm_csv(),
    "aiperf": json.dumps(bench_files.aiperf()),
    "genai-perf": json.dumps(bench_files.genai_perf()),
    "genai-perf csv": bench_files.genai_perf_csv(),
    "aiperf csv": bench_files.aiperf_csv(),
    "aiperf requests": bench_files.aiperf_requests(),
    "llmperf": json.dumps(bench_files.llmperf()),
}


def read(tmp_path, text: str | bytes, name: str = "bench.json", given: Given | None = None) -> Measurements:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_measurements([str(path)], given)
