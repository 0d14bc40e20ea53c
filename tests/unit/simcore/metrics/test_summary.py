import json
from dataclasses import replace

import numpy as np
import pytest

from simcore.catalogue import accelerator, model
from simcore.engine.oracle.cluster import run
from simcore.engine.outputs import FINISHED, NEVER, REFUSED, UNFINISHED
from simcore.evaluation import LimitResult, PoolResult
from simcore.metrics.binding import binding
from simcore.metrics.drawn_power import idle_w
from simcore.metrics.efficiency import Work, model_bytes, model_flops, peak_flops_per_s
from simcore.metrics.pool_use import PoolUse
from simcore.metrics.requests_csv import COLUMNS, request_rows
from simcore.metrics.summary import summarise, summary_json
from simcore.metrics.waited import window_latencies
from simcore.slo.objective import objective
from tests.unit.simcore.runs import CURVE, case, inputs_of, run_result, trace

ARRIVALS, PROMPTS, OUTPUTS = [1.0, 2.0, 4.0], [100, 200, 300], [1, 3, 2]
STARTED, FIRST, FINISH = [1.0, 2.5, 4.0], [1.1, 2.75, 4.25], [1.1, 3.25, 4.5]
GAPS = {0.2: 1, 0.3: 1, 0.25: 1}


def summary(window=None, **changes):
    asked = case()
    given = {"started": STARTED, "first": FIRST, "finish": FINISH, "gaps": GAPS, **changes}
    inputs = inputs_of(asked, trace(ARRIVALS, PROMPTS, OUTPUTS), window)
    return summarise(asked, inputs, run_result(**given), objective(asked), window)


def test_counts_rates_and_duration():
    found = summary()
    assert (found.requests, found.finished, found.refused) == (3, 3, 0)
    assert found.duration_s == 3.5
    assert found.throughput_req_per_s == pytest.approx(3 / 3.5)
    assert found.output_tokens_per_s == pytest.approx(6 / 3.5)
    assert found.input_tokens_per_s == pytest.approx(600 / 3.5)


def test_latencies_by_their_definitions():
    found = summary()
    assert found.queue_s.max == 0.5
    assert found.ttft_s.mean == pytest.approx((0.1 + 0.75 + 0.25) / 3)
    assert found.e2e_s.max == 1.25
    assert found.tpot_s.__dict__ == pytest.approx(
        {"mean": 0.25, "p50": 0.25, "p90": 0.25, "p95": 0.25, "p99": 0.25, "max": 0.25}
    )
    assert found.tbt_s.p50 == 0.25
    assert found.tbt_s.max == 0.3


def test_refused_and_unfinished_requests_are_infinite_everywhere():
    found = summary(
        started=[1.0, 2.5, NEVER],
        first=[1.1, 2.75, NEVER],
        finish=[1.1, NEVER, NEVER],
        status=[FINISHED, UNFINISHED, REFUSED],
        gaps={0.2: 1},
    )
    assert (found.finished, found.refused) == (1, 1)
    for figure in (found.ttft_s, found.queue_s, found.e2e_s, found.tbt_s):
        assert figure.max is None
        assert figure.mean is None
    assert found.ttft_s.p50 is None
    assert not found.slo.met
    assert not found.stability.stable
    assert any("1 of 3 requests can never fit" in warning for warning in found.warnings)


def test_gaps_never_counts_those_that_did_not_come():
    asked = case()
    inputs = inputs_of(asked, trace(ARRIVALS, PROMPTS, OUTPUTS))
    run = run_result(STARTED, FIRST, [1.1, NEVER, 4.5], {0.2: 1, 0.25: 1}, [FINISHED, UNFINISHED, FINISHED])
    assert window_latencies(inputs, run, (0, 3)).gaps_never == 1


def test_a_window_measures_its_own_requests():
    found = summary(window=(1, 2), gaps={0.2: 1, 0.3: 1})
    assert found.ttft_s.mean == 0.75
    assert found.requests == 3


def test_energy_is_idle_all_the_time_and_work_on_top():
    idle = idle_w(case())
    found = summary(energy_j=[0.0, 10.0, 30.0, 0.0, 70.0])
    assert found.power.energy_j == pytest.approx(idle * 3.5 + 110)
    assert found.power.mean_w == pytest.approx(idle + 110 / 3.5)
    assert found.power.p99_w == pytest.approx(idle + 30)  # the seconds 1 to 3: the fifth is not a whole one


def test_power_of_a_window_is_of_the_seconds_between_its_arrivals():
    idle = idle_w(case())
    found = summary(window=(0, 3), energy_j=[0.0, 10.0, 30.0, 2.0, 70.0])
    assert found.power.mean_w == pytest.approx(idle + (10 + 30 + 2) / 3)


def test_shares_of_time_mfu_and_mbu():
    counters = {
        "busy_ps": [int(0.35e12), int(0.7e12), 0],
        "iterations": [3, 3, 0],
        "prefill_tokens": [600, 0, 0],
        "prompt_ends": [3, 0, 0],
        "decode_tokens": [0, 3, 0],
        "prefill_pairs": [70_300, 0, 0],
        "context_tokens": [0, 701, 0],
        "kv_peak_tokens": 512,
        "nic_busy_ps": int(1.75e12),
        "blocked_ps": int(0.175e12),
        "transfer_wait_ps": int(0.35e12),
    }
    use = summary(replicas=counters).pools[0]
    assert (use.result.prefill, use.result.decode, use.result.hybrid) == pytest.approx((0.1, 0.2, 0.0))
    assert (use.result.busy, use.result.idle) == pytest.approx((0.3, 0.55))
    assert (use.result.blocked, use.result.transfer_wait, use.result.nic_busy) == pytest.approx((0.05, 0.1, 0.5))
    assert use.kv_peak_tokens == 512
    llama, h100 = model("llama2-7b"), accelerator("h100-80gb")
    prefill, decode = Work(600, 3, 0, 70_300, 0, 0, 3), Work(0, 0, 3, 0, 0, 701, 3)
    expected = Work(600, 3, 3, 70_300, 0, 701, 6)
    assert use.result.mfu == pytest.approx(model_flops(llama, expected) / (8 * 3.5 * h100.bf16_flops_per_s))
    moved = model_bytes(llama, 524_288, expected)
    assert use.result.mbu == pytest.approx(moved / (8 * 3.5 * h100.memory_bandwidth_bytes_per_s))
    phases = {phase.phase: phase for phase in use.result.phases}
    assert phases["prefill"].busy == pytest.approx(0.1)
    assert phases["prefill"].mfu == pytest.approx(model_flops(llama, prefill) / (8 * 0.35 * h100.bf16_flops_per_s))
    moved = model_bytes(llama, 524_288, decode)
    assert phases["decode"].mbu == pytest.approx(moved / (8 * 0.7 * h100.memory_bandwidth_bytes_per_s))
    assert (phases["hybrid"].busy, phases["hybrid"].mfu, phases["hybrid"].mbu) == (0, 0, 0)


def test_bubbles_are_shares_of_the_run_by_stage_and_of_the_pool_s_time_in_all():
    two = case(
        pools=[{"role": "mixed", "machine": "dgx-h100", "machines": 1, "tensor_parallel": 4, "pipeline_parallel": 2}]
    )
    inputs = inputs_of(two, trace(ARRIVALS, PROMPTS, OUTPUTS))
    bubbles = [[int(0.35e12), 0, int(0.7e12), 0], [0, int(0.35e12), 0, int(1.05e12)]]
    counted = {"busy_ps": [int(1.4e12), 0, 0], "bubble_ps": bubbles}
    run = run_result(STARTED, FIRST, FINISH, GAPS, replicas=counted)
    found = summarise(two, inputs, run, objective(two))
    use = found.pools[0].result
    assert use.bubbles[0] == pytest.approx(
        {"unequal_prompts": 0.1, "prefill_against_decode": 0, "unequal_decode_contexts": 0.2, "unfilled": 0}
    )
    assert sum(use.bubbles[1].values()) == pytest.approx(0.4)
    assert (use.busy, use.bubble, use.idle) == pytest.approx((0.2, 0.35, 0.45))
    figures = summary_json(found, None, 0.1, "version")["pools"][0]
    assert figures["bubbles"] == use.bubbles
    parts = ("busy", "bubble", "blocked", "transfer_wait", "idle")
    assert sum(figures[name] for name in parts) == pytest.approx(1)
    assert set(figures["phases"]) == {"prefill", "decode", "hybrid"}


def test_shares_are_of_the_time_that_was_worked_where_no_request_finished():
    stuck = {"busy_ps": [int(0.5e12), 0, 0]}
    asked = case()
    run = run_result([1.0, 2.0, NEVER], [1.5, NEVER, NEVER], [NEVER] * 3, status=[UNFINISHED] * 3, replicas=stuck)
    run = replace(run, busy_until_ps=int(3e12))
    found = summarise(asked, inputs_of(asked, trace(ARRIVALS, PROMPTS, OUTPUTS)), run, objective(asked))
    assert found.pools[0].result.busy == pytest.approx(0.25)
    assert found.power.energy_j == pytest.approx(2 * idle_w(asked))


def test_model_flops_by_hand():
    # Llama-2-7B: 32 layers of 4*4096^2 + 3*4096*11008 weights, 32000 x 4096 in the LM head, attention 32 heads of 128
    layer = 32 * (4 * 4096**2 + 3 * 4096 * 11008)
    work = Work(10, 1, 2, prefill_pairs=55, chunk_read_tokens=0, context_tokens=21, iterations=3)
    expected = 2 * layer * 12 + 2 * 32000 * 4096 * 3 + 4 * 32 * 4096 * (55 + 21 + 2)
    assert model_flops(model("llama2-7b"), work) == expected
    assert model_bytes(model("llama2-7b"), 524_288, work) == 3 * 2 * (layer + 32000 * 4096) + 524_288 * (21 + 12)


def test_the_peak_is_that_of_the_weights_precision():
    h100, llama = accelerator("h100-80gb"), model("llama2-7b")
    assert peak_flops_per_s(h100, llama) == h100.bf16_flops_per_s


def test_the_json_has_the_contracts_keys_and_no_infinity():
    found = summary(status=[FINISHED, FINISHED, REFUSED], finish=[1.1, 3.25, NEVER], first=[1.1, 2.75, NEVER])
    figures = summary_json(found, 12.5, 0.1, "version")
    text = json.dumps(figures, allow_nan=False)
    expected = (
        "requests finished refused duration_s iterations throughput_req_per_s output_tokens_per_s ttft_s tbt_s tpot_s"
        " e2e_s queue_s slo energy_j mean_w p99_w nameplate_w provisioned_w usd_per_hour pools preemptions binding"
        " warnings wall_s engine_version"
    )
    assert set(expected.split()) <= set(json.loads(text))
    assert {"role", "busy", "prefill", "decode", "hybrid", "idle", "mfu", "mbu", "kv_peak_tokens", "nic_busy"} <= set(
        figures["pools"][0]
    )
    assert set(figures["slo"]["limits"][0]) == {"metric", "percentile", "limit", "value", "met"}


def test_rows_are_exact_and_empty_where_there_is_nothing_to_say():
    asked = case()
    inputs = inputs_of(asked, trace(ARRIVALS, PROMPTS, OUTPUTS))
    run = run_result([1.0, 2.5, NEVER], [1.1, 2.75, NEVER], [1.1, 3.25, NEVER], status=[FINISHED, FINISHED, REFUSED])
    lines = list(request_rows(inputs, run))
    assert lines[0] == ",".join(COLUMNS)
    assert lines[1] == "0,1.000000000000,100,1,0.000000000000,0.100000000000,,,0.100000000000,0,0,0"
    assert lines[2].split(",")[4:9] == ["0.500000000000", "0.750000000000", "0.25", "0.000000000000", "1.250000000000"]
    assert lines[3] == "2,4.000000000000,300,2,,,,,,,,0"


def use(role="mixed", busy=0.5, kv=0.5, blocked=0.0, **more):
    shares = {"prefill": busy, "decode": 0.0, "hybrid": 0.0, "idle": 1 - busy, "mfu": 0.1, "mbu": 0.1, "nic_busy": 0.0}
    given = {**shares, **more}
    result = PoolResult(
        role=role, machine="m", machines=1, replicas=1, busy=busy, blocked=blocked, kv_peak_share=kv, **given
    )
    return PoolUse(result, 1, 2)


def limit(metric, value, over, percentile=99.0):
    return LimitResult(metric, percentile, over, value, value is not None and value <= over)


def test_the_limit_nearest_to_failing_binds_in_the_pool_that_makes_it():
    limits = [limit("ttft_s", 0.5, 1.0), limit("tbt_s", 0.09, 0.1)]
    found = binding(limits, True, [use("prefill", 0.9), use("decode", 0.2)], 0.0)
    assert (found.limit, found.pool, found.ratio) == ("tbt_p99", "decode", pytest.approx(0.9))
    assert binding(limits[:1], True, [use("prefill"), use("decode")], 0.0).pool == "prefill"


def test_an_infinite_miss_binds_first():
    limits = [limit("tbt_s", 0.9, 0.1), limit("e2e_s", None, 5.0)]
    found = binding(limits, True, [use("prefill", 0.1), use("decode", 0.7)], 0.0)
    assert (found.limit, found.pool, found.ratio) == ("e2e_p99", "decode", None)


def test_an_attainment_short_by_one_of_its_limits_names_that_limit():
    share = LimitResult("attainment", 0.0, 0.9, 0.5, met=False)
    assert binding([share, limit("ttft_s", 2.0, 1.0, 90.0), limit("tpot_s", 0.1, 0.1)], True, [use()], 0.0).limit == (
        "ttft_p90"
    )
    assert binding([share, limit("ttft_s", 1.0, 1.0, 90.0)], True, [use()], 0.0).limit == "attainment"


def test_a_growing_queue_is_unstable_in_the_busiest_pool():
    found = binding([limit("ttft_s", 0.1, 1.0)], False, [use("prefill", 0.99), use("decode", 0.4)], 0.0)
    assert (found.limit, found.pool, found.because) == ("unstable", "prefill", "prefill")


@pytest.mark.parametrize("more", [{"nic_busy": 0.95}, {"bubble": 0.6}])
def test_the_most_loaded_pool_is_so_by_its_nic_or_its_bubbles_too(more):
    found = binding([limit("ttft_s", 0.1, 1.0)], False, [use("prefill", 0.8), use("decode", 0.4, **more)], 0.0)
    assert (found.pool, found.because) == ("decode", next(iter(more)))


def test_a_pool_that_stands_blocked_is_bound_by_that():
    found = binding([limit("ttft_s", 2.0, 1.0)], True, [use("mixed", 0.3, kv=1.0, blocked=0.6)], 0.0)
    assert (found.limit, found.because) == ("kv", "blocked")


@pytest.mark.parametrize(
    ("pools", "preempted"),
    [([use(kv=1.0)], 0.02), ([use(kv=1.0, blocked=0.1)], 0.0), ([use("prefill"), use("decode", kv=0.99)], 0.0)],
)
def test_full_kv_memory_binds_where_a_limit_is_missed(pools, preempted):
    assert binding([limit("ttft_s", 2.0, 1.0)], True, pools, preempted).limit == "kv"
    assert binding([limit("ttft_s", 0.5, 1.0)], True, pools, preempted).limit == "ttft_p99"


def test_short_runs_are_warned_of():
    assert any("short run: 3 requests" in warning for warning in summary().warnings)


def test_a_run_shorter_than_its_requests_is_warned_of():
    asked = case()
    size = 2000
    arrivals = [i * 0.001 for i in range(size)]
    inputs = inputs_of(asked, trace(arrivals, [10] * size, [2] * size))
    finish = [t + 1.0 for t in arrivals]
    found = summarise(asked, inputs, run_result(arrivals, finish, finish), objective(asked))
    assert any("filling up and draining" in warning for warning in found.warnings)
    assert found.stability.stable


def test_the_rate_result_is_met_only_where_stable():
    found = summary().rate_result(2.0)
    assert (found.rate_req_per_s, found.met, found.stable) == (2.0, True, True)
    assert found.pools[0].machine == "dgx-h100"
    assert np.isfinite(found.mean_w)


def test_tokens_a_request_are_those_served_however_long_the_last_requests_drain():
    found = summary(finish=[1.1, 3.25, 400.0]).rate_result(1.0)
    assert found.input_tokens_per_s < 2.0
    assert found.tokens_a_request == pytest.approx((200.0, 2.0))


def simulated(asked, requests):
    inputs = inputs_of(asked, requests)
    return summarise(asked, inputs, run(inputs), objective(asked))


def test_latencies_that_no_machine_has_are_warned_of():
    steep = {**CURVE, "tokens": [128, 4096], "prefill_s": [0.001, 0.05]}
    asked = case(latency=steep)
    found = simulated(asked, trace([0.0], [40], [2]))
    assert any("one token takes 0 s (prefill)" in warning for warning in found.warnings)
    fast = {**CURVE, "prefill_s": [1e-9, 1e-9], "hybrid_s": [1e-9, 1e-9]}
    found = simulated(case(latency=fast), trace([0.0], [4000], [1]))
    assert any("mixed pool's MFU" in warning for warning in found.warnings)
