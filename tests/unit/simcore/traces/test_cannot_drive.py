"""Files that people have and that hold no arrivals: each says what it is, why it will not do, and what would."""

import io
import json

import pytest

from simcore.traces import TraceError, read_trace
from tests.unit.simcore.traces.samples import document


def refusal(data: bytes) -> str:
    with pytest.raises(TraceError) as caught:
        read_trace(io.BytesIO(data), "t")
    assert "\n" not in str(caught.value)
    return str(caught.value)


AIPERF_CSV = b'Metric,avg,min,max,p99\nTime To First Token (ms),"1,204.11",88.20,"9,120.55","8,800.10"\n'


@pytest.mark.parametrize(
    ("data", "found", "expected"),
    [
        (b"ContextTokens,GeneratedTokens\n374,44\n", "it has lengths, but no times", "also the column TIMESTAMP"),
        (b"prompt_tokens,output_tokens\n374,44\n", "it has lengths, but no times", "also the column arrival_s"),
        (AIPERF_CSV, "a table of percentiles by AIPerf or genai-perf", "profile_export.jsonl"),
        (
            b"timestamp, index, power.draw [W]\n2026/03/02 10:15:00.123, 0, 412.34 W\n",
            "a power log of nvidia-smi",
            "one request a line",
        ),
        (
            b"start_time,end_time,project_id,num_model_requests,model,input_tokens,output_tokens\n1,2,p,3,m,4,5\n",
            "a report of API usage",
            "a log with one request a line",
        ),
        (
            b"model,hardware,prompt_size,prompt_time,token_time\na,b,1,2,3\n",
            "measured step times",
            "one request a line",
        ),
        (b"Run Info,Server Throughput\nRun Index,Successful Requests/Sec Mean\n", "guidellm", "one request a line"),
        (
            b'# HELP vllm:num_requests_running x\nvllm:num_requests_running{engine="0"} 3\n',
            "metrics of Prometheus",
            "a line",
        ),
        (
            document({"request_throughput": {"unit": "requests/sec", "avg": 3.9}}, indent=1),
            "AIPerf's or genai-perf's figures of a run",
            "profile_export.jsonl",
        ),
        (document({"benchmarks": [], "metadata": {}}), "a result of guidellm", "one request a line"),
        (document({"results_ttft_s_quantiles_p99": 2.4, "model": "m"}), "a summary of llmperf", "one request a line"),
        (document([{"hw": "h200", "framework": "sglang", "conc": 64}]), "results of InferenceX", "one request a line"),
        (document([{"id": "1", "conversations": []}]), "texts of prompts", "one request a line with both"),
        (document({"t": 0.5, "in": 100, "out": 20, "hash_ids": []}), "a trace with t, in and out", "timestamp"),
        (document({"input_length": 5, "output_length": 6}), "no timestamp", "timestamp (milliseconds)"),
        (document({"model": "m", "pools": [], "scheduler": {}}), "a CASE.json", "--trace"),
        (document({"workload": {}, "rate_req_per_s": 3, "machines": []}), "a STUDY.json", "a trace"),
        (document({"data": [{"session_id": "a", "payloads": []}]}), "AIPerf's inputs.json", "profile_export.jsonl"),
        (document({"something": 1}), "found a JSON object with something", "expected timestamp, input_length"),
        (document([{"timestamp": 0}]), "found a JSON list of objects with timestamp", "timestamp, input_length"),
        (document([]), "found a JSON list", "timestamp, input_length"),
        (b"[" * 200_000, "found broken JSON (nested too deeply)", "a whole file"),
        (b'{"a": ' * 100_000, "found broken JSON (nested too deeply)", "a whole file"),
        (document([{"benchmark": {}, "model": {}, "metric": {}}]), "PyTorch's dashboard", "--save-detailed"),
        (document({"service_kind": "openai", "experiments": []}), "genai-perf's raw profile", "profile_export.jsonl"),
        (document({"object": "page", "data": []}), "a report of API usage", "one request a line"),
        (document({"timestamp": 0, "text_input": "a", "output_length": 4}), "texts of prompts", "token counts"),
        (document({"timestamp": 0, "input_length": 5}), "no output_length", "also output_length"),
        (document({"arrival_s": 0, "prompt_tokens": 5, "output_tokens": 6}), "a table's columns as JSON", "as CSV"),
        (
            document({"timestamp": 0, "input_length": 5, "output_length": 6}) + b",\n{},\n",
            "commas at the ends",
            "nothing",
        ),
        (document({"timestamp": 0}, indent=1) + b"\n" + document({"a": 1}, indent=1), "over several lines", "jq -c ."),
        (b"{'timestamp': 0}\n", "single quotes", "json.dumps"),
        (
            b"request_id,startTime,endTime,prompt_tokens,completion_tokens\n",
            "LiteLLM's spend log",
            "TIMESTAMP for startTime",
        ),
        ("arrival_s,prompt".encode("utf-16-le"), "UTF-16 text without a byte order mark", "in UTF-8"),
        ("arrival_s,prompt".encode("utf-32"), "UTF-32 text", "in UTF-8"),
        (b"\0" * 257 + b"ustar", "a tar archive", "CSV or JSON"),
        (document({"a": 1})[:-2], "found broken JSON", "was it cut off?"),
        (b"<!DOCTYPE html><html></html>", "an HTML or XML page", "requests as CSV or JSON"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "a Git LFS pointer", "requests as CSV or JSON"),
        (b"SQLite format 3\0", "an SQLite database", "requests as CSV or JSON"),
        (b"arrival_s,prompt_tokens,output_tokens\r1,2,3\r", "lines that end in CR alone", "LF or CRLF"),
        (b"\xef\xbb\xbf", "an empty file", "a header with"),
    ],
)
def test_what_it_is_why_not_and_what_would(data: bytes, found: str, expected: str) -> None:
    said = refusal(data)
    assert found in said
    assert expected in said


def test_a_broken_detailed_run_is_broken_not_unknown() -> None:
    run = json.dumps({"duration": 3.0, "input_lens": [1, 2], "start_times": [0.5, 1.0]})
    assert "found broken JSON" in refusal(run[:-8].encode())
