"""Service-level objectives: what latency must hold (DESIGN.md section 6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from simcore.spec.decode import SpecError, bounded, decode, nearest, shown

Metric = Literal["ttft_s", "tbt_s", "tpot_s", "e2e_s", "queue_s", "ttft_slowdown", "tbt_slowdown", "e2e_slowdown"]

SPLITWISE_SLOWDOWNS = {
    "ttft_slowdown": {50: 2.0, 90: 3.0, 99: 6.0},
    "tbt_slowdown": {50: 1.25, 90: 1.5, 99: 5.0},
    "e2e_slowdown": {50: 1.25, 90: 1.5, 99: 5.0},
}
"""Splitwise, ISCA 2024, Table VI: percentile -> times the same request alone on the reference machine."""


@dataclass(frozen=True)
class Limit:
    """At ``percentile`` (inverse empirical CDF) the metric is at most ``limit``, or so many decode iterations."""

    metric: Metric
    percentile: float = bounded(above=0, most=100)
    limit: float | None = bounded(None, above=0)
    limit_x_decode: float | None = bounded(None, above=0)
    """In decode iterations at batch 32 and context 4096 on the design's own replica."""

    def __post_init__(self) -> None:
        if (self.limit is None) == (self.limit_x_decode is None):
            raise SpecError("limit: give exactly one of limit and limit_x_decode")

    @property
    def name(self) -> str:
        """Its name in tables: ``ttft_p99``."""
        return f"{self.metric.removesuffix('_s')}_p{self.percentile:g}"


@dataclass(frozen=True)
class SlowdownSlo:
    """Splitwise's: each request relative to itself alone on ``reference``; nine limits hold, times ``multiplier``."""

    kind: Literal["slowdown"] = "slowdown"
    reference: str = "dgx-a100"
    reference_latency: dict[str, Any] | None = None
    """A latency source for the reference (needed with ``curve``)."""
    multiplier: float = bounded(1.0, above=0)

    def limits(self) -> tuple[Limit, ...]:
        """The nine limits of Table VI, scaled."""
        return tuple(
            Limit(metric, float(p), value * self.multiplier)  # type: ignore[arg-type]
            for metric, by_percentile in SPLITWISE_SLOWDOWNS.items()
            for p, value in by_percentile.items()
        )


@dataclass(frozen=True)
class AbsoluteSlo:
    """Limits in seconds (or decode iterations) at percentiles."""

    limits: tuple[Limit, ...]
    kind: Literal["absolute"] = "absolute"

    def __post_init__(self) -> None:
        if not self.limits:
            raise SpecError("limits: found none, expected at least one")


@dataclass(frozen=True)
class AttainmentSlo:
    """At least ``share`` of all requests meet both limits, the same request both."""

    ttft_s: float = bounded(above=0)
    tpot_s: float = bounded(above=0)
    share: float = bounded(0.99, above=0, most=1)
    kind: Literal["attainment"] = "attainment"


Slo = SlowdownSlo | AbsoluteSlo | AttainmentSlo


def check_auto_budget(slo: Slo) -> None:
    """SpecError where nothing says how long an iteration may take, which ``token_budget`` ``auto`` is chosen by."""
    if isinstance(slo, AbsoluteSlo) and not any(limit.metric in ("tbt_s", "tpot_s") for limit in slo.limits):
        raise SpecError(
            f"slo.limits: found limits on {', '.join(limit.metric for limit in slo.limits)} only, expected one on tbt_s"
            " or tpot_s with token_budget auto, which is chosen by it"
        )


SLO_KINDS: dict[str, type[Any]] = {"slowdown": SlowdownSlo, "absolute": AbsoluteSlo, "attainment": AttainmentSlo}


def decode_slo(value: Any, where: str = "slo") -> Slo:
    """The SLO that ``value["kind"]`` names (default: slowdown); SpecError on an unknown kind or key."""
    if not isinstance(value, Mapping):
        raise SpecError(f"{where}: found {shown(value)}, expected an object")
    kind = value.get("kind", SlowdownSlo.kind)
    if not isinstance(kind, str) or kind not in SLO_KINDS:
        hint = nearest(kind, SLO_KINDS) if isinstance(kind, str) else ""
        raise SpecError(f"{where}.kind: found {shown(kind)}, expected one of {', '.join(SLO_KINDS)}{hint}")
    slo: Slo = decode(SLO_KINDS[kind], value, where)
    return slo
