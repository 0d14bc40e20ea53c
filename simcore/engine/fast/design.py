"""A cluster before its first event and without a load: what all runs of a design begin with.

It is worked out once for the replicas, rules and transfers of a ``ClusterInputs``, and so are the tables: a run takes
a ``Memory`` of the design, sets back what the run before has changed, and gives it back. What was found of curves and
power (``known.py``) stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simcore.engine.fast.curve import curve_table, knot_array
from simcore.engine.fast.energy import power_knot_array
from simcore.engine.fast.flat_minimum import flat_row, ranges_of
from simcore.engine.fast.flight_state import MicroBatch
from simcore.engine.fast.group_state import Group
from simcore.engine.fast.known import TOKENS_REMEMBERED, Known
from simcore.engine.fast.layout import table
from simcore.engine.fast.loads import MEASURES_KEPT, kept_loads, loads_at_start
from simcore.engine.fast.memory import Memory
from simcore.engine.fast.names import ROLES, STATES
from simcore.engine.fast.physics import Physics
from simcore.engine.fast.pools import ROLE_OF_POOL
from simcore.engine.fast.replica_state import Replica, Work
from simcore.engine.fast.room import put_room
from simcore.engine.fast.settings import settings
from simcore.engine.fast.state import FOREVER, GAP_PARTS, KINDS_OF_BATCH, NONE, Cluster
from simcore.engine.inputs import UNDIVIDED_KINDS, ClusterInputs, ReplicaInputs, SchedulerInputs, TransferInputs
from simcore.engine.outputs import BubbleCause
from simcore.same import Same

MOST_KEPT = 4
"""Designs that are kept: one after the other is looked at, in as many threads as there are."""
Parts = tuple[tuple[ReplicaInputs, ...], SchedulerInputs, TransferInputs]


@dataclass(frozen=True)
class Design:
    """The ``Cluster`` record and its tables, by field."""

    cluster: NDArray[Any]
    fixed: dict[str, NDArray[Any]]
    """Tables that no run changes."""
    changing: dict[str, NDArray[Any]]
    """Tables that a run finds like this, and changes."""
    lists: dict[str, int]
    """Lengths of tables of which a run reads only what it has written."""
    known: int
    """Length of the table of what was found of curves and power."""
    idle: list[Memory] = field(default_factory=list)
    """Memory that no run has."""

    @classmethod
    def of(
        cls, replicas: Sequence[ReplicaInputs], rules: SchedulerInputs, transfer: TransferInputs, most_members: int
    ) -> Design:
        """``most_members``: the most in one micro-batch."""
        physics, stages, ranges = Physics.of(replicas), most_stages(replicas), ranges_of(len(replicas))
        flights = stages + int(rules.kind == "vllm" and stages > 1)
        rows, changes = replica_table(replicas, flights, rules, physics), change_rows(replicas)
        batches = batch_tables(len(replicas), stages, flights, rules.block_tokens)
        sizes = {
            "most_stages": stages,
            "most_flights": flights,
            "most_members": most_members,
            "replica_count": len(replicas),
            "ranges": ranges,
            "flat_length": len(flat_row(ranges)),
            "change_count": len(changes),
            "next_change_ps": changes[0][0] if changes else FOREVER,
            "next_transfer_ps": FOREVER,
            "next_poll_ps": FOREVER,
            "kept_loads": sum(1 << measure for measure in kept_loads(len(replicas), rules)),
            "smallest_kv_blocks": min(replica.kv_blocks for replica in replicas),
            "largest_kv_blocks_up": max(replica.kv_blocks for replica in replicas),
        }
        return cls(
            table(Cluster, 1, **settings(rules, transfer), **sizes),
            {
                "built_replicas": rows,
                "changes": np.array(changes, np.int64).reshape(-1),
                "curves": curve_table(physics.curves),
                "curve_knots": knot_array(physics.curves),
                "power_knots": power_knot_array(physics.powers),
            },
            {"replicas": rows, **pool_tables(replicas), **batches},
            lists_of(len(replicas), flights, most_members),
            len(physics.pairs) * KINDS_OF_BATCH * TOKENS_REMEMBERED,
        )

    def take_memory(self) -> Memory:
        """Memory that no other run has, as whoever had it left it."""
        try:
            return self.idle.pop()
        except IndexError:
            return self._new_memory()

    def _new_memory(self) -> Memory:
        memory = Memory(self.cluster.copy(), self.cluster.copy())
        for name, rows in self.fixed.items():
            memory.put(name, rows)
        for name, rows in self.changing.items():
            memory.put_changing(name, rows)
        for name, length in self.lists.items():
            memory.put(name, np.zeros(length, np.int64))
        memory.put("known", table(Known, self.known))
        put_room(memory)
        return memory


def design_of(inputs: ClusterInputs) -> Design:
    """The design of some inputs; the same as long as it is kept."""
    parts = inputs.replicas, inputs.scheduler, inputs.transfer
    return _kept(Same(parts, *parts), min(most_running(*parts[:2]), max(len(inputs.arrival_ps), 1)))


@lru_cache(maxsize=MOST_KEPT)
def _kept(parts: Same[Parts], most_members: int) -> Design:
    return Design.of(*parts.value, most_members)


def forget() -> None:
    """Keep no design any more, nor its memory."""
    _kept.cache_clear()


def most_stages(replicas: Sequence[ReplicaInputs]) -> int:
    """Pipeline stages of the replica that has most."""
    return max(replica.stages for replica in replicas)


def most_running(replicas: Sequence[ReplicaInputs], rules: SchedulerInputs) -> int:
    """Requests that a replica may run at once, and so the most in one of its micro-batches; one a stage at least."""
    stages = most_stages(replicas)
    return max(rules.max_batch_size * (stages if rules.kind in UNDIVIDED_KINDS else 1), stages)


def micro_batch_size(stages: int, rules: SchedulerInputs) -> int:
    """A micro-batch's share of max_batch_size, at least one; with ``orca`` and ``request_level`` all of it."""
    return rules.max_batch_size if rules.kind in UNDIVIDED_KINDS else max(rules.max_batch_size // stages, 1)


def batch_tables(replicas: int, stages: int, flights: int, block_tokens: int) -> dict[str, NDArray[Any]]:
    """Nothing in flight, nobody in a group, nothing counted."""
    lengths = {
        "growing": replicas * flights * block_tokens,
        "next_in_turn": 2,
        "stage_free_ps": replicas * stages,
        "stage_start_ps": replicas * flights * stages,
        "gaps_ps": replicas * flights * stages * GAP_PARTS,
        "bubble_ps": replicas * stages * len(BubbleCause),
    }
    return {
        "flights": table(MicroBatch, replicas * flights, following=range(1, replicas * flights + 1)),
        "groups": table(Group, replicas * flights, row=range(replicas * flights)),
        "works": table(Work, replicas * KINDS_OF_BATCH),
        "next_ps": flat_row(ranges_of(replicas)),
        **{name: np.zeros(length, np.int64) for name, length in lengths.items()},
    }


def lists_of(replicas: int, flights: int, most: int) -> dict[str, int]:
    """Room for members and queues; how much of each is used stands elsewhere."""
    return {
        "due": replicas,
        "members": replicas * flights * most,
        "new_tokens": replicas * flights * most,
        "running": replicas * most,
        "chosen": most,
        "finish_steps": replicas * flights * most,
        "max_gaps_ps": replicas * flights * most,
        "lasts_ps": replicas * flights * most,
        "routed_ps": replicas * flights * most,
    }


def pool_tables(replicas: Sequence[ReplicaInputs]) -> dict[str, NDArray[Any]]:
    """Every replica in the pool of its role, with no load."""
    count = len(replicas)
    pools = [[i for i, replica in enumerate(replicas) if replica.role == role] for role in ROLE_OF_POOL]
    return {
        "pools": np.array([pool + [NONE] * (count - len(pool)) for pool in pools], np.int64),
        "pool_sizes": np.array([len(pool) for pool in pools], np.int64),
        "loads": np.concatenate([loads_at_start(pool, count) for pool in pools] * MEASURES_KEPT),
    }


def change_rows(replicas: Sequence[ReplicaInputs]) -> list[tuple[int, int, int]]:
    """All replicas' changes of availability by time, then by replica, then as given."""
    changes = [
        (ps, index, STATES.index(state)) for index, replica in enumerate(replicas) for ps, state in replica.availability
    ]
    return sorted(changes, key=lambda change: change[:2])


def replica_table(
    replicas: Sequence[ReplicaInputs], flights: int, rules: SchedulerInputs, physics: Physics
) -> NDArray[Any]:
    """An empty replica each."""
    first_rows = flights * np.arange(len(replicas))
    knots = np.cumsum([0, *(len(tokens) for tokens, _ in physics.powers)])
    blocks = np.array([replica.kv_blocks for replica in replicas])
    kept_free = {size: rules.watermark_blocks(size) for size in set(blocks.tolist())}
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
        curve=physics.curve_of,
        role=[ROLES.index(replica.role) for replica in replicas],
        pool=[ROLE_OF_POOL.index(replica.role) for replica in replicas],
        stages=[replica.stages for replica in replicas],
        first_flight=first_rows,
        newest_flight=first_rows,
        free_flight=first_rows,
        aside=first_rows + np.array([replica.stages for replica in replicas]),
        micro_batch_size=[micro_batch_size(replica.stages, rules) for replica in replicas],
        kv_blocks=blocks,
        free_blocks=blocks,
        watermark_blocks=[kept_free[size] for size in blocks.tolist()],
        transfer_ps_per_token=[replica.transfer_ps_per_token for replica in replicas],
        first_power_knot=knots[physics.power_of],
        power_knots=np.diff(knots)[physics.power_of],
        known=physics.pair_of,
    )
