"""``token_budget: auto`` by hand: a hybrid iteration of 1 us a token, and what each decode adds."""

from typing import Any

import pytest

from simcore.answer.result import token_budget
from simcore.budget import auto_budget, tbt_objective_s
from simcore.engine.compile import compile_case
from simcore.latency.coefficients import coefficients
from simcore.simulation import simulate
from simcore.slo.objective import objective
from simcore.spec import Case, SpecError, decode_case
from simcore.traces import Trace

US = 1e-6
CURVE = {
    "source": "curve",
    "tokens": [1, 10_001],
    "prefill_s": [US, 10_001 * US],
    "decode_s": [1000 * US, 1000 * US],
    "hybrid_s": [US, 10_001 * US],
    "context_s": 0.0,
}
MIXED = [{"role": "mixed", "machine": "dgx-h100", "tensor_parallel": 8}]


def tbt(limit: float, metric: str = "tbt_s", **more: Any) -> dict[str, Any]:
    return {"kind": "absolute", "limits": [{"metric": metric, "percentile": 99, "limit": limit, **more}]}


def case(kind: str = "sarathi", slo: dict[str, Any] | None = None, **changes: Any) -> Case:
    plain = {
        "model": "llama2-70b",
        "pools": MIXED,
        "scheduler": {"kind": kind, "token_budget": "auto"},
        "latency": CURVE,
        "slo": slo or tbt(0.001),
    }
    return decode_case({**plain, **changes})


@pytest.mark.parametrize(("limit_us", "tokens"), [(1024, 1024), (1023.9, 896), (128, 128), (9000, 8192)])
def test_the_largest_multiple_of_a_tile_within_the_limit(limit_us: float, tokens: int) -> None:
    found = auto_budget(case(slo=tbt(limit_us * US)))
    assert (found.tokens, found.warning) == (tokens, "")


def test_with_none_within_the_limit_it_is_one_tile_and_a_warning() -> None:
    found = auto_budget(case(slo=tbt(100 * US)))
    assert found.tokens == 128
    assert found.warning.startswith("token_budget auto: 128 tokens, the least, take 0.000128 s")


def test_the_chunk_reads_its_cached_tokens_and_each_decode_its_own() -> None:
    """32 decodes read 4096 each at 1 ns: 131 us; a chunk of 992 attends 4096 * 992 + 992 * 993 / 2 pairs at 0.1 ns."""
    latency = {**CURVE, "context_s": 1e-9, "attention_s": 1e-10}
    pairs = 4096 * 992 + 992 * 993 // 2
    exact = 1024 * US + 32 * 4096e-9 + pairs * 1e-10
    assert auto_budget(case(latency=latency, slo=tbt(exact + 1e-11))).tokens == 1024
    assert auto_budget(case(latency=latency, slo=tbt(exact - 1e-8))).tokens == 896


def test_all_stages_of_a_pipeline_are_passed() -> None:
    pools = [{"role": "mixed", "machine": "dgx-h100", "tensor_parallel": 4, "pipeline_parallel": 2}]
    assert auto_budget(case(pools=pools, slo=tbt(1024 * US))).tokens == 512


def test_the_slowest_pool_counts() -> None:
    slow = {**CURVE, "hybrid_s": [2 * US, 20_002 * US]}
    assert auto_budget(case(pools=[*MIXED, {**MIXED[0], "latency": slow}], slo=tbt(1024 * US))).tokens == 512


@pytest.mark.parametrize(("mixed_pool", "tokens"), [(True, 512), (False, 8192)])
def test_split_machines_count_where_they_may_turn_mixed(mixed_pool: bool, tokens: int) -> None:
    pools = [
        {"role": "prefill", "machine": "dgx-h100", "tensor_parallel": 8},
        {"role": "decode", "machine": "dgx-h100", "tensor_parallel": 8,
         "latency": {**CURVE, "hybrid_s": [2 * US, 20_002 * US]}},
    ]  # fmt: skip
    scheduler = {"kind": "splitwise", "chunked": True, "token_budget": "auto", "mixed_pool": mixed_pool}
    assert auto_budget(case(pools=pools, scheduler=scheduler, slo=tbt(1024 * US))).tokens == tokens


def test_the_objective_is_the_tightest_limit_on_tbt_or_else_on_tpot() -> None:
    limits = [
        {"metric": "tbt_s", "percentile": 50, "limit_x_decode": 2},
        {"metric": "tbt_s", "percentile": 99, "limit": 0.9},
        {"metric": "tpot_s", "percentile": 99, "limit": 0.0001},
    ]
    # a decode iteration of 32 takes 1 ms with this curve
    assert tbt_objective_s(case(slo={"kind": "absolute", "limits": limits})) == pytest.approx(0.002)
    assert tbt_objective_s(case(slo={"kind": "absolute", "limits": limits[2:]})) == pytest.approx(0.0001)
    assert tbt_objective_s(case(slo={"kind": "attainment", "ttft_s": 1, "tpot_s": 0.03})) == 0.03


def test_a_slowdown_gives_its_p99_of_a_lone_decode_on_the_reference() -> None:
    slo = {"kind": "slowdown", "reference": "dgx-a100", "reference_latency": CURVE, "multiplier": 0.5}
    assert tbt_objective_s(case(slo=slo)) == pytest.approx(5 * 0.5 * 0.001)


def test_an_slo_without_tbt_or_tpot_is_refused() -> None:
    with pytest.raises(SpecError, match=r"slo\.limits: found limits on ttft_s only, expected one on tbt_s or tpot_s"):
        case(slo=tbt(1, "ttft_s"))


def test_a_roofline_is_tried_at_its_own_tile() -> None:
    found = auto_budget(case(latency={"source": "roofline"}, slo=tbt(0.05)))
    tile = coefficients("h100-80gb", "vllm-2026").tile("bf16")
    assert found.tokens % tile == 0
    assert tile <= found.tokens < 8192
    assert found.iteration_s <= 0.05
    assert found.warning == ""


@pytest.mark.parametrize("kind", ["sarathi", "vllm_v1"])
def test_what_was_chosen_is_run_and_reported(kind: str) -> None:
    trace = Trace.of("two", [0, 5], [100, 3000], [10, 20])
    asked = case(kind, slo=tbt(100 * US))
    assert compile_case(asked, trace).scheduler.token_budget == 128
    summary = simulate(asked, trace, objective(asked), name="oracle").summary
    assert summary.token_budget == 128
    assert any(warning.startswith("token_budget auto") for warning in summary.warnings)
    assert token_budget(asked) == 128
