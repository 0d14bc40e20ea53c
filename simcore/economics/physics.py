"""What money takes of a simulation: one design at one rate, quantised once (``rounding.quantised``) and exact after.

It is stored and exported as it stands here, so that whoever multiplies by hand starts from the same digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from simcore.spec.decode import bounded


@dataclass(frozen=True)
class PoolPhysics:
    """One pool of the design: its machines, and the shares of its accelerators' time at the rate."""

    role: str
    """``mixed``, ``prefill`` or ``decode``."""
    machine: str
    """A catalogue id."""
    machines: int = bounded(least=1)
    accelerators: int = bounded(least=1)
    """Of all its machines."""
    provisioned_w: Decimal = bounded(least=0)
    prefill: Decimal = bounded(Decimal(0), least=0, most=1)
    decode: Decimal = bounded(Decimal(0), least=0, most=1)
    hybrid_prefill: Decimal = bounded(Decimal(0), least=0, most=1)
    """Of the time of batches that hold both, what prompts would need alone; ``hybrid_decode`` is the rest."""
    hybrid_decode: Decimal = bounded(Decimal(0), least=0, most=1)

    @property
    def busy(self) -> Decimal:
        """The share of the time in which it works; idle is the rest."""
        return self.prefill + self.decode + self.hybrid_prefill + self.hybrid_decode


@dataclass(frozen=True)
class Physics:
    """A design at the rate that it is sized for."""

    design_id: str
    label: str
    pools: tuple[PoolPhysics, ...]
    rate_req_per_s: Decimal = bounded(above=0)
    capacity_req_per_s: Decimal = bounded(above=0)
    """Under the SLO."""
    idle_w: Decimal = bounded(least=0)
    """All machines, with nothing to do."""
    mean_w: Decimal = bounded(least=0)
    """Drawn on average at the rate: machines, not the site."""
    input_tokens: Decimal = bounded(least=0)
    """A request's, cached ones not counted, as are the next two: means over the workload."""
    cached_input_tokens: Decimal = bounded(least=0)
    output_tokens: Decimal = bounded(above=0)
    saturation_req_per_s: Decimal | None = bounded(None, above=0)
    """What it finishes where it is never without work, whatever the latency; None: not simulated."""
    capacity_low: Decimal | None = bounded(None, least=0)
    """The 90 % interval of the capacity (docs/uncertainty.md), as ``capacity_high``; None: not known."""
    capacity_high: Decimal | None = bounded(None, above=0)
    slo_attainment: Decimal | None = bounded(None, least=0, most=1)
    """The share of requests within the SLO's limits at the rate (``simcore/detail/costing.py``)."""

    @property
    def machines(self) -> int:
        return sum(pool.machines for pool in self.pools)

    @property
    def accelerators(self) -> int:
        """All of the design's: what a figure an accelerator divides by."""
        return sum(pool.accelerators for pool in self.pools)

    @property
    def provisioned_kw(self) -> Decimal:
        return sum((pool.provisioned_w for pool in self.pools), Decimal(0)) / 1000

    def drawn_kw(self, rate_req_per_s: Decimal) -> Decimal:
        """At another rate: on the straight line from idle at none through what is drawn at the simulated rate."""
        share = rate_req_per_s / self.rate_req_per_s
        return (self.idle_w + (self.mean_w - self.idle_w) * share) / 1000
