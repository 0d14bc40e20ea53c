"""Whose measurements stand for an accelerator: those of its own id, or of the shipped one that it is ``measured_as``.

What was fitted to measurements (the shares of its peaks that products reach, launches, power) and what predictions
were compared with is known by the ids of shipped accelerators. A team's clone that changes memory, a price or a name
is the same device, and names it. Shares are taken of whatever peaks a row has; but a row whose peaks or bandwidths are
others than those that were measured *departs* from it: the measured one then stands in for it, as for one on which
nothing was measured, and no error that was found there is claimed to be its own.
"""

from __future__ import annotations

from functools import lru_cache

from simcore.catalogue.rows import accelerator, accelerator_ids
from simcore.spec import Accelerator

TIMED = (
    *("bf16_flops_per_s", "fp8_flops_per_s", "fp4_flops_per_s", "memory_bandwidth_bytes_per_s"),
    "link_bandwidth_bytes_per_s",
)
"""Figures that measured times rest on."""
POWERED = (*TIMED, "tdp_w")
"""Figures that measured watts rest on, as shares of the TDP by the use of the peaks."""
NEAR = 0.01
"""Data sheets differ by so much in rounding alone: such a figure is the same."""


def fitted_as(device: Accelerator) -> str:
    """The id whose fitted shares it takes."""
    return device.measured_as or device.id


@lru_cache(maxsize=256)
def departures(device: Accelerator, names: tuple[str, ...] = TIMED) -> tuple[str, ...]:
    """Of the figures ``names`` those that it has otherwise than the accelerator that was measured; none of one that no
    shipped row is of."""
    if fitted_as(device) not in accelerator_ids():
        return ()
    measured = accelerator(fitted_as(device))
    return tuple(name for name in names if not _same(getattr(device, name), getattr(measured, name)))


def _same(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) <= NEAR * abs(other)


def known_as(device: Accelerator, names: tuple[str, ...] = TIMED) -> tuple[str, ...]:
    """The ids under which what was measured is of it: its own, and what it is measured as unless it departs there."""
    named = () if departures(device, names) else (fitted_as(device),)
    return tuple(dict.fromkeys((device.id, *named)))


def evidence_id(device: Accelerator, names: tuple[str, ...] = TIMED) -> str:
    """The one id under which shipped measurements are of it; that of no accelerator where it departs from them."""
    return f"{device.id}, with figures of its own" if departures(device, names) else fitted_as(device)
