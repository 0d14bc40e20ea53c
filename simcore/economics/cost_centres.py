"""A month's cost shared among cost centres, to the cent: what serves, what idles, and what is kept as headroom.

A month is paid for a capacity C under the SLO, of which the rate sized for R is planned and the mean rate M is asked:

    served = M ÷ C,   idle = (R - M) ÷ C,   headroom = 1 - R ÷ C,

each of the whole cost. What is served is a cost for each kind of token by the allocation of the unit costs, and each
kind's is shared among the classes by their tokens of that kind. Idle and headroom go by a rule of their own, that the
assumptions state: in proportion to what each centre is served (``by_use``), in equal parts (``evenly``), or to none
(``apart``: they stay a line of their own).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from simcore.economics.assumptions import Allocation, SharingRule
from simcore.economics.lines import CostLine, total
from simcore.economics.physics import Physics
from simcore.economics.rounding import shared_cents
from simcore.economics.unit_cost import KINDS, TokenKind, kind_weights, tokens_of

NOBODY = ""
"""The centre of what stays apart."""


@dataclass(frozen=True)
class ClassTokens:
    """A class of requests: its part of all tokens of each kind, from 0 to 1."""

    name: str
    cost_centre: str
    shares: Mapping[TokenKind, Decimal]
    requests: Decimal
    """Its part of all requests: what goes by where no tokens are served."""


@dataclass(frozen=True)
class CentreCost:
    """One centre's part of a month."""

    cost_centre: str
    """Empty: what stays apart."""
    classes: tuple[str, ...]
    by_kind_usd: Mapping[TokenKind, Decimal]
    idle_usd: Decimal
    headroom_usd: Decimal

    @property
    def served_usd(self) -> Decimal:
        return sum(self.by_kind_usd.values(), Decimal(0))

    @property
    def usd(self) -> Decimal:
        return self.served_usd + self.idle_usd + self.headroom_usd


@dataclass(frozen=True)
class Shared:
    """A month: ``sum(centre.usd) = served_usd + idle_usd + headroom_usd = total_usd``."""

    total_usd: Decimal
    served_usd: Decimal
    idle_usd: Decimal
    headroom_usd: Decimal
    centres: tuple[CentreCost, ...]


def by_centre(
    physics: Physics,
    lines: Sequence[CostLine],
    hours: int,
    rates: tuple[Decimal, Decimal],
    classes: Sequence[ClassTokens],
    allocation: Allocation,
    idle: SharingRule,
    headroom: SharingRule,
) -> Shared:
    """``lines``: a month's; ``rates``: the mean and the one sized for. ValueError without classes.

    Centres come in the order in which the classes name them first.
    """
    if not classes:
        raise ValueError("classes: found none, expected at least one")
    mean, sized = rates
    whole, capacity = total(lines), physics.capacity_req_per_s
    used = min(mean / capacity, Decimal(1))
    served_usd, rest = shared_cents(whole, [used, 1 - used])
    unused = [max(sized - mean, Decimal(0)), max(capacity - max(sized, mean), Decimal(0))]
    idle_usd, headroom_usd = shared_cents(rest, unused) if any(unused) else [rest, Decimal("0.00")]
    counts = tokens_of(physics, mean, hours)
    kinds = shared_cents(served_usd, kind_weights(physics, counts, allocation, lines))
    names = list(dict.fromkeys(one.cost_centre for one in classes))
    of = {name: [one for one in classes if one.cost_centre == name] for name in names}
    by_kind = {
        kind: shared_cents(usd, _weights(list(of.values()), kind)) for kind, usd in zip(KINDS, kinds, strict=True)
    }
    served = [sum((by_kind[kind][place] for kind in KINDS), Decimal(0)) for place in range(len(names))]
    idles, headrooms = _by_rule(idle_usd, served, idle), _by_rule(headroom_usd, served, headroom)
    centres = [
        CentreCost(
            name, tuple(one.name for one in of[name]), {kind: by_kind[kind][place] for kind in KINDS},
            idles[place], headrooms[place],
        )
        for place, name in enumerate(names)
    ]  # fmt: skip
    apart = (idles[-1], headrooms[-1])
    if any(apart):
        centres.append(CentreCost(NOBODY, (), dict.fromkeys(KINDS, Decimal("0.00")), *apart))
    return Shared(whole, served_usd, idle_usd, headroom_usd, tuple(centres))


def _weights(groups: Sequence[Sequence[ClassTokens]], kind: TokenKind) -> list[Decimal]:
    """Of the centres, by their tokens of a kind; by requests where none has any."""
    found = [sum((one.shares.get(kind, Decimal(0)) for one in group), Decimal(0)) for group in groups]
    if any(found):
        return found
    return [sum((one.requests for one in group), Decimal(0)) for group in groups]


def _by_rule(usd: Decimal, served: Sequence[Decimal], rule: SharingRule) -> list[Decimal]:
    """Of each centre, and at the end what stays apart."""
    if rule == "apart":
        return [*(Decimal("0.00") for _ in served), usd]
    weights = [abs(one) for one in served] if rule == "by_use" else []
    if not any(weights):
        weights = [Decimal(1)] * len(served)
    return [*shared_cents(usd, weights), Decimal("0.00")]
