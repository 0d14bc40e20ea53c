"""The machines that a case is made of: how many of each, and what they are rated at."""

from __future__ import annotations

from collections import Counter

from simcore.catalogue import resolve_machine
from simcore.spec import Case, Machine, PoolSpec, SpecError


def pool_machines(pool: PoolSpec) -> int:
    """Machines that the pool takes: ``machines``, or as many as its ``replicas`` need; one where neither is given."""
    if pool.replicas is None:
        return pool.machines or 1
    if (span := spanned(pool)) > 1:
        return pool.replicas * span
    per_machine = resolve_machine(pool.machine).accelerators // (pool.tensor_parallel * pool.pipeline_parallel)
    return -(-pool.replicas // per_machine)


MOST_REPLICAS = 200_000
"""Of a pool; each takes some microseconds of every run."""


def replica_count(pool: PoolSpec) -> int:
    """Replicas of a pool: given, or machines x (accelerators // (TP x PP)); a larger replica spans whole machines.
    SpecError where the machines carry none, or too many."""
    count = carried(pool)
    if not count:
        needed, machine = pool.tensor_parallel * pool.pipeline_parallel, resolve_machine(pool.machine)
        raise SpecError(
            f"pools: found {pool_machines(pool)} of machine {machine.id}, expected at least {spanned(pool)}: a replica"
            f" takes {needed} accelerators (tensor_parallel x pipeline_parallel), a machine has"
            f" {machine.accelerators}"
        )
    if count > MOST_REPLICAS:
        raise SpecError(f"pools: found {count:,} replicas in the {pool.role} pool, expected at most {MOST_REPLICAS:,}")
    return count


def carried(pool: PoolSpec) -> int:
    """As ``replica_count``, but 0 where the machines are fewer than a replica spans."""
    if pool.replicas is not None:
        return pool.replicas
    if (span := spanned(pool)) > 1:
        return pool_machines(pool) // span
    return pool_machines(pool) * (
        resolve_machine(pool.machine).accelerators // (pool.tensor_parallel * pool.pipeline_parallel)
    )


def spanned(pool: PoolSpec) -> int:
    """Machines that one replica takes: 1 where it fits on a part of one."""
    return -(-pool.tensor_parallel * pool.pipeline_parallel // resolve_machine(pool.machine).accelerators)


def machine_counts(case: Case) -> dict[str, int]:
    """Machine id -> how many, over all pools."""
    counts: Counter[str] = Counter()
    for pool in case.pools:
        counts[resolve_machine(pool.machine).id] += pool_machines(pool)
    return dict(counts)


def nameplate_w(case: Case) -> float:
    """Nameplate watts of all machines."""
    return sum(resolve_machine(pool.machine).nameplate_w * pool_machines(pool) for pool in case.pools)


def provisioned_w(case: Case) -> float:
    """Watts set aside for all machines."""
    return sum(resolve_machine(pool.machine).provisioned() * pool_machines(pool) for pool in case.pools)


def racks(case: Case) -> int | None:
    """Racks that the machines fill, kind by kind; None where a machine's ``machines_per_rack`` is unknown."""
    total = 0
    for machine, count in _by_machine(case):
        if machine.machines_per_rack is None:
            return None
        total += -(-count // machine.machines_per_rack)
    return total


def _by_machine(case: Case) -> list[tuple[Machine, int]]:
    machines = {machine.id: machine for machine in (resolve_machine(pool.machine) for pool in case.pools)}
    return [(machines[name], count) for name, count in machine_counts(case).items()]
