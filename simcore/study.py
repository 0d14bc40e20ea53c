"""A whole study: which designs to evaluate, wave after wave, and the evaluation of one.

``next_designs`` is a pure function of the question and of what is known so far: whoever runs the evaluations (the
command line's processes, a web worker's shards) asks it again when a wave is done, and is finished when it is empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import ceil, floor, inf

from simcore import search
from simcore.catalogue import resolve_model
from simcore.evaluation import Design, Evaluation
from simcore.families import Line, lines
from simcore.fluid import WorkloadStatistics, work_machines
from simcore.offered_load import requests_needed
from simcore.search import Bounds, Counts
from simcore.spec import SpecError, StudySpec
from simcore.traces import Trace, read_trace
from simcore.traces.arrivals import MOST_REQUESTS
from simcore.traces.synthetic import SyntheticSpec, generate

LIKELY_BATCH = 64
"""Decode batch that a first guess at the machines needed counts on: what TBT limits leave of the largest batches."""
BEYOND_LIMITS = 4.0
"""Where nothing within the limits will do, at least this multiple of them is tried to say what would be needed."""
LINES_BEYOND_LIMITS = 3
MOST_RATES = 3.0
"""A synthetic workload is made long enough for capacities up to this multiple of the required rate."""


@dataclass(frozen=True)
class Context:
    """A question with its requests, and what follows from both before anything is simulated."""

    spec: StudySpec
    trace: Trace
    trace_hash: str
    lines: tuple[Line, ...]
    bounds: tuple[Bounds, ...]
    """One for each line."""


def context(spec: StudySpec, trace: Trace) -> Context:
    """Lines and bounds of a study; SpecError on an unknown machine, model or family."""
    _refuse_unbuilt(spec)
    statistics = WorkloadStatistics.of(trace)
    found = tuple(lines(spec))
    bounds = tuple(_bounds(line, spec, statistics) for line in found)
    return Context(spec, trace, trace.content_hash(), found, bounds)


def next_designs(context: Context, done: Mapping[str, Evaluation]) -> list[Design]:
    """The designs still to be evaluated before more can be decided; empty when the study is complete.

    Replays each line's search on the evaluations known: pure, so a study that was interrupted goes on where it stopped.
    Where a complete search finds nothing within the limits, the most capable lines are followed beyond them, so that
    the answer can say what would be needed.
    """
    wanted: dict[str, Design] = {}
    for line, bounds in zip(context.lines, context.bounds, strict=True):
        missing, _ = _replay(line, bounds, context.spec, done)
        wanted |= {design.design_id: design for design in missing}
    return list((wanted or _beyond_limits(context, done)).values())


def load_trace(spec: StudySpec) -> Trace:
    """The workload of a STUDY.json: its trace file, or its mix with enough requests for every design's search."""
    if spec.workload.trace is not None:
        return read_trace(spec.workload.trace)[0]
    mix = SyntheticSpec.from_json(spec.workload.synthetic, "workload.synthetic")
    if mix.requests is None and mix.duration_s is None:
        mix = replace(mix, requests=min(requests_needed(spec.rate_req_per_s * MOST_RATES), MOST_REQUESTS))
    return generate(mix)


def _replay(
    line: Line,
    bounds: Bounds,
    spec: StudySpec,
    done: Mapping[str, Evaluation],
    known: Mapping[Counts, Evaluation] | None = None,
) -> tuple[list[Design], dict[Counts, Evaluation]]:
    """What one line still lacks within the bounds, and what is known of it; ``known`` of it before."""
    tried = dict(known or {})
    wave = _wave(line, bounds, spec, tried)
    while wave:
        designs = {counts: line.design(counts) for counts in wave}
        missing = [design for design in designs.values() if design.design_id not in done]
        if missing:
            return missing, tried
        tried |= {counts: done[design.design_id] for counts, design in designs.items()}
        wave = _wave(line, bounds, spec, tried)
    return [], tried


def _wave(line: Line, bounds: Bounds, spec: StudySpec, tried: Mapping[Counts, Evaluation]) -> list[Counts]:
    """The search's next counts; to begin with at least the smallest, which stands for a line that cannot run or fit."""
    smallest = [(1,) * len(line.pools)]
    if line.reason:
        return [] if tried else smallest
    return search.proposals(line, spec, bounds, tried) or ([] if tried else smallest)


def _beyond_limits(context: Context, done: Mapping[str, Evaluation]) -> dict[str, Design]:
    known = [
        (line, bounds, _replay(line, bounds, context.spec, done)[1])
        for line, bounds in zip(context.lines, context.bounds, strict=True)
        if not line.reason
    ]
    rate = context.spec.rate_req_per_s
    if any(
        evaluation.holds(rate) and search.inside(line, counts, bounds)
        for line, bounds, tried in known
        for counts, evaluation in tried.items()
    ):
        return {}
    order = sorted(known, key=lambda item: -_most_held(item[2].values()))
    wanted: dict[str, Design] = {}
    for line, bounds, tried in order[:LINES_BEYOND_LIMITS]:
        if _most_held(tried.values()) > 0:
            missing, _ = _replay(line, _wider(line, bounds), context.spec, done, tried)
            wanted |= {design.design_id: design for design in missing}
    return wanted


def _most_held(evaluations: Iterable[Evaluation]) -> float:
    return max((evaluation.capacity_req_per_s for evaluation in evaluations), default=0.0)


def _wider(line: Line, bounds: Bounds) -> Bounds:
    """Room enough to find what holds the rate: a multiple of the limits, or of what the work needs if that is more."""
    need = [count * search.BEYOND_NEED + 1 for count in bounds.need]
    kw = sum(count * pool.machine.nameplate_w for count, pool in zip(need, line.pools, strict=True)) / 1000
    return replace(
        bounds,
        most_each=tuple(ceil(max(most * BEYOND_LIMITS, sum(need))) for most in bounds.most_each),
        most_total=ceil(max(bounds.most_total * BEYOND_LIMITS, sum(need))),
        most_kw=max(bounds.most_kw * BEYOND_LIMITS, kw),
    )


def _bounds(line: Line, spec: StudySpec, statistics: WorkloadStatistics) -> Bounds:
    need = _need(line, spec, statistics)
    limits = spec.limits
    unlimited = floor(sum(need) * search.BEYOND_NEED * 2) + 4 * len(line.pools)
    kw = limits.power_limit_kw if limits.power_limit_kw and limits.power_kind == "nameplate" else inf
    if limits.power_limit_kw and limits.power_kind == "provisioned":
        kw = limits.power_limit_kw * max(p.machine.nameplate_w / p.machine.provisioned() for p in line.pools)
    each = tuple(unlimited if pool.on_hand is None else pool.on_hand for pool in line.pools)
    total = limits.machines or unlimited
    least_w = min(pool.machine.nameplate_w for pool in line.pools)
    return Bounds(
        each, total, min(kw, unlimited * max(least_w, *(p.machine.nameplate_w for p in line.pools)) / 1000), need
    )


def _need(line: Line, spec: StudySpec, statistics: WorkloadStatistics) -> tuple[float, ...]:
    """Machines of each pool that the rate's work keeps busy; one each where the line cannot run."""
    if line.reason:
        return (1.0,) * len(line.pools)
    model = resolve_model(spec.model)
    work = [
        work_machines(
            model,
            pool.machine,
            pool.latency,
            statistics,
            spec.rate_req_per_s,
            pool.tensor_parallel,
            pool.pipeline_parallel,
            LIKELY_BATCH,
        )
        for pool in line.pools
    ]
    return (work[0].prefill + work[0].decode,) if len(work) == 1 else (work[0].prefill, work[1].decode)


def _refuse_unbuilt(spec: StudySpec) -> None:
    if spec.failures:
        raise SpecError(f"failures: found {spec.failures}, not built yet, expected 0")
    if spec.hold_equal is not None:
        raise SpecError(f"hold_equal: found '{spec.hold_equal}', not built yet, expected null")
