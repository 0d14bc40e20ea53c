import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simcore.catalogue import machine, model
from simcore.engine.compile import compile_case
from simcore.engine.oracle.cluster import run
from simcore.fluid.bounds import FluidBound, capacity_bound, lone_request, work_machines
from simcore.fluid.phase_work import BatchLimits, _left_for_decodes_ps, phase_works, token_ps
from simcore.fluid.workload_statistics import WorkloadStatistics
from simcore.latency.curve import BatchKind, IterationCurve
from simcore.spec import SCHEDULER_KINDS, LatencySpec
from simcore.traces import PS_PER_S, Trace
from tests.unit.simcore.runs import CURVE, case, trace

ONE = trace([0.0, 1.0], [100, 100], [11, 11])
STATISTICS = WorkloadStatistics.of(ONE)
GIVEN = LatencySpec("curve", tokens=(1, 2048), prefill_s=(0.1, 0.1), decode_s=(0.02, 0.02), hybrid_s=(0.1, 0.1))


def test_statistics_are_what_a_mean_request_asks_for():
    mixed = Trace.of("two", [0, 1], [10, 20], [1, 4], cached_prompt_tokens=[4, 0])
    found = WorkloadStatistics.of(mixed)
    assert found.prompt_tokens == (6 + 20) / 2
    assert found.decode_tokens == 1.5
    assert found.prefill_pairs == (4 * 6 + 21 + 210) / 2
    assert found.decode_context_tokens == (20 + 21 + 22) / 2
    assert found.longest_prompt_tokens == 20


def test_a_lone_request_takes_one_prefill_and_a_decode_a_token():
    found = lone_request(model("llama2-7b"), machine("dgx-h100"), GIVEN, 100, 11)
    assert (found.first_token_s, found.token_s) == pytest.approx((0.1, 0.02))
    assert lone_request(model("llama2-7b"), machine("dgx-h100"), GIVEN, 100, 1).token_s == 0.0


@given(
    st.lists(st.tuples(st.integers(1, 300), st.integers(0, 10**6)), min_size=1, max_size=6, unique_by=lambda k: k[0]),
    st.integers(1, 400),
)
def test_the_cheapest_token_is_that_of_every_batch_tried(knots, most):
    tokens, values = zip(*sorted(knots), strict=True)
    curve = IterationCurve(tokens, values, values, values, 0, 0, 0, 0)
    exact = min(curve.base_ps(BatchKind.PREFILL, n) / n for n in range(1, most + 1))
    found = token_ps(curve, BatchKind.PREFILL, most)
    # whole picoseconds are rounded down between knots, by less than one
    assert found - 1 <= exact <= found


def test_work_is_shared_by_the_largest_batches():
    curve = IterationCurve((1, 2048), (10**9, 10**9), (10**8, 10**8), (10**9, 10**9), 0, 0, 0, 0)
    work = phase_works(curve, STATISTICS, BatchLimits(prefill_tokens=2000, hybrid_tokens=0, sequences=50))[0]
    assert work.prefill_s == pytest.approx(100 * 1e-3 / 2000)
    assert work.decode_s == pytest.approx(10 * 1e-4 / 50)


def test_no_decode_batch_holds_more_memory_than_there_is():
    """Contexts of 100 to 109 tokens: nine decodes fit 1000 tokens, though fifty may share a batch."""
    curve = IterationCurve((1, 50), (10**9, 10**9), (10**10, 10**10), (10**9, 10**9), 0, 0, 0, 0)
    limits = BatchLimits(prefill_tokens=2000, hybrid_tokens=0, sequences=50, kv_tokens=1000)
    decode_s = phase_works(curve, STATISTICS, limits)[0].decode_s
    assert 10 * 1e-2 / 10 < decode_s <= 10 * 1e-2 / 9
    reserved = phase_works(curve, STATISTICS, replace(limits, whole_outputs=True))[0].decode_s
    assert decode_s < reserved <= 10 * 1e-2 / 9


def test_windowed_layers_leave_room_for_more_decodes():
    curve = IterationCurve((1, 50), (10**9, 10**9), (10**10, 10**10), (10**9, 10**9), 0, 0, 0, 0)
    limits = BatchLimits(prefill_tokens=2000, hybrid_tokens=0, sequences=50, kv_tokens=1000)
    windowed = replace(limits, windowed_share=0.5, window_tokens=10)
    assert phase_works(curve, STATISTICS, windowed)[0].decode_s < phase_works(curve, STATISTICS, limits)[0].decode_s


def test_a_small_token_budget_makes_prompts_dear():
    flat = {**CURVE, "prefill_s": [0.1, 0.1], "hybrid_s": [0.1, 0.1], "decode_s": [1e-9, 1e-9]}
    budgets = [case(scheduler={"kind": "sarathi", "token_budget": budget}, latency=flat) for budget in (64, 512)]
    small, large = (capacity_bound(asked, STATISTICS) for asked in budgets)
    assert small == pytest.approx(64 / (100 * 0.1), rel=1e-3)
    assert large == pytest.approx(8 * small, rel=1e-2)


def test_a_request_that_no_replica_can_hold_is_no_work():
    lengths = trace([0.0, 1.0], [100, 5000], [11, 11])
    found = WorkloadStatistics.of(lengths).fitting(1000)
    assert (found.prompt_tokens, found.decode_tokens) == (50, 5)
    assert found.steps_by_context[1].sum() == found.steps_by_total[1].sum() == 5


def test_machines_grow_with_the_rate_and_with_smaller_decode_batches():
    llama, h100 = model("llama2-7b"), machine("dgx-h100")
    full = work_machines(llama, h100, GIVEN, STATISTICS, 1000.0, 8)
    assert full.prefill == pytest.approx(1000 * 100 * 0.1 / 2048)
    assert full.decode == pytest.approx(1000 * 10 * 0.02 / 512)
    assert work_machines(llama, h100, GIVEN, STATISTICS, 2000.0, 8).prefill == pytest.approx(2 * full.prefill)
    assert work_machines(llama, h100, GIVEN, STATISTICS, 1000.0, 8, 1, 64).decode == pytest.approx(8 * full.decode)
    assert work_machines(llama, h100, GIVEN, STATISTICS, 1000.0, 4).prefill == pytest.approx(full.prefill / 2)


def test_decode_batches_hold_no_more_than_memory():
    llama, h100 = model("llama2-7b"), machine("dgx-h100")
    wide, narrow = (work_machines(llama, h100, GIVEN, STATISTICS, 1000.0, 8, 1, 512, kv) for kv in (10**9, 3_000))
    assert wide == work_machines(llama, h100, GIVEN, STATISTICS, 1000.0, 8)
    assert narrow.decode > 5 * wide.decode
    assert narrow.prefill == wide.prefill


def test_what_holds_a_rate_costs_at_least_what_its_cheapest_pools_do():
    bound = FluidBound(((2.0, 0.0), (0.0, 4.0), (1.0, 1.0)))
    assert bound.least(8.0, (3.0, 5.0)) == max(4 * 3.0, 2 * 5.0, 8 * 3.0)
    for prefill in range(1, 9):
        for decode in range(1, 9):
            rate = bound.rate((prefill, decode))
            assert bound.least(rate, (3.0, 5.0)) <= 3.0 * prefill + 5.0 * decode


def test_the_bound_of_one_pool_is_its_time_over_the_work():
    asked = case(scheduler={"kind": "vllm", "max_batch_size": 100})
    work = 100 * 0.1 / 2048 + 10 * 0.02 / 100
    assert capacity_bound(asked, STATISTICS) == pytest.approx(1 / work)


def split(mixed_pool, prefill, decode):
    pools = [
        {"role": role, "machine": "dgx-h100", "machines": count, "tensor_parallel": 8}
        for role, count in (("prefill", prefill), ("decode", decode))
    ]
    return case(pools=pools, scheduler={"kind": "splitwise", "mixed_pool": mixed_pool, "max_batch_size": 100})


def test_separate_pools_are_bound_by_the_shorter_one():
    prefill_s, decode_s = 100 * 0.1 / 2048, 10 * 0.02 / 100
    assert capacity_bound(split(False, 1, 3), STATISTICS) == pytest.approx(1 / prefill_s)
    assert capacity_bound(split(False, 9, 1), STATISTICS) == pytest.approx(1 / decode_s)


@given(st.integers(1, 6), st.integers(1, 6))
def test_pools_that_may_mix_are_never_bound_below_separate_ones(prefill, decode):
    assert capacity_bound(split(True, prefill, decode), STATISTICS) >= capacity_bound(
        split(False, prefill, decode), STATISTICS
    ) * (1 - 1e-9)


def test_iterations_that_take_no_time_have_no_bound():
    free = {**CURVE, "prefill_s": [0.0, 0.0], "decode_s": [0.0, 0.0], "hybrid_s": [0.0, 0.0]}
    assert capacity_bound(case(latency=free), STATISTICS) == math.inf


def test_one_output_token_leaves_the_decode_pool_idle():
    short = WorkloadStatistics.of(trace([0.0, 1.0], [100, 100], [1, 1]))
    assert capacity_bound(split(False, 1, 1), short) == pytest.approx(2048 / (100 * 0.1))
    assert np.isfinite(capacity_bound(split(True, 1, 1), short))


@pytest.mark.parametrize(("kind", "chunked"), [*((kind, False) for kind in SCHEDULER_KINDS), ("splitwise", True)])
@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 900), st.integers(1, 60)), min_size=1, max_size=12),
    st.sampled_from([64, 512]),
    st.sampled_from([{}, {"attention_s": 1e-6, "context_s": 1e-6, "decode_seq_s": 1e-4, "chunk_read_s": 1e-5}]),
)
def test_no_run_works_faster_than_the_bound(kind, chunked, lengths, budget, costs):
    roles = ("prefill", "decode") if kind == "splitwise" else ("mixed",)
    pools = [{"role": role, "machine": "dgx-h100", "tensor_parallel": 8} for role in roles]
    given_budget = {"token_budget": budget} if kind == "sarathi" or chunked else {}
    scheduler = {"kind": kind, "chunked": chunked, **given_budget}
    curve = {**CURVE, "prefill_s": [0.01, 0.3], "decode_s": [0.01, 0.2], "hybrid_s": [0.02, 0.33], **costs}
    asked = case(pools=pools, scheduler=scheduler, latency=curve)
    requests = trace([0.0] * len(lengths), [p for p, _ in lengths], [o for _, o in lengths])
    end_ps = run(compile_case(asked, requests)).end_ps
    bound = capacity_bound(asked, WorkloadStatistics.of(requests))
    assert len(lengths) / (end_ps / PS_PER_S) <= bound * (1 + 1e-9)


TIMES = st.lists(st.integers(1, 10**9), min_size=4, max_size=4).map(sorted)


@given(st.lists(st.integers(2, 60), min_size=3, max_size=3, unique=True), TIMES, TIMES, st.integers(0, 70), st.data())
def test_what_is_left_for_decodes_is_the_least_over_all_sizes_of_a_batch(knots, decode, hybrid, most, data):
    curve = IterationCurve((1, *sorted(knots)), tuple(decode), tuple(decode), tuple(hybrid), 0, 0, 0, 3)
    sequences, price = data.draw(st.integers(1, 70)), data.draw(st.floats(0, 1e8))
    found = _left_for_decodes_ps(curve, BatchLimits(70, most, sequences), price)
    alone, beside = (plain(curve, kind) for kind in (BatchKind.DECODE, BatchKind.HYBRID))
    for n in range(1, sequences + 1):
        batches = [alone(n), *(beside(total) - price * (total - n) for total in range(n + 1, most + 1))]
        assert found[n - 1] == pytest.approx(min(batches) + 3 * n, rel=1e-9, abs=1e-3)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.integers(70, 4000), min_size=3, max_size=3, unique=True),
    TIMES,
    TIMES,
    st.integers(65, 5000),
    st.integers(65, 5000),
    st.sampled_from([100, 5000, 10**6]),
)
def test_decodes_priced_in_groups_are_no_dearer_than_one_by_one_and_hardly_cheaper(
    knots, decode, hybrid, sequences, most, kv_tokens
):
    curve = IterationCurve((1, *sorted(knots)), tuple(decode), tuple(decode), tuple(hybrid), 0, 0, 0, 3)
    limits = BatchLimits(2048, most, sequences, kv_tokens)
    one_by_one = phase_works(curve, STATISTICS, limits)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("simcore.fluid.phase_work.EACH_UP_TO", 64)
        grouped = phase_works(curve, STATISTICS, limits)
    for exact, found in zip(one_by_one, grouped, strict=True):
        assert found.prefill_s == exact.prefill_s
        assert exact.decode_s * (1 - 0.02) <= found.decode_s <= exact.decode_s * (1 + 1e-12)


def test_a_batch_size_of_millions_is_bounded_as_one_of_what_memory_holds():
    asked = case(scheduler={"kind": "vllm", "max_batch_size": 10_000_000}, memory={"kv_tokens": 100_000})
    fits = case(scheduler={"kind": "vllm", "max_batch_size": 100_000}, memory={"kv_tokens": 100_000})
    assert capacity_bound(asked, STATISTICS) == pytest.approx(capacity_bound(fits, STATISTICS), rel=2e-3)


def plain(curve, kind):
    """g of one number of tokens, on the line of its piece."""
    knots, values = curve.tokens, curve.knots_ps(kind)

    def ps(tokens):
        high = next((at for at in range(1, len(knots)) if knots[at] >= tokens), len(knots) - 1)
        slope = (values[high] - values[high - 1]) / (knots[high] - knots[high - 1])
        return max(values[high - 1] + slope * (tokens - knots[high - 1]), 0.0)

    return ps
