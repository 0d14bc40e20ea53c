"""What the preview knows of a question before anything is simulated: its requests, its bounds, a request alone."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from planner.workloads.models import Workload
from simcore.catalogue import resolve_machine, resolve_model
from simcore.families import PoolChoice
from simcore.fluid.bounds import LoneRequest, lone_request
from simcore.fluid.lone import lone_times
from simcore.fluid.workload_statistics import WorkloadStatistics
from simcore.latency.compile import compile_curve
from simcore.latency.curve import PS_PER_S
from simcore.spec import LatencySpec, Machine, SlowdownSlo, StudySpec
from simcore.study import Context
from simcore.traces import Trace
from simcore.traces.statistics import burstiness
from simcore.trust.outside import Asked
from simcore.words import number

CACHED_TRACES = 4


@dataclass(frozen=True)
class Requests:
    """A workload's requests and what the bounds need to know of them."""

    trace: Trace
    statistics: WorkloadStatistics
    prompt_tokens: int
    """The median, as that of output."""
    output_tokens: int
    asked: Asked
    gap_cv: float
    """Of the gaps between arrivals; 0 where there are too few to tell."""


@lru_cache(maxsize=CACHED_TRACES)
def requests_of(workload_id: int, content_hash: str) -> Requests:
    """Read once; the hash is part of the key, so that a changed workload is read again."""
    trace = Workload.unscoped.get(pk=workload_id).trace()
    prompt, output = (int(np.median(tokens)) for tokens in (trace.prompt_tokens, trace.output_tokens))
    return Requests(
        trace, WorkloadStatistics.of(trace), prompt, output, Asked.of(trace), burstiness(trace)["gap_cv"] or 0.0
    )


@dataclass(frozen=True)
class Lone:
    """A median request alone on a machine."""

    machine: Machine
    times: LoneRequest
    requests: Requests

    @property
    def end_to_end_s(self) -> float:
        return self.times.first_token_s + self.times.token_s * (self.requests.output_tokens - 1)


@dataclass(frozen=True)
class Bare:
    """A question with its requests: what every line of the preview reads."""

    spec: StudySpec
    requests: Requests
    found: Context

    @property
    def pools(self) -> dict[str, PoolChoice]:
        """Machine → the pool of it that runs, of what can run at all."""
        return {pool.machine.id: pool for line in self.found.lines if not line.reason for pool in line.pools}

    @property
    def machines(self) -> list[Machine]:
        return [pool.machine for pool in self.pools.values()]

    def reference(self) -> Lone:
        """On what a slowdown is relative to, with all of its accelerators; else on the first of the machines that can
        run the model, as its fastest pool has it."""
        slo, requests = self.spec.slo, self.requests
        if not isinstance(slo, SlowdownSlo):
            return self.everywhere()[0]
        machine, model = resolve_machine(slo.reference), resolve_model(self.spec.model)
        latency = latency_on(self.spec, machine.id)
        times = lone_request(model, machine, latency, requests.prompt_tokens, requests.output_tokens)
        return Lone(machine, times, requests)

    def everywhere(self) -> Sequence[Lone]:
        """On each machine, as the pool of it has it whose first token comes first."""
        fastest: dict[str, Lone] = {}
        for pool in self.kinds_of_pools():
            lone, known = self._alone_in(pool), fastest.get(pool.machine.id)
            if known is None or lone.times.first_token_s < known.times.first_token_s:
                fastest[pool.machine.id] = lone
        return list(fastest.values())

    def kinds_of_pools(self) -> Iterable[PoolChoice]:
        """Each degree of parallelism of each machine once."""
        pools = (pool for line in self.found.lines if not line.reason for pool in line.pools)
        kinds = {(pool.machine.id, pool.tensor_parallel, pool.pipeline_parallel): pool for pool in pools}
        return kinds.values()

    def _alone_in(self, pool: PoolChoice) -> Lone:
        model, requests = resolve_model(self.spec.model), self.requests
        curve = compile_curve(model, pool.machine, pool.tensor_parallel, pool.pipeline_parallel, pool.latency)
        one = np.ones(1, np.int64)
        columns = (one * requests.prompt_tokens, one * 0, one * requests.output_tokens)
        times = lone_times(curve, pool.pipeline_parallel, *columns)
        later_s = int(times.decode_ps[0]) / PS_PER_S / max(requests.output_tokens - 1, 1)
        return Lone(pool.machine, LoneRequest(int(times.ttft_ps[0]) / PS_PER_S, later_s), requests)


def latency_on(spec: StudySpec, machine_id: str) -> LatencySpec:
    """A machine's own source of iteration times, or the question's."""
    own = (choice.latency for choice in spec.machines if resolve_machine(choice.machine).id == machine_id)
    return next((latency for latency in own if latency is not None), spec.latency)


def time(seconds: float) -> str:
    """``420 ms``, ``1.26 s``."""
    return f"{number(seconds)} s" if seconds >= 1 else f"{number(1000 * seconds)} ms"
