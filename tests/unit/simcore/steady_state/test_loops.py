"""Mean-value analysis of one replica: against closed forms, a closed loop played iteration by iteration, and the
engine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from simcore.catalogue import machine, model
from simcore.latency.curve import PS_PER_S, BatchKind, IterationCurve
from simcore.latency.roofline import roofline_curve
from simcore.simulation import simulate
from simcore.slo.objective import objective
from simcore.spec import SpecError, decode_case
from simcore.steady_state.loops import Lengths, Serving, closed_loop, offline, open_loop, static_batch
from simcore.traces import Trace

MS = 10**9
CURVE = IterationCurve((1, 4096), (5 * MS, 45 * MS), (4 * MS, 12 * MS), (6 * MS, 46 * MS), 200, 30, 40, 900)
SMALL_8B = ("llama-3.1-8b", 1)
LARGE_70B = ("llama-3.1-70b", 4)


def curve_of(model_id: str, tensor_parallel: int, pipeline_parallel: int = 1) -> IterationCurve:
    return roofline_curve(model(model_id), machine("dgx-h100"), tensor_parallel, pipeline_parallel, "vllm-2026")


def drawn(prompt: float, output: float, spread: float, requests: int) -> tuple[list[int], list[int]]:
    """Gamma lengths of a mean and a coefficient of variation. (Alike requests that come together stay together.)"""
    source = np.random.default_rng(7)
    shape = 1 / spread**2
    prompts, outputs = (source.gamma(shape, mean / shape, requests) for mean in (prompt, output))
    return [max(round(p), 1) for p in prompts], [max(round(o), 2) for o in outputs]


def classes(prompts: Sequence[int], outputs: Sequence[int], count: int = 8) -> Lengths:
    """Lengths as a few classes of alike prompts, the mean output in each."""
    parts = np.array_split(np.sort(prompts), count)
    shares = tuple(len(part) / len(prompts) for part in parts)
    return Lengths(tuple(float(part.mean()) for part in parts), (float(np.mean(outputs)),) * count, shares)


@dataclass
class Client:
    """A request in the replica: what it has done of its prompt and output."""

    prompt: int
    output: int
    sent_ps: int
    done: int = 0
    tokens: int = 0
    first_ps: int = 0


def played(curve: IterationCurve, budget: int, clients: int, lengths: Sequence[tuple[int, int]]) -> tuple[float, ...]:
    """TPOT, TTFT, requests/s and median gap of a closed loop, one iteration at a time: decodes and first prompts within
    the budget; a client's next request joins after the iteration that is under way. After the first quarter."""
    waiting = [Client(p, o, 0) for p, o in lengths]
    running, coming, now, ended = [waiting.pop() for _ in range(clients)], [], 0, []
    gaps: list[tuple[int, int]] = []
    while waiting:
        decodes = [c for c in running if c.done == c.prompt]
        room, chunks = budget - len(decodes), []
        for client in running:
            new = min(client.prompt - client.done, room)
            room -= new
            chunks += [(client, new)] if new else []
        took = curve.iteration_ps([(new, c.done) for c, new in chunks], [c.prompt + c.tokens - 1 for c in decodes])
        now += took
        gaps.append((took, len(decodes)))
        running, coming = running + coming, []
        for client, new in chunks:
            client.done += new
            client.first_ps = now
        for client in [*decodes, *(c for c, _ in chunks if c.done == c.prompt)]:
            client.tokens += 1
        for client in [c for c in running if c.tokens == c.output]:
            running.remove(client)
            ended.append((client, now))
            coming += [replace(waiting.pop(), sent_ps=now)] if waiting else []
    kept = ended[len(ended) // 4 :]
    tpot = np.mean([(end - c.first_ps) / (c.output - 1) for c, end in kept]) / PS_PER_S
    ttft = np.mean([c.first_ps - c.sent_ps for c, _ in kept]) / PS_PER_S
    every = np.repeat(*(np.array(column) for column in zip(*gaps[len(gaps) // 4 :], strict=True)))
    rate = (len(kept) - 1) / ((kept[-1][1] - kept[0][1]) / PS_PER_S)
    return float(tpot), float(ttft), rate, float(np.median(every)) / PS_PER_S


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("stages", [1, 4])
def test_alone_it_is_the_prompt_and_then_one_token_an_iteration(apart: bool, stages: int) -> None:
    found = closed_loop(CURVE, Lengths.of(3000, 101), Serving(4096, apart, stages=stages), 1)
    assert found.ttft_s == pytest.approx(stages * CURVE.iteration_ps([(3000, 0)], []) / PS_PER_S, rel=1e-9)
    steps = [CURVE.iteration_ps([], [3000 + step]) for step in range(100)]
    assert found.tpot_s == pytest.approx(stages * sum(steps) / 100 / PS_PER_S, rel=1e-9)
    assert found.req_per_s == pytest.approx(1 / (found.ttft_s + 100 * found.tpot_s))
    assert found.output_tokens_per_s == pytest.approx(101 * found.req_per_s)


def test_a_prompt_in_chunks_reads_what_is_cached_again() -> None:
    slow_to_read = replace(CURVE, chunk_read_ps=4000)
    budget = 513
    found = closed_loop(slow_to_read, Lengths.of(1024, 2), Serving(budget), 1)
    whole = slow_to_read.iteration_ps([(512, 0)], []) + slow_to_read.iteration_ps([(512, 512)], [])
    assert found.ttft_s == pytest.approx(whole / PS_PER_S, rel=1e-6)


CLOSED = [
    (SMALL_8B, 2048, 1000, 200, 0.8, 64),
    (SMALL_8B, 512, 1000, 200, 0.8, 32),
    (SMALL_8B, 2048, 1000, 200, 0.4, 8),
    (LARGE_70B, 2048, 8000, 1000, 0.5, 64),
    (LARGE_70B, 2048, 300, 300, 0.8, 256),
    (SMALL_8B, 8192, 300, 100, 0.8, 256),
]


@pytest.mark.parametrize(("what", "budget", "prompt", "output", "spread", "clients"), CLOSED)
def test_a_closed_loop_is_what_comes_of_playing_it(
    what: tuple[str, int], budget: int, prompt: int, output: int, spread: float, clients: int
) -> None:
    prompts, outputs = drawn(prompt, output, spread, max(clients * 12, 2000))
    curve = curve_of(*what)
    tpot, ttft, rate, median_gap = played(curve, budget, clients, list(zip(prompts, outputs, strict=True)))
    found = closed_loop(curve, classes(prompts, outputs), Serving(budget), clients)
    assert found.tpot_s == pytest.approx(tpot, rel=0.04)
    assert found.req_per_s == pytest.approx(rate, rel=0.04)
    assert found.ttft_s == pytest.approx(ttft, rel=0.12)
    assert found.median_gap_s == pytest.approx(median_gap, rel=0.06)


OPEN: list[tuple[str, dict[str, Any], tuple[str, int], int, float]] = [
    ("vllm_v1", {"token_budget": 2048}, SMALL_8B, 1, 8),
    ("vllm_v1", {"token_budget": 2048}, SMALL_8B, 1, 48),
    ("sarathi", {"token_budget": 512}, SMALL_8B, 1, 24),
    ("orca", {"max_batch_size": 64}, LARGE_70B, 1, 32),
    ("vllm", {"max_batch_tokens": 4096}, LARGE_70B, 1, 32),
    ("vllm_v1", {"token_budget": 1024}, LARGE_70B, 2, 64),
]


@pytest.mark.parametrize(("kind", "options", "what", "stages", "concurrency"), OPEN)
def test_an_open_loop_is_what_the_engine_simulates(
    kind: str, options: dict[str, Any], what: tuple[str, int], stages: int, concurrency: float
) -> None:
    """At the rate that a closed loop of so many settles to: TPOT within 5 %, TTFT within 20 %; with pipelines, whose
    micro-batches are unequal, within 12 %."""
    prompts, outputs = drawn(800, 200, 0.5, 4000)
    budget = options.get("token_budget") or options.get("max_batch_tokens") or math.inf
    serving = Serving(budget, prefill_apart=kind == "vllm", max_batch_size=512, stages=stages)
    curve, lengths = curve_of(*what, stages), classes(prompts, outputs)
    rate = closed_loop(curve, lengths, serving, concurrency).req_per_s
    found = open_loop(curve, lengths, serving, rate)
    simulated = engine_means(kind, options, what, stages, rate, prompts, outputs)
    assert found.tpot_s == pytest.approx(simulated[0], rel=0.05 if stages == 1 else 0.12)
    assert found.ttft_s == pytest.approx(simulated[1], rel=0.2)


def engine_means(
    kind: str, options: dict[str, Any], what: tuple[str, int], stages: int, rate: float,
    prompts: Sequence[int], outputs: Sequence[int],
) -> tuple[float, float]:  # fmt: skip
    pool = {"role": "mixed", "machine": "dgx-h100", "replicas": 1, "tensor_parallel": what[1]}
    case = decode_case(
        {
            "model": what[0],
            "pools": [{**pool, "pipeline_parallel": stages}],
            "scheduler": {"kind": kind, "max_batch_size": 512, **options},
            "memory": {"kv_tokens": 400_000, "reservation": "on_demand"},
            "slo": {"kind": "absolute", "limits": [{"metric": "ttft_s", "percentile": 99, "limit": 9.0}]},
        }
    )
    waits = np.random.default_rng(11).exponential(1 / rate, len(prompts))
    requests = Trace.of("drawn", [round(t * PS_PER_S) for t in np.cumsum(waits)], prompts, outputs)
    summary = simulate(case, requests, objective(case), (len(prompts) // 5, len(prompts))).summary
    assert summary.tpot_s.mean is not None
    assert summary.ttft_s.mean is not None
    return summary.tpot_s.mean, summary.ttft_s.mean


def test_littles_law_holds_and_more_clients_wait_longer() -> None:
    lengths, before = Lengths.of(500, 100), None
    for clients in (1, 2, 4, 16, 64, 300, 1000):
        found = closed_loop(CURVE, lengths, Serving(max_batch_size=256), clients)
        e2e_s = found.ttft_s + 99 * found.tpot_s
        assert found.req_per_s * e2e_s == pytest.approx(clients)
        assert found.saturated == (clients > 256)
        if before:
            assert found.req_per_s >= before.req_per_s * (1 - 1e-9)
            assert found.ttft_s > before.ttft_s
        before = found


def test_a_rate_beyond_all_places_is_saturated() -> None:
    lengths, serving = Lengths.of(500, 100), Serving(max_batch_size=64)
    full = offline(CURVE, lengths, serving)
    over = open_loop(CURVE, lengths, serving, full.req_per_s * 1.01)
    assert over.saturated
    assert over.ttft_s == math.inf
    assert over.req_per_s == full.req_per_s
    below = open_loop(CURVE, lengths, serving, full.req_per_s * 0.5)
    assert not below.saturated
    assert below.concurrency == pytest.approx(below.req_per_s * (below.ttft_s + 99 * below.tpot_s))


def test_kv_memory_limits_who_is_served() -> None:
    lengths = Lengths.of(1000, 101)
    held = 1000 + 99 / 2
    assert Serving(kv_tokens=10 * held).residents(lengths) == pytest.approx(10)
    few, many = (offline(CURVE, lengths, Serving(kv_tokens=places * held)) for places in (10, 20))
    assert few.req_per_s < many.req_per_s
    assert Serving(kv_tokens=1).residents(lengths) == 1


def test_a_budget_that_prompts_fill_bounds_the_rate() -> None:
    """1000 prompt tokens and 9 decodes a request: of 1024 tokens an iteration at most 1023/1009 requests end."""
    found = offline(CURVE, Lengths.of(1000, 10), Serving(1024, max_batch_size=200))
    assert found.req_per_s * found.iteration_s == pytest.approx(1023 / 1009, rel=0.01)
    assert found.ttft_s > 9 * found.tpot_s


def test_a_static_batch_is_its_prefill_and_its_decodes() -> None:
    found = static_batch(CURVE, Lengths.of(128, 33), Serving(4096), 16)
    prompts = CURVE.iteration_ps([(128, 0)] * 16, [])
    steps = [CURVE.iteration_ps([], [128 + step] * 16) for step in range(32)]
    assert found.ttft_s == pytest.approx(prompts / PS_PER_S, rel=1e-6)
    assert found.req_per_s == pytest.approx(16 / ((prompts + sum(steps)) / PS_PER_S), rel=1e-6)
    in_two = static_batch(CURVE, Lengths.of(128, 33), Serving(1024), 16)
    halves = 2 * CURVE.iteration_ps([(128, 0)] * 8, [])
    assert in_two.ttft_s == pytest.approx(halves / PS_PER_S, rel=1e-6)


def test_one_token_outputs_are_prefills_alone() -> None:
    found = closed_loop(CURVE, Lengths.of(1000, 1), Serving(), 1)
    assert found.tpot_s == 0
    assert found.req_per_s == pytest.approx(PS_PER_S / CURVE.iteration_ps([(1000, 0)], []), rel=1e-6)


def test_prompts_apart_stall_decodes() -> None:
    lengths = Lengths.of(2000, 50)
    found = closed_loop(CURVE, lengths, Serving(2048, prefill_apart=True), 32)
    alone = (CURVE.base_ps(BatchKind.DECODE, 32) + 32 * (CURVE.context_ps * lengths.context + 900)) / PS_PER_S
    prompt_s = CURVE.iteration_ps([(2000, 0)], []) / PS_PER_S
    assert found.tpot_s > alone + 0.5 * prompt_s * 32 / 50


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: Lengths((1.0,), (1.0, 2.0), (1.0,)), "lengths"),
        (lambda: Lengths((), (), ()), "lengths"),
        (lambda: Lengths.of(0, 5), "lengths"),
        (lambda: Lengths.of(5, math.nan), "lengths"),
        (lambda: Lengths((1.0, 2.0), (1.0, 2.0), (0.5, 0.4)), "shares"),
        (lambda: closed_loop(CURVE, Lengths.of(5, 5), Serving(), 0), "concurrency"),
        (lambda: open_loop(CURVE, Lengths.of(5, 5), Serving(), -1), "rate"),
        (lambda: offline(CURVE, Lengths.of(5, 5), Serving(max_batch_size=math.inf)), "max_batch_size"),
    ],
    ids=["columns", "none", "no prompt", "no output", "shares", "nobody", "no rate", "no end"],
)
def test_what_cannot_be_is_refused_by_name(made: Any, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        made()
