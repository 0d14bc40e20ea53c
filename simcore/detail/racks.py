"""What racks draw: machines of a pool side by side, second by second, at one rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simcore.capacity.probes import Prober
from simcore.catalogue import resolve_machine
from simcore.detail.machine_watts import machine_watts
from simcore.latency.curve import PS_PER_S
from simcore.simulation import EngineName, engine
from simcore.slo.distribution import percentile
from simcore.spec import Case
from simcore.traces import Trace

MOST_SECONDS = 600
"""Of the measured time, from its beginning."""


def rack_watts(
    case: Case, trace: Trace, rate_req_per_s: float, most: Sequence[int], name: EngineName = "fast"
) -> list[dict[str, Any]]:
    """By pool: a machine's mean watts, and for racks of 1 up to ``most`` of its machines the P99 and the most of 1 s
    over all such racks. SpecError where it cannot run."""
    inputs = Prober.of(case, trace, case.seed, name).probe(rate_req_per_s).inputs
    arrivals = inputs.arrival_ps[slice(*inputs.window)]
    first = -(-int(arrivals[0]) // PS_PER_S)
    last = max(min(int(arrivals[-1]) // PS_PER_S, first + MOST_SECONDS), first + 1)
    run = engine(name)(replace(inputs, log_ps=(first * PS_PER_S, last * PS_PER_S)))
    assert run.log is not None  # noqa: S101 - it was asked for
    watts = machine_watts(case, inputs, run.log, (first, last))
    return [
        {
            "role": pool.role,
            "machine": resolve_machine(pool.machine).id,
            "machines": len(drawn),
            "seconds": last - first,
            "mean_w": float(drawn.mean()),
            "racks": [_of_size(drawn, size) for size in range(1, min(size, len(drawn)) + 1)],
        }
        for pool, drawn, size in zip(case.pools, watts, most, strict=True)
    ]


def _of_size(drawn: NDArray[np.float64], size: int) -> dict[str, Any]:
    """Full racks in order; what is left over fills none."""
    full = len(drawn) // size
    racks = drawn[: full * size].reshape(full, size, -1).sum(axis=1).ravel()
    return {"machines": size, "p99_w": percentile(racks, 99), "most_w": float(racks.max())}
