"""One replica of each pool, and the load that it has in the whole design."""

from __future__ import annotations

from dataclasses import dataclass

from simcore.catalogue import resolve_machine, resolve_model
from simcore.fleet import replica_count
from simcore.latency.compile import compile_curve
from simcore.latency.curve import IterationCurve
from simcore.memory import kv_capacity
from simcore.spec import Case, Machine, PoolSpec, SpecError

RUN_BY = {
    "vllm_v1": "vLLM",
    "sarathi": "vLLM",
    "vllm": "vLLM up to 0.10, engine V0",
    "splitwise": "vLLM with NIXL between two servers",
}
"""Scheduler kinds that an engine of today runs, or one whose version can still be had."""


@dataclass(frozen=True)
class PilotPool:
    """One replica of a pool."""

    role: str
    machine: Machine
    tensor_parallel: int
    pipeline_parallel: int
    replicas: int
    """In the whole design."""
    curve: IterationCurve
    kv_tokens: int

    @property
    def accelerators(self) -> int:
        """That the replica takes."""
        return self.tensor_parallel * self.pipeline_parallel


@dataclass(frozen=True)
class Part:
    """The smallest part of a design that shows its claim: ``pools`` is one mixed replica, or prefill and decode."""

    case: Case
    pools: tuple[PilotPool, ...]

    @property
    def split(self) -> bool:
        """Whether prompts and decodes have a replica each."""
        return len(self.pools) == 2


def smallest_part(case: Case) -> Part:
    """One replica of the design, or one of each phase; SpecError where no engine runs its scheduler, or where pools are
    more than that (two kinds of mixed machine have a claim each)."""
    kind = case.scheduler.kind
    if kind not in RUN_BY:
        raise SpecError(
            f"scheduler.kind: found {kind}, which no engine of today runs, expected one of {', '.join(RUN_BY)}"
        )
    roles = [pool.role for pool in case.pools]
    if roles not in (["mixed"], ["prefill", "decode"], ["decode", "prefill"]):
        raise SpecError(
            f"pools: found roles {', '.join(roles)}, expected one mixed, or one prefill and one decode pool"
        )
    pools = sorted(case.pools, key=lambda pool: pool.role, reverse=True)  # prefill first
    return Part(case, tuple(_replica(case, pool) for pool in pools))


def _replica(case: Case, pool: PoolSpec) -> PilotPool:
    model, machine = resolve_model(case.model), resolve_machine(pool.machine)
    degrees = (pool.tensor_parallel, pool.pipeline_parallel)
    curve = compile_curve(model, machine, *degrees, pool.latency or case.latency)
    kv_tokens = kv_capacity(model, machine, *degrees, case.memory).tokens
    return PilotPool(pool.role, machine, *degrees, replica_count(pool), curve, kv_tokens)
