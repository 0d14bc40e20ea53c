"""One run, written as each tool writes it, is read as the same point."""

import gzip
import json

import pytest

from simcore.measurements import Given
from tests.unit.simcore.measurements import bench_files
from tests.unit.simcore.measurements.bench_files import RUN
from tests.unit.simcore.measurements.written import WRITTEN, read

NAMES = {
    "vllm": "vllm bench serve (JSON)",
    "inferencex": "InferenceX (JSON)",
    "guidellm": "guidellm (JSON)",
    "guidellm csv": "guidellm (CSV)",
    "aiperf": "AIPerf (JSON)",
    "genai-perf": "genai-perf (JSON)",
    "genai-perf csv": "genai-perf (CSV)",
    "aiperf csv": "AIPerf (CSV)",
    "aiperf requests": "AIPerf (JSON lines, a request each)",
    "llmperf": "llmperf (JSON)",
}


@pytest.mark.parametrize("tool", WRITTEN)
def test_every_tool_says_the_same_of_one_run(tmp_path, tool):
    found = read(tmp_path, WRITTEN[tool])
    (point,) = found.serving
    assert found.sources[0].format == NAMES[tool]
    assert point.tpot_s == pytest.approx(RUN.tpot_s, rel=1e-3)
    assert point.ttft_s == pytest.approx(RUN.ttft_s, rel=1e-3)
    assert point.prompt_tokens == pytest.approx(RUN.prompt_tokens)
    assert point.output_tokens == pytest.approx(RUN.output_tokens)
    assert point.requests_per_s == pytest.approx(RUN.requests_per_s, rel=1e-3)
    assert point.load == "concurrency"
    assert point.concurrency == pytest.approx(RUN.concurrency, rel=1e-3)
    assert [flag for flag in found.flags.listed if flag.effect != "noted"] == []


@pytest.mark.parametrize("tool", WRITTEN)
def test_packing_marks_and_line_ends_do_not_matter(tmp_path, tool):
    plain = read(tmp_path, WRITTEN[tool]).serving
    text = WRITTEN[tool].replace("\r\n", "\n")
    marked = b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()
    for data in (gzip.compress(text.encode()), marked, b"\xff\xfe" + text.encode("utf-16-le")):
        (again,) = read(tmp_path, data).serving
        assert (again.tpot_s, again.ttft_s, again.concurrency) == pytest.approx(
            (plain[0].tpot_s, plain[0].ttft_s, plain[0].concurrency)
        )


def test_semicolons_with_decimal_commas(tmp_path):
    text = "\n".join(
        [
            "Metric;avg;p50",
            "Time To First Token (ms);250,5;250,5",
            "Inter Token Latency (ms);20,25;20,25",
            "Request Latency (ms);4300,5;4300,5",
            "Output Sequence Length (tokens);201;201",
            "Input Sequence Length (tokens);1000;1000",
            "",
            "Metric;Value",
            "Request Throughput (per sec);7,44",
        ]
    )
    (point,) = read(tmp_path, text).serving
    assert (point.ttft_s, point.tpot_s) == (pytest.approx(0.2505), pytest.approx(0.02025))
    unclear = read(tmp_path, text.replace("4300,5;4300,5", "4,300;4,300"))
    assert any(flag.field == "avg" and flag.found == "4,300" for flag in unclear.flags.listed)


def test_append_mode_is_a_run_a_line(tmp_path):
    runs = [bench_files.vllm(bench_files.Run(concurrency=n, completed=20 * n)) for n in (1, 8, 64)]
    found = read(tmp_path, "\n".join(map(json.dumps, runs)))
    assert [point.concurrency for point in found.serving] == [1, 8, 64]
    assert [point.where for point in found.serving] == ["line 1", "line 2", "line 3"]
    assert found.sources[0].rows == 3


def test_runs_printed_over_many_lines_one_after_the_other(tmp_path):
    runs = [bench_files.vllm(bench_files.Run(concurrency=n, completed=20 * n)) for n in (1, 8)]
    found = read(tmp_path, "\n".join(json.dumps(run, indent=1) for run in runs))
    assert [point.concurrency for point in found.serving] == [1, 8]


def test_vllm_says_where_only_by_metadata(tmp_path):
    (point,) = read(tmp_path, WRITTEN["vllm"]).serving
    assert (point.setting.tensor_parallel, point.setting.accelerator) == (4, "H100")
    (bare,) = read(tmp_path, json.dumps(bench_files.vllm(tp="absent", gpu="absent"))).serving
    assert (bare.setting.tensor_parallel, bare.setting.accelerator) == (None, None)


def test_guidellm_tpot_with_the_prefill_in_it_is_converted(tmp_path):
    (point,) = read(tmp_path, json.dumps(bench_files.guidellm(inter_token_latency_ms=None))).serving
    assert point.tpot_s == pytest.approx(RUN.tpot_s)
    assert "without the prefill" in point.notes[0]
    only = bench_files.guidellm(inter_token_latency_ms=None, request_latency=None)
    (point,) = read(tmp_path, json.dumps(only)).serving
    assert point.tpot_s == pytest.approx(RUN.tpot_s)


@pytest.mark.parametrize(
    ("strategy", "load"),
    [
        ({"type_": "synchronous"}, ("concurrency", 1)),
        ({"type_": "constant", "rate": 7.5}, ("rate", None)),
        ({"type_": "poisson", "rate": 7.5}, ("rate", None)),
    ],
)
def test_guidellm_strategies(tmp_path, strategy, load):
    run = bench_files.Run(concurrency=1, completed=60) if load[1] == 1 else RUN
    report = bench_files.guidellm(run)
    report["benchmarks"][0]["config"]["strategy"] = strategy
    (point,) = read(tmp_path, json.dumps(report)).serving
    assert (point.load, point.concurrency) == load


def test_guidellm_rate_is_counted_not_sampled(tmp_path):
    (point,) = read(tmp_path, WRITTEN["guidellm"]).serving
    assert point.requests_per_s == pytest.approx(RUN.requests_per_s)


def test_aiperf_requests_leave_warm_up_out_and_count_the_cancelled(tmp_path):
    found = read(tmp_path, WRITTEN["aiperf requests"])
    assert (found.serving[0].completed, found.serving[0].failed) == (RUN.completed, 1)
    assert any(flag.field == "benchmark_phase" and flag.found == "5" for flag in found.flags.listed)


def test_aiperf_summary_counts_errors_and_takes_the_profiling_phase(tmp_path):
    (point,) = read(tmp_path, WRITTEN["aiperf"]).serving
    assert (point.failed, point.concurrency) == (4, RUN.concurrency)


def test_units_of_metrics_are_read(tmp_path):
    ns = {"unit": "ns", "avg": RUN.ttft_s * 1e9, "p50": RUN.ttft_s * 1e9}
    (point,) = read(tmp_path, json.dumps(bench_files.aiperf(time_to_first_token=ns))).serving
    assert point.ttft_s == pytest.approx(RUN.ttft_s)
    odd = read(tmp_path, json.dumps(bench_files.aiperf(time_to_first_token={"unit": "fortnight", "avg": 1})))
    assert odd.flags.listed[0].field == "unit"
    assert odd.serving[0].ttft_s is None


SPLIT = {
    "disagg": True,
    "prefill_tp": 4,
    "decode_tp": 8,
    "num_prefill_gpu": 24,
    "num_decode_gpu": 16,
    "tp": "absent",
}


@pytest.mark.parametrize("schema", ["by decode GPU", "over all GPUs"])
def test_a_split_result_is_a_decode_step_of_one_replica_whatever_it_is_divided_by(tmp_path, schema):
    per_s = RUN.requests_per_s * RUN.output_tokens
    own = {"output_tput_per_gpu": per_s / 16}
    if schema == "over all GPUs":
        own = {"output_tput_per_gpu": per_s / 40, "output_tput_per_decode_gpu": per_s / 16}
    found = read(tmp_path, json.dumps([bench_files.inferencex(**SPLIT, **own)]))
    (step,) = found.steps
    decoding = RUN.requests_per_s * RUN.tpot_s * (RUN.output_tokens - 1)
    assert (step.kind, step.sequences, step.setting.tensor_parallel) == ("decode", round(decoding / 2), 8)
    assert step.time_s == pytest.approx(RUN.tpot_s)


def test_nested_metrics_of_inferencex(tmp_path):
    row = bench_files.inferencex()
    names = ("mean_ttft", "median_ttft", "mean_tpot", "output_tput_per_gpu", "tput_per_gpu")
    nested = {**{k: v for k, v in row.items() if k not in names}, "metrics": {name: row[name] for name in names}}
    (point,) = read(tmp_path, json.dumps([nested])).serving
    assert point.tpot_s == pytest.approx(RUN.tpot_s)


@pytest.mark.parametrize(
    "change", [{"ep": 8}, {"dp_attention": "true"}, {"spec_decoding": "mtp"}, {"spec_decoding": True}, {"pp": 2}]
)
def test_what_is_not_modelled_is_left_out_by_name(tmp_path, change):
    found = read(tmp_path, json.dumps([bench_files.inferencex(**change), bench_files.inferencex()]))
    assert len(found.serving) == 1
    assert found.flags.listed[0].effect == "row left out"
    assert next(iter(change)) in found.flags.listed[0].field


STEPS = """model,hardware,tensor_parallel,prompt_size,batch_size,token_size,prompt_time,token_time,e2e_time
llama2-70b,h100-80gb,8,512,1,128,42.5,25.1,3300
llama2-70b,h100-80gb,8,512,16,128,410.0,27.1,3900
llama2-70b,h100-80gb,8,512,64,128,1400.0,29.0,90000
llama2-70b,h100-80gb,8,512,32,128,,28.0,
llama2-70b,h100-80gb,8,512,0,128,42.5,25.1,3300
llama2-70b,h100-80gb,8,512,1,128,-4,25.1,3300
llama2-70b,h100-80gb,8,512
"""


def test_step_times_keep_the_good_rows_and_flag_the_others(tmp_path):
    found = read(tmp_path, STEPS, "steps.csv")
    assert [(s.kind, s.sequences, s.where) for s in found.steps] == [
        ("prefill", 1, "line 2"),
        ("decode", 1, "line 2"),
        ("prefill", 16, "line 3"),
        ("decode", 16, "line 3"),
        ("decode", 32, "line 5"),
    ]
    assert found.steps[1].context_tokens == 512 + 64
    assert [(f.where, f.field) for f in found.flags.listed] == [
        ("line 4", "e2e_time"),
        ("line 6", "batch_size"),
        ("line 7", "prompt_time"),
        ("line 8", ""),
    ]


def test_what_the_user_says_fills_what_a_file_lacks_and_no_more(tmp_path):
    bare = json.dumps(bench_files.nvidia(input_sequence_length="absent", input_config={}))
    given = Given(prompt_tokens=1000, output_tokens=7, concurrency=32)
    (point,) = read(tmp_path, bare, given=given).serving
    assert (point.prompt_tokens, point.output_tokens, point.concurrency) == (1000, RUN.output_tokens, 32)
