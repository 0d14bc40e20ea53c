"""The coefficients that measurements may move, each with how far it may be from the shipped one before we doubt it.

A factor on a share or a time has a log-normal prior; the host's times, which may be 0 in the shipped rows, are added
to. Each knob is turned in units of its prior's standard deviation, so that 0 is the shipped coefficient and 1 an
ordinary surprise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from simcore.latency.coefficients import Coefficients

CLIENT = "client_s"
"""Of TTFT, outside the engine: no coefficient."""
SLOWDOWN = "large_batch_slowdown"


@dataclass(frozen=True)
class Knob:
    """One coefficient (or several by TP together)."""

    name: str
    spread: float
    """A factor's, in its logarithm; what is added to, in seconds."""
    added: bool = False

    def turned(self, shipped: float, by: float) -> float:
        """The coefficient when the knob is turned by so many standard deviations."""
        return shipped + self.spread * by if self.added else shipped * math.exp(self.spread * by)

    def least(self, shipped: float) -> float:
        """How far down it may be turned: nothing takes less than no time, and no batch is faster for being large."""
        if self.added:
            return -shipped / self.spread - 1e-9
        return -max(math.log(shipped), 0.0) / self.spread - 1e-9 if self.name == SLOWDOWN else -MOST_TURN

    def most(self, shipped: float) -> float:
        """How far up it may be turned: no share is more than the whole."""
        if self.added:
            return MOST_ADDED
        return max(-math.log(shipped) / self.spread, 0.0) + 1e-9 if self.name.endswith("_share") else MOST_TURN


MOST_TURN, MOST_ADDED = 4.0, 100.0
TURNED_ALIKE = {
    "flops_share": (
        *("fp8_flops_share", "fp4_flops_share", "expert_flops_share"),
        *("expert_fp8_flops_share", "expert_fp4_flops_share", "expert_mxfp4_flops_share"),
    )
}
"""What a knob turns by the same factor: a model is measured at one precision. None above the whole."""
KNOBS = (
    Knob("flops_share", 0.4),
    Knob("bandwidth_share", 0.4),
    Knob("host_step_s", 3e-3, added=True),
    Knob("host_sequence_s", 30e-6, added=True),
    Knob("attention_bandwidth_share", 0.4),
    Knob("attention_flops_share", 0.4),
    Knob("layer_overhead_s", 0.7),
    Knob("allreduce_latency_s", 0.7),
    Knob("allreduce_bandwidth_share", 0.4),
    Knob("prefill_launch_s", 0.4),
    Knob(SLOWDOWN, 0.2),
    Knob(CLIENT, 20e-3, added=True),
)


def shipped_value(shipped: Coefficients, name: str) -> float:
    """A coefficient; of those by TP the first; 0 for what is none."""
    value = 0.0 if name == CLIENT else getattr(shipped, name)
    return float(value[0] if isinstance(value, tuple) else value)


def usable(shipped: Coefficients, tensor_parallel: set[int], with_ttft: bool) -> list[Knob]:
    """Knobs that change anything: a factor of 0 is 0, and one accelerator reduces with none."""
    return [
        knob
        for knob in KNOBS
        if (knob.added or shipped_value(shipped, knob.name) > 0)
        and (not knob.name.startswith("allreduce") or tensor_parallel != {1})
        and (knob.name != CLIENT or with_ttft)
    ]


def turned(shipped: Coefficients, by: Mapping[Knob, float]) -> Coefficients:
    """The coefficients with knobs turned by so much."""
    changes: dict[str, Any] = {
        name: _turned(getattr(shipped, name), knob, by[knob])
        for knob in by
        if knob.name != CLIENT
        for name in (knob.name, *TURNED_ALIKE.get(knob.name, ()))
    }
    for name in TURNED_ALIKE["flops_share"]:
        if name in changes:
            changes[name] = min(changes[name], 1.0)
    return replace(shipped, **changes)


def client_s(by: Mapping[Knob, float]) -> float:
    """What clients add to TTFT."""
    return next((max(knob.turned(0.0, value), 0.0) for knob, value in by.items() if knob.name == CLIENT), 0.0)


def _turned(shipped: float | tuple[float, ...], knob: Knob, by: float) -> float | tuple[float, ...]:
    if isinstance(shipped, tuple):
        return tuple(knob.turned(one, by) for one in shipped)
    return max(knob.turned(shipped, by), 0.0)
