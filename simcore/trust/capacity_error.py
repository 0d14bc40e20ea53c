"""What an error of the iteration times does to a capacity, without simulating again.

With all times k times as long a cluster does at a rate what it did at k times the rate, k times as slowly. A limit L
whose metric reads M(r) at a rate r is then met up to C(k) with

    k * M(k * C(k)) = L,     so that     d ln C / d ln k = -(1 + 1/eta),     eta = d ln M / d ln r

at the limit: a metric that hardly moves with the rate (TBT under a budget, TPOT at low load) makes a capacity very
sensitive to the times, a queue that explodes (TTFT, instability, full KV) leaves C / k. A slowdown is relative to a
reference machine: where its times are off alike, k cancels on the left and C(k) = C / k again.

M is known at no load, at some 0.8 and 0.9 of the capacity, at it and just above (``Evaluation.around``): a line between
these, in rate and value. Of several limits the first to be broken counts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from simcore.evaluation import Evaluation, LimitResult
from simcore.spec import AbsoluteSlo, Slo, SlowdownSlo

REFERENCE = "reference"
"""The machine that a slowdown is relative to, beside the roles of pools."""
LEAST_SPAN = 0.05
"""Of rates, for a slope: nearer ones differ by chance."""
MOST_SHARE, LEAST_SHARE = 100.0, 0.01
"""A capacity is not followed further; below, it is said to be none."""
FAR_BEYOND = 100.0
"""A value without end, as a share of its limit."""
OF_PREFILLS = ("ttft", "queue")
SATURATED = ("kv", "unstable")


@dataclass(frozen=True)
class Line:
    """One limit over the rate: its metric as a share of the limit, at rates as shares of the capacity."""

    role: str
    """Of the pool whose times it is made of."""
    relative_to: str
    """Whose times its limit is counted in: ``reference``, a role, or empty where it is in seconds."""
    rates: tuple[float, ...]
    values: tuple[float, ...]

    def held(self, errors: Mapping[str, float]) -> float:
        """Up to which rate it holds with errors of the times."""
        own = errors.get(self.role, 0.0)
        return self.reached(math.exp(errors.get(self.relative_to, 0.0) - own)) * math.exp(-own)

    def reached(self, level: float) -> float:
        """The rate up to which the metric stays at or below a level; 0 where it never does."""
        if self.values[0] > level:
            return 0.0
        for (low, below), (high, above) in pairwise(zip(self.rates, self.values, strict=True)):
            if above > level:
                return low + (high - low) * (level - below) / (above - below)
        return self._beyond(level)

    def value_at(self, rate: float) -> float:
        """The metric as a share of its limit at a rate, as a share of the capacity; without end beyond the last run."""
        for (low, below), (high, above) in pairwise(zip(self.rates, self.values, strict=True)):
            if rate <= high:
                return below + (above - below) * max(rate - low, 0.0) / (high - low)
        return math.inf

    def _beyond(self, level: float) -> float:
        """On with the slope of the last runs; without end where it does not rise."""
        last = len(self.rates) - 1
        base = next((i for i in range(last - 1, -1, -1) if self.rates[last] - self.rates[i] >= LEAST_SPAN), 0)
        slope = (self.values[last] - self.values[base]) / (self.rates[last] - self.rates[base])
        return self.rates[last] + (level - self.values[last]) / slope if slope > 0 else math.inf


@dataclass(frozen=True)
class Response:
    """How a design's capacity answers to errors of its pools' times and of the reference's."""

    lines: tuple[Line, ...]
    saturated: str
    """The pool that can do no more (``kv``, ``unstable``, or nothing above the capacity can be sustained), or empty."""
    network: float
    """What the links for KV could carry over what they do: no iteration time changes that."""

    def log_capacity(self, errors: Mapping[str, float]) -> float:
        """ln of the capacity over that without errors; ``errors``: role (or ``reference``) to ln(true / predicted).

        At the least ln(LEAST_SHARE), which stands for none.
        """
        return math.log(max(self._held(errors) / self._unchanged, LEAST_SHARE))

    def used_at(self, rate: float) -> float:
        """The most of any limit that is used at a rate, as a share of the capacity; without end where a pool or a link
        can do no more, or no run says."""
        if rate > (1.0 if self.saturated else self.network) or not self.lines:
            return math.inf
        return max(line.value_at(rate) for line in self.lines)

    @cached_property
    def _unchanged(self) -> float:
        return self._held({})

    def _held(self, errors: Mapping[str, float]) -> float:
        full = [math.exp(-errors.get(self.saturated, 0.0))] if self.saturated else []
        return min(self.network, *full, *(line.held(errors) for line in self.lines), MOST_SHARE)


def response(evaluation: Evaluation, slo: Slo) -> Response:
    """Of a design that has a capacity. Where the limits were not kept (or have no percentiles), as of a full pool."""
    pools = evaluation.at_capacity.pools if evaluation.at_capacity else ()
    roles = [pool.role for pool in pools]
    names = dict.fromkeys(limit.name for at in evaluation.around for limit in at.limits if limit.percentile)
    lines = [line for name in names if (line := _line(name, evaluation, slo, roles)) is not None]
    beyond = evaluation.around and evaluation.around[-1].rate_req_per_s > evaluation.capacity_req_per_s
    is_full = evaluation.binding_limit in SATURATED or not lines or not beyond
    saturated = evaluation.binding_pool if is_full else ""
    network = min((1 / pool.nic_busy for pool in pools if pool.nic_busy), default=math.inf)
    return Response(tuple(lines), saturated, max(network, 1.0))


def _line(name: str, evaluation: Evaluation, slo: Slo, roles: Sequence[str]) -> Line | None:
    """None for a limit that is known at fewer than two rates."""
    found = [(at.rate_req_per_s, limit) for at in evaluation.around for limit in at.limits if limit.name == name]
    if len(found) < 2:
        return None
    role = _role(found[0][1].metric, roles)
    rates = tuple(rate / evaluation.capacity_req_per_s for rate, _ in found)
    alone, *loaded = (_share(limit) for _, limit in found)
    return Line(role, _relative_to(name, slo, role), rates, (min(alone, *loaded), *loaded))


def _share(limit: LimitResult) -> float:
    return FAR_BEYOND if limit.value is None else min(limit.value / limit.limit, FAR_BEYOND)


def _role(metric: str, roles: Sequence[str]) -> str:
    """The pool that a metric is made in; of end-to-end times the one that decodes, where most of them are spent."""
    wanted = "prefill" if metric.partition("_")[0] in OF_PREFILLS else "decode"
    return wanted if wanted in roles else (roles[0] if roles else "mixed")


def _relative_to(name: str, slo: Slo, role: str) -> str:
    """A slowdown's reference; a limit in decode iterations is counted in the design's own times."""
    if isinstance(slo, SlowdownSlo):
        return REFERENCE
    in_iterations = isinstance(slo, AbsoluteSlo) and any(
        limit.limit_x_decode is not None and _name(limit.metric, limit.percentile) == name for limit in slo.limits
    )
    return role if in_iterations else ""


def _name(metric: str, percentile: float) -> str:
    return LimitResult(metric, percentile, 1.0, None, False).name
