"""What a goal compares designs by, and how a difference in it is said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from simcore.rows import DesignRow
from simcore.shortfalls import machines
from simcore.spec import StudySpec
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
    """What a runner-up has more of."""


def measure_of(spec: StudySpec) -> Measure:
    """The measure of a study's goal."""
    if spec.goal == "power":
        return Measure(
            lambda row: row.provisioned_w,
            "Takes {} less provisioned power{} than",
            "Takes as much power as",
            "provisioned power",
        )
    if spec.goal == "machines":
        return Measure(
            lambda row: float(machines(row)), "Needs {} fewer machines{} than", "Needs as many machines as", "machines"
        )
    if spec.goal == "throughput":
        return Measure(
            lambda row: 1 / (row.capacity_req_per_s or 1e-9),
            "Spends {} less time on a request{} than",
            "Spends as much time on a request as",
            "time a request",
        )
    return Measure(lambda row: float(row.usd_per_hour), "Costs {} less{} than", "Costs as much as", "cost")


def difference(measure: Measure, winner: DesignRow, other: DesignRow, span: tuple[float, float] | None = None) -> str:
    """``Costs 12 % less than`` the other. With the least and the most that the share may be ``Costs 12 % (8 to 16) less
    than``; where it may turn round ``Costs 12 % less (16 % less to 5 % more) than``."""
    less = 1 - measure.figure(winner) / measure.figure(other)
    if less <= 0:
        return measure.same
    low, high = (round(100 * share) for share in span or (less, less))
    if low == high:
        return measure.less.format(percent(less), "")
    if low < 0:
        return measure.less.format(percent(less), f" ({high} % less to {-low:,} % more)")
    return measure.less.format(f"{percent(less)} ({low} to {high})", "")


def more(measure: Measure, winner: DesignRow, other: DesignRow) -> str:
    """``+5 % cost`` of the other."""
    share = measure.figure(other) / measure.figure(winner) - 1
    return f"+{percent(share)} {measure.unit}" if share > 0 else f"the same {measure.unit}"
