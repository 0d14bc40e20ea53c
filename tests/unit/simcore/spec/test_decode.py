"""JSON to the spec's dataclasses and back: names, bounds, types, round trips."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore.spec import (
    AbsoluteSlo,
    AttainmentSlo,
    Case,
    KvTransferSpec,
    LatencySpec,
    Limit,
    MemorySpec,
    PoolSpec,
    PriceBook,
    SchedulerSpec,
    SlowdownSlo,
    SpecError,
    decode,
    decode_case,
    decode_slo,
    decode_study,
    encode,
    nearest,
)

CASE: dict[str, Any] = {
    "model": "bloom-176b",
    "pools": [{"role": "mixed", "machine": "dgx-h100", "tensor_parallel": 8}],
    "scheduler": {"kind": "sarathi"},
}
STUDY: dict[str, Any] = {
    "model": "bloom-176b",
    "workload": {"trace": "t.csv"},
    "rate_req_per_s": 10,
    "machines": [{"machine": "dgx-h100"}],
}


def case_with(path: str, value: Any) -> dict[str, Any]:
    """CASE with one key, named by dots and list positions, replaced."""
    changed = json.loads(json.dumps(CASE))
    *parents, last = (int(name) if name.isdigit() else name for name in path.split("."))
    at: Any = changed
    for name in parents:
        at = at[name] if isinstance(at, list) else at.setdefault(name, {})
    at[last] = value
    return changed


def test_defaults_are_the_contracts() -> None:
    case = decode_case(CASE)
    assert case.memory == MemorySpec(usable=0.9, block_tokens=16)
    assert case.kv_transfer == KvTransferSpec(mode="serialized", contention=True)
    assert case.latency == LatencySpec(source="roofline", engine="vllm-2026", hybrid_factor=1.1)
    assert case.slo == SlowdownSlo(reference="dgx-a100")
    assert (case.router, case.prices, case.arrivals, case.seed) == ("jsq", "list", "trace", 0)
    assert case.scheduler.prompt_pending_limit == 8192
    assert decode_case({**CASE, "slo": {"reference": "dgx-h100"}}).slo == SlowdownSlo(reference="dgx-h100")


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("modell", "x", "modell: unknown key, expected one of model, .*nearest: 'model'"),
        ("scheduler.token_budgets", 1, "scheduler.token_budgets: unknown key, .*nearest: 'token_budget'"),
        ("pools.0.tensor_paralel", 8, r"pools\[0\].tensor_paralel: unknown key, .*nearest: 'tensor_parallel'"),
        ("memory.kv_token", 8, "memory.kv_token: unknown key, .*nearest: 'kv_tokens'"),
        ("scheduler.kind", "sarathy", "scheduler.kind: found 'sarathy', expected one of sarathi, .*nearest: 'sarathi'"),
        ("scheduler.token_budget", 0, "scheduler.token_budget: found 0, expected at least 1"),
        ("scheduler.token_budget", 1.5, "scheduler.token_budget: found 1.5, expected a whole number"),
        ("scheduler.token_budget", True, "scheduler.token_budget: found True, expected a whole number"),
        ("memory.usable", 1.01, "memory.usable: found 1.01, expected at most 1"),
        ("memory.usable", 0, "memory.usable: found 0, expected more than 0"),
        ("memory.usable", "much", "memory.usable: found 'much', expected a finite number"),
        ("memory.usable", float("nan"), "memory.usable: found nan, expected a finite number"),
        ("memory.usable", None, "memory.usable: found None, expected"),
        ("pools", [], "pools: found none, expected at least one"),
        ("pools", "one", "pools: found 'one', expected a list"),
        ("pools.0.role", "both", r"pools\[0\].role: found 'both', expected one of mixed, prefill, decode"),
        ("pools.0.machines", -1, r"pools\[0\].machines: found -1, expected at least 1"),
        ("pools.0.machine", 7, r"pools\[0\].machine: found 7"),
        ("model", {"id": "x"}, "model.name: missing, expected text"),
        ("latency.hybrid_factor", 0, "latency.hybrid_factor: found 0, expected more than 0"),
        ("pools.0.machines", 100_001, r"pools\[0\].machines: found 100001, expected at most 100000$"),
        ("memory.usable", 1.0000001, "memory.usable: found 1.0000001, expected at most 1$"),
        ("memory.usable", 10**400, "memory.usable: found 1000.*, expected a finite number"),
        ("pools.0.data_parallel", 2, r"pools\[0\].data_parallel: 2 is not built yet, expected null or 1$"),
        ("pools.0.expert_parallel", 8, r"pools\[0\].expert_parallel: 8 is not built yet, expected null or 1$"),
        ("scheduler.tokens_per_step", 2.5, "scheduler.tokens_per_step: 2.5 is not built yet, expected null or 1$"),
        ("scheduler.tokens_per_step", 0, "scheduler.tokens_per_step: found 0, expected at least 1"),
        (
            "pools.0.availability",
            [{"at_s": 1, "state": "down"}],
            r"pools\[0\].availability\[0\].state: found 'down', expected one of starting, up, draining, failed",
        ),
        ("pools.0.availability", [{"state": "up"}], r"pools\[0\].availability\[0\].at_s: missing"),
        (
            "pools.0.availability",
            [{"at_s": -1, "state": "up"}],
            r"pools\[0\].availability\[0\].at_s: found -1, expected at least 0",
        ),
        ("seed", 2**63, "seed: found 9223372036854775808, expected at most 9223372036854775807"),
        ("scheduler.token_budget", 1e300, "scheduler.token_budget: found 1000.*, expected at most 9223372036854775807"),
        ("slo", {"kind": "fast"}, "slo.kind: found 'fast', expected one of slowdown, absolute, attainment"),
        ("slo", {"kind": "slowdwn"}, "slo.kind: found 'slowdwn', .*nearest: 'slowdown'"),
        ("slo", ["slowdown"], r"slo: found \['slowdown'\], expected an object"),
        ("slo", {"kind": "absolute", "limits": []}, "slo.limits: found none"),
        (
            "slo",
            {"kind": "absolute", "limits": [{"metric": "tbt_s", "percentile": 99}]},
            r"slo.limits\[0\].limit: give exactly one",
        ),
        ("slo", {"kind": "attainment", "ttft_s": 1}, "slo.tpot_s: missing"),
        ("slo", {"kind": "attainment", "ttft_s": 1, "tpot_s": 1, "share": 2}, "slo.share: found 2, expected at most 1"),
    ],
)
def test_what_is_wrong_is_named_in_one_line(path: str, value: Any, words: str) -> None:
    with pytest.raises(SpecError, match=words) as error:
        decode_case(case_with(path, value))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("path", ["pools.0.data_parallel", "pools.0.expert_parallel", "scheduler.tokens_per_step"])
@pytest.mark.parametrize("value", [None, 1])
def test_a_reserved_key_may_say_what_holds_anyway(path: str, value: int | None) -> None:
    assert decode_case(case_with(path, value)).pools[0].machine == "dgx-h100"


@pytest.mark.parametrize("value", [None, 7, "case", []])
def test_a_case_is_an_object(value: Any) -> None:
    with pytest.raises(SpecError, match=r"case: found .* expected an object"):
        decode_case(value)


@pytest.mark.parametrize("kind", ["vllm", "orca", "request_level", "splitwise_baseline"])
def test_an_automatic_budget_is_for_the_kinds_that_have_one(kind: str) -> None:
    words = f"scheduler: token_budget: found 'auto' with kind {kind}, which has no token budget|scheduler.token_budget"
    with pytest.raises(SpecError, match=words):
        decode_case(case_with("scheduler", {"kind": kind, "token_budget": "auto"}))


@pytest.mark.parametrize(
    ("scheduler", "transfer", "words"),
    [
        ({"kind": "vllm"}, {}, "scheduler.chunked: found true with kind vllm, expected false, or kind splitwise"),
        (
            {"kind": "splitwise", "decode_runs": "contiguous"},
            {},
            "scheduler.decode_runs: found 'contiguous' with",
        ),
        ({"kind": "splitwise", "ageing": "splitwise-sim"}, {}, "scheduler.ageing: found 'splitwise-sim' with chunked"),
        ({"kind": "splitwise", "chunked": False}, {"mode": "chunkwise"}, "kv_transfer.mode: found 'chunkwise' without"),
        ({"kind": "splitwise"}, {"mode": "layerwise"}, "kv_transfer.mode: found 'layerwise' with scheduler.chunked"),
    ],
)
def test_what_chunks_cannot_do_is_refused_by_name(
    scheduler: dict[str, Any], transfer: dict[str, Any], words: str
) -> None:
    case = {**CASE, "scheduler": {"chunked": True, **scheduler}, "kv_transfer": transfer}
    with pytest.raises(SpecError, match=words):
        decode_case(case)


def test_machines_and_replicas_exclude_each_other() -> None:
    with pytest.raises(SpecError, match=r"pools\[0\].replicas: found with machines"):
        decode_case(case_with("pools.0", {"role": "mixed", "machine": "dgx-h100", "machines": 1, "replicas": 2}))


def test_roles_suit_the_scheduler() -> None:
    with pytest.raises(SpecError, match="pools: found roles prefill, expected mixed only"):
        decode_case(case_with("pools.0.role", "prefill"))
    alone = case_with("scheduler.kind", "splitwise")
    alone["pools"][0]["role"] = "decode"
    with pytest.raises(SpecError, match="expected prefill and decode pools"):
        decode_case(alone)


def test_a_study_needs_machines_and_one_workload() -> None:
    assert decode_study(STUDY).machines[0].machine == "dgx-h100"
    for change, words in (
        ({"machines": []}, "machines: found none"),
        ({"workload": {}}, "workload.trace: give exactly one"),
        ({"rate_req_per_s": 0}, "rate_req_per_s: found 0"),
        ({"seeds": []}, "seeds: found none"),
        ({"goal": "cheap"}, "goal: found 'cheap'"),
        ({"limit": {}}, "limit: unknown key, .*nearest: 'limits'"),
    ):
        with pytest.raises(SpecError, match=words):
            decode_study({**STUDY, **change})


def test_nearest_says_nothing_where_nothing_is_known() -> None:
    assert nearest("x", []) == ""
    assert nearest("dgx-h10", ["dgx-a100", "dgx-h100"]) == " (nearest: 'dgx-h100')"


positive = st.floats(min_value=1e-6, max_value=1e6)
counts = st.integers(1, 10**5)
limits = st.builds(
    Limit, metric=st.sampled_from(["ttft_s", "tbt_s", "e2e_slowdown"]), percentile=st.floats(0.1, 100), limit=positive
)
slos = st.one_of(
    st.builds(SlowdownSlo, multiplier=positive),
    st.builds(AttainmentSlo, ttft_s=positive, tpot_s=positive, share=st.floats(0.01, 1)),
    st.builds(AbsoluteSlo, limits=st.lists(limits, min_size=1, max_size=4).map(tuple)),
)
latencies = st.builds(
    LatencySpec,
    source=st.sampled_from(["roofline", "measured", "curve"]),
    hybrid_factor=positive,
    path=st.none() | st.just("steps.csv"),
    tokens=st.none() | st.lists(counts, max_size=3).map(tuple),
    prefill_s=st.none() | st.lists(positive, max_size=3).map(tuple),
    attention_s=st.floats(0, 1),
)
pools = st.builds(
    PoolSpec,
    role=st.just("mixed"),
    machine=st.sampled_from(["dgx-a100", "dgx-h100"]),
    machines=st.none() | counts,
    tensor_parallel=counts,
    latency=st.none() | latencies,
)
cases = st.builds(
    Case,
    model=st.sampled_from(["bloom-176b", "llama2-7b"]),
    pools=st.lists(pools, min_size=1, max_size=3).map(tuple),
    scheduler=st.builds(SchedulerSpec, kind=st.sampled_from(["sarathi", "vllm"]), token_budget=st.none() | counts),
    memory=st.builds(MemorySpec, usable=st.floats(0.01, 1), kv_tokens=st.none() | counts),
    latency=latencies,
    slo=slos,
    seed=st.integers(0, 2**31),
)


@given(cases)
def test_a_case_survives_the_way_to_json_and_back(case: Case) -> None:
    assert decode_case(json.loads(json.dumps(encode(case)))) == case


@given(slos)
def test_an_slo_survives_the_way_to_json_and_back(slo: Any) -> None:
    assert decode_slo(json.loads(json.dumps(encode(slo)))) == slo


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    ),
    st.sampled_from([field.name for field in dataclasses.fields(Case)]),
)
def test_any_json_gives_a_case_or_a_spec_error(value: Any, key: str) -> None:
    with contextlib.suppress(SpecError):
        decode_case({**CASE, key: value})


def book_of(usd):
    price = {"machine": "m", "usd_per_hour": usd}
    return decode(PriceBook, {"id": "b", "name": "b", "date": "", "prices": [price]})


@pytest.mark.parametrize(
    ("usd", "words"),
    [("0.00001", "expected at least 0.0001"), ("1e12", "expected at most 1000000"), ("0", "expected at least 0.0001")],
)
def test_a_price_no_book_would_have_is_refused(usd, words):
    with pytest.raises(SpecError, match=rf"prices\[0\]\.usd_per_hour: found .*, {words}"):
        book_of(usd)


def test_the_least_price_is_exactly_a_hundredth_of_a_cent():
    book = decode(
        PriceBook, {"id": "b", "name": "b", "date": "", "prices": [{"machine": "m", "usd_per_hour": "0.0001"}]}
    )
    assert book.price("m").usd_per_hour == Decimal("0.0001")
