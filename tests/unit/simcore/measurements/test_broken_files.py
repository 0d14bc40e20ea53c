"""Files that are damaged, of another kind, or in disagreement with themselves."""

import gzip
import json
import os
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simcore.measurements import read_measurements
from simcore.spec import SpecError
from tests.unit.simcore.measurements import bench_files
from tests.unit.simcore.measurements.bench_files import RUN, Run
from tests.unit.simcore.measurements.written import WRITTEN, read

OF_ANOTHER_KIND = {
    "empty": (b"", "found an empty file"),
    "blank": (b" \n\n ", "found an empty file"),
    "HTML": (b"<!DOCTYPE html><html>Sign in</html>", "found an HTML or XML page"),
    "Git LFS": (b"version https://git-lfs.github.com/spec/v1\noid sha256:1", "found a Git LFS pointer"),
    "XLSX": (b"PK\x03\x04 xlsx", "found a zip or XLSX file"),
    "binary": (b"{\x00}", "found binary data"),
    "not UTF-8": (b'{"a": "\xff"}', "found byte 0xff at 7"),
    "damaged gzip": (b"\x1f\x8b damaged", "found a damaged gzip file"),
    "cut gzip": (gzip.compress(b'{"a": 1}' * 1000)[:40], "found a gzip file that ends early"),
    "cut JSON": (b'{"completed": 3, "mean_ttft_ms": 4.', "line 1: found no JSON"),
    "a list": (b"[1, 2]", "found no object"),
    "another JSON": (b'{"a": 1, "b": 2}', "found JSON with the keys a, b, expected a result of vllm bench serve"),
    "nested": (b"[" * 100_000, "nested too deeply"),
    "a CSV": (b"time,watts\n1,2\n", "line 1: found time,watts"),
    "YAML": (b"benchmarks:\n- id: 1\n", "found YAML, expected the same report as JSON or CSV"),
    "printed": (b"============ Serving Benchmark Result ============\n", "found printed output"),
    "step times": (b"model,prompt_time,token_time\nm,1,2\n", "line 1: missing column hardware"),
}


@pytest.mark.parametrize(("data", "message"), OF_ANOTHER_KIND.values(), ids=OF_ANOTHER_KIND)
def test_a_file_of_another_kind_is_refused_in_one_line(tmp_path, data, message):
    with pytest.raises(SpecError, match=re.escape(message)) as refused:
        read(tmp_path, data)
    assert "\n" not in str(refused.value)
    assert "bench.json" in str(refused.value)


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(SpecError, match="expected a readable file"):
            read_measurements([str(path)])


def test_zstandard_is_read_or_asked_for_unpacked(tmp_path):
    with pytest.raises(SpecError, match="Zstandard file"):
        read(tmp_path, b"\x28\xb5\x2f\xfd damaged")


def test_a_last_line_cut_off_costs_that_line_only(tmp_path):
    whole = json.dumps(bench_files.vllm())
    found = read(tmp_path, f"{whole}\n{whole[:100]}")
    assert len(found.serving) == 1
    assert [(f.where, f.effect) for f in found.flags.listed] == [("line 2", "row left out")]


def test_the_same_file_twice_counts_once(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(WRITTEN["vllm"])
    found = read_measurements([str(path), str(path)])
    assert len(found.serving) == 1
    assert "given before" in str(found.flags.listed[0])


def test_412_failed(tmp_path):
    found = read(tmp_path, json.dumps(bench_files.vllm(failed=412, completed=588)))
    assert found.serving == []
    assert "41% of 1,000 requests failed" in str(found.flags.listed[-1])


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({name: bench_files.vllm()[name] / 1e3 for name in ("mean_ttft_ms", "mean_tpot_ms")}, "1000 times larger"),
        ({name: bench_files.vllm()[name] * 1e3 for name in ("mean_ttft_ms", "mean_tpot_ms")}, "1000 times smaller"),
        ({"max_concurrency": 320}, "Little's law"),
        ({"mean_tpot_ms": 180.0}, "Little's law"),
        ({"output_throughput": 17.0}, "requests/s x output tokens is"),
        ({"request_rate": 1.0}, "more than the 1 offered"),
        ({"mean_e2el_ms": 4.25}, "it fits if times are 1000 times larger (s were read as ms)"),
        ({"duration": 8.6}, "640 requests in 8.6 s are 74.42"),
        ({"max_concurrency": None, "mean_tpot_ms": 20_000.0}, "decoded at once, of 640 sent at once"),
        ({"max_concurrency": None, "mean_tpot_ms": 0.02}, "= 0.03012 decoded at once"),
        ({"completed": 0, "total_output_tokens": 0}, "no request completed"),
        ({"total_output_tokens": None}, "output tokens (give --output-tokens)"),
        (
            {"mean_tpot_ms": None, "median_tpot_ms": None, "mean_ttft_ms": None, "median_ttft_ms": None},
            "found no usable",
        ),
    ],
)
def test_a_result_that_disagrees_with_itself_is_left_out_with_the_reason(tmp_path, changes, reason):
    found = read(tmp_path, json.dumps(bench_files.vllm(**changes)))
    assert found.serving == []
    assert reason in str(found.flags.listed[-1])
    assert found.flags.listed[-1].effect == "row left out"


def test_a_figure_of_another_definition_is_named(tmp_path):
    """gpustack's pages give guidellm's TPOT, with the prefill in it, as TPOT."""
    run = Run(ttft_s=10.0, tpot_s=0.02)
    odd = bench_files.vllm(run, mean_tpot_ms=run.e2e_s * 1e3 / run.output_tokens)
    found = read(tmp_path, json.dumps(odd))
    assert found.serving == []
    assert "fits if TPOT includes the prefill" in str(found.flags.listed[-1])


@pytest.mark.parametrize(
    ("value", "shown"),
    [("NaN", "nan"), ("Infinity", "inf"), ("-3", "-3"), ('"fast"', "fast"), ("true", "True"), ("1e300", "1e+300"),
     ("[1]", "[1]"), ("9" * 5000, "inf"), ("{}", "{}")],
)  # fmt: skip
def test_a_field_that_is_no_number_is_flagged_and_not_used(tmp_path, value, shown):
    text = json.dumps(bench_files.vllm(mean_itl_ms="@")).replace('"@"', value)
    found = read(tmp_path, text)
    assert found.serving[0].itl_s is None
    (flag,) = found.flags.listed
    assert (flag.field, flag.found, flag.effect) == ("mean_itl_ms", shown, "not used")


def test_a_key_given_twice_with_different_values_is_not_used(tmp_path):
    text = json.dumps(bench_files.vllm())
    found = read(tmp_path, text[:-1] + ', "mean_itl_ms": 4.9}')
    assert found.serving[0].itl_s is None
    assert "given twice with different values" in str(found.flags.listed[0])
    again = read(tmp_path, text[:-1] + ', "failed": 0}')
    assert again.flags.listed == []


def test_a_burst_says_how_it_drained(tmp_path):
    run = bench_files.vllm(max_concurrency=None, mean_ttft_ms=20_000.0)
    found = read(tmp_path, json.dumps(run))
    (point,) = found.serving
    assert (point.ttft_s, point.ttft_median_s) == (None, None)
    assert point.concurrency == pytest.approx(RUN.requests_per_s * RUN.tpot_s * (RUN.output_tokens - 1))
    assert "how the burst drained" in str(found.flags.listed[0])


def test_a_rate_beyond_what_is_served_is_taken_at_what_was_decoded(tmp_path):
    run = bench_files.vllm(max_concurrency=None, request_rate=20.0, mean_ttft_ms=30_000.0)
    found = read(tmp_path, json.dumps(run))
    (point,) = found.serving
    assert (point.load, point.ttft_s) == ("concurrency", None)
    assert "the queue grew" in str(found.flags.listed[0])


def test_few_requests_for_each_in_flight_say_nothing_of_ttft(tmp_path):
    found = read(tmp_path, json.dumps(bench_files.vllm(Run(completed=64))))
    assert found.serving[0].ttft_s is None
    assert "the first wave weighs too much" in str(found.flags.listed[0])


def test_a_mean_far_above_the_median_is_a_burst_and_the_median_is_taken(tmp_path):
    found = read(tmp_path, json.dumps(bench_files.vllm(median_ttft_ms=50.0)))
    assert (found.serving[0].ttft_s, found.serving[0].ttft_median_s) == (None, pytest.approx(0.05))
    assert "a burst drained" in str(found.flags.listed[0])


def test_tokens_that_come_in_pieces_are_noted(tmp_path):
    found = read(tmp_path, json.dumps(bench_files.vllm(mean_itl_ms=198.0)))
    assert "about 9.9 tokens come in a piece of the stream" in str(found.flags.listed[0])
    assert found.flags.listed[0].effect == "noted"


def test_every_row_is_used_or_flagged(tmp_path):
    rows = [bench_files.inferencex(), {"hw": "h200", "conc": 4, "power_valid": 0}, bench_files.inferencex(tp=None), 7]
    found = read(tmp_path, json.dumps(rows))
    left_out = {flag.where for flag in found.flags.listed if flag.effect == "row left out"}
    assert len(found.serving) == 2
    assert left_out == {"line 1 [1]", "line 1 [3]"}


def test_a_benchmark_that_is_no_object_is_counted(tmp_path):
    report = bench_files.guidellm()
    report["benchmarks"].append("cut")
    found = read(tmp_path, json.dumps(report))
    assert len(found.serving) == 1
    assert [(f.where, f.found) for f in found.flags.listed] == [("benchmarks[1]", "cut")]


def test_a_name_that_is_no_text_is_still_said(tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.json")
    with open(path, "w", encoding="utf-8") as file:
        file.write(WRITTEN["vllm"])
    found = read_measurements([path])
    found.sources[0].file.encode()


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(WRITTEN)), st.data())
def test_no_damage_ends_in_anything_but_a_flag_or_one_line(tmp_path_factory, tool, data):
    text = WRITTEN[tool] if tool != "aiperf requests" else WRITTEN[tool][:20_000]
    at = data.draw(st.integers(0, len(text)))
    length = data.draw(st.integers(0, 40))
    put = data.draw(st.text(alphabet='{}[]",:-.0123456789eNaInfinity\n;\t', max_size=12))
    damaged = text[:at] + put + text[at + length :]
    points, refused = [], ""
    try:
        points = read(tmp_path_factory.mktemp("bench"), damaged).serving
    except SpecError as error:
        refused = str(error)
    assert "\n" not in refused
    for point in points:
        assert all(v is None or 0 < v < 1e9 for v in (point.tpot_s, point.ttft_s, point.e2e_s, point.concurrency))
