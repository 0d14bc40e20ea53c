"""The cluster before its first event, and more room while it runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simcore.engine.fast.curve import curve_table, knot_array
from simcore.engine.fast.energy import Power, power_knot_array, power_of
from simcore.engine.fast.flat_minimum import flat_row, ranges_of
from simcore.engine.fast.gap_record import GapRecord
from simcore.engine.fast.gap_state import GapRun
from simcore.engine.fast.group_state import Group
from simcore.engine.fast.known import TOKENS_REMEMBERED, Known
from simcore.engine.fast.layout import table
from simcore.engine.fast.loads import MEASURES_KEPT, kept_loads, loads_at_start
from simcore.engine.fast.names import AGEINGS, DECODE_RUNS, KINDS, RESERVATIONS, ROLES, ROUTERS, STATES, TRANSFER_MODES
from simcore.engine.fast.pools import ROLE_OF_POOL
from simcore.engine.fast.state import (
    GAP_PARTS,
    KINDS_OF_BATCH,
    NONE,
    Cluster,
    MicroBatch,
    Replica,
    Request,
    Result,
    Task,
    Transfer,
    WaitLimit,
    Work,
)
from simcore.engine.inputs import UNDIVIDED_KINDS, ClusterInputs
from simcore.engine.outputs import BubbleCause
from simcore.latency.curve import PS_PER_S, IterationCurve

MORE_SLOTS, MORE_GAPS, MORE_SECONDS = 1, 2, 3
"""What ``cluster.advance`` may lack; 0: it is done."""

FIRST_SLOTS = 1024
FIRST_GAPS = 65_536
FIRST_SECONDS = 4096


@dataclass
class Memory:
    """The ``Cluster`` record, and the tables that its fields hold the addresses of, by field."""

    cluster: NDArray[Any]
    record: GapRecord
    tables: dict[str, NDArray[Any]] = field(default_factory=dict)

    @property
    def address(self) -> int:
        """What compiled code is given."""
        return int(self.cluster.ctypes.data)

    def put(self, name: str, rows: NDArray[Any]) -> None:
        """Have the record point to this table from now on."""
        self.tables[name] = rows
        self.cluster[name] = rows.ctypes.data

    def get(self, name: str) -> int:
        """A field of the record."""
        return int(self.cluster[name][0])

    def lengthen(self, name: str, length: int) -> None:
        """Room for more rows, zeros so far."""
        rows = np.zeros(length, self.tables[name].dtype)
        rows[: len(self.tables[name])] = self.tables[name]
        self.put(name, rows)


def build_memory(inputs: ClusterInputs, record: GapRecord) -> Memory:
    """Every request not yet arrived, every replica empty."""
    sizes = {
        "most_stages": most_stages(inputs),
        "most_members": most_members(inputs),
        "trace_requests": len(inputs.arrival_ps),
        "replica_count": len(inputs.replicas),
        "ranges": ranges_of(len(inputs.replicas)),
        "flat_length": len(flat_row(ranges_of(len(inputs.replicas)))),
    }
    memory = Memory(table(Cluster, 1, **settings(inputs), **sizes), record)
    put_trace(memory, inputs)
    put_wait_limits(memory, inputs)
    put_replicas(memory, inputs)
    put_room(memory)
    return memory


def put_trace(memory: Memory, inputs: ClusterInputs) -> None:
    """The trace, not copied where it is in compiled code's form already, and room for the results."""
    for name in ("arrival_ps", "prompt_tokens", "output_tokens", "cached_prompt_tokens", "max_output_tokens"):
        memory.put(name, np.ascontiguousarray(getattr(inputs, name), dtype=np.int64))
    memory.put("results", table(Result, len(inputs.arrival_ps)))


def put_wait_limits(memory: Memory, inputs: ClusterInputs) -> None:
    """The limits that a run is given up for."""
    limits = inputs.wait_limits
    rows = [np.ascontiguousarray(limit.limit_ps, dtype=np.int64) for limit in limits]
    memory.tables |= {f"limit_ps_{i}": row for i, row in enumerate(rows)}
    memory.put(
        "wait_limits",
        table(
            WaitLimit,
            len(limits),
            wait=[limit.wait for limit in limits],
            allowed=[limit.allowed for limit in limits],
            limit_ps=[row.ctypes.data for row in rows],
        ),
    )
    memory.cluster["wait_limit_count"] = len(limits)


def put_replicas(memory: Memory, inputs: ClusterInputs) -> None:
    """Replicas with their curves, power, pools, and rows for their batches."""
    replicas, stages, most = len(inputs.replicas), most_stages(inputs), most_members(inputs)
    memory.put("replicas", replica_table(inputs))
    memory.put("built_replicas", memory.tables["replicas"].copy())
    put_changes(memory, inputs)
    curves = distinct_curves(inputs)
    memory.put("curves", curve_table(curves))
    memory.put("curve_knots", knot_array(curves))
    memory.put("power_knots", power_knot_array(distinct_powers(inputs)))
    rows = len(distinct_physics(inputs)) * KINDS_OF_BATCH * TOKENS_REMEMBERED
    memory.put("known", table(Known, rows))
    memory.put("flights", table(MicroBatch, replicas * stages))
    memory.put("groups", table(Group, replicas))
    memory.put("works", table(Work, replicas * KINDS_OF_BATCH))
    memory.put("next_ps", flat_row(ranges_of(replicas)))
    lengths = {
        "due": replicas,
        "members": replicas * stages * most,
        "new_tokens": replicas * stages * most,
        "running": replicas * most,
        "chosen": most,
        "finish_steps": replicas * most,
        "max_gaps_ps": replicas * most,
        "growing": replicas * inputs.scheduler.block_tokens,
        "next_in_turn": 2,
        "stage_free_ps": replicas * stages,
        "stage_start_ps": replicas * stages * stages,
        "gaps_ps": replicas * stages * stages * GAP_PARTS,
        "bubble_ps": replicas * stages * len(BubbleCause),
    }
    for name, length in lengths.items():
        memory.put(name, np.zeros(length, np.int64))
    put_pools(memory, inputs)


def put_pools(memory: Memory, inputs: ClusterInputs) -> None:
    """Every replica in the pool of its role, with no load."""
    replicas = len(inputs.replicas)
    pools = [[i for i, replica in enumerate(inputs.replicas) if replica.role == role] for role in ROLE_OF_POOL]
    memory.put("pools", np.array([pool + [NONE] * (replicas - len(pool)) for pool in pools], np.int64))
    memory.put("pool_sizes", np.array([len(pool) for pool in pools], np.int64))
    memory.cluster["kept_loads"] = sum(1 << measure for measure in kept_loads(inputs))
    memory.cluster["smallest_kv_blocks"] = min(replica.kv_blocks for replica in inputs.replicas)
    memory.cluster["largest_kv_blocks_up"] = max(replica.kv_blocks for replica in inputs.replicas)
    memory.put("loads", np.concatenate([loads_at_start(pool, replicas) for pool in pools] * MEASURES_KEPT))


def put_changes(memory: Memory, inputs: ClusterInputs) -> None:
    """All replicas' changes of availability by time, then by replica, then as given."""
    changes = [
        (ps, index, STATES.index(state))
        for index, replica in enumerate(inputs.replicas)
        for ps, state in replica.availability
    ]
    memory.put("changes", np.array(sorted(changes, key=lambda change: change[:2]), np.int64).reshape(-1))
    memory.cluster["change_count"] = len(changes)
    memory.put("displaced", np.zeros(len(inputs.arrival_ps) if changes else 0, np.int64))


def put_room(memory: Memory) -> None:
    """The tables that grow, at their first length."""
    memory.put("free_slots", np.zeros(0, np.int64))
    memory.put("requests", table(Request, 0))
    memory.put("tasks", table(Task, 0))
    memory.put("transfers", table(Transfer, 0))
    lengthen_slots(memory, FIRST_SLOTS)
    memory.put("gaps", table(GapRun, FIRST_GAPS + most_gaps(memory)))
    memory.cluster["gap_room"] = len(memory.tables["gaps"])
    memory.put("energy_by_second_nj", np.zeros(FIRST_SECONDS, np.int64))
    memory.cluster["second_room"] = FIRST_SECONDS


def most_stages(inputs: ClusterInputs) -> int:
    """Pipeline stages of the replica that has most."""
    return max(replica.stages for replica in inputs.replicas)


def most_members(inputs: ClusterInputs) -> int:
    """Requests that a replica may run at once, and so the most in one of its micro-batches; one a stage at least."""
    batches = most_stages(inputs) if inputs.scheduler.kind in UNDIVIDED_KINDS else 1
    most = max(inputs.scheduler.max_batch_size * batches, most_stages(inputs))
    return max(min(most, len(inputs.arrival_ps)), 1)


def distinct_curves(inputs: ClusterInputs) -> list[IterationCurve]:
    """Each curve once, in the order of the replicas."""
    objects = {id(replica.curve): replica.curve for replica in inputs.replicas}
    return list(dict.fromkeys(objects.values()))


def distinct_powers(inputs: ClusterInputs) -> list[Power]:
    """Each table of power once, in the order of the replicas."""
    objects = {(id(replica.power_tokens), id(replica.power_mw)): power_of(replica) for replica in inputs.replicas}
    return list(dict.fromkeys(objects.values()))


def distinct_physics(inputs: ClusterInputs) -> list[tuple[IterationCurve, Power]]:
    """Each pair of curve and power once, in the order of the replicas."""
    return list(dict.fromkeys((replica.curve, power_of(replica)) for replica in inputs.replicas))


def settings(inputs: ClusterInputs) -> dict[str, int]:
    """The first fields of ``Cluster``: names as numbers; the seed as the signed number with its 64 bits."""
    scheduler, transfer = inputs.scheduler, inputs.transfer
    same = (
        "token_budget",
        "max_batch_tokens",
        "max_batch_size",
        "block_tokens",
        "full_layers",
        "windowed_layers",
        "window_tokens",
        "max_model_tokens",
        "mixed_pool",
        "chunked",
        "prompt_pending_limit",
        "padded_prompts",
        "preempt_when_full",
        "pad_compute",
        "keep_finished",
    )
    return {
        **{name: int(getattr(scheduler, name)) for name in same},
        "kind": KINDS.index(scheduler.kind),
        "reservation": RESERVATIONS.index(scheduler.reservation),
        "ageing": AGEINGS.index(scheduler.ageing),
        "decode_runs": DECODE_RUNS.index(scheduler.decode_runs),
        "one_by_one": int(scheduler.simultaneous_arrivals == "one_by_one"),
        "router": ROUTERS.index(scheduler.router),
        "pool_order": int(scheduler.router_ties == "pool_order"),
        "seed": signed_64_bits(scheduler.seed),
        "transfer_mode": TRANSFER_MODES.index(transfer.mode),
        "transfer_ps_per_token": transfer.ps_per_token,
        "contention": int(transfer.contention),
        "setup_ps": transfer.setup_ps,
        "transfer_block_tokens": transfer.block_tokens,
        "retry_ps": transfer.retry_ps,
        "layers": transfer.layers,
        "first_in_window": inputs.window[0],
        "end_of_window": inputs.window[1],
    }


def signed_64_bits(number: int) -> int:
    """The lowest 64 bits as a signed number."""
    return (number & 2**64 - 1 ^ 2**63) - 2**63


def replica_table(inputs: ClusterInputs) -> NDArray[Any]:
    """An empty replica each."""
    replicas = inputs.replicas
    curves, powers, physics = distinct_curves(inputs), distinct_powers(inputs), distinct_physics(inputs)
    knots = [len(power[0]) for power in powers]
    sizes = {replica.kv_blocks for replica in replicas}
    kept_free = {blocks: inputs.scheduler.watermark_blocks(blocks) for blocks in sizes}
    nothing = (
        "first_task",
        "first_prompt",
        "last_prompt",
        "first_interrupted",
        "last_interrupted",
        "first_ready",
        "last_ready",
        "waited_for_kind",
    )
    return table(
        Replica,
        len(replicas),
        **dict.fromkeys(nothing, NONE),
        index=range(len(replicas)),
        curve=[curves.index(replica.curve) for replica in replicas],
        role=[ROLES.index(replica.role) for replica in replicas],
        pool=[ROLE_OF_POOL.index(replica.role) for replica in replicas],
        stages=[replica.stages for replica in replicas],
        kv_blocks=[replica.kv_blocks for replica in replicas],
        free_blocks=[replica.kv_blocks for replica in replicas],
        watermark_blocks=[kept_free[replica.kv_blocks] for replica in replicas],
        transfer_ps_per_token=[replica.transfer_ps_per_token for replica in replicas],
        first_power_knot=[sum(knots[: powers.index(power_of(replica))]) for replica in replicas],
        power_knots=[len(replica.power_tokens) for replica in replicas],
        known=[physics.index((replica.curve, power_of(replica))) for replica in replicas],
    )


def enlarge(memory: Memory, lacking: int, now: int) -> None:
    """More room for what ``cluster.advance`` says is lacking: twice as much, or what the instant needs."""
    if lacking == MORE_SLOTS:
        lengthen_slots(memory, 2 * len(memory.tables["requests"]))
    elif lacking == MORE_GAPS:
        make_room_for_gaps(memory)
    else:
        memory.lengthen("energy_by_second_nj", max(2 * memory.get("second_room"), now // PS_PER_S + 1))
        memory.cluster["second_room"] = len(memory.tables["energy_by_second_nj"])


def lengthen_slots(memory: Memory, slots: int) -> None:
    """So many slots. The numbers of those there are stay; the new ones are free, lowest on top."""
    before, free = len(memory.tables["requests"]), memory.get("free_count")
    for name, length in (("free_slots", slots), ("requests", slots), ("tasks", 2 * slots), ("transfers", slots + 1)):
        memory.lengthen(name, length)
    memory.tables["free_slots"][free : free + slots - before] = np.arange(before, slots)[::-1]
    memory.cluster["free_count"] += slots - before
    memory.cluster["slots"] = slots


def make_room_for_gaps(memory: Memory) -> None:
    """Twice as much while that is within ``most_runs``, else what the record can do without; more where it cannot."""
    room, needed = memory.get("gap_room"), most_gaps(memory)
    runs = memory.get("gap_runs")
    if 2 * room > most_runs(memory):
        runs = memory.record.thin(memory.tables["gaps"][:runs], (room - needed) * 3 // 4)
        memory.cluster["gap_runs"] = memory.cluster["gap_runs_counted"] = runs
    if runs + needed > room:
        memory.lengthen("gaps", max(2 * room, runs + needed))
        memory.cluster["gap_room"] = len(memory.tables["gaps"])


def has_outgrown(memory: Memory) -> bool:
    """Whether the record of gaps has taken more room than a short run needs, and may do with less."""
    return memory.record.shrinks and len(memory.tables["gaps"]) > FIRST_GAPS + most_gaps(memory)


def most_runs(memory: Memory) -> int:
    """Rows of ``gaps`` that a record takes if it can: 12 bytes a request of a long trace."""
    return max(FIRST_GAPS, memory.get("trace_requests") // 2) + most_gaps(memory)


def most_gaps(memory: Memory) -> int:
    """Runs of gaps that one event may bring, or the changes of availability of one instant."""
    replicas = memory.get("replica_count") + 1 if memory.get("change_count") else 2
    return 2 * (memory.get("most_members") + 1) * replicas
