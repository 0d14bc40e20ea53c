"""Each format as its tool writes it, and as people send it: found by content, read alike, repaired rows counted."""

import gzip
import io
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore.traces import ParseReport, Trace, TraceError, read_trace
from simcore.traces.json_lines import JsonLinesReader
from simcore.traces.lines import Block
from simcore.traces.mooncake import MOONCAKE
from simcore.traces.trace import PS_PER_S
from tests.unit.simcore.traces.samples import aiperf, aiperf_record, document, mooncake, vllm

START_NS = 1_759_813_207_532_900_363
BURSTGPT = b"""Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type
5,,2.31,ChatGPT,472,18,490,API log
45,conv-12,9.80,GPT-4,1087,230,1317,Conversation log
118,conv-12,0.40,GPT-4,417,0,417,Conversation log
118.5,,0.40,ChatGPT,0,0,0,Conversation log
"""


def read(data: bytes, name: str = "t.bin") -> tuple[Trace, ParseReport]:
    return read_trace(io.BytesIO(data), name)


def arrivals_s(trace: Trace) -> list[float]:
    return [arrival / PS_PER_S for arrival in trace.arrival_ps.tolist()]


def test_burstgpt_with_sessions_and_failures() -> None:
    trace, report = read(BURSTGPT)
    assert report.format == "burstgpt"
    assert arrivals_s(trace) == [0, 40]
    assert (trace.prompt_tokens.tolist(), trace.output_tokens.tolist()) == ([472, 1087], [18, 230])
    assert (trace.classes, trace.sessions) == (("ChatGPT", "GPT-4"), ("", "conv-12"))
    assert report.refused.counts == {"failed request": 2}
    assert [(issue.line, issue.field) for issue in report.refused.listed] == [
        (4, "Response tokens"),
        (5, "Response tokens"),
    ]
    assert report.repaired.total == 0


def test_burstgpt_of_the_first_release_lacks_two_columns() -> None:
    data = (
        b"Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,472,18,490,Conversation log\n"
    )
    trace, report = read(data)
    assert (report.format, trace.sessions, trace.classes) == ("burstgpt", None, ("ChatGPT",))


def test_two_months_are_read_and_three_are_not() -> None:
    rows = b"Timestamp,Request tokens,Response tokens\n5,1,1\n%d,1,1\n"
    assert read(rows % (61 * 86_400))[0].duration_s == 61 * 86_400 - 5
    with pytest.raises(TraceError, match="from the earliest row to the latest, expected at most 5,400,000"):
        read(rows % (90 * 86_400))


@pytest.mark.parametrize(
    "times",
    [
        ["2024-05-10 00:00:00.009930+00:00", "2024-05-10 00:00:01+00:00", "2024-05-10 00:00:02.5+00:00"],
        ["2024-05-10T00:00:00.009930Z", "2024-05-10T00:00:01Z", "2024-05-10T00:00:02.5Z"],
        ["2024-05-10 02:00:00.00993+02:00", "2024-05-09 20:30:01-03:30", "2024-05-10 00:00:02.500000000"],
    ],
)
def test_azure_of_2024_with_offsets(times: list[str]) -> None:
    body = "".join(f"{time},{n},7\n" for n, time in enumerate(times, 1))
    trace, report = read(f"TIMESTAMP,ContextTokens,GeneratedTokens\n{body}".encode())
    assert arrivals_s(trace) == [0, 0.99007, 2.49007]
    assert report.repaired.total == report.refused.total == 0


@pytest.mark.parametrize(("delimiter", "name"), [(";", "';'"), ("\t", "'\\t'"), ("|", "'|'")])
def test_other_delimiters_are_read_and_counted(delimiter: str, name: str) -> None:
    rows = ["arrival_s,prompt_tokens,output_tokens", "0.25,10,2", "1.5,20,3"]
    trace, report = read("\r\n".join(rows).replace(",", delimiter).encode())
    assert (arrivals_s(trace), trace.prompt_tokens.tolist()) == ([0.25, 1.5], [10, 20])
    assert report.repaired.counts == {"delimiter": 1}
    assert name in report.repaired.listed[0].found


def test_a_decimal_comma_is_read_where_commas_separate_nothing() -> None:
    trace, report = read(b"arrival_s;prompt_tokens;output_tokens\n0,25;10;2\n1,5;20;3\n2,5;1,000;3\n")
    assert arrivals_s(trace) == [0.25, 1.5]
    assert report.repaired.counts == {"delimiter": 1, "decimal comma": 2}
    assert report.refused.counts == {"ambiguous number": 1}


def test_fields_in_quotes_are_read_as_without() -> None:
    trace, report = read(b'"arrival_s","prompt_tokens","output_tokens"\r\n"0.5","10","2"\r\n"1","20","3"\r\n')
    assert (arrivals_s(trace), trace.output_tokens.tolist()) == ([0.5, 1], [2, 3])
    assert report.repaired.total == 0


def test_mooncake_in_milliseconds() -> None:
    data = mooncake((27_482, 6758, 500), (30_535, 7322, 490), (30_535.5, 12, 1))
    trace, report = read(data)
    assert report.format == "mooncake"
    assert arrivals_s(trace) == [0, 3.053, 3.0535]
    assert trace.prompt_tokens.tolist() == [6758, 7322, 12]
    assert report.repaired.total == report.refused.total == 0


def test_mooncake_rows_that_are_not_plain_follow_the_rules_of_single_rows() -> None:
    lines = [
        b'{"timestamp": 0, "input_length": "20", "output_length": 5}',
        b'{"timestamp": 1e3, "input_length": 20.0, "output_length": 5, "note": "\xc3\xa9"}',
        b'{"timestamp": 2000, "input_length": 20, "output_length": 0}',
        b'{"timestamp": 2000, "input_length": 20}',
        b'{"timestamp": 2000, "input_length": null, "output_length": 5}',
        b'{"timestamp": 2000, "input_length": true, "output_length": 5}',
        b'{"timestamp": NaN, "input_length": 20, "output_length": 5}',
        b'{"timestamp": -1, "input_length": 20, "output_length": 5}',
        b'{"timestamp": 2000, "input_length": 20, "input_length": 21, "output_length": 5}',
        b'{"timestamp": 2000, "input_length": 20.5, "output_length": 5}',
        b"",
        b"[1, 2, 3]",
        b'{"timestamp": 3000, "input_leng',
    ]
    trace, report = read(b"\r\n".join(lines))
    assert (arrivals_s(trace), trace.prompt_tokens.tolist()) == ([0, 1], [20, 20])
    assert report.repaired.counts == {"number written as text": 1, "whole number written as a decimal": 1}
    assert [(issue.line, issue.kind, issue.field) for issue in report.refused.listed] == [
        (3, "out of range", "output_length"),
        (4, "missing key", "output_length"),
        (5, "missing key", "input_length"),
        (6, "not a number", "input_length"),
        (7, "not finite", "timestamp"),
        (8, "out of range", "timestamp"),
        (9, "key given twice", "input_length"),
        (10, "not a whole number", "input_length"),
        (11, "empty line", ""),
        (12, "no object", ""),
        (13, "no JSON", ""),
    ]
    assert (report.rows_read, report.accepted) == (13, 2)


def test_json_lines_are_sorted_and_marked_files_are_read() -> None:
    trace, report = read(b"\xef\xbb\xbf" + mooncake((5000, 1, 1), (1000, 2, 2)))
    assert trace.prompt_tokens.tolist() == [2, 1]
    assert report.repaired.counts == {"byte order mark": 1, "arrival out of order": 1}


def test_aiperf_leaves_out_warm_up_cancelled_and_failed_requests() -> None:
    error = {"code": 499, "type": "RequestCancellationError", "message": "cancelled after 0.000 seconds"}
    cancelled = aiperf_record(START_NS, 1, 1, metrics={"error_isl": {"value": 550}}, error=error)
    cancelled["metadata"]["was_cancelled"] = True
    trace, report = read(
        aiperf(
            aiperf_record(START_NS, 50, 5, metadata={"benchmark_phase": "warmup"}),
            aiperf_record(START_NS + 1, 550, 9),
            cancelled,
            aiperf_record(START_NS, 1, 1, error={"type": "Timeout", "message": "no answer"}),
            aiperf_record(START_NS + 2_500_000_001, 551, 10),
        )
    )
    assert report.format == "aiperf"
    assert (arrivals_s(trace), trace.prompt_tokens.tolist(), trace.output_tokens.tolist()) == (
        [0, 2.5],
        [550, 551],
        [9, 10],
    )
    assert [(issue.line, issue.kind) for issue in report.refused.listed] == [
        (1, "warm-up"),
        (3, "cancelled request"),
        (4, "failed request"),
    ]
    assert "no answer" in report.refused.listed[2].found


def test_aiperf_without_lengths_is_refused_row_by_row() -> None:
    record = aiperf_record(START_NS, 5, 5)
    del record["metrics"]["output_sequence_length"]
    with pytest.raises(TraceError, match=r"line 1, column metrics\.output_sequence_length\.value: found nothing"):
        read(aiperf(record))


def closed_loop(in_flight: int, requests: int) -> list[dict[str, object]]:
    """A client that keeps so many requests in flight, of lengths of their own."""
    random.seed(1)
    free, records = [START_NS + n * 100_000 for n in range(in_flight)], []
    for _ in range(requests):
        start = min(free)
        end = start + random.randrange(200_000_000, 900_000_000)
        free[free.index(start)] = end + random.randrange(200_000, 1_500_000)
        records.append(aiperf_record(start, 100, 10, metadata={"request_end_ns": end}))
    return records


def test_a_closed_loop_cannot_drive_arrivals() -> None:
    with pytest.raises(TraceError, match="found a closed loop of 16 requests in flight"):
        read(aiperf(*closed_loop(16, 400)))


def test_an_open_loop_does_even_where_evenly_spaced() -> None:
    records = [
        aiperf_record(
            START_NS + n * 100_000_000, 100, 10, metadata={"request_end_ns": START_NS + n * 100_000_000 + 450_000_000}
        )
        for n in range(200)
    ]
    assert len(read(aiperf(*records))[0]) == 200


def test_vllm_detailed_run_on_a_clock_that_runs_for_half_a_year() -> None:
    trace, report = read(document(vllm()))
    assert (report.format, report.counted_by) == ("vllm", "entry")
    assert arrivals_s(trace) == [0, 0.5, 1.25, 1.5]
    assert trace.output_tokens.tolist() == [10, 20, 30, 40]


def test_vllm_failed_requests_are_refused_by_entry() -> None:
    run = vllm(output_lens=[10, 0, 30, 40], errors=["", "", "ServerDisconnected", ""])
    trace, report = read(document(run, indent=2))
    assert trace.output_tokens.tolist() == [10, 40]
    assert [(issue.line, issue.kind, issue.field) for issue in report.refused.listed] == [
        (2, "failed request", "output_lens"),
        (3, "failed request", "errors"),
    ]


def test_vllm_with_numbers_that_are_none_is_read() -> None:
    text = document(vllm(mean_ttft_ms=float("nan"), start_times=[0.25, float("nan"), 1.5, 1.75]))
    assert b"NaN" in text
    trace, report = read(text)
    assert (arrivals_s(trace), report.refused.counts) == ([0, 1.25, 1.5], {"empty field": 1})


def test_vllm_waits_in_the_client_are_taken_off() -> None:
    run = vllm(max_concurrency=1, max_concurrent_requests=1, queue_times=[0.0, 0.25, 0.5, 0.25])
    assert arrivals_s(read(document(run))[0]) == [0, 0.25, 0.75, 1.25]


def test_vllm_under_a_limit_that_was_not_reached_is_read() -> None:
    assert len(read(document(vllm(max_concurrency=64, max_concurrent_requests=3)))[0]) == 4


LENGTHS = "prompt P50 / P90 / P99 200 / 400 / 400 tokens; output P50 / P90 / P99 20 / 40 / 40 tokens"


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (
            vllm(input_lens=None, start_times=None),
            "summary without an entry a request: it cannot drive arrivals. Expected a run with",
        ),
        (
            vllm(start_times=None),
            f"found no start_times, which older versions of vLLM, and sglang.s bench_serving, do not save: .*{LENGTHS}",
        ),
        (vllm(max_concurrency=3), f"found --max-concurrency 3 and no queue_times: .*{LENGTHS}"),
        (vllm(max_concurrency=3, max_concurrent_requests=3), "found --max-concurrency 3 and no queue_times"),
        (
            vllm(request_rate="inf", start_times=[0.25, 0.2501, 0.2502, 0.2503]),
            "found request_rate inf: all 4 requests were sent at once, within 0.0003 s",
        ),
        (vllm(errors=["", ""]), "found 4 start_times, 4 input_lens, 4 output_lens, 2 errors, expected as many of each"),
    ],
)
def test_vllm_runs_that_cannot_drive_arrivals_say_why_and_what_to_do(run: object, message: str) -> None:
    with pytest.raises(TraceError, match=message) as caught:
        read(document(run))
    assert "\n" not in str(caught.value)


def test_vllm_runs_appended_to_one_file_are_not_one_trace() -> None:
    with pytest.raises(TraceError, match=r"found 2 runs, one after the other \(--append-result\)"):
        read(document(vllm()) + b"\n" + document(vllm()))


ODD = ['"7"', "1.5", "12.0", "1e1", "NaN", "null", "true", "[]", '"x"', "0.25", "3.1234567890125", "9" * 25]
MORE = ["", ', "input_length": 3', ', "note": "é"', ', "note": "\udcff"', ', "hash_ids": [1, 2']
VALUES = st.one_of(st.integers(-1, 50).map(str), st.sampled_from(ODD))
RECORDS = st.lists(st.tuples(VALUES, VALUES, VALUES, st.sampled_from(MORE)), min_size=1, max_size=8)


@given(RECORDS)
def test_plain_and_single_json_lines_give_the_same_result(records: list[tuple[str, str, str, str]]) -> None:
    lines = [
        f'{{"timestamp": {at}, "input_length": {prompt}, "output_length": {output}{more}}}'
        for at, prompt, output, more in records
    ]
    assert outcome(lines, JsonLinesReader) == outcome(lines, SingleLines)


def outcome(lines: list[str], kind: type[JsonLinesReader]) -> object:
    report = ParseReport("mooncake")
    try:
        data = "".join(f"{line}\n" for line in lines).encode(errors="surrogateescape")
        trace = kind("t", MOONCAKE, report).read([Block(data, 1)], None)
    except TraceError as error:
        return str(error), report.to_json()
    return trace.content_hash(), report.to_json()


class SingleLines(JsonLinesReader):
    """The same with every line read by itself."""

    def _line(self, line: bytes) -> None:
        return None


def test_a_file_s_name_says_nothing(tmp_path: object) -> None:
    data = mooncake((0, 1, 1), (1000, 2, 2))
    for name, content in (("a.csv", data), ("a.json", gzip.compress(data)), ("a.txt", data)):
        assert read(content, name)[1].format == "mooncake"


def test_a_huge_record_is_read_and_an_endless_one_is_not() -> None:
    record = aiperf_record(START_NS, 5, 5)
    record["metrics"]["inter_chunk_latency"]["value"] = [4.898437] * 100_000
    assert len(read(aiperf(record, aiperf_record(START_NS + 1, 5, 5)))[0]) == 2
    with pytest.raises(TraceError, match="without a line end"):
        read(aiperf(record) + b'{"a": "' + b"x" * (9 << 20))


def test_a_mixed_file_keeps_the_first_kind_and_counts_the_rest() -> None:
    trace, report = read(mooncake((0, 1, 1)) + b"0.5,100,20\n" + aiperf(aiperf_record(START_NS, 5, 5)))
    assert len(trace) == 1
    assert report.refused.counts == {"no JSON": 1, "missing key": 1}


def test_the_report_of_a_document_says_what_its_numbers_count() -> None:
    assert read(document(vllm()))[1].to_json()["counted_by"] == "entry"
    assert json.loads(json.dumps(read(BURSTGPT)[1].to_json()))["counted_by"] == "line"
