"""Whether a design holds one rate, by as few runs as tell: what a design is asked before its capacity is."""

from __future__ import annotations

import time
from collections.abc import Sequence

from simcore.evaluation import Trial
from simcore.probes import Prober
from simcore.rate_search import DECIDING
from simcore.simulation import EngineName
from simcore.spec import Case
from simcore.traces import Trace


def trial(case: Case, trace: Trace, seeds: Sequence[int], k: int, name: EngineName = "fast") -> Trial:
    """Whether the case holds the k-th rate of the grid, by runs as long as those that decide capacities, each given up
    as soon as it fails. Of several seeds as many must fail as put their median below the rate.

    Where feasibility is monotone in the rate, a design that fails here has a capacity below the rate. Raises SpecError
    and TraceError as ``find_capacity``.
    """
    start, chosen = time.process_time(), tuple(seeds) or (case.seed,)
    probers: list[Prober] = []
    may_fail = (len(chosen) - 1) // 2
    failed = 0
    for place, seed in enumerate(chosen):
        if failed > may_fail or failed + len(chosen) - place <= may_fail:
            break  # the others cannot change it
        probers.append(Prober.of(case, trace, seed, name))
        failed += probers[-1].pressure(k, DECIDING) > 1.0
    probes = [probe for prober in probers for probe in prober.done.values()]
    return Trial(
        failed <= may_fail,
        len(probes),
        sum(probe.requests for probe in probes),
        sum(probe.events for probe in probes),
        time.process_time() - start,
    )
