"""The evaluation of one design: its capacity, and how it does at the required rate. The engine's side of a study."""

from __future__ import annotations

import time
from dataclasses import replace

from simcore.capacity.find import Capacity, at_rate, find_capacity
from simcore.capacity.trial import trial
from simcore.engine.version import engine_version
from simcore.evaluation import Design, Evaluation, RateRun, Trial
from simcore.keys import capacity_key
from simcore.search.context import Context
from simcore.search.parts import CapacityUnder, Outcome, Part, RunAt, TrialAt, case_of, next_part, part_key, told
from simcore.spec import Case, SpecError
from simcore.traces import Trace


def evaluate(design: Design, context: Context, known: dict[str, Outcome] | None = None) -> Evaluation:
    """Simulate what the work item asks; ``infeasible`` with the reason where it cannot run at all (weights that do not
    fit, …), ``screened`` where its capacity need not be known. ``known``: parts of other designs by their keys, which
    takes what is simulated: where machines may be lost, what is left of one design is another one."""
    has: dict[Part, Outcome] = {}
    while (part := next_part(design, context, has)) is not None:
        has[part] = _once(part, design, context, known)
    return told(design, context, has)


def _once(part: Part, design: Design, context: Context, known: dict[str, Outcome] | None) -> Outcome:
    if known is None:
        return simulated(part, design, context)
    key = part_key(part, design, context, engine_version())
    if key not in known:
        known[key] = simulated(part, design, context)
    return known[key]


def simulated(part: Part, design: Design, context: Context) -> Outcome:
    """One part of a design's evaluation."""
    asked = replace(design, case=case_of(part, design))
    match part:
        case TrialAt(rate):
            return holds(asked, context, rate)
        case CapacityUnder(seed):
            return capacity(asked, context, seed)
        case RunAt(rate):
            return required(asked, context, rate)


def holds(design: Design, context: Context, rate_req_per_s: float) -> Trial:
    """Whether the design holds the rate; as if, where it cannot run, which its capacity says."""
    try:
        return trial(design.case, context.trace, rate_req_per_s)
    except SpecError:
        return Trial(True, 0, 0, 0)


def capacity(design: Design, context: Context, seed: int) -> Evaluation:
    """What the design can hold under a seed, whatever rate the study asks for: ``at_required`` is left open."""
    key = capacity_key(design.case, context.trace_hash, seed, engine_version())
    try:
        return replace(capacity_of(design.case, context.trace, seed), design_id=design.design_id, key=key)
    except SpecError as error:
        return Evaluation(design.design_id, "infeasible", str(error), engine_version=engine_version(), key=key)


def capacity_of(case: Case, trace: Trace, seed: int) -> Evaluation:
    """What a case, of no study, can hold under a seed. SpecError where it cannot run."""
    start = time.process_time()
    found = find_capacity(case, trace, seed)
    return _evaluated(found, time.process_time() - start)


def required(design: Design, context: Context, rate_req_per_s: float) -> RateRun:
    """How the design does at the rate that the study asks for."""
    start = time.process_time()
    try:
        probe = at_rate(design.case, context.trace, rate_req_per_s)
    except SpecError as error:
        return RateRun(None, str(error))
    return RateRun(probe.result, "", probe.requests, events=probe.events, cpu_s=time.process_time() - start)


def _evaluated(found: Capacity, cpu_s: float) -> Evaluation:
    return Evaluation(
        design_id="",
        status="evaluated",
        capacity_req_per_s=float(found.rate_req_per_s),
        capacity_low=float(found.low_req_per_s),
        capacity_high=float(found.high_req_per_s),
        binding_limit=found.binding.limit,
        binding_pool=found.binding.pool,
        at_capacity=found.probe.result if found.rate_req_per_s > 0 else None,
        around=found.around,
        warnings=found.warnings,
        simulations=found.simulations,
        requests_simulated=found.requests_simulated,
        events=found.events,
        cpu_s=cpu_s,
        engine_version=engine_version(),
    )
