"""Whether a design holds one rate, by one run: what a design is asked before its capacity is."""

from __future__ import annotations

import time

from simcore.capacity.probes import Prober
from simcore.evaluation import Trial
from simcore.simulation import EngineName
from simcore.spec import Case
from simcore.traces import Trace


def trial(case: Case, trace: Trace, rate_req_per_s: float, name: EngineName = "fast") -> Trial:
    """Whether the case holds the rate under its own seed, by a run as long as those that decide capacities, given up
    as soon as it fails.

    Where feasibility is monotone in the rate, a design that fails here has a capacity below the rate. Raises SpecError
    and TraceError as ``find_capacity``.
    """
    start = time.process_time()
    probe = Prober.of(case, trace, case.seed, name).tried(rate_req_per_s)
    return Trial(bool(probe.feasible), 1, probe.requests, probe.events, time.process_time() - start)
