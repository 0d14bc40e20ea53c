"""Why a design is not the answer, in one sentence: which limit it misses, at which rate, in which pool."""

from __future__ import annotations

from simcore.answer.measure import measure_of
from simcore.answer.result import StudyResult
from simcore.evaluation import Evaluation, PoolResult
from simcore.pool_behind import load, pool_behind
from simcore.rows import DesignRow
from simcore.shortfalls import value_and_limit, worst_missed
from simcore.words import limit_name, listed, number, percent


def why_not(result: StudyResult, row: DesignRow) -> str:
    """One sentence why a design is not the answer, or that it is."""
    winner = result.winner
    if winner is None or result.shortfalls[row.design_id]:
        return f"Not the answer: {listed(_reasons(result, row))}."
    if row.design_id == winner.design_id:
        return "This is the answer."
    measure = measure_of(result)
    beyond = measure.figure(row) / measure.figure(winner) - 1
    if beyond <= 0:
        return (
            f"Holds the rate with the same {measure.unit} as the answer, {winner.label}, which {_better(row, winner)}."
        )
    tied = ": what is known does not tell them apart" if row.tied_with_answer else ""
    return f"Holds the rate with {measure.beyond(beyond)} than the answer, {winner.label}{tied}."


def _reasons(result: StudyResult, row: DesignRow) -> list[str]:
    """What is missing; the rate by what a run at it, or at its capacity, says."""
    evaluation, rate = result.evaluations[row.design_id], result.spec.rate_req_per_s
    return [
        (_missed(evaluation, rate) if short.kind == "rate" else "") or short.text
        for short in result.shortfalls[row.design_id]
    ]


def _missed(evaluation: Evaluation, rate_req_per_s: float) -> str:
    """``misses P99 TTFT slowdown, 7.2× of 6×, at 70 requests/s with its prefill pool 98 % busy (it holds 66.9)``. Empty
    where a run at the rate met the limits."""
    evaluation = evaluation.with_all
    run, held = evaluation.at_required, evaluation.capacity_req_per_s
    if run is None or run.met:
        return _unstable_above(evaluation, rate_req_per_s) if run is None else ""
    at = f"at {number(rate_req_per_s)} requests/s"
    told = f" (it holds {number(held)})" if held else " (it holds them at no rate)"
    if not run.stable:
        return f"queues without end {at}{_busy(max(run.pools, key=load, default=None))}{told}"
    worst = worst_missed(run)
    if worst is None:
        return ""
    value, limit = value_and_limit(worst)
    name = limit_name(worst.metric, worst.percentile)
    behind = pool_behind(worst.metric, run.pools) if run.pools else None
    return f"misses {name}, {value} of {limit}, {at}{_busy(behind)}{told}"


def _unstable_above(evaluation: Evaluation, rate_req_per_s: float) -> str:
    """Far above its capacity no run is worth its time: what fails first above the capacity."""
    held = evaluation.capacity_req_per_s
    if not held or not evaluation.binding_limit:
        return ""
    pool = f" in its {evaluation.binding_pool} pool" if evaluation.binding_pool else ""
    return (
        f"holds {number(held)} requests/s of {number(rate_req_per_s)}: above that"
        f" {_fails(evaluation.binding_limit)} first{pool}"
    )


def _fails(binding_limit: str) -> str:
    """What is said of a limit's name: ``ttft_slowdown_p90``, ``kv``, ``unstable``."""
    if binding_limit == "kv":
        return "KV memory is full"
    if binding_limit == "unstable":
        return "the queue grows without end"
    metric, _, percentile = binding_limit.rpartition("_p")
    if not metric:
        return f"{binding_limit} is missed"
    known = metric if metric.endswith("_slowdown") else f"{metric}_s"
    return f"{limit_name(known, float(percentile))} is missed"


def _busy(pool: PoolResult | None) -> str:
    return f" with its {pool.role} pool {percent(load(pool))} busy" if pool else ""


def _better(row: DesignRow, winner: DesignRow) -> str:
    """Why the one of two designs that the goal calls equal comes first."""
    more_held = (winner.capacity_req_per_s or 0.0) > (row.capacity_req_per_s or 0.0)
    return "holds more" if more_held else "needs less beside it"
