"""Where money gets its digits: physics to nine significant ones, once; amounts to cents, once, on the line printed.

Between the two everything is ``Decimal`` of 28 digits, rounded half to even.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal

CENT = Decimal("0.01")
MILLIONTH = Decimal("0.000001")
FIGURES = Context(prec=9, rounding=ROUND_HALF_EVEN)


def quantised(figure: float) -> Decimal:
    """A simulated figure as money takes it: nine significant digits, half to even, exact from there on."""
    return Decimal(f"{figure:.8e}").normalize() + 0


def nine_digits(figure: Decimal) -> Decimal:
    """A quantity as a line prints it, half to even."""
    return FIGURES.plus(figure).normalize() + 0


def millionths(price: Decimal) -> Decimal:
    """A unit price that is a part of another (a month's of a year's), to a millionth of a dollar, half to even."""
    return price.quantize(MILLIONTH, ROUND_HALF_EVEN)


def cents(amount: Decimal) -> Decimal:
    """To whole cents, half to even."""
    return amount.quantize(CENT, ROUND_HALF_EVEN)


def running_cents(amounts: Iterable[Decimal]) -> list[Decimal]:
    """Amounts of consecutive periods in cents: each is what the rounded sum so far grew by.

    So they add up to the rounded total, and none is off by more than a cent. The rule for what is spread over time.
    """
    lines, so_far, printed = [], Decimal(0), Decimal(0)
    for amount in amounts:
        so_far += amount
        lines.append(cents(so_far) - printed)
        printed += lines[-1]
    return lines


def shared_cents(total: Decimal, weights: Sequence[Decimal]) -> list[Decimal]:
    """A total in cents shared by weights: each share rounded down, the cents left to the largest remainders.

    Equal remainders: the earlier first. The rule for what is spread over parts. A total below zero is shared as its
    opposite. ValueError where no weight is above zero, or one is below.
    """
    if any(weight < 0 for weight in weights) or not any(weights):
        raise ValueError(
            f"weights: found {[str(weight) for weight in weights]}, expected none below zero and one above"
        )
    if total < 0:
        return [-share for share in shared_cents(-total, weights)]
    whole = sum(weights)
    exact = [total * weight / whole for weight in weights]
    shares = [share.quantize(CENT, ROUND_FLOOR) for share in exact]
    left = int((cents(total) - sum(shares)) / CENT)
    by_remainder = sorted(range(len(shares)), key=lambda i: shares[i] - exact[i])
    for i in by_remainder[:left]:
        shares[i] += CENT
    return shares
