"""Some hundred requests over up to ten replicas, from a seed: long queues, full memory, many transfers at once, moving
pools."""

from __future__ import annotations

import dataclasses

import numpy as np

from simcore.engine.inputs import ClusterInputs, ReplicaInputs, TransferInputs
from simcore.latency.curve import IterationCurve
from simcore.spec import AvailabilityState
from tests.clusters import NS, cluster, replica, scheduler
from tests.invariants.strategies import CHUNKED, RESERVATIONS, SPLITWISE

REQUESTS = 300
CURVE = IterationCurve(
    (0, 64, 512, 4096),
    (1000 * NS, 1800 * NS, 9000 * NS, 80_000 * NS),
    (900 * NS, 1000 * NS, 1500 * NS, 9000 * NS),
    (1100 * NS, 2000 * NS, 9900 * NS, 88_000 * NS),
    attention=2000,
    chunk_read_ps=40,
    context_ps=700,
    decode_seq_ps=3000,
)


def long_run(kind: str, seed: int) -> ClusterInputs:
    """Lengths and bursts as in conversations, scaled down; load around what the replicas can do, KV tight."""
    rng = np.random.default_rng([seed, len(kind)])
    replicas = replicas_of(kind, rng)
    gap_ps = int(rng.choice([1, 2, 8])) * 1000 * NS * 10 // len(replicas)
    arrivals = np.cumsum(rng.exponential(gap_ps, REQUESTS)).astype(np.int64)
    if rng.random() < 0.5:
        arrivals = arrivals // (8 * gap_ps) * 8 * gap_ps
    prompts = np.minimum(rng.lognormal(5.5, 1.0, REQUESTS) + 1, 3000).astype(np.int64)
    outputs = np.minimum(rng.lognormal(3.0, 0.8, REQUESTS) + 1, 200).astype(np.int64)
    rows = list(zip((arrivals // NS).tolist(), prompts.tolist(), outputs.tolist(), strict=True))
    piped = kind in SPLITWISE and any(replica.stages > 1 for replica in replicas)
    policy = scheduler(
        kind,
        token_budget=256,
        max_batch_size=int(rng.choice([8, 64])),
        router=str(rng.choice(["jsq", "jsq", "round_robin", "least_kv"])),
        router_ties=str(rng.choice(["index", "pool_order"])),
        ageing=str(rng.choice(["fair", "fair", "splitwise-sim"])),
        decode_runs="stepwise" if piped else str(rng.choice(["stepwise", "contiguous"])),
        prompt_pending_limit=int(rng.choice([500, 8192])),
        reservation=str(rng.choice([name for name in RESERVATIONS[kind] if name != "max_length"])),
        watermark_blocks_share=float(rng.choice([0.0, 0.01, 0.1])),
        preempt_when_full=bool(rng.random() < 0.3),
        seed=seed,
        **({"full_layers": 18, "windowed_layers": 18, "window_tokens": 128} if seed % 2 else {}),
    )
    cached = np.where(rng.random(REQUESTS) < 0.3, rng.integers(0, prompts), 0)
    limits = outputs + rng.integers(0, 50, REQUESTS) if rng.random() < 0.5 else np.zeros(REQUESTS, np.int64)
    window = (REQUESTS // 10, REQUESTS - REQUESTS // 10) if seed % 2 else None
    return cluster(policy, rows, replicas, transfers_of(kind, rng), cached.tolist(), limits.tolist(), window)


def replicas_of(kind: str, rng: np.random.Generator) -> list[ReplicaInputs]:
    """Four to ten, of one size each pool; one or two stages in each pool."""
    roles = ["mixed"] * int(rng.integers(4, 8))
    if kind in ("splitwise", CHUNKED):
        roles = ["prefill"] * int(rng.integers(2, 6)) + ["decode"] * int(rng.integers(2, 5))
    stages = {role: int(rng.integers(1, 3)) for role in dict.fromkeys(roles)}
    kv_blocks = int(rng.choice([220, 250, 400, 2000]))
    return [replica(role, curve=CURVE, stages=stages[role], kv_blocks=kv_blocks, transfer_ps_per_token=5 * NS)
            for role in roles]  # fmt: skip


def transfers_of(kind: str, rng: np.random.Generator) -> TransferInputs:
    """Whole or early, contended or not, waiting or polling for room."""
    return TransferInputs(
        mode=str(rng.choice(["serialized", "chunkwise" if kind == CHUNKED else "layerwise"])),
        ps_per_token=int(rng.choice([0, 200 * NS])),
        contention=bool(rng.random() < 0.5),
        setup_ps=500 * NS,
        block_tokens=int(rng.choice([0, 256])),
        retry_ps=int(rng.choice([0, 50_000 * NS])),
        layers=10,
    )


def wide_run(kind: str, seed: int) -> ClusterInputs:
    """A long run on nine times as many replicas, up to ninety, and nine times as fast, by each router."""
    inputs = long_run(kind, seed)
    router = ("jsq", "least_waiting", "random", "round_robin")[seed % 4]
    return dataclasses.replace(
        inputs,
        replicas=inputs.replicas * 9,
        arrival_ps=inputs.arrival_ps // (9 * NS) * NS,
        scheduler=dataclasses.replace(inputs.scheduler, router=router, router_ties="index"),
    )


def crowded_run(kind: str, seed: int) -> ClusterInputs:
    """A long run on one decode replica beside all others, whose KV holds hundreds of decodes and whose batches a few:
    those that have waited longest put the others out at every iteration."""
    inputs = long_run(kind, seed)
    first = dataclasses.replace(inputs.replicas[0], role="prefill", kv_blocks=2000, stages=1 + seed % 2)
    return dataclasses.replace(
        inputs,
        replicas=(first,) * 5 + (dataclasses.replace(first, role="decode", kv_blocks=40_000),),
        arrival_ps=inputs.arrival_ps // (16 * NS) * NS,
        scheduler=dataclasses.replace(
            inputs.scheduler, max_batch_size=8, ageing="fair", decode_runs="stepwise", router_ties="index"
        ),
    )


def failing_run(kind: str, seed: int) -> ClusterInputs:
    """A long run in which each replica drains, fails or starts again now and then, and is up at the end."""
    inputs = long_run(kind, seed)
    rng = np.random.default_rng([seed, len(kind), 1])
    return dataclasses.replace(
        inputs,
        replicas=tuple(
            dataclasses.replace(each, availability=random_schedule(rng, int(inputs.arrival_ps[-1])))
            for each in inputs.replicas
        ),
    )


def random_schedule(rng: np.random.Generator, last_ps: int) -> tuple[tuple[int, AvailabilityState], ...]:
    """Up to four changes up to a time, then up."""
    times = np.sort(rng.integers(0, last_ps, int(rng.integers(0, 5)))).tolist()
    states: tuple[AvailabilityState, ...] = ("up", "starting", "draining", "failed")
    return (*((ps, states[int(rng.integers(len(states)))]) for ps in times), (last_ps, "up"))
