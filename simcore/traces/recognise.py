"""Files that people have and that cannot drive arrivals: what each is, why not, and what to give instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

CONTAINERS = {
    b"PK\x03\x04": "a zip or XLSX file",
    b"PAR1": "a Parquet file",
    b"%PDF": "a PDF file",
    b"\xff\xfe\0\0": "UTF-32 text",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ": "an xz file",
    b"7z\xbc\xaf\x27\x1c": "a 7-Zip file",
    b"SQLite format 3": "an SQLite database",
}
PAGES = (b"<!doctype", b"<html", b"<?xml")
LFS = b"version https://git-lfs"
AGGREGATE = "it has figures of a whole run, no entry a request"
NO_TIMES = "it has lengths, but no times"
MAKE_A_MIX = "or make a mix from its lengths"
AIPERF_LINES = "AIPerf's profile_export.jsonl, which is written beside it"


def container(data: bytes) -> str | None:
    """What a file that is no text holds, or holds in place of itself; None where it may be text."""
    for magic, what in CONTAINERS.items():
        if data.startswith(magic):
            return what
    if data[257:262] == b"ustar":
        return "a tar archive (give the file that is in it)"
    if _is_every_other_byte_zero(data[:200]):
        return "UTF-16 text without a byte order mark"
    start = data[:200].lstrip().lower()
    if start.startswith(PAGES):
        return "an HTML or XML page (was a link saved in place of the file?)"
    return "a Git LFS pointer (fetch the file itself)" if start.startswith(LFS) else None


def _is_every_other_byte_zero(data: bytes) -> bool:
    zeros = data.count(0)
    return zeros > 0.4 * len(data) and min(data[::2].count(0), data[1::2].count(0)) < 0.1 * zeros


def table(header: Sequence[str], text: str) -> str | None:
    """Why a table with this header cannot drive arrivals; None for one that is not known."""
    names = {name.strip().lower() for name in header}
    if text.startswith(("# help", "# type", "vllm:", "# HELP", "# TYPE")):
        return _said("metrics of Prometheus", "they are counts and histograms", "one request a line")
    if "metric" in names and {"avg", "p99"} & names:
        return _said("a table of percentiles by AIPerf or genai-perf", AGGREGATE, AIPERF_LINES)
    if "run info" in names or any(name.startswith("successful requests") for name in names):
        return _said("guidellm's table of runs", AGGREGATE, "a trace with one request a line")
    if any(name.startswith("power.draw") for name in names):
        return _said("a power log of nvidia-smi", "it has watts, no requests", "one request a line")
    if {"num_model_requests", "input_tokens"} <= names or "usage_date_utc" in names:
        return _said(
            "a report of API usage", "its requests are added up over spans of time", "a log with one request a line"
        )
    if {"prompt_time", "token_time"} <= names:
        return _said("measured step times", "they are of batches, not of requests", "one request a line")
    if {"starttime", "prompt_tokens", "completion_tokens"} <= names:
        return (
            "found LiteLLM's spend log, whose columns have names of their own: expected TIMESTAMP for startTime,"
            " ContextTokens for prompt_tokens and GeneratedTokens for completion_tokens"
        )
    if "design_id" in names:
        return _said("designs of a study", "it has no requests", "one request a line")
    return _without_times(names)


def _without_times(names: set[str]) -> str | None:
    pairs = (
        ({"contexttokens", "generatedtokens"}, "TIMESTAMP"),
        ({"prompt_tokens", "output_tokens"}, "arrival_s (seconds)"),
        ({"request tokens", "response tokens"}, "Timestamp (seconds)"),
    )
    for lengths, times in pairs:
        if lengths <= names:
            return _said("no column of times", NO_TIMES, f"also the column {times}, {MAKE_A_MIX}")
    return None


def document(value: Mapping[str, Any]) -> str | None:
    """Why a JSON object cannot drive arrivals; None for one that is not known."""
    keys = set(value)
    if "benchmarks" in keys:
        return _said("a result of guidellm", AGGREGATE, "a trace with one request a line")
    if any(isinstance(entry, Mapping) and {"avg", "unit"} <= set(entry) for entry in value.values()):
        return _said("AIPerf's or genai-perf's figures of a run", AGGREGATE, AIPERF_LINES)
    if any(key.startswith("results_") and "_quantiles_" in key for key in keys):
        return _said("a summary of llmperf", AGGREGATE, "one request a line")
    if {"pools", "scheduler"} & keys and "model" in keys:
        return _said("a CASE.json", "it is a question's cluster, not its requests", "a trace: give it as --trace")
    if {"workload", "rate_req_per_s"} <= keys:
        return _said("a STUDY.json", "it is a question, not its requests", "a trace")
    if isinstance(value.get("data"), list) and any("payloads" in entry for entry in value["data"][:1] if entry):
        return _said("AIPerf's inputs.json", "it has prompts, but no times", AIPERF_LINES)
    if {"experiments", "service_kind"} <= keys:
        return _said("genai-perf's raw profile", "it has times and texts, but no token counts", AIPERF_LINES)
    if value.get("object") in ("page", "bucket"):
        return _said(
            "a report of API usage", "its requests are added up over spans of time", "a log with one request a line"
        )
    if {"benchmark", "metric"} <= keys:
        return _said("vLLM bench's figures for PyTorch's dashboard", AGGREGATE, "the file of --save-detailed")
    if {"conversations", "messages", "prompt", "text", "text_input"} & keys:
        return _said("texts of prompts", "they have neither times nor token counts", "one request a line with both")
    if {"t", "in", "out"} <= keys:
        why = "its times begin anew in each conversation"
        return _said("a trace with t, in and out", why, "timestamp, input_length and output_length")
    if {"timestamp", "input_length"} <= keys:
        return _said("no output_length", "how long answers are is not known", "also output_length, tokens")
    if {"arrival_s", "prompt_tokens"} <= keys or {"TIMESTAMP", "ContextTokens"} <= keys:
        return "found a table's columns as JSON, expected them as CSV, with a header"
    if {"input_length", "output_length"} <= keys or {"prompt_tokens", "output_tokens"} <= keys:
        return _said("no timestamp", NO_TIMES, f"also timestamp (milliseconds), {MAKE_A_MIX}")
    if "hw" in keys and "framework" in keys:
        return _said("results of InferenceX", AGGREGATE, "one request a line")
    return None


def _said(what: str, why: str, instead: str) -> str:
    return f"found {what}: it cannot drive arrivals, for {why}. Expected {instead}"
