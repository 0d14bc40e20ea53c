"""No run finishes requests faster than the bound (``simcore.fluid.bounds``): on random clusters and on real traces."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from simcore.engine.compile import compile_case
from simcore.engine.fast.cluster import run
from simcore.engine.inputs import ClusterInputs, ReplicaInputs
from simcore.engine.oracle.cluster import run as run_oracle
from simcore.engine.outputs import FINISHED, RunResult
from simcore.fluid.bounds import HYBRID_KINDS, UNBUDGETED_KINDS, FluidBound, capacity_bound
from simcore.fluid.phase_work import BatchLimits, RequestWork, phase_works, token_ps
from simcore.fluid.workload_statistics import WorkloadStatistics
from simcore.latency.curve import PS_PER_S, BatchKind
from simcore.spec import decode_case
from simcore.spec.case import BUDGET_KINDS as BUDGETED_KINDS
from simcore.traces import Trace, read_trace
from simcore.traces.resample import at_rate
from tests.invariants.strategies import CHUNKED, KINDS, clusters

EXAMPLES = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
FLOATS = 1 + 1e-9


def finished_trace(inputs: ClusterInputs, result: RunResult) -> Trace:
    """Only what was finished is work done."""
    done = result.requests.status == FINISHED
    columns = (inputs.arrival_ps, inputs.prompt_tokens, inputs.output_tokens, inputs.cached_prompt_tokens)
    arrival, prompt, output, cached = (column[done] for column in columns)
    return Trace.of("finished", arrival, prompt, output, cached_prompt_tokens=cached)


def works_on(inputs: ClusterInputs, replica: ReplicaInputs, statistics: WorkloadStatistics) -> list[RequestWork]:
    """A mean request's least work there, by what the kind may batch and memory holds."""
    policy = inputs.scheduler
    longest, budgeted = int((inputs.prompt_tokens + inputs.output_tokens).max()), policy.kind in BUDGETED_KINDS
    size = policy.max_batch_size
    if policy.kind not in UNBUDGETED_KINDS:
        size = max(size // replica.stages, 1)
    tokens = policy.token_budget if budgeted or policy.chunked else max(policy.max_batch_tokens, longest)
    tokens = size * longest if policy.kind in UNBUDGETED_KINDS else tokens
    both = replica.role == "mixed" or policy.mixed_pool
    limits = BatchLimits(
        prefill_tokens=tokens,
        hybrid_tokens=(tokens + size * (not budgeted and not policy.chunked)) * (policy.kind in HYBRID_KINDS and both),
        sequences=size,
        kv_tokens=replica.kv_blocks * policy.block_tokens,
        whole_outputs=policy.reservation != "on_demand",
        windowed_share=policy.windowed_layers / (policy.full_layers + policy.windowed_layers),
        window_tokens=policy.window_tokens,
    )
    works = phase_works(replica.curve, statistics, limits)
    if both:
        return works
    prefills = replica.role == "prefill"
    return [RequestWork(w.prefill_s if prefills else math.inf, math.inf if prefills else w.decode_s) for w in works]


def recomputing_is_no_cheaper(inputs: ClusterInputs, result: RunResult, replica: ReplicaInputs) -> bool:
    """Whether the prefill that gives a preempted request its next token takes at least the decode that it replaces.

    The bound supposes so. Of curves drawn at random not all are like that: a prefill may be free and a decode dear.
    """
    preempted = result.requests.preemptions > 0
    if not preempted.any():
        return True
    curve, policy = replica.curve, inputs.scheduler
    prompt, output = inputs.prompt_tokens[preempted], inputs.output_tokens[preempted]
    new = prompt + 1 - inputs.cached_prompt_tokens[preempted]
    most = max(policy.token_budget, policy.max_batch_tokens, int((prompt + output).max())) + policy.max_batch_size
    recomputed_ps = new * min(token_ps(curve, BatchKind.PREFILL, most), token_ps(curve, BatchKind.HYBRID, most))
    decode_ps = token_ps(curve, BatchKind.DECODE, policy.max_batch_size)
    dearest_ps = decode_ps + curve.decode_seq_ps + curve.context_ps * (prompt + output)
    return bool((recomputed_ps >= dearest_ps).all())


def roundings_ps(result: RunResult) -> int:
    """Whole ps cut off at most: one a micro-batch for its table, one a chunk for its attention; a token at least
    each."""
    counts = result.replicas
    return int(counts.iterations.sum() + counts.prefill_tokens.sum())


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(data=st.data())
def test_no_run_is_faster_than_the_fluid_bound(kind: str, data: st.DataObject) -> None:
    inputs = data.draw(clusters(kind))
    result = run_oracle(inputs)
    assume((result.requests.status == FINISHED).any())
    assume(all(recomputing_is_no_cheaper(inputs, result, replica) for replica in inputs.replicas))
    requests = finished_trace(inputs, result)
    statistics = WorkloadStatistics.of(requests)
    works = [works_on(inputs, replica, statistics) for replica in inputs.replicas]
    rate = FluidBound.of([[work[0], work[-1]] for work in works]).rate([1] * len(works))
    taken_ps = result.end_ps - int(inputs.arrival_ps[0]) + roundings_ps(result)
    assert len(requests) * PS_PER_S <= rate * FLOATS * taken_ps


def case_of(kind: str, options: dict[str, Any]) -> dict[str, Any]:
    """Llama-2-70B on H100s by the roofline."""
    machine = {"machine": "dgx-h100", "tensor_parallel": 4}
    pools = [{"role": "mixed", **machine}]
    if kind == "splitwise":
        pools = [{"role": role, **machine} for role in ("prefill", "decode")]
    return {"model": "llama2-70b", "pools": pools, "scheduler": {"kind": kind, **options}}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["azure_conv_2023", "azure_code_2023"])
def test_no_overload_of_a_real_trace_is_faster_than_the_fluid_bound(shared_data: Path, name: str, kind: str) -> None:
    """At three times the bound the cluster is never idle, and comes as near to it as its schedule lets it."""
    options = {"chunked": True} if kind == CHUNKED else {}
    case = decode_case(case_of("splitwise" if kind == CHUNKED else kind, options))
    trace, _ = read_trace(shared_data / "traces" / f"{name}.csv")
    trace = trace.first(1500)
    bound = capacity_bound(case, WorkloadStatistics.of(trace))
    inputs = compile_case(case, at_rate(trace, 3 * bound))
    result = run(inputs)
    done = result.requests.status == FINISHED
    assert done.all()
    rate = np.count_nonzero(done) * PS_PER_S / (result.end_ps - int(inputs.arrival_ps[0]))
    assert 0.02 * bound < rate <= FLOATS * bound
