"""What a goal compares designs by, and how a difference in it is said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from simcore.answer.result import StudyResult
from simcore.answer.watts import power_unit
from simcore.rows import DesignRow
from simcore.shortfalls import machines
from simcore.words import percent


@dataclass(frozen=True)
class Measure:
    """What a goal compares: a figure to be low, and how a difference in it is said."""

    figure: Callable[[DesignRow], float]
    less: str
    """``Costs {} less{} than``; the share goes between, and what is known of it."""
    same: str
    """What is said where both need as much."""
    unit: str
    """What a runner-up has more of; where ``is_held``, fewer."""
    is_held: bool = False
    """What is compared is to be high: the figure is its inverse, and a lead in it is said of what is held."""

    def beyond(self, share: float) -> str:
        """``5 % more cost``: of a figure that is so much higher than the answer's; ``5 % fewer requests/s``."""
        if self.is_held:
            return f"{percent(share / (1 + share))} fewer {self.unit}"
        return f"{percent(share)} more {self.unit}"


def measure_of(result: StudyResult) -> Measure:
    """The measure of a study's goal; of power by the figure that the question chose."""
    spec = result.spec
    if spec.goal == "power":
        return Measure(
            lambda row: result.watts(row)[row.design_id],
            f"Takes {{}} less {power_unit(spec)}{{}} than",
            f"Takes as much {power_unit(spec)} as",
            power_unit(spec),
        )
    if spec.goal == "machines":
        return Measure(
            lambda row: float(machines(row)), "Needs {} fewer machines{} than", "Needs as many machines as", "machines"
        )
    if spec.goal == "throughput":
        return Measure(
            lambda row: 1 / (row.capacity_req_per_s or 1e-9),
            "Holds {} more requests/s{} than",
            "Holds as many requests/s as",
            "requests/s",
            is_held=True,
        )
    return Measure(lambda row: float(row.usd_per_hour), "Costs {} less{} than", "Costs as much as", "cost")


def difference(measure: Measure, winner: DesignRow, other: DesignRow, span: tuple[float, float] | None = None) -> str:
    """``Costs 12 % less than`` the other. With the least and the most that the share may be ``Costs 12 % (8 to 16) less
    than``; where it may turn round ``Costs 12 % less (16 % less to 5 % more) than``."""
    less = 1 - measure.figure(winner) / measure.figure(other)
    if less <= 0:
        return measure.same
    shares = (less, *(span or (less, less)))
    less, least, most = (share / (1 - share) for share in shares) if measure.is_held else shares
    low, high = round(100 * least), round(100 * most)
    if low == high:
        return measure.less.format(percent(less), "")
    if low < 0:
        sides = ("more", "fewer") if measure.is_held else ("less", "more")
        return measure.less.format(percent(less), f" ({high:,} % {sides[0]} to {-low:,} % {sides[1]})")
    return measure.less.format(f"{percent(less)} ({low:,} to {high:,})", "")


def more(measure: Measure, winner: DesignRow, other: DesignRow) -> str:
    """``+5 % cost`` of the other."""
    share = measure.figure(other) / measure.figure(winner) - 1
    if share <= 0:
        return f"the same {measure.unit}"
    return measure.beyond(share) if measure.is_held else f"+{percent(share)} {measure.unit}"
