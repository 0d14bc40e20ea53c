"""What ``make bench`` simulates. A case's name is a path, GROUP/…/LOAD, so that ``--case`` can ask for a part of them.

Load is the arrival rate over the cluster's saturation throughput (``load.py``), in per cent.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

LOADS = (50, 80, 95)
QUICK_LOAD = 80
MIXES = ("conversation", "coding")
REQUESTS, FEW, MILLION = 100_000, 10_000, 1_000_000

Json = dict[str, Any]


@dataclass(frozen=True)
class BenchCase:
    """One workload on one cluster."""

    name: str
    case: Json
    mix: str = "conversation"
    load_percent: int = 80
    requests: int = REQUESTS
    plain: str | None = None
    """The case that this one is compared with, by time an event."""
    copies: int = 1
    """The cluster is so many of ``saturates``, whose saturation throughput is measured."""
    saturates: Json | None = field(default=None)


def pool(role: str, machine: str, machines: int, **parallel: int) -> Json:
    """So many machines; one replica each unless ``parallel`` says otherwise."""
    return {"role": role, "machine": machine, "machines": machines, "tensor_parallel": 8, **parallel}


def co_located(kind: str, model: str = "llama2-70b", machines: int = 1, **options: Any) -> Json:
    """DGX H100s that serve whole requests, iteration times as measured."""
    return {"model": model, "pools": [pool("mixed", "dgx-h100", machines)],
            "scheduler": {"kind": kind, **options}, "latency": {"source": "measured"}}  # fmt: skip


def split(prefill: int, decode: int, **options: Any) -> Json:
    """BLOOM-176B on DGX H100s split by phase, as in Splitwise's paper."""
    pools = [pool("prefill", "dgx-h100", prefill), pool("decode", "dgx-h100", decode)]
    scheduler = {"kind": "splitwise", **options}
    return {"model": "bloom-176b", "pools": pools, "scheduler": scheduler, "latency": {"source": "measured"}}


def pipeline(stages: int) -> Json:
    """One replica over a machine's eight accelerators, in so many stages; iteration times of the roofline."""
    parallel = {"tensor_parallel": 8 // stages, "pipeline_parallel": stages}
    return {"model": "llama2-70b", "pools": [pool("mixed", "dgx-h100", 1, **parallel)], "scheduler": SARATHI}


SARATHI = {"kind": "sarathi", "token_budget": 512}
REPLICAS = {
    "sarathi-512": co_located("sarathi", token_budget=512),
    "sarathi-2048": co_located("sarathi", token_budget=2048),
    "vllm": co_located("vllm"),
    "vllm_v1": co_located("vllm_v1"),
    "orca": co_located("orca"),
}
SPLIT = split(25, 15)
SLOW_NIC_BYTES_PER_S = 40e9
"""A decode machine's NIC is then busy two thirds of the time."""


def replicas() -> list[BenchCase]:
    """One replica under each scheduler, both mixes, three loads."""
    return [
        BenchCase(f"replica/{kind}/{mix}/{load}", case, mix, load)
        for kind, case in REPLICAS.items()
        for mix in MIXES
        for load in LOADS
    ]


def tight_memory() -> list[BenchCase]:
    """BLOOM-176B leaves a DGX H100 room for some forty requests: admission waits for KV, and some are preempted."""
    kinds = {"sarathi-512": SARATHI, "vllm": {"kind": "vllm"}, "vllm_v1": {"kind": "vllm_v1"}}
    return [
        BenchCase(f"tight-memory/{name}/conversation/95", co_located(model="bloom-176b", **scheduler), load_percent=95)
        for name, scheduler in kinds.items()
    ]


def other_kinds() -> list[BenchCase]:
    """The kinds without a goal of their own."""
    return [
        BenchCase("replica/request_level/conversation/80", co_located("request_level")),
        BenchCase(
            "cluster/splitwise_baseline/20/conversation/80", co_located("splitwise_baseline", "bloom-176b", machines=20)
        ),
    ]


def splits() -> list[BenchCase]:
    """Machines split by phase: plain, chunked, and with transfers that wait for each other."""
    plain = [BenchCase(f"splitwise/25+15/{mix}/80", SPLIT, mix) for mix in MIXES]
    chunked = {**split(25, 15, chunked=True, token_budget=1024), "kv_transfer": {"mode": "chunkwise"}}
    slow = {**SPLIT, "kv_transfer": {"bandwidth_bytes_per_s": SLOW_NIC_BYTES_PER_S, "contention": True}}
    return [
        *plain,
        BenchCase("splitwise-chunked/25+15/conversation/80", chunked, plain=plain[0].name),
        BenchCase("splitwise-slow-nic/25+15/conversation/80", slow, plain=plain[0].name),
    ]


def pipelines() -> list[BenchCase]:
    """The same accelerators in one, two and four stages."""
    one = BenchCase("pipeline/1/conversation/80", pipeline(1))
    return [one, *(BenchCase(f"pipeline/{n}/conversation/80", pipeline(n), plain=one.name) for n in (2, 4))]


def lengths() -> list[BenchCase]:
    """A case at ten thousand and at a million requests: time a request is flat."""
    bases = [BenchCase("sarathi-512", REPLICAS["sarathi-512"]), BenchCase("splitwise-25+15", SPLIT)]
    return [
        replace(base, name=f"flat/{base.name}/conversation/80/{n}", requests=n)
        for base in bases
        for n in (FEW, REQUESTS, MILLION)
    ]


def many_replicas() -> list[BenchCase]:
    """A million requests on forty machines."""
    one = REPLICAS["sarathi-512"]
    forty = co_located("sarathi", machines=40, token_budget=512)
    return [BenchCase("cluster/sarathi-512/40/conversation/80", forty, requests=MILLION, copies=40, saturates=one)]


def large() -> BenchCase:
    """A thousand machines, ten million requests."""
    machines = split(625, 375)
    return BenchCase("large/625+375/conversation/80", machines, requests=10 * MILLION, copies=25, saturates=SPLIT)


def all_cases() -> list[BenchCase]:
    """But for ``large``."""
    groups = (replicas, tight_memory, other_kinds, splits, pipelines, lengths, many_replicas)
    return [case for group in groups for case in group()]


AGAINST_ORACLE = (*(f"replica/{kind}/conversation/80" for kind in REPLICAS), "splitwise/25+15/conversation/80")
MEMORY = ("replica/sarathi-512/conversation/80", "replica/vllm/conversation/80", "splitwise/25+15/conversation/80")
