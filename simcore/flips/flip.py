"""What a flip point is."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Asked:
    """One thing of a question that may be otherwise."""

    kind: str
    """``usd_per_hour``, ``usd_per_kwh``, ``rate_req_per_s`` or ``slo_multiplier``, as in ``what_if.Changes``."""
    now: float
    least: float
    most: float
    """Between these it is followed."""
    machine: str = ""
    """Whose price, as an id."""
    machine_name: str = ""


@dataclass(frozen=True)
class Flip:
    """Where another kind of design comes first."""

    asked: Asked
    is_above: bool
    """Above ``value``, else below it."""
    value: float
    design_id: str
    """Of what comes first beyond; empty where no design tried meets the question."""
    untried: int = field(default=0, compare=False)
    """Designs that were never tried and may come first before the value is reached."""


@dataclass(frozen=True)
class Swap:
    """Where one of the first four families changes places with another of them."""

    asked: Asked
    is_above: bool
    value: float
    family: str
    """The one in front until there."""
    behind: str
    """The one in front beyond; empty where no design of ``family`` meets the question there."""
