"""A measured row as a case that the engine simulates."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache
from typing import Any

import numpy as np

from simcore.simulation import simulate
from simcore.slo.objective import objective
from simcore.spec import Case, Model, decode_case
from simcore.traces import Trace
from simcore.validation.lengths import Workload
from simcore.validation.serving_row import ServingRow

SEED = 0
NO_LIMIT_S = 1e6


@dataclass(frozen=True)
class Design:
    """Replicas of a model, and how they batch."""

    model: Model
    machine: str
    tensor_parallel: int
    pipeline_parallel: int
    replicas: int
    whole_prompts: bool
    token_budget: int
    max_batch_size: int
    engine: str

    @classmethod
    def of(cls, row: ServingRow) -> Design:
        """The row's own."""
        return cls(
            model=row.model,
            machine=row.machine.id,
            tensor_parallel=row.place.tensor_parallel,
            pipeline_parallel=row.pipeline_parallel,
            replicas=row.replicas,
            whole_prompts=row.whole_prompts,
            token_budget=row.token_budget,
            max_batch_size=row.max_batch_size,
            engine=row.place.engine,
        )

    def case(self, limits_s: dict[str, float]) -> Case:
        """Poisson arrivals, ``jsq``, and P99 limits in seconds by metric."""
        pool = {
            "role": "mixed",
            "machine": self.machine,
            "replicas": self.replicas,
            "tensor_parallel": self.tensor_parallel,
            "pipeline_parallel": self.pipeline_parallel,
        }
        budget = "max_batch_tokens" if self.whole_prompts else "token_budget"
        kind = "vllm" if self.whole_prompts else "vllm_v1"
        limits = [{"metric": name, "percentile": 99, "limit": limit} for name, limit in limits_s.items()]
        return decode_case(
            {
                "model": _inline(self.model),
                "pools": [pool],
                "scheduler": {"kind": kind, budget: self.token_budget, "max_batch_size": self.max_batch_size},
                "latency": {"source": "roofline", "engine": self.engine},
                "slo": {"kind": "absolute", "limits": limits},
                "arrivals": "poisson",
                "seed": SEED,
            }
        )


@dataclass(frozen=True)
class Drained:
    """A number of requests that came at once, until the last one was done."""

    req_per_s: float
    output_tokens_per_s: float


@cache
def drained(design: Design, lengths: Workload, requests: int) -> Drained:
    """By simulation: filling up, and the last long answers alone, are in it."""
    prompts, outputs = lengths.sample(requests, SEED)
    case = design.case({"ttft_s": NO_LIMIT_S})
    trace = Trace.of("at once", np.zeros(requests, np.int64), prompts, outputs)
    found = simulate(case, trace, objective(case)).summary
    return Drained(found.throughput_req_per_s, found.output_tokens_per_s)


def _inline(model: Model) -> dict[str, Any]:
    values = {one.name: getattr(model, one.name) for one in fields(model)}
    return {name: value for name, value in values.items() if value is not None}
