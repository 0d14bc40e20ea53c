"""How far off iteration times may be on the machines of a part."""

from __future__ import annotations

from simcore.catalogue import resolve_machine, resolve_model
from simcore.latency.evidence import nearest_evidence
from simcore.spec import Case, PoolSpec

WITHIN_90 = 1.645 / 0.798
"""Of a normal error, the half-width that 90 % are within, over the mean of its size."""
MOST = 0.5
UNTESTED = 0.25
"""Where the curve is the user's own, or a table without repeated runs."""


def time_error(case: Case) -> float:
    """Relative half-width at 90 % of iteration times, the largest over the pools: from the nearest measured points."""
    return max(_pool_error(case, pool) for pool in case.pools)


def _pool_error(case: Case, pool: PoolSpec) -> float:
    latency = pool.latency or case.latency
    if latency.source != "roofline":
        return UNTESTED
    model, machine = resolve_model(case.model), resolve_machine(pool.machine)
    found = nearest_evidence(model, machine, pool.tensor_parallel, latency.engine)
    return min(found.mean_error * WITHIN_90, MOST)
