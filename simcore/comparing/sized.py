"""A design as money takes it, from its evaluation alone: machines, capacity and watts, which lines are made of. How the
time of its batches splits between prompts and tokens is not in it (``simcore.analyses.costing``), nor is any amount
that the lines add up to of that."""

from __future__ import annotations

from decimal import Decimal

from simcore.answer.result import StudyResult
from simcore.catalogue import resolve_machine
from simcore.economics.physics import Physics, PoolPhysics
from simcore.economics.rounding import quantised
from simcore.fleet import pool_machines
from simcore.power import idle_w
from simcore.rows import DesignRow
from simcore.spec import PoolSpec

ANY_TOKENS = Decimal(1)


def sized(result: StudyResult, row: DesignRow, rate_req_per_s: float) -> Physics:
    """Watts are those simulated at the rate; where it was simulated at its capacity alone, those."""
    pools = result.designs[row.design_id].case.pools
    idle = sum(pool_machines(pool) * idle_w(resolve_machine(pool.machine)) for pool in pools)
    return Physics(
        row.design_id,
        row.label,
        tuple(_pool(pool) for pool in pools),
        rate_req_per_s=quantised(rate_req_per_s),
        capacity_req_per_s=quantised(max(row.capacity_req_per_s or 0.0, rate_req_per_s)),
        idle_w=quantised(idle),
        mean_w=quantised(idle if row.mean_w is None else row.mean_w),
        input_tokens=ANY_TOKENS,
        cached_input_tokens=Decimal(0),
        output_tokens=ANY_TOKENS,
    )


def _pool(pool: PoolSpec) -> PoolPhysics:
    machine, machines = resolve_machine(pool.machine), pool_machines(pool)
    watts = quantised(machines * machine.provisioned())
    return PoolPhysics(pool.role, machine.id, machines, machines * machine.accelerators, watts)
