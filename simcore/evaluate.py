"""The evaluation of one design: its capacity, and how it does at the required rate. The engine's side of a study."""

from __future__ import annotations

import time

from simcore.capacity import Capacity, Probe, at_rate, find_capacity
from simcore.engine.version import engine_version
from simcore.evaluation import Design, Evaluation
from simcore.spec import SpecError
from simcore.study import Context, evaluation_key


def evaluate(design: Design, context: Context) -> Evaluation:
    """Simulate the design; ``infeasible`` with the reason where it cannot run at all (weights that do not fit, …)."""
    start = time.perf_counter()
    try:
        capacity = find_capacity(design.case, context.trace, context.spec.seeds)
        required = at_rate(design.case, context.trace, context.spec.rate_req_per_s)
    except SpecError as error:
        return Evaluation(design.design_id, "infeasible", str(error), engine_version=engine_version(),
                          key=key(design, context))  # fmt: skip
    return _evaluated(design, context, capacity, required, time.perf_counter() - start)


def key(design: Design, context: Context) -> str:
    """The evaluation's key under this engine."""
    return evaluation_key(design, context, engine_version())


def _evaluated(design: Design, context: Context, capacity: Capacity, required: Probe, wall_s: float) -> Evaluation:
    held = capacity.rate_req_per_s > 0
    return Evaluation(
        design_id=design.design_id,
        status="evaluated",
        capacity_req_per_s=float(capacity.rate_req_per_s),
        capacity_low=float(capacity.low_req_per_s),
        capacity_high=float(capacity.high_req_per_s),
        binding_limit=capacity.binding.limit,
        binding_pool=capacity.binding.pool,
        at_capacity=capacity.probe.result if held else None,
        at_required=required.result,
        warnings=capacity.warnings,
        simulations=capacity.simulations + 1,
        requests_simulated=capacity.requests_simulated + required.requests,
        wall_s=wall_s,
        engine_version=engine_version(),
        key=key(design, context),
    )
