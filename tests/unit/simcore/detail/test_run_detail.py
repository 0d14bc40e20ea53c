"""A run in detail: both engines tell the same, and what they tell agrees with the run's own summary."""

import itertools
import json
import math

import numpy as np
import pytest

from simcore.capacity.find import at_rate
from simcore.detail import run_detail
from simcore.detail.busiest import busiest_ps
from simcore.detail.piecewise import Lasting
from simcore.latency.curve import PS_PER_S
from simcore.spec import decode_case
from simcore.traces import Trace

ROWS = 400
SPLIT = [
    {"role": "prefill", "machine": "dgx-h100", "machines": 1, "tensor_parallel": 4},
    {"role": "decode", "machine": "dgx-a100", "machines": 1, "tensor_parallel": 8},
]
TOGETHER = [{"role": "mixed", "machine": "dgx-h100", "machines": 1, "tensor_parallel": 4}]
CASES = {
    "vllm": {"pools": TOGETHER, "scheduler": {"kind": "vllm"}},
    "sarathi": {"pools": TOGETHER, "scheduler": {"kind": "sarathi", "token_budget": 512}},
    "splitwise": {"pools": SPLIT, "scheduler": {"kind": "splitwise"}},
}
RATE = 4.0


def traffic() -> Trace:
    rng = np.random.default_rng(7)
    arrivals = np.cumsum(rng.exponential(PS_PER_S, ROWS)).astype(np.int64)
    return Trace.of("made", arrivals, rng.integers(50, 3000, ROWS), rng.integers(1, 200, ROWS))


def case_of(name: str, **changes):
    slo = {"kind": "slowdown", "reference": "dgx-a100"}
    return decode_case({"model": "llama2-70b", "slo": slo, **CASES[name], **changes})


@pytest.fixture(scope="module", params=CASES)
def told(request):
    return request.param, run_detail(case_of(request.param), traffic(), RATE)


def test_both_engines_tell_the_same_in_plain_json(told) -> None:
    name, fast = told
    assert json.loads(json.dumps(fast)) == json.loads(
        json.dumps(run_detail(case_of(name), traffic(), RATE, name="oracle"))
    )


def test_distributions_are_the_summary_s_at_its_percentiles(told) -> None:
    name, detail = told
    summary = at_rate(case_of(name), traffic(), RATE).summary
    for metric in ("ttft_s", "tbt_s"):
        cdf = next(cdf for cdf in detail["cdfs"] if cdf["metric"] == metric)
        at = dict(zip(cdf["percentiles"], cdf["values"], strict=True))
        expected = getattr(summary, metric)
        assert (at[50], at[90], at[95], at[99], at[100]) == (
            expected.p50, expected.p90, expected.p95, expected.p99, expected.max,
        )  # fmt: skip
    for limit in summary.slo.limits:
        cdf = next(cdf for cdf in detail["cdfs"] if cdf["metric"] == limit.metric)
        assert dict(zip(cdf["percentiles"], cdf["values"], strict=True))[limit.percentile] == limit.value


def test_distributions_never_fall(told) -> None:
    for cdf in told[1]["cdfs"]:
        values = [math.inf if value is None else value for value in cdf["values"]]
        assert all(low <= high for low, high in itertools.pairwise(values))


def test_series_stay_within_what_there_is(told) -> None:
    timeline = told[1]["timeline"]
    assert timeline["until_s"] - timeline["from_s"] == pytest.approx(60)
    for pool in timeline["pools"]:
        assert max(pool["kv_tokens"]) <= pool["kv_capacity_tokens"]
        assert min(pool["prefill"]) >= 0
        assert max(pool["prefill"]) <= 1
    assert max(timeline["watts"]["watts"]) > timeline["watts"]["idle"]
    assert min(timeline["watts"]["watts"]) >= timeline["watts"]["idle"]


def test_decodes_in_batches_are_those_that_decode_where_no_one_waits(told) -> None:
    """A decode is in a batch all the time but while prompts are computed or its KV is on its way."""
    name, detail = told
    timeline = detail["timeline"]
    batches = sum(np.array(pool["batch"]) * pool["replicas"] for pool in timeline["pools"])
    decoding = np.array(timeline["decoding"])
    assert np.all(batches <= decoding + 1e-5)
    if name == "sarathi":
        assert batches.sum() == pytest.approx(decoding.sum(), rel=0.02)


def test_kv_is_sent_only_where_phases_are_split(told) -> None:
    name, detail = told
    assert (detail["kv_sent"]["prompts"] > 0) == (name == "splitwise")
    assert (detail["kv_sent"]["bytes_per_s"] > 0) == (name == "splitwise")


def test_a_lower_threshold_finds_more_stalls() -> None:
    low, high = (run_detail(case_of("vllm"), traffic(), RATE, longer_than_s=limit)["stalls"] for limit in (0.02, 0.2))
    assert low["count"] > high["count"]
    assert low["threshold_words"] == "as asked for"
    assert all(stall["end_s"] - stall["start_s"] > 0.2 for stall in high["longest"])


def test_the_minute_is_the_busiest() -> None:
    seconds = PS_PER_S * np.array([0, 100, 130])
    present = Lasting.level(seconds, PS_PER_S * np.array([300, 180, 160]))
    assert busiest_ps(present, (0, 300 * PS_PER_S)) == (100 * PS_PER_S, 160 * PS_PER_S)


def test_a_short_run_is_shown_whole() -> None:
    present = Lasting.level(np.array([0]), np.array([PS_PER_S]))
    assert busiest_ps(present, (5, 20 * PS_PER_S)) == (5, 20 * PS_PER_S)
