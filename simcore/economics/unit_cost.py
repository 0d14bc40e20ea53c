"""What a million tokens cost: a period's cost split over input, cached input, output and idle, to the cent.

Three ways to split what is used, each named (``Allocation``):

- ``accelerator_time``: a pool's cost by its accelerators' time: prefill time is input's, decode time output's; of
  batches that hold both, each has what it would have needed alone. What is no pool's own goes by the accelerator time
  of all pools. A cached token computes no prefill: it has no share.
- ``tokens``: every token alike, cached ones too.
- ``price_ratio``: an output token as ``tokens.OUTPUT_IN_INPUTS`` input tokens, a cached one as ``CACHED_IN_INPUTS``.

Three loads at which the same machines are looked at, side by side: at saturation (whatever the latency), at the
capacity under the SLO, and as they are really used (duty cycle). At a load below the capacity under the SLO the part
that serves nobody, 1 - mean rate / capacity, is idle and is a line of its own; ``usd_per_million`` with idle included
divides the whole cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from simcore.economics.assumptions import Allocation
from simcore.economics.lines import CostLine, total
from simcore.economics.physics import Physics, PoolPhysics
from simcore.economics.rounding import millionths, nine_digits, shared_cents
from simcore.economics.tokens import MILLION, OUTPUT_IN_INPUTS, SECONDS_PER_HOUR

TokenKind = Literal["input", "cached_input", "output"]
KINDS: tuple[TokenKind, ...] = ("input", "cached_input", "output")
Load = Literal["saturation", "slo_capacity", "duty_cycle"]
CACHED_IN_INPUTS = Decimal("0.1")
"""``price_ratio``: a cached input token is charged as a tenth of one, as most public prices of 2025 and 2026 do."""


@dataclass(frozen=True)
class TokenCost:
    """One kind of token in a period."""

    kind: TokenKind
    tokens: Decimal
    """Nine significant digits."""
    usd: Decimal
    """Whole cents, of the part of the cost that serves."""
    usd_per_million: Decimal | None
    """``usd`` ÷ tokens × 1,000,000, to a millionth; None where there is none of the kind."""
    with_idle_usd_per_million: Decimal | None
    """The same of the whole cost: idle is shared as the used part is."""


@dataclass(frozen=True)
class UnitCost:
    """A period's cost by kind of token: ``sum(usd) + idle_usd = total_usd``."""

    load: Load
    allocation: Allocation
    req_per_s: Decimal
    total_usd: Decimal
    idle_usd: Decimal
    tokens: tuple[TokenCost, ...]
    accelerators: int

    @property
    def per_accelerator_usd(self) -> Decimal:
        """Of the whole cost: divided by all accelerators of the design, whatever their role."""
        return millionths(self.total_usd / self.accelerators)


def unit_costs(
    physics: Physics, lines: Sequence[CostLine], hours: int, mean_req_per_s: Decimal, allocation: Allocation
) -> list[UnitCost]:
    """At each load that is known, of one period's lines and hours; saturation only where it was simulated.

    The cost is held the same: machines and site are paid whether used or not, and the electricity of the period is in
    it as it is.
    """
    loads: list[tuple[Load, Decimal | None]] = [
        ("saturation", physics.saturation_req_per_s),
        ("slo_capacity", physics.capacity_req_per_s),
        ("duty_cycle", mean_req_per_s),
    ]
    return [unit_cost(physics, lines, hours, load, rate, allocation) for load, rate in loads if rate is not None]


def unit_cost(
    physics: Physics, lines: Sequence[CostLine], hours: int, load: Load, req_per_s: Decimal, allocation: Allocation
) -> UnitCost:
    """One of them."""
    counts, total_usd = tokens_of(physics, req_per_s, hours), total(lines)
    weights = kind_weights(physics, counts, allocation, lines)
    used = min(req_per_s / physics.capacity_req_per_s, Decimal(1))
    used_usd, idle_usd = shared_cents(total_usd, [used, 1 - used])
    served = shared_cents(used_usd, weights)
    whole = shared_cents(total_usd, weights)
    tokens = tuple(
        TokenCost(kind, counts[kind], usd, _per_million(usd, counts[kind]), _per_million(all_usd, counts[kind]))
        for kind, usd, all_usd in zip(KINDS, served, whole, strict=True)
    )
    return UnitCost(load, allocation, req_per_s, total_usd, idle_usd, tokens, physics.accelerators)


def tokens_of(physics: Physics, req_per_s: Decimal, hours: int) -> dict[TokenKind, Decimal]:
    """Tokens of each kind: requests/s × 3,600 × hours × a request's tokens."""
    requests = req_per_s * SECONDS_PER_HOUR * hours
    return {
        "input": nine_digits(requests * physics.input_tokens),
        "cached_input": nine_digits(requests * physics.cached_input_tokens),
        "output": nine_digits(requests * physics.output_tokens),
    }


def kind_weights(
    physics: Physics, counts: dict[TokenKind, Decimal], allocation: Allocation, lines: Sequence[CostLine]
) -> list[Decimal]:
    """By which what serves is shared among ``KINDS``."""
    if allocation == "tokens":
        return [counts[kind] for kind in KINDS]
    if allocation == "price_ratio":
        return [counts["input"], counts["cached_input"] * CACHED_IN_INPUTS, counts["output"] * OUTPUT_IN_INPUTS]
    prefill, decode = _by_time(physics, lines)
    return [prefill, Decimal(0), decode] if prefill or decode else [counts[kind] for kind in KINDS]


def _by_time(physics: Physics, lines: Sequence[CostLine]) -> tuple[Decimal, Decimal]:
    """USD of prefill and of decode time; what comes back (a residual) counts by its size, as a share of it would not be
    one. Where nothing costs anything, the times themselves."""
    times = {(pool.role, pool.machine): _time(pool) for pool in physics.pools}
    everywhere = (
        sum((one for one, _ in times.values()), Decimal(0)),
        sum((one for _, one in times.values()), Decimal(0)),
    )
    if not any(everywhere):
        return everywhere
    prefill = decode = Decimal(0)
    for line in lines:
        own = times.get((line.pool, line.machine), everywhere)
        of_prefill, of_decode = own if any(own) else everywhere
        usd = abs(line.amount_usd)
        prefill += usd * of_prefill / (of_prefill + of_decode)
        decode += usd * of_decode / (of_prefill + of_decode)
    return (prefill, decode) if prefill or decode else everywhere


def _time(pool: PoolPhysics) -> tuple[Decimal, Decimal]:
    """Accelerators × share of their time: for prompts, for decoding."""
    prefill, decode = pool.prefill + pool.hybrid_prefill, pool.decode + pool.hybrid_decode
    return pool.accelerators * prefill, pool.accelerators * decode


def _per_million(usd: Decimal, tokens: Decimal) -> Decimal | None:
    return millionths(usd / tokens * MILLION) if tokens else None
