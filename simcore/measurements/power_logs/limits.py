"""How much the card of a log may draw, and whether its watts keep to it: a wrong unit, scale or card shows there."""

from __future__ import annotations

import re

import numpy as np

from simcore.catalogue import accelerator, accelerator_ids
from simcore.measurements.power_logs.samples import Device

EXCURSION = 1.1
"""Instants go a little above the limit that is kept on average."""


def above_limit(device: Device, most_w: float | None = None) -> str:
    """What to say of readings above the device's limit; empty where none is, or no limit is known. ``most_w``: of the
    card that the user names."""
    limit_w, whose = _limit(device, most_w)
    watts = np.array(device.watts, float)
    above = watts > EXCURSION * limit_w
    if not above.any():
        return ""
    known = int((~np.isnan(watts)).sum())
    highest = float(np.nanmax(watts))
    return (
        f"{int(above.sum()):,} of {known:,} readings are above {whose} of {limit_w:g} W (up to {highest:,.0f} W):"
        " another unit, or another card?"
    )


def _limit(device: Device, most_w: float | None) -> tuple[float, str]:
    if device.limit_w is not None:
        return device.limit_w, "the log's own limit"
    if most_w is not None:
        return most_w, "the card's limit"
    named = tdp_of_name(device.name)
    return (float("inf"), "") if named is None else (named, "the card's TDP")


def tdp_of_name(name: str) -> float | None:
    """The TDP of the card that a tool calls ``NVIDIA H100 80GB HBM3``: the most of all catalogue accelerators of that
    short name; None for none that is known."""
    words = set(re.split(r"[^a-z0-9]+", name.lower()))
    every = (accelerator(known) for known in accelerator_ids())
    return max((one.tdp_w for one in every if one.id.split("-")[0] in words), default=None)
