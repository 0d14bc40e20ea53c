"""What is regretted of a purchase in each future.

Regret is what holding a future's rate costs a month, with more of the same machines in proportion where they hold too
little, over what it costs with the best of the purchases compared (minimax regret: L. J. Savage, "The Theory of
Statistical Decision", Journal of the American Statistical Association 46, 1951). Machines to spare are paid for: a
month costs at least what was bought.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simcore.analyses.kind import Json
from simcore.words import dollars, listed, percent


@dataclass(frozen=True)
class Named:
    """A future as it is told; several rates share one that was simulated."""

    words: str
    simulated: int
    rate: float


def future_of(future: Named, held: Sequence[Sequence[Json]], monthly: Sequence[float]) -> list[Json]:
    """Of each purchase."""
    needed = [
        _month(one["capacity_req_per_s"], future.rate, usd)
        for one, usd in zip(held[future.simulated], monthly, strict=True)
    ]
    least = min((cost for cost in needed if cost is not None), default=None)
    return [
        {
            **one,
            "lost": 1 - one["capacity_req_per_s"] / today["capacity_req_per_s"]
            if today["capacity_req_per_s"]
            else None,
            "usd_per_month": cost,
            "regret_usd_per_month": None if cost is None or least is None else cost - least,
        }
        for one, today, cost in zip(held[future.simulated], held[0], needed, strict=True)
    ]


def _month(held: float, rate: float, usd: float) -> float | None:
    """What holding the rate costs with more of the same machines where they hold less; None where they hold none."""
    return usd * max(1.0, rate / held) if held else None


def worst(table: Sequence[Sequence[Json]], named: Sequence[Named], place: int) -> tuple[float, str] | None:
    """None where it holds nothing in a future in which another does."""
    regrets = [
        (of[place]["regret_usd_per_month"], future.words)
        for of, future in zip(table, named, strict=True)
        if any(one["usd_per_month"] is not None for one in of)
    ]
    if any(regret is None for regret, _ in regrets):
        return None
    return max(regrets, key=lambda one: one[0], default=None)


def unheld(table: Sequence[Sequence[Json]], named: Sequence[Named], place: int) -> str:
    return next(
        future.words
        for of, future in zip(table, named, strict=True)
        if of[place]["usd_per_month"] is None and any(one["usd_per_month"] is not None for one in of)
    )


def sentences(purchases: Sequence[Json], table: Sequence[Sequence[Json]], named: Sequence[Named]) -> list[str]:
    if len(purchases) == 1:
        return [f"Only one set of machines holds the rate, {purchases[0]['purchase']}.", *_losses(table, named, 0)]
    cheapest = min(range(len(purchases)), key=lambda place: purchases[place]["usd_per_month"])
    able = [place for place, one in enumerate(purchases) if one["worst_regret_usd_per_month"] is not None]
    if not able:
        return [
            "Each of these purchases fails in some future in which another would do.",
            *_losses(table, named, cheapest, "The cheapest"),
        ]
    best = min(able, key=lambda place: purchases[place]["worst_regret_usd_per_month"])
    told_of = "It" if best == cheapest else "The cheapest"
    return [_against(purchases, best, cheapest), *_losses(table, named, cheapest, told_of)]


def _against(purchases: Sequence[Json], best: int, cheapest: int) -> str:
    safe, cheap = purchases[best], purchases[cheapest]
    regret = _regret(safe)
    if best == cheapest:
        return f"The cheapest, {cheap['purchase']}, is also the one of least worst regret: {regret}."
    more = dollars(safe["usd_per_month"] - cheap["usd_per_month"])
    return (
        f"Cheapest today is {cheap['purchase']}, whose worst regret is {_regret(cheap)}; of least worst regret is"
        f" {safe['purchase']}, {regret}, for {more} a month more."
    )


def _regret(purchase: Json) -> str:
    worst = purchase["worst_regret_usd_per_month"]
    if worst is None:
        return f"without end (with {purchase['worst_future']} it holds nothing)"
    return f"{dollars(worst)} a month ({purchase['worst_future']})" if worst else "none"


def _losses(table: Sequence[Sequence[Json]], named: Sequence[Named], place: int, it: str = "It") -> list[str]:
    """Where the purchase at ``place``, named ``it``, loses most."""
    lost = [
        (of[place]["lost"], future.words)
        for of, future in zip(table, named, strict=True)
        if future.simulated and of[place]["lost"] is not None
    ]
    if not lost:
        return []
    most, words = max(lost)
    held = [name for share, name in lost if share >= 1]
    if held:
        return [f"{it} can no longer hold its SLO at any rate with {listed(held)}, however it is run."]
    return [f"{it} loses most with {words}: {percent(most)} of its capacity, run in the best way."] if most > 0 else []
