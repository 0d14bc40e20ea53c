"""Random small clusters under random load: tight KV, simultaneous arrivals, every option."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

from hypothesis import strategies as st

from simcore.engine.inputs import ClusterInputs, ReplicaInputs, SchedulerInputs, TransferInputs
from simcore.latency.curve import IterationCurve
from simcore.traces.splitmix import below
from tests.clusters import cluster, replica, scheduler

CO_LOCATED = ("sarathi", "vllm", "vllm_v1", "orca", "request_level")
SPLITWISE = ("splitwise_baseline", "splitwise")
CHUNKED = "chunked"
"""Kind ``splitwise`` with ``chunked``."""
KINDS = (*CO_LOCATED, *SPLITWISE, CHUNKED)
RESERVATIONS = {
    **dict.fromkeys(CO_LOCATED, ("on_demand", "full_output", "output_at_decode", "on_demand", "max_length")),
    "request_level": ("full_output", "max_length"),
    **dict.fromkeys((*SPLITWISE, CHUNKED), ("output_at_decode", "full_output", "max_length")),
}
MOST_PROMPT = 700
MODEL_TOKENS = (800, 800, 120)
KV_LAYERS = ((1, 0, 0), (1, 0, 0), (1, 1, 16), (18, 18, 128), (0, 3, 50), (1, 5, 300))
"""Full layers, windowed layers and the window: dense twice, then gpt-oss' and others, down to nothing but windows."""


@st.composite
def curves(draw: st.DrawFn) -> IterationCurve:
    """Increasing tables of one to three knots, in ps; attention, KV reads and per-decode times from none to large."""
    knots = draw(st.sampled_from([(1,), (1, 64), (0, 8, 512), (1, 2, 3)]))
    tables = [sorted(draw(st.lists(st.integers(1, 10**6), min_size=len(knots), max_size=len(knots)))) for _ in range(3)]
    coefficients = [draw(st.sampled_from([0, 1, most // 7, most])) for most in (5000, 3000, 2000, 10**5)]
    return IterationCurve(knots, *(tuple(table) for table in tables), *coefficients)  # type: ignore[arg-type]


@st.composite
def schedulers(draw: st.DrawFn, kind: str) -> SchedulerInputs:
    """A policy with any of its options; budgets and sizes small enough to matter."""
    options: dict[str, Any] = {
        "token_budget": draw(st.sampled_from([4, 37, 100, 256])),
        "max_batch_tokens": draw(st.sampled_from([16, 100, 2048])),
        "max_batch_size": draw(st.sampled_from([64, 3, 8, 64, 1])),
        "block_tokens": draw(st.sampled_from([1, 7, 16])),
        "watermark_blocks_share": draw(st.sampled_from([0.0, 0.01, 0.2])),
        "reservation": draw(st.sampled_from(RESERVATIONS[kind])),
        "padded_prompts": draw(st.booleans()),
        "preempt_when_full": draw(st.booleans()),
        "pad_compute": kind == "request_level" and draw(st.booleans()),
        "keep_finished": kind == "request_level" and draw(st.booleans()),
        "mixed_pool": draw(st.sampled_from([True, True, False])),
        "prompt_pending_limit": draw(st.sampled_from([0, 100, 1000])),
        "ageing": draw(st.sampled_from(["fair", "none", "splitwise-sim"])),
        "decode_runs": draw(st.sampled_from(["stepwise", "contiguous"])),
        "simultaneous_arrivals": draw(st.sampled_from(["together", "one_by_one"])),
        "router": draw(st.sampled_from(["jsq", "jsq", "round_robin", "random", "least_kv", "least_waiting"])),
        "router_ties": draw(st.sampled_from(["index", "pool_order"])),
        "seed": draw(st.integers(0, 2**62)),
        **dict(zip(("full_layers", "windowed_layers", "window_tokens"), draw(st.sampled_from(KV_LAYERS)), strict=True)),
    }
    if options["reservation"] == "max_length" or draw(st.booleans()):
        options["max_model_tokens"] = draw(st.sampled_from(MODEL_TOKENS))
    return scheduler(kind, **options)


@st.composite
def replicas(draw: st.DrawFn, policy: SchedulerInputs, largest: int) -> list[ReplicaInputs]:
    """One to four, of the roles and stages that the policy may have; KV from less than the largest request's to
    plenty."""
    roles = ["mixed"] * draw(st.integers(1, 3))
    if policy.kind == "splitwise":
        roles = draw(
            st.sampled_from(
                [
                    ["prefill", "decode"],
                    ["prefill", "prefill", "decode"],
                    ["prefill", "decode", "decode"],
                    ["decode", "prefill", "mixed"],
                    ["mixed", "mixed"],
                    ["prefill", "prefill", "decode", "decode"],
                ]
            )
        )
    curve, most_stages = draw(curves()), 1 if is_contiguous(policy) else draw(st.sampled_from([1, 3]))
    share = draw(st.sampled_from([1, 1.5, 1, 1.2, 3, 0.7, 20]))
    kv_tokens = int(share * (largest + policy.block_tokens))
    return [
        replica(
            role,
            curve=curve if draw(st.booleans()) else draw(curves()),
            stages=draw(st.integers(1, most_stages)),
            kv_blocks=max(kv_tokens // policy.block_tokens + draw(st.sampled_from([0, 0, 3])), 1),
            transfer_ps_per_token=draw(st.sampled_from([1, 500, 10_000])),
            power_mw=((100, 900), (50, 200), (300, 300)),
            power_tokens=(1, 100),
        )
        for role in roles
    ]


def is_contiguous(policy: SchedulerInputs) -> bool:
    """Whether decode-only batches are interrupted by the simulator's rules, which know of one stage alone."""
    return policy.kind in SPLITWISE and not policy.chunked and policy.decode_runs == "contiguous"


@st.composite
def transfers(draw: st.DrawFn, kind: str) -> TransferInputs:
    """The modes that the kind may have, with and without contention, waiting or polling for room."""
    modes = ["serialized", "chunkwise"] if kind == CHUNKED else ["serialized", "layerwise"]
    return TransferInputs(
        mode=draw(st.sampled_from(modes)),
        ps_per_token=draw(st.sampled_from([0, 0, 100])),
        contention=draw(st.booleans()),
        setup_ps=draw(st.sampled_from([0, 777])),
        block_tokens=draw(st.sampled_from([0, 1, 50])),
        retry_ps=draw(st.sampled_from([0, 0, 50_000])),
        layers=draw(st.sampled_from([1, 10])),
    )


Row = tuple[int, int, int, int, int]
"""ns since the one before, prompt, output, cached tokens, slack of the limit."""
GAPS_NS = (0, 0, 0, 1, 50, 400, 5000)


def few_rows() -> st.SearchStrategy[list[Row]]:
    """Up to a dozen requests, each drawn by itself."""
    gaps = st.sampled_from(GAPS_NS)
    prompts = st.one_of(st.integers(1, 40), st.sampled_from([16, 32, 100]), st.integers(1, MOST_PROMPT))
    outputs, cached = st.integers(1, 12), st.sampled_from([0, 0, 16, 200])
    return st.lists(st.tuples(gaps, prompts, outputs, cached, st.integers(0, 20)), min_size=2, max_size=12)


@st.composite
def many_rows(draw: st.DrawFn) -> list[Row]:
    """Some dozen requests of like size, from a seed: queues form and memory fills, which lists of hypothesis's own are
    too short for."""
    seed, count = draw(st.integers(0, 2**32)), draw(st.integers(12, 40))
    most_prompt, most_output = draw(st.sampled_from([30, 100, 300])), draw(st.sampled_from([6, 20, 20]))
    gaps = draw(st.sampled_from([GAPS_NS, (0,), (0, 1000)]))
    limits = (len(gaps), most_prompt, most_output, 4, 20)
    columns = [below(seed, stream, count, limit).tolist() for stream, limit in enumerate(limits)]
    return [(gaps[gap], prompt + 1, output + 1, 16 * (hit == 0), slack)
            for gap, prompt, output, hit, slack in zip(*columns, strict=True)]  # fmt: skip


@st.composite
def clusters(draw: st.DrawFn, kind: str, limits: bool | None = None) -> ClusterInputs:
    """A whole cluster of one scheduler kind. ``limits``: whether the trace gives max_output_tokens (None: either)."""
    policy = draw(schedulers(kind))
    asked = draw(st.one_of(few_rows(), many_rows(), many_rows(), many_rows()))
    arrivals = list(itertools.accumulate(gap for gap, *_ in asked))
    requests = [(now, prompt, output) for now, (_, prompt, output, _, _) in zip(arrivals, asked, strict=True)]
    cached = [min(prompt - 1, hit) for _, prompt, _, hit, _ in asked]
    with_limits = draw(st.booleans()) if limits is None else limits
    most = [output + slack if with_limits else 0 for _, _, output, _, slack in asked]
    largest = max(prompt + output for _, prompt, output, _, _ in asked)
    largest = policy.max_model_tokens if policy.reservation == "max_length" else largest
    first = draw(st.integers(0, len(asked) - 1))
    window = (first, draw(st.integers(first, len(asked)))) if draw(st.booleans()) else None
    return cluster(policy, requests, draw(replicas(policy, largest)), draw(transfers(kind)), cached, most, window)


@st.composite
def failing_clusters(draw: st.DrawFn, kind: str, limits: bool | None = None) -> ClusterInputs:
    """A cluster some of whose replicas start late, drain, fail and come up again, also at the instant of an arrival."""
    return draw(failing(draw(clusters(kind, limits))))


@st.composite
def failing(draw: st.DrawFn, inputs: ClusterInputs) -> ClusterInputs:
    """The same cluster with changes of availability."""
    last = int(inputs.arrival_ps[-1]) + draw(st.sampled_from([10**5, 10**7, 10**8]))
    moments = st.one_of(st.sampled_from([0, *inputs.arrival_ps.tolist()]), st.integers(0, last))
    states = st.sampled_from(["up", "up", "starting", "draining", "failed", "failed"])
    changes = st.lists(st.tuples(moments, states), max_size=5).map(lambda found: tuple(sorted(found)))
    return dataclasses.replace(
        inputs, replicas=tuple(dataclasses.replace(each, availability=draw(changes)) for each in inputs.replicas)
    )


@st.composite
def pipelines(draw: st.DrawFn, kind: str) -> ClusterInputs:
    """One or two replicas of two to four stages under some dozen requests of many tokens each: micro-batches that go
    round and round with the same decodes, until memory, their size or the budget lets no more of them."""
    policy = draw(schedulers(kind))
    seed, count = draw(st.integers(0, 2**32)), draw(st.integers(4, 40))
    most_prompt, most_output = draw(st.sampled_from([10, 60, 300])), draw(st.sampled_from([20, 80]))
    gaps = draw(st.sampled_from([(0,), (0, 0, 50_000), (1000, 20_000), (400_000,)]))
    columns = [
        below(seed, stream, count, limit).tolist() for stream, limit in enumerate((len(gaps), most_prompt, most_output))
    ]
    arrivals = itertools.accumulate(gaps[gap] for gap in columns[0])
    requests = [(now, prompt + 1, output + 1) for now, prompt, output in zip(arrivals, *columns[1:], strict=True)]
    largest = max(prompt + output for _, prompt, output in requests)
    largest = policy.max_model_tokens if policy.reservation == "max_length" else largest
    kv_tokens = int(draw(st.sampled_from([1, 1.5, 3, 6, 40])) * (largest + policy.block_tokens))
    one = replica(
        "mixed",
        curve=draw(curves()),
        stages=draw(st.integers(2, 4)),
        kv_blocks=kv_tokens // policy.block_tokens,
        power_mw=((100, 900), (50, 200), (300, 300)),
        power_tokens=(1, 100),
    )
    roles = draw(st.sampled_from([["mixed"], ["mixed", "mixed"]]))
    if kind == CHUNKED:
        roles = draw(st.sampled_from([["mixed", "mixed"], ["prefill", "decode"], ["prefill", "decode", "decode"]]))
    window = draw(st.sampled_from([None, (1, count - 1)]))
    return cluster(policy, requests, [dataclasses.replace(one, role=role) for role in roles], window=window)
