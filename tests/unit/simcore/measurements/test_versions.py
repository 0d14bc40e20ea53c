"""Files as older and newer versions of the tools write them."""

import json

import pytest

from tests.unit.simcore.measurements import bench_files
from tests.unit.simcore.measurements.bench_files import RUN
from tests.unit.simcore.measurements.written import WRITTEN, read


def test_old_files_count_what_was_sent(tmp_path):
    run = bench_files.vllm(failed="absent", max_concurrency="absent", request_rate=7.5, num_prompts=650)
    (point,) = read(tmp_path, json.dumps(run)).serving
    assert (point.failed, point.load, point.rate_req_per_s) == (10, "rate", 7.5)


def test_sglang_names_and_infinite_rates(tmp_path):
    run = bench_files.vllm(backend="sglang", mean_e2e_latency_ms=RUN.e2e_s * 1e3)
    text = json.dumps(run).replace('"request_rate": "inf"', '"request_rate": Infinity')
    (point,) = read(tmp_path, text).serving
    assert (point.load, point.e2e_s, point.setting.engine) == ("concurrency", pytest.approx(RUN.e2e_s), "sglang")


@pytest.mark.parametrize("layout", ["0.3", "0.7"])
def test_guidellm_layouts_of_other_versions(tmp_path, layout):
    report = bench_files.guidellm()
    (benchmark,) = report["benchmarks"]
    if layout == "0.3":  # the strategy among arguments, counts and times beside the metrics
        times = benchmark.pop("scheduler_metrics")
        benchmark["args"] = {"profile": {"type_": "concurrent"}, "strategy": {"type_": "concurrent", "streams": 32}}
        benchmark["request_totals"] = benchmark["metrics"].pop("request_totals")
        benchmark |= {"start_time": times["measure_start_time"], "end_time": times["measure_end_time"]}
        del benchmark["config"]
    else:
        benchmark["config"]["strategy"] = {"kind": "concurrent", "streams": 32}
    (point,) = read(tmp_path, json.dumps(report)).serving
    assert (point.load, point.concurrency, point.completed) == ("concurrency", 32, RUN.completed)
    assert point.requests_per_s == pytest.approx(RUN.requests_per_s)


@pytest.mark.parametrize(
    "config",
    [
        {"loadgen": {"concurrency": 32}},
        {"concurrency": 32, "request_rate": None},
        {"perf_analyzer": {"stimulus": {"concurrency": 32}}},
        {"cli_command": "aiperf profile --model 'm' --concurrency 32 --streaming"},
    ],
)
def test_loads_of_every_layout_of_the_configuration(tmp_path, config):
    (point,) = read(tmp_path, json.dumps(bench_files.nvidia(input_config=config))).serving
    assert (point.load, point.concurrency) == ("concurrency", 32)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"input_config": {"loadgen": {"concurrency": 32}}}, "AIPerf (JSON)"),
        ({"input_config": {"cli_command": "aiperf profile --concurrency 32"}}, "AIPerf (JSON)"),
        ({"error_summary": [], "input_config": {}}, "AIPerf (JSON)"),
        ({"input_config": {"perf_analyzer": {"stimulus": {"concurrency": 32}}}}, "genai-perf (JSON)"),
        ({"input_config": {"backend": "tensorrtllm", "concurrency": 32}}, "genai-perf (JSON)"),
        ({"input_config": {"concurrency": 32}}, "genai-perf or AIPerf (JSON)"),
        ({"input_config": None}, "genai-perf or AIPerf (JSON)"),
    ],
)
def test_which_of_nvidias_tools_wrote_it_is_said_where_the_file_tells(tmp_path, changes, name):
    assert read(tmp_path, json.dumps(bench_files.nvidia(**changes))).sources[0].format == name


def test_a_request_that_was_cancelled_before_it_began_is_counted_as_cancelled(tmp_path):
    lost = {
        "metadata": {"x_request_id": "a", "benchmark_phase": "profiling", "was_cancelled": True, "request_end_ns": 5},
        "metrics": {"error_isl": {"value": 900, "unit": "tokens"}},
        "error": {"code": 499, "type": "RequestCancellationError"},
    }
    text = f"{json.dumps(lost)}\n{WRITTEN['aiperf requests']}"
    found = read(tmp_path, text)
    assert (found.serving[0].completed, found.serving[0].failed) == (RUN.completed, 2)
    assert [flag for flag in found.flags.listed if flag.effect == "row left out"] == []
    untold = {**lost, "metadata": {"benchmark_phase": "profiling"}, "error": None}
    (flag,) = [f for f in read(tmp_path, f"{text}{json.dumps(untold)}").flags.listed if f.effect == "row left out"]
    assert (flag.field, flag.found) == ("request_start_ns", "None")


def test_aiperf_requests_as_they_were_before_october_2025(tmp_path):
    """``timestamp_ns`` and ``credit_phase``, the end and ``ttft`` among the metrics."""

    def older(line: str) -> dict[str, object]:
        record = json.loads(line)
        metadata, metrics = record["metadata"], record["metrics"]
        end = {"value": metadata["request_end_ns"], "unit": "ns"}
        renamed = {"ttft": metrics.pop("time_to_first_token"), "max_response_timestamp": end} if metrics else {}
        told = {"timestamp_ns": metadata["request_start_ns"], "credit_phase": metadata["benchmark_phase"]}
        return {"metadata": told, "metrics": {**metrics, **renamed}, "error": record["error"]}

    lines = WRITTEN["aiperf requests"].splitlines()
    (point,) = read(tmp_path, "\n".join(json.dumps(older(line)) for line in lines)).serving
    (newer,) = read(tmp_path, WRITTEN["aiperf requests"]).serving
    assert (point.completed, point.failed) == (newer.completed, 1)
    assert (point.ttft_s, point.tpot_s, point.concurrency) == (newer.ttft_s, newer.tpot_s, newer.concurrency)


@pytest.mark.parametrize(
    ("profile", "load"),
    [
        ({"kind": "concurrent", "streams": [32]}, ("concurrency", 32)),
        ({"kind": "constant", "rate": 7.5}, ("rate", None)),
        ({"kind": "concurrent", "streams": [1, 32]}, (None, None)),
        ({"kind": "sweep"}, (None, None)),
    ],
)
def test_guidellms_profile_of_one_load_says_it_where_no_strategy_does(tmp_path, profile, load):
    """Reports of 0.7, whose arguments stand under ``config``."""
    report = bench_files.guidellm()
    report["benchmarks"][0]["config"] = {"profile": profile}
    report |= {"config": {"backend": {"kind": "openai_http", "model": "org/m-8b"}}, "args": {}}
    (point,) = read(tmp_path, json.dumps(report)).serving
    assert point.setting.model == "org/m-8b"
    if load[0]:
        assert (point.load, point.concurrency) == load
    else:  # by Little's law
        assert point.concurrency == pytest.approx(32)


def test_guidellms_first_reports_count_requests_among_the_runs_statistics(tmp_path):
    report = bench_files.guidellm()
    (benchmark,) = report["benchmarks"]
    times, counts = benchmark.pop("scheduler_metrics"), benchmark["metrics"].pop("request_totals")
    benchmark["run_stats"] = {
        "start_time": times["measure_start_time"],
        "end_time": times["measure_end_time"],
        "requests_made": {**counts, "errored": 9},
    }
    benchmark["worker"] = {"backend_model": "org/m-8b"}
    del benchmark["config"]
    benchmark["args"] = {"strategy": {"type_": "concurrent", "streams": 32}}
    (point,) = read(tmp_path, json.dumps(report)).serving
    assert (point.completed, point.failed, point.setting.model) == (RUN.completed, 9, "org/m-8b")


def test_conversations_of_inferencex_are_left_out_with_the_reason(tmp_path):
    agentic = {"hw": "h100", "conc": 4, "precision": "fp8", "tp": 8, "scenario_type": "agentic-coding",
               "request_metrics": {"latency": {"tpot": {"mean": 0.01}}}}  # fmt: skip
    found = read(tmp_path, json.dumps([bench_files.inferencex(scenario_type="fixed-seq-len"), agentic]))
    assert len(found.serving) == 1
    (flag,) = [flag for flag in found.flags.listed if flag.effect == "row left out"]
    assert (flag.field, flag.found) == ("scenario_type", "agentic-coding")
