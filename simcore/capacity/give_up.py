"""When a run may be given up: its SLO as limits on each request's waits, for the engines (``engine/inputs.WaitLimit``).

A percentile of n values holds where at most n - rank of them are above its limit, so one miss more decides, whatever
follows. No limit here is below the SLO's own, rounding included, so that nothing that holds is given up. Gaps between
tokens have no limit here: only runs that are to be shown need them, or runs that are hardly missed. Of an attainment
the share that misses TTFT, and the one that misses TPOT, each stand for the share that misses either.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from simcore.engine.inputs import Wait, WaitLimit
from simcore.fluid.lone import lone_times
from simcore.latency.curve import PS_PER_S
from simcore.same import Same, are_fixed
from simcore.slo.distribution import rank
from simcore.slo.latencies import Latencies
from simcore.slo.objective import Objective, given_limit
from simcore.spec import AttainmentSlo, SlowdownSlo
from simcore.traces import Trace

Float64 = NDArray[np.float64]

MARGIN, MARGIN_PS = 1 + 1e-9, 2
"""Far beyond what the floating numbers of an SLO's check may be off."""
MOST_PS = 2.0**62
KEPT = 16
"""Loads whose limits are kept."""
WAITS = {
    "queue_s": Wait.QUEUE, "ttft_s": Wait.TTFT, "tpot_s": Wait.DECODE, "e2e_s": Wait.E2E,
    "ttft_slowdown": Wait.TTFT, "tbt_slowdown": Wait.DECODE, "e2e_slowdown": Wait.E2E,
}  # fmt: skip


def wait_limits(goal: Objective, load: Trace, window: tuple[int, int]) -> tuple[WaitLimit, ...]:
    """A limit each of the SLO's, but for those on gaps, over the window's requests.

    Kept for columns that nobody may write: all designs of a study are held against the same limits.
    """
    columns = load.prompt_tokens, load.cached_prompt_tokens, load.output_tokens
    if not are_fixed(*columns):
        return _wait_limits(goal, load, window)
    return _kept(Same(goal, goal.slo, goal.reference), goal.decode_iteration_s, Same(load, *columns), window)


@lru_cache(maxsize=KEPT)
def _kept(
    goal: Same[Objective], decode_iteration_s: float | None, load: Same[Trace], window: tuple[int, int]
) -> tuple[WaitLimit, ...]:
    return _wait_limits(goal.value, load.value, window)


def _wait_limits(goal: Objective, load: Trace, window: tuple[int, int]) -> tuple[WaitLimit, ...]:
    """Worked out."""
    if isinstance(goal.slo, AttainmentSlo):
        return _of_attainment(goal.slo, load, window)
    limits = goal.slo.limits() if isinstance(goal.slo, SlowdownSlo) else goal.slo.limits
    output = load.output_tokens[slice(*window)]
    units = _lone_ps(goal, load, window) if isinstance(goal.slo, SlowdownSlo) else _seconds_ps(output)
    made = []
    for limit in limits:
        if limit.metric not in WAITS:
            continue
        wait = WAITS[limit.metric]
        requests = int(np.count_nonzero(output >= 2)) if wait == Wait.DECODE else len(output)
        if requests:
            allowed = requests - rank(limit.percentile, requests)
            made.append(WaitLimit(wait, _ps(given_limit(limit, goal) * units[wait]), allowed))
    return tuple(made)


def _of_attainment(slo: AttainmentSlo, load: Trace, window: tuple[int, int]) -> tuple[WaitLimit, ...]:
    output = load.output_tokens[slice(*window)]
    allowed = len(output) - math.ceil(Fraction(repr(slo.share)) * len(output))
    units = _seconds_ps(output)
    limits = ((Wait.TTFT, slo.ttft_s), (Wait.DECODE, slo.tpot_s))
    return tuple(WaitLimit(wait, _ps(limit_s * units[wait]), allowed) for wait, limit_s in limits)


def _seconds_ps(output: NDArray[np.int64]) -> dict[Wait, Float64]:
    """One second of each wait; of TPOT, as time from the first token to the last."""
    ones = np.full(len(output), float(PS_PER_S))
    return {Wait.QUEUE: ones, Wait.TTFT: ones, Wait.DECODE: ones * (output - 1), Wait.E2E: ones}


def _lone_ps(goal: Objective, load: Trace, window: tuple[int, int]) -> dict[Wait, Float64]:
    """Each request's waits alone on the reference, at least 1 ps (a token)."""
    assert goal.reference is not None  # noqa: S101 - objective() compiles it for this kind
    columns = [column[slice(*window)] for column in (load.prompt_tokens, load.cached_prompt_tokens, load.output_tokens)]
    alone = lone_times(goal.reference, 1, *columns)
    return {
        Wait.TTFT: np.maximum(alone.ttft_ps, 1.0),
        Wait.DECODE: np.maximum(alone.decode_ps, columns[2] - 1.0),
        Wait.E2E: np.maximum(alone.e2e_ps, 1.0),
    }


def _ps(limits: Float64) -> NDArray[np.int64]:
    return np.minimum(limits * MARGIN + MARGIN_PS, MOST_PS).astype(np.int64)


def waits_ps(latencies: Latencies, wait: Wait) -> NDArray[np.int64]:
    """How long each of the window's requests waited; ``INFINITE`` where it did not finish."""
    if wait == Wait.DECODE:
        return latencies.decode_ps
    return latencies.queue_ps if wait == Wait.QUEUE else latencies.ttft_ps if wait == Wait.TTFT else latencies.e2e_ps
