"""Queueing theory by textbook formulas, independent of the engines, and how far chance may be from it.

Waits are in services: the constant service time D, or the mean service time, is 1. ``load`` is the share of the time
that a server is busy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.stats import poisson, t

from simcore.traces.arrivals import poisson_ps
from simcore.traces.splitmix import exponentials

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]

REPLICATIONS = 20
CONFIDENCE = 0.999
ARRIVALS, LENGTHS = 1, 2
"""Streams of the random numbers."""


@cache
def arrivals_ps(rate_req_per_s: float, requests: int, seed: int) -> Int64:
    """A Poisson process, the same on every machine."""
    return poisson_ps(rate_req_per_s, requests, seed, ARRIVALS)


def geometric(mean: float, requests: int, seed: int, stream: int = LENGTHS) -> Int64:
    """Whole numbers from 1 with P(k) = p(1 - p)^(k - 1), p = 1/mean: a discrete exponential."""
    rate = -math.log1p(-1 / mean)
    return np.ceil(exponentials(seed, stream, requests) / rate).astype(np.int64).clip(1)


@dataclass(frozen=True)
class Estimate:
    """A mean over independent replications and the half width of its confidence interval."""

    mean: float
    half: float

    def agrees(self, exact: float) -> bool:
        """Whether the exact value is in the interval."""
        return abs(self.mean - exact) <= self.half


def estimate(values: Sequence[float]) -> Estimate:
    """From one value a replication. Seeds are fixed: a run that holds once holds always."""
    quantile = float(t.ppf((1 + CONFIDENCE) / 2, len(values) - 1))
    return Estimate(float(np.mean(values)), quantile * float(np.std(values, ddof=1)) / len(values) ** 0.5)


def means(replications: Sequence[Floats]) -> Estimate:
    """Of the mean."""
    return estimate([float(values.mean()) for values in replications])


def shares_within(replications: Sequence[Floats], most: float) -> Estimate:
    """Of the share of values of at most so much."""
    return estimate([float((values <= most).mean()) for values in replications])


def steady(values: NDArray) -> NDArray:
    """Without the first tenth, while the queue fills."""
    return values[len(values) // 10 :]


def md1_mean_wait(load: float) -> float:
    """Pollaczek and Khinchine with constant service."""
    return load / (2 * (1 - load))


def mg1_mean_wait(load: float, mean: float, second_moment: float) -> float:
    """Pollaczek and Khinchine: arrival rate x E[S^2] / (2(1 - load)), in the unit of ``mean``."""
    return load / mean * second_moment / (2 * (1 - load))


def mm1_wait_beyond(load: float, wait: float) -> float:
    """P(W > wait) = load x exp(-(1 - load) wait)."""
    return load * math.exp(-(1 - load) * wait)


def mdc_mean_wait(load: float, servers: int) -> float:
    """Crommelin 1932: sum over i of e^(-ia) [sum_(j >= ic) (ia)^j/j! - c/a sum_(j > ic) (ia)^j/j!], a = load x c."""
    offered = load * servers
    total, i = 0.0, 1
    while True:
        at_least = float(poisson.sf(i * servers - 1, i * offered))
        term = at_least - float(poisson.sf(i * servers, i * offered)) / load
        total += term
        if at_least < 1e-14:
            return total
        i += 1


@cache
def mdc_queue(load: float, servers: int) -> Floats:
    """P(L = 0), P(L = 1), ...: requests that wait, at any time in the steady state.

    Who is in service leaves within D, nobody else does: N(t + D) = max(N(t) - c, 0) + Poisson(load x c).
    """
    size = 3 * servers + math.ceil(40 / (1 - load))
    step = poisson.pmf(np.arange(size), load * servers)
    left = np.maximum(np.arange(size) - servers, 0)
    chain = np.zeros((size, size))
    for number, stay in enumerate(left):
        chain[number, stay:] = step[: size - stay]
    balance = chain.T - np.eye(size)
    balance[-1] = 1.0
    present = np.linalg.solve(balance, np.append(np.zeros(size - 1), 1.0))
    return np.append(present[: servers + 1].sum(), present[servers + 1 :])


def mdc_wait_at_most(load: float, servers: int, wait: float) -> float:
    """P(W <= wait), by Franx 2001: with wait = kD - u, 0 < u <= D, the sum over j < kc of
    P(Poisson(load x c x u) = j) x P(L <= kc - 1 - j)."""
    k = math.floor(wait) + 1
    most = np.cumsum(mdc_queue(load, servers))
    arrived = np.arange(k * servers)
    waiting = np.minimum(k * servers - 1 - arrived, len(most) - 1)
    return float((poisson.pmf(arrived, load * servers * (k - wait)) * most[waiting]).sum())


def lindley(arrival: list[int], service: list[int], servers: int = 1) -> list[int]:
    """Waits when request n goes to server n mod c, first come first served: W = max(free - arrival, 0), exactly."""
    free = [0] * servers
    waits = []
    for number, (at, time) in enumerate(zip(arrival, service, strict=True)):
        start = max(at, free[number % servers])
        free[number % servers] = start + time
        waits.append(start - at)
    return waits
