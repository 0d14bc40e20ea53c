"""``scheduler.token_budget`` ``auto``: one budget a design, chosen before anything runs. Imports no engine.

The largest multiple of the curve's tile, up to 8192 tokens, whose hybrid iteration keeps within the TBT objective: 32
decodes at context 4096, and a chunk of the rest of the budget over 4096 cached tokens, through all pipeline stages, on
the slowest of the pools that prefill beside decodes. Where not even one tile does, one tile, and a warning.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from simcore.catalogue import resolve_accelerator, resolve_machine, resolve_model
from simcore.latency.coefficients import coefficients_of
from simcore.latency.compile import compile_curve
from simcore.latency.curve import PS_PER_S, IterationCurve
from simcore.slo.objective import DECODE_BATCH, DECODE_CONTEXT_TOKENS, objective
from simcore.spec import MOST_AUTO_BUDGET, AttainmentSlo, Case, Limit, PoolSpec, SlowdownSlo

TILE_TOKENS = 128
"""Where the curve is not a roofline, whose tile is fitted."""
STRICTEST_TBT_PERCENTILE = 99
"""Of a slowdown SLO, the limit that a single iteration may use up: the tail's."""


@dataclass(frozen=True)
class AutoBudget:
    """What was chosen, and what its iteration takes against the objective."""

    tokens: int
    iteration_s: float
    objective_s: float

    @property
    def warning(self) -> str:
        """Why the budget is none that keeps within the objective; empty where it does."""
        if self.iteration_s <= self.objective_s:
            return ""
        return (
            f"token_budget auto: {self.tokens} tokens, the least, take {self.iteration_s:.3g} s beside {DECODE_BATCH}"
            f" decodes at context {DECODE_CONTEXT_TOKENS}, over the {self.objective_s:.3g} s that the SLO gives"
        )


def auto_budget(case: Case) -> AutoBudget:
    """The budget of a case whose ``token_budget`` is ``auto``. SpecError where a curve or the reference lacks data."""
    goal_s = tbt_objective_s(case)
    pools = mixing_pools(case)
    tile = math.lcm(*(tile_tokens(case, pool) for pool in pools)) if pools else TILE_TOKENS
    curves = [(_curve(case, pool), pool.pipeline_parallel) for pool in pools]

    def slowest_s(budget: int) -> float:
        return max((hybrid_s(curve, stages, budget) for curve, stages in curves), default=0.0)

    budgets = range(MOST_AUTO_BUDGET // tile * tile, tile, -tile)
    chosen = next((budget for budget in budgets if slowest_s(budget) <= goal_s), tile)
    return AutoBudget(chosen, slowest_s(chosen), goal_s)


def tbt_objective_s(case: Case) -> float:
    """What one iteration may take, in seconds.

    The tightest limit on TBT, or on TPOT where there is none on TBT. Slowdown: the P99 limit on TBT, times a lone
    decode at context 4096 on the reference machine.
    """
    goal = objective(case)
    if isinstance(case.slo, AttainmentSlo):
        return case.slo.tpot_s
    if isinstance(case.slo, SlowdownSlo):
        assert goal.reference is not None  # noqa: S101 - objective() compiles it for this kind
        times = min(x.limit or 0.0 for x in _limits(case.slo.limits(), "tbt_slowdown") if _is_tail(x))
        return times * goal.reference.iteration_ps([], [DECODE_CONTEXT_TOKENS]) / PS_PER_S
    limits = _limits(case.slo.limits, "tbt_s") or _limits(case.slo.limits, "tpot_s")
    unit_s = goal.decode_iteration_s or 0.0
    return min(limit.limit or (limit.limit_x_decode or 0.0) * unit_s for limit in limits)


def mixing_pools(case: Case) -> list[PoolSpec]:
    """The pools whose machines prefill beside decodes: mixed ones; with ``mixed_pool`` any machine may turn mixed."""
    turning = case.scheduler.kind == "splitwise" and case.scheduler.mixed_pool
    return [pool for pool in case.pools if turning or pool.role == "mixed"]


def tile_tokens(case: Case, pool: PoolSpec) -> int:
    """Tokens that the pool's accelerators compute at once."""
    latency = pool.latency or case.latency
    if latency.source != "roofline":
        return TILE_TOKENS
    fitted = coefficients_of(resolve_accelerator(resolve_machine(pool.machine)), latency.engine)
    return fitted.tile(resolve_model(case.model).weight_precision)


def hybrid_s(curve: IterationCurve, stages: int, budget: int) -> float:
    """The iteration that the budget is chosen by, through all stages."""
    chunk = budget - DECODE_BATCH
    chunks = [(chunk, DECODE_CONTEXT_TOKENS)] if chunk > 0 else []
    return curve.iteration_ps(chunks, [DECODE_CONTEXT_TOKENS] * DECODE_BATCH) * stages / PS_PER_S


def _curve(case: Case, pool: PoolSpec) -> IterationCurve:
    return compile_curve(
        resolve_model(case.model),
        resolve_machine(pool.machine),
        pool.tensor_parallel,
        pool.pipeline_parallel,
        pool.latency or case.latency,
    )


def _limits(limits: tuple[Limit, ...], metric: str) -> list[Limit]:
    return [limit for limit in limits if limit.metric == metric]


def _is_tail(limit: Limit) -> bool:
    return limit.percentile == STRICTEST_TBT_PERCENTILE
