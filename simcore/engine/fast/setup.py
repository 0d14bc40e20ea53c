"""The cluster before its first event, and more room while it runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore.engine.fast.curve import curve_table, knot_array
from simcore.engine.fast.energy import Power, power_knot_array, power_of
from simcore.engine.fast.layout import Int64, Table, longer, table
from simcore.engine.fast.names import AGEINGS, DECODE_RUNS, KINDS, RESERVATIONS, ROLES, ROUTERS, TRANSFER_MODES
from simcore.engine.fast.state import (
    FOREVER,
    NONE,
    Cluster,
    MicroBatch,
    Progress,
    Replica,
    Request,
    Result,
    Selection,
    Settings,
    Task,
    Transfer,
)
from simcore.engine.inputs import ClusterInputs, SchedulerInputs, TransferInputs
from simcore.engine.outputs import NEVER, UNFINISHED
from simcore.latency.curve import IterationCurve

MORE_SLOTS, MORE_GAPS, MORE_SECONDS = 1, 2, 3
"""What ``cluster.advance`` may lack; 0: it is done."""

FIRST_SLOTS = 1024
FIRST_GAPS = 65_536
FIRST_SECONDS = 4096


def build_cluster(inputs: ClusterInputs) -> Cluster:
    """Every request not yet arrived, every replica empty."""
    replicas, stages, most = len(inputs.replicas), most_stages(inputs), most_members(inputs)
    pools = [[i for i, r in enumerate(inputs.replicas) if r.role == role] for role in ("prefill", "decode", "mixed")]
    return Cluster(
        settings=settings_row(inputs.scheduler, inputs.transfer, inputs.window),
        progress=table(Progress, 1, free_slots=FIRST_SLOTS),
        arrival_ps=column_of(inputs.arrival_ps),
        prompt_tokens=column_of(inputs.prompt_tokens),
        output_tokens=column_of(inputs.output_tokens),
        cached_prompt_tokens=column_of(inputs.cached_prompt_tokens),
        max_output_tokens=column_of(inputs.max_output_tokens),
        results=empty_results(len(inputs.arrival_ps)),
        requests=table(Request, FIRST_SLOTS),
        tasks=table(Task, 2 * FIRST_SLOTS),
        transfers=table(Transfer, FIRST_SLOTS + 1),
        free_slots=np.arange(FIRST_SLOTS)[::-1].astype(np.int64),
        replicas=replica_table(inputs),
        next_ps=np.full(replicas, FOREVER),
        due=np.zeros(replicas, np.int64),
        flights=table(MicroBatch, (replicas, stages)),
        members=np.zeros((replicas, stages, most), np.int64),
        new_tokens=np.zeros((replicas, stages, most), np.int64),
        running=np.zeros((replicas, most), np.int64),
        selection=table(Selection, 1),
        chosen=np.zeros(most, np.int64),
        pools=np.array([pool + [NONE] * (replicas - len(pool)) for pool in pools], np.int64),
        pool_sizes=np.array([len(pool) for pool in pools], np.int64),
        next_in_turn=np.zeros(2, np.int64),
        stage_free_ps=np.zeros((replicas, stages), np.int64),
        stage_start_ps=np.zeros((replicas, stages, stages), np.int64),
        curves=curve_table(distinct_curves(inputs)),
        curve_knots=knot_array(distinct_curves(inputs)),
        power_knots=power_knot_array(distinct_powers(inputs)),
        gap_ps=np.zeros(FIRST_GAPS + most, np.int64),
        gap_count=np.zeros(FIRST_GAPS + most, np.int64),
        energy_by_second_nj=np.zeros(FIRST_SECONDS, np.int64),
    )


def most_stages(inputs: ClusterInputs) -> int:
    """Pipeline stages of the replica that has most."""
    return max(replica.stages for replica in inputs.replicas)


def most_members(inputs: ClusterInputs) -> int:
    """Requests that a replica may run at once, and so the most in one of its micro-batches."""
    return max(min(inputs.scheduler.max_batch_size, len(inputs.arrival_ps)), 1)


def distinct_curves(inputs: ClusterInputs) -> list[IterationCurve]:
    """Each curve once, in the order of the replicas."""
    return list(dict.fromkeys(replica.curve for replica in inputs.replicas))


def distinct_powers(inputs: ClusterInputs) -> list[Power]:
    """Each table of power once, in the order of the replicas."""
    return list(dict.fromkeys(power_of(replica) for replica in inputs.replicas))


def column_of(values: Int64) -> Int64:
    """As the compiled code takes it; not copied where it is so already."""
    return np.ascontiguousarray(values, dtype=np.int64)


def empty_results(requests: int) -> Table[Result]:
    """Nothing has happened to any request."""
    return table(Result, requests, status=UNFINISHED, first_scheduled_ps=NEVER, first_token_ps=NEVER,
                 finish_ps=NEVER, prefill_replica=NEVER, decode_replica=NEVER)


def settings_row(scheduler: SchedulerInputs, transfer: TransferInputs, window: tuple[int, int]) -> Table[Settings]:
    """Names as numbers; the seed as the signed number with its 64 bits."""
    same = ("token_budget", "max_batch_tokens", "max_batch_size", "block_tokens", "max_model_tokens", "mixed_pool",
            "prompt_pending_limit", "padded_prompts", "preempt_when_full")
    return table(
        Settings, 1, **{name: int(getattr(scheduler, name)) for name in same},
        kind=KINDS.index(scheduler.kind),
        reservation=RESERVATIONS.index(scheduler.reservation),
        ageing=AGEINGS.index(scheduler.ageing),
        decode_runs=DECODE_RUNS.index(scheduler.decode_runs),
        one_by_one=int(scheduler.simultaneous_arrivals == "one_by_one"),
        router=ROUTERS.index(scheduler.router),
        pool_order=int(scheduler.router_ties == "pool_order"),
        seed=signed_64_bits(scheduler.seed),
        transfer_mode=TRANSFER_MODES.index(transfer.mode),
        transfer_ps_per_token=transfer.ps_per_token,
        contention=int(transfer.contention),
        setup_ps=transfer.setup_ps,
        retry_ps=transfer.retry_ps,
        layers=transfer.layers,
        first_in_window=window[0],
        end_of_window=window[1],
    )


def signed_64_bits(number: int) -> int:
    """The lowest 64 bits as a signed number."""
    return (number & 2**64 - 1 ^ 2**63) - 2**63


def replica_table(inputs: ClusterInputs) -> Table[Replica]:
    """An empty replica each; its watermark is rounded down to whole blocks."""
    replicas, share = inputs.replicas, inputs.scheduler.watermark_blocks_share
    curves, powers = distinct_curves(inputs), distinct_powers(inputs)
    knots = [len(power[0]) for power in powers]
    nothing = ("first_task", "last_task", "first_prompt", "last_prompt", "first_interrupted", "last_interrupted",
               "first_present", "last_present")
    return table(
        Replica, len(replicas), **dict.fromkeys(nothing, NONE),
        index=range(len(replicas)),
        curve=[curves.index(replica.curve) for replica in replicas],
        role=[ROLES.index(replica.role) for replica in replicas],
        stages=[replica.stages for replica in replicas],
        kv_blocks=[replica.kv_blocks for replica in replicas],
        free_blocks=[replica.kv_blocks for replica in replicas],
        watermark_blocks=[int(share * replica.kv_blocks) for replica in replicas],
        transfer_ps_per_token=[replica.transfer_ps_per_token for replica in replicas],
        first_power_knot=[sum(knots[: powers.index(power_of(replica))]) for replica in replicas],
        power_knots=[len(replica.power_tokens) for replica in replicas],
    )


def enlarge(cluster: Cluster, lacking: int, seconds: int) -> Cluster:
    """More room for what ``cluster.advance`` says is lacking; twice as much, or as much as is asked for."""
    if lacking == MORE_SLOTS:
        return with_more_slots(cluster)
    if lacking == MORE_GAPS:
        return with_room_for_gaps(cluster)
    length = max(2 * len(cluster.energy_by_second_nj), seconds + 1)
    series = np.zeros(length, np.int64)
    series[: len(cluster.energy_by_second_nj)] = cluster.energy_by_second_nj
    return cluster._replace(energy_by_second_nj=series)


def with_more_slots(cluster: Cluster) -> Cluster:
    """Twice the slots. Their numbers stay; the new ones are free."""
    progress: Any = cluster.progress
    slots, free = len(cluster.requests), int(progress["free_slots"][0])
    free_slots = np.zeros(2 * slots, np.int64)
    free_slots[:slots] = np.arange(slots, 2 * slots)[::-1]
    free_slots[slots : slots + free] = cluster.free_slots[:free]
    progress["free_slots"] += slots
    return cluster._replace(free_slots=free_slots, requests=longer(cluster.requests, 2 * slots),
                            tasks=longer(cluster.tasks, 4 * slots), transfers=longer(cluster.transfers, 2 * slots + 1))


def with_room_for_gaps(cluster: Cluster) -> Cluster:
    """The runs of gaps merged; where that frees less than half of the room, twice as much as well."""
    progress: Any = cluster.progress
    gap_ps, gap_count = merged_gaps(cluster)
    length = len(cluster.gap_ps)
    if 2 * len(gap_ps) > length:
        length *= 2
    progress["gaps"] = len(gap_ps)
    room = np.zeros((2, length), np.int64)
    room[0, : len(gap_ps)], room[1, : len(gap_ps)] = gap_ps, gap_count
    return cluster._replace(gap_ps=room[0], gap_count=room[1])


def merged_gaps(cluster: Cluster) -> tuple[Int64, Int64]:
    """Distinct gaps, increasing, and how often each was met."""
    progress: Any = cluster.progress
    runs = int(progress["gaps"][0])
    order = np.argsort(cluster.gap_ps[:runs], kind="stable")
    gaps = cluster.gap_ps[:runs][order]
    firsts = np.flatnonzero(np.diff(gaps, prepend=NEVER))
    if not runs:
        return gaps, gaps.copy()
    return gaps[firsts], np.add.reduceat(cluster.gap_count[:runs][order], firsts)
