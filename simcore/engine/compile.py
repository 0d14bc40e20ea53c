"""``compile_case``: from a case and a trace to what the engines run, every default of CONTRACT.md resolved."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

from simcore.budget import auto_budget
from simcore.catalogue import resolve_machine, resolve_model
from simcore.engine.inputs import ClusterInputs, ReplicaInputs, SchedulerInputs, TransferInputs
from simcore.fleet import replica_count
from simcore.latency.compile import compile_curve
from simcore.memory import KvCapacity, kv_capacity
from simcore.power import stage_power
from simcore.same import Same
from simcore.scheduler_defaults import BATCH_SIZES, BATCH_TOKENS, TOKEN_BUDGETS
from simcore.spec import AUTO, AvailabilityState, Case, Model, PoolSpec, SpecError
from simcore.traces import Trace
from simcore.transfer import PS_PER_S, ps_per_token, replica_nic_bytes_per_s
from simcore.words import counted

SPLITWISE_KINDS = ("splitwise", "splitwise_baseline")
DEFAULT_RESERVATION = {
    "sarathi": "on_demand",
    "vllm": "on_demand",
    "vllm_v1": "on_demand",
    "splitwise": "output_at_decode",
    "splitwise_baseline": "output_at_decode",
}
"""``orca`` and ``request_level``: the longest request, or the request's own length where no longest is given."""
DEFAULT_WATERMARK = {"sarathi": 0.01, "vllm": 0.01}
WHOLE_RESERVATIONS = ("full_output", "max_length")
KEPT = 16
"""Cases that are kept compiled."""


def compile_case(case: Case, trace: Trace, window: tuple[int, int] | None = None) -> ClusterInputs:
    """A case with the requests it serves, in whole numbers.

    ``window``: first and one past the last request whose token gaps are kept; all where not given. SpecError
    (DoesNotFit among them) names what cannot run and why.
    """
    batch_tokens = case.scheduler.max_batch_tokens or _default_batch_tokens(case.scheduler.kind, trace)
    return ClusterInputs(*_cluster(Same(case), batch_tokens), **_load(trace, window))


@lru_cache(maxsize=KEPT)
def _cluster(
    same: Same[Case], max_batch_tokens: int
) -> tuple[tuple[ReplicaInputs, ...], SchedulerInputs, TransferInputs]:
    """All of a case that does not depend on the requests: the same objects while it is kept."""
    case = same.value
    _check_kind(case)
    model = resolve_model(case.model)
    capacities = [_pool_capacity(case, model, pool) for pool in case.pools]
    replicas = tuple(
        replica
        for index, pool in enumerate(case.pools)
        for replica in _pool_replicas(case, model, index, pool, capacities[index])
    )
    return replicas, _scheduler(case, model, max_batch_tokens), _transfer(case, model, capacities[0])


def with_load(inputs: ClusterInputs, trace: Trace, window: tuple[int, int] | None = None) -> ClusterInputs:
    """The same cluster and rules with other requests."""
    return replace(inputs, **_load(trace, window))


def _load(trace: Trace, window: tuple[int, int] | None) -> dict[str, Any]:
    return {
        "arrival_ps": trace.arrival_ps,
        "prompt_tokens": trace.prompt_tokens,
        "output_tokens": trace.output_tokens,
        "cached_prompt_tokens": trace.cached_prompt_tokens,
        "max_output_tokens": trace.max_output_tokens,
        "window": window or (0, len(trace)),
    }


def _check_kind(case: Case) -> None:
    """What a kind cannot do is refused by name."""
    reservation = _reservation(case)
    if reservation == "max_length" and case.memory.max_model_tokens is None:
        raise SpecError("memory.max_model_tokens: found null, expected a whole number with reservation max_length")
    if case.scheduler.kind == "request_level" and reservation not in WHOLE_RESERVATIONS:
        raise SpecError(
            f"memory.reservation: found {reservation} with scheduler kind request_level, expected full_output or"
            " max_length: a batch keeps its requests to the end, none of them can be preempted"
        )
    if case.scheduler.kind not in SPLITWISE_KINDS:
        return
    if reservation == "on_demand":
        raise SpecError(
            f"memory.reservation: found on_demand with scheduler kind {case.scheduler.kind}, expected"
            " output_at_decode, full_output or max_length: a decode machine could not recompute what it"
            " preempts"
        )
    for index, pool in enumerate(case.pools):
        if pool.pipeline_parallel > 1 and case.scheduler.decode_runs == "contiguous":
            raise SpecError(
                f"scheduler.decode_runs: found contiguous with pools[{index}].pipeline_parallel"
                f" {pool.pipeline_parallel}, expected stepwise: the simulator that it follows has no pipelines"
            )


def _reservation(case: Case) -> str:
    longest = "full_output" if case.memory.max_model_tokens is None else "max_length"
    return case.memory.reservation or DEFAULT_RESERVATION.get(case.scheduler.kind, longest)


def _watermark(case: Case) -> float:
    given = case.memory.watermark
    return DEFAULT_WATERMARK.get(case.scheduler.kind, 0.0) if given is None else given


def _pool_capacity(case: Case, model: Model, pool: PoolSpec) -> KvCapacity:
    machine = resolve_machine(pool.machine)
    return kv_capacity(model, machine, pool.tensor_parallel, pool.pipeline_parallel, case.memory)


def _pool_replicas(case: Case, model: Model, index: int, pool: PoolSpec, capacity: KvCapacity) -> list[ReplicaInputs]:
    """The pool's replicas, alike but for when they are up."""
    machine = resolve_machine(pool.machine)
    parallel = (pool.tensor_parallel, pool.pipeline_parallel)
    nic = replica_nic_bytes_per_s(machine.nic_bytes_per_s, *parallel)
    curve = compile_curve(model, machine, *parallel, pool.latency or case.latency)
    power = stage_power(model, machine, *parallel, curve)
    alike = ReplicaInputs(
        pool=index,
        role=pool.role,
        curve=curve,
        stages=pool.pipeline_parallel,
        kv_blocks=capacity.blocks,
        transfer_ps_per_token=ps_per_token(capacity.kv_bytes_per_token, nic),
        power_mw=power.milliwatts,
        power_tokens=power.tokens,
    )
    count = replica_count(pool)
    _check_availability(index, pool, count)
    if not pool.availability:
        return [alike] * count
    return [replace(alike, availability=_availability(pool, position)) for position in range(count)]


def _check_availability(index: int, pool: PoolSpec, count: int) -> None:
    for i, change in enumerate(pool.availability):
        if change.replica is not None and change.replica >= count:
            raise SpecError(
                f"pools[{index}].availability[{i}].replica: found {change.replica}, expected null (all) or at most"
                f" {count - 1}: the pool has {counted(count, 'replica')}, numbered from 0"
            )


def _availability(pool: PoolSpec, position: int) -> tuple[tuple[int, AvailabilityState], ...]:
    """What is said of one replica of the pool, by time; of one moment in the order given."""
    changes = [
        (round(change.at_s * PS_PER_S), change.state)
        for change in pool.availability
        if change.replica in (None, position)
    ]
    return tuple(sorted(changes, key=lambda change: change[0]))


def _scheduler(case: Case, model: Model, max_batch_tokens: int) -> SchedulerInputs:
    given, kind = case.scheduler, case.scheduler.kind
    return SchedulerInputs(
        kind=kind,
        token_budget=_token_budget(case),
        max_batch_tokens=max_batch_tokens,
        max_batch_size=given.max_batch_size or BATCH_SIZES[kind],
        block_tokens=case.memory.block_tokens,
        watermark_blocks_share=_watermark(case),
        reservation=_reservation(case),
        max_model_tokens=case.memory.max_model_tokens or 0,
        mixed_pool=given.mixed_pool,
        chunked=given.chunked,
        prompt_pending_limit=given.prompt_pending_limit,
        padded_prompts=given.padded_prompts,
        preempt_when_full=given.preempt_when_full,
        pad_compute=given.pad_compute and kind == "request_level",
        keep_finished=given.keep_finished and kind == "request_level",
        ageing=given.ageing,
        decode_runs=given.decode_runs,
        simultaneous_arrivals=case.simultaneous_arrivals or _default_simultaneous(kind),
        router=case.router,
        router_ties=case.router_ties,
        seed=case.seed,
        full_layers=model.layers - model.windowed_layers,
        windowed_layers=model.windowed_layers,
        window_tokens=model.window_tokens or 0,
    )


def _token_budget(case: Case) -> int:
    budget = case.scheduler.token_budget
    if budget == AUTO:
        return auto_budget(case).tokens
    if budget is not None:
        return budget
    if case.scheduler.chunked:
        return case.scheduler.max_batch_tokens or BATCH_TOKENS
    return TOKEN_BUDGETS.get(case.scheduler.kind, TOKEN_BUDGETS["sarathi"])


def _default_batch_tokens(kind: str, trace: Trace) -> int:
    """vLLM's own default: no prompt is longer than its batch."""
    return max(BATCH_TOKENS, int(trace.prompt_tokens.max())) if kind == "vllm" else BATCH_TOKENS


def _default_simultaneous(kind: str) -> str:
    return "one_by_one" if kind in SPLITWISE_KINDS else "together"


def _transfer(case: Case, model: Model, capacity: KvCapacity) -> TransferInputs:
    """Bandwidth and times in whole ps; a replica's KV bytes a token are the model's, whichever pool."""
    given = case.kv_transfer
    bandwidth = given.bandwidth_bytes_per_s
    return TransferInputs(
        mode=given.mode,
        ps_per_token=0 if bandwidth is None else ps_per_token(capacity.kv_bytes_per_token, bandwidth),
        contention=given.contention,
        setup_ps=round((given.setup_s or 0.0) * PS_PER_S),
        block_tokens=given.block_tokens or 0,
        retry_ps=max(round((given.retry_s or 0.0) * PS_PER_S), int(given.retry_s is not None)),
        layers=model.layers,
    )
