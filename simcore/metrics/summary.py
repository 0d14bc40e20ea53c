"""What a run came to: the figures of CONTRACT.md's OUT.json, over every request of a window."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simcore.budget import auto_budget
from simcore.catalogue import resolve_machine
from simcore.engine.inputs import ClusterInputs
from simcore.engine.outputs import RunResult
from simcore.evaluation import PhaseResult, RateResult
from simcore.fleet import nameplate_w, provisioned_w
from simcore.latency.curve import PS_PER_S, BatchKind
from simcore.metrics.binding import Binding, binding
from simcore.metrics.drawn_power import DrawnPower, drawn_power
from simcore.metrics.feasibility import Feasibility, feasibility_of
from simcore.metrics.pool_use import PoolUse, pool_uses
from simcore.metrics.waited import Waited
from simcore.power import cap_note
from simcore.slo.distribution import Distribution, as_json, gap_distribution_s
from simcore.slo.objective import Objective, SloOutcome
from simcore.slo.stability import Stability
from simcore.spec import AUTO, Case

SHORT_REQUESTS = 1000
"""Below this a P99 rests on fewer than ten requests."""
SHORT_SHARE = 0.2
"""A run is short where a mean request takes this share of the time over which requests arrive."""


@dataclass(frozen=True)
class Summary:
    """One run's figures. Latencies and limits are over the window's requests, all else over the whole run."""

    requests: int
    finished: int
    refused: int
    duration_s: float
    """First arrival to last finish."""
    iterations: int
    events: int = field(compare=False)
    """What the engine handled (``RunResult.events``): its work, not what came of it."""
    throughput_req_per_s: float
    input_tokens_per_s: float
    output_tokens_per_s: float
    ttft_s: Distribution
    tbt_s: Distribution
    tpot_s: Distribution
    e2e_s: Distribution
    queue_s: Distribution
    slo: SloOutcome
    stability: Stability
    power: DrawnPower
    nameplate_w: float
    provisioned_w: float
    pools: tuple[PoolUse, ...]
    preemptions: int
    token_budget: int | None
    """In use; None with a kind that has none."""
    binding: Binding
    warnings: tuple[str, ...]

    @property
    def feasible(self) -> bool:
        """The window is stable and the SLO holds."""
        return self.stability.stable and self.slo.met

    def rate_result(self, rate_req_per_s: float) -> RateResult:
        """The run as a study keeps it, at the rate that was asked for."""
        return RateResult(
            rate_req_per_s,
            self.feasible,
            self.stability.stable,
            self.slo.limits,
            tuple(use.result for use in self.pools),
            self.power.mean_w,
            self.power.p99_w,
            self.input_tokens_per_s,
            self.output_tokens_per_s,
            self.throughput_req_per_s,
        )


def summarise(
    case: Case,
    inputs: ClusterInputs,
    run: RunResult,
    goal: Objective,
    window: tuple[int, int] | None = None,
    judged: Feasibility | None = None,
) -> Summary:
    """Every figure of a run over the requests ``window`` = [first, one past last) in order of arrival (default: all).

    ``window`` must be that of ``inputs``, as only its token gaps were kept. Latencies count every request that arrived
    in the window, refused and unfinished ones as infinite. Shares of the pools' time are of the whole run; drawn power
    is of the window's time. ``judged``: the run against its SLO over the same window, where that is known.
    """
    span = window or (0, len(inputs.arrival_ps))
    waited = Waited(inputs, run, goal, span, summarised=True)
    judged = judged or feasibility_of(waited)
    counts = waited.counts_of_run
    duration_ps = max(run.end_ps - int(inputs.arrival_ps[0]), 0)
    uses = tuple(pool_uses(case, inputs, run))
    duration_s = duration_ps / PS_PER_S
    return Summary(
        requests=len(inputs.arrival_ps),
        finished=counts["finished"],
        refused=counts["refused"],
        duration_s=duration_s,
        iterations=int(run.replicas.iterations.sum()),
        events=run.events,
        throughput_req_per_s=_per_s(counts["finished"], duration_s),
        input_tokens_per_s=_per_s(counts["finished_prompt_tokens"], duration_s),
        output_tokens_per_s=_per_s(counts["finished_output_tokens"], duration_s),
        ttft_s=waited.distribution("ttft_s"),
        tbt_s=gap_distribution_s(run.gaps, waited.gaps_never, waited.decode_sum_ps),
        tpot_s=waited.distribution("tpot_s"),
        e2e_s=waited.distribution("e2e_s"),
        queue_s=waited.distribution("queue_s"),
        slo=judged.slo,
        stability=judged.stability,
        power=drawn_power(case, inputs, run, None if window is None else span),
        nameplate_w=nameplate_w(case),
        provisioned_w=provisioned_w(case),
        pools=uses,
        preemptions=counts["preemptions"],
        token_budget=inputs.scheduler.token_budget if case.scheduler.has_token_budget else None,
        binding=_binding(run, span, judged, uses),
        warnings=(
            *_budget_warnings(case),
            *_cap_warnings(case),
            *_implausible(inputs, uses),
            *_warnings(counts, waited, judged.stability),
        ),
    )


def binding_of(
    case: Case, inputs: ClusterInputs, run: RunResult, window: tuple[int, int], judged: Feasibility
) -> Binding:
    """What binds at the run's rate: of all its figures that one alone."""
    return _binding(run, window, judged, tuple(pool_uses(case, inputs, run)))


def _binding(run: RunResult, window: tuple[int, int], judged: Feasibility, uses: Sequence[PoolUse]) -> Binding:
    preempted = run.requests.preemptions[slice(*window)]
    share = int(np.count_nonzero(preempted)) / len(preempted) if len(preempted) else 0.0
    return binding(judged.slo.limits, judged.stability.stable, uses, share)


def summary_json(summary: Summary, usd_per_hour: float | None, wall_s: float, engine_version: str) -> dict[str, Any]:
    """OUT.json of ``simulate`` (CONTRACT.md): money and the run's own circumstances are given apart."""
    binds = summary.binding
    return {
        "requests": summary.requests,
        "finished": summary.finished,
        "refused": summary.refused,
        "duration_s": summary.duration_s,
        "iterations": summary.iterations,
        "throughput_req_per_s": summary.throughput_req_per_s,
        "output_tokens_per_s": summary.output_tokens_per_s,
        **{name: as_json(getattr(summary, name)) for name in ("ttft_s", "tbt_s", "tpot_s", "e2e_s", "queue_s")},
        "slo": slo_json(summary.slo),
        "energy_j": summary.power.energy_j,
        "mean_w": summary.power.mean_w,
        "p99_w": summary.power.p99_w,
        "nameplate_w": summary.nameplate_w,
        "provisioned_w": summary.provisioned_w,
        "usd_per_hour": usd_per_hour,
        "pools": pools_json(summary.pools),
        "preemptions": summary.preemptions,
        "token_budget": summary.token_budget,
        "stable": summary.stability.stable,
        "binding": {
            "limit": binds.limit,
            "pool": binds.pool,
            "because": binds.because,
            "value_over_limit": binds.ratio,
        },
        "warnings": list(summary.warnings),
        "wall_s": wall_s,
        "engine_version": engine_version,
    }


def slo_json(outcome: SloOutcome) -> dict[str, Any]:
    """``{met, limits: [{metric, percentile, limit, value, met}]}``; an attainment share has no percentile."""
    return {
        "met": outcome.met,
        "limits": [{**limit.__dict__, "percentile": limit.percentile or None} for limit in outcome.limits],
    }


def pools_json(uses: Sequence[PoolUse]) -> list[dict[str, Any]]:
    """Each pool's shares of its replicas' time and its peaks."""
    return [
        {
            **use.result.__dict__,
            "phases": {phase.phase: _phase_json(phase) for phase in use.result.phases},
            "kv_peak_tokens": use.kv_peak_tokens,
            "kv_capacity_tokens": use.kv_capacity_tokens,
        }
        for use in uses
    ]


def _phase_json(phase: PhaseResult) -> dict[str, float]:
    return {"busy": phase.busy, "mfu": phase.mfu, "mbu": phase.mbu}


def _cap_warnings(case: Case) -> list[str]:
    notes = [(i, cap_note(resolve_machine(pool.machine))) for i, pool in enumerate(case.pools)]
    return [f"pools[{i}].machine: {note}" for i, note in notes if note]


def _budget_warnings(case: Case) -> tuple[str, ...]:
    if case.scheduler.token_budget != AUTO:
        return ()
    warning = auto_budget(case).warning
    return (warning,) if warning else ()


def _implausible(inputs: ClusterInputs, uses: Sequence[PoolUse]) -> list[str]:
    """Iteration times that no machine has: nothing for a token, or less than the accelerators' peaks allow."""
    curves = {id(replica.curve): replica.curve for replica in inputs.replicas}.values()
    kinds = [kind for kind in BatchKind if any(c.base_ps(kind, 1) == 0 < max(c.knots_ps(kind)) for c in curves)]
    names = ", ".join(kind.name.lower() for kind in kinds)
    free = f"latency: one token takes 0 s ({names}), for the first knots go on below 0: give a knot at 1 token"
    fast = [
        f"latency: the {use.result.role} pool's MFU is {use.result.mfu:.3g}, its MBU {use.result.mbu:.3g}: over 1 means"
        " that iterations take less time than the accelerator's peaks allow"
        for use in uses
        if max(use.result.mfu, use.result.mbu) > 1
    ]
    return [free, *fast] if kinds else fast


def _warnings(counts: dict[str, int], waited: Waited, steady: Stability) -> list[str]:
    found = []
    refused, unfinished = counts["refused"], counts["unfinished"]
    if refused:
        all_ = counts["finished"] + refused + unfinished
        found.append(f"{refused:,} of {all_:,} requests can never fit and were refused: each counts as a miss")
    if unfinished:
        found.append(f"{unfinished:,} requests never finished: each counts as a miss")
    if not steady.stable and math.isfinite(steady.growth_s):
        found.append(
            f"unstable: requests at the end waited {steady.growth_s:.3g} s longer than at the start"
            f" ({steady.allowed_s:.3g} s would be noise); the figures would be worse in a longer run"
        )
    short = _short_run(waited)
    return [*found, short] if short else found


def _short_run(waited: Waited) -> str:
    if len(waited) < SHORT_REQUESTS:
        return f"short run: {len(waited):,} requests, expected at least {SHORT_REQUESTS:,} for steady tails"
    finished, arrival_ps = waited.tally.counts["finished"], waited.inputs.arrival_ps[slice(*waited.window)]
    span_s = int(arrival_ps[-1] - arrival_ps[0]) / PS_PER_S
    mean_s = waited.e2e_sum_ps / finished / PS_PER_S if finished else 0.0
    if mean_s > SHORT_SHARE * span_s:
        return (
            f"short run: requests arrive over {span_s:.3g} s and take {mean_s:.3g} s on average,"
            " so filling up and draining weigh on every figure"
        )
    return ""


def _per_s(count: float, duration_s: float) -> float:
    return float(count) / duration_s if duration_s else 0.0
