"""What a power cap costs in speed: the law of clocks and volts, with what no clock reaches left out.

An accelerator under a cap lowers its core clock until it draws no more than the cap. Above a fixed part (idle and what
an accelerator draws whatever it does: ``PowerCoefficients.base``) its draw follows f * V^2, and V falls with f down to
a floor. With phi = f over the clock without the cap:

    (cap - fixed) / (drawn - fixed) = phi * max(phi, VOLTAGE_FLOOR)^2,   phi at least SLOWEST, 1 where drawn <= cap

Compute goes at phi, memory at its own clock. So prefills, which draw the most, slow first; decodes not until the cap
lies below their own draw, and then by the part of their time that is compute alone (``latency/capped.py``).

Source: prompts per second of 6 x RTX 3090 at caps of 350 to 100 W (llmgarage.ai, power limit benchmark, 2026-02): with
95 W fixed (27 % of the TDP; ours are 21 to 31 %) and a floor of 0.83 the law gives 0.93, 0.85, 0.60 and 0.31 of the
speed at 300, 250, 200 and 150 W, where 0.94, 0.85, 0.60 and 0.26 were measured; at 100 W 0.14 was, the slowest. Beside
it: an H100 at 600 of 700 W, 7 % (factryze.ai 2026: 5 to 8 % of inference, 10 to 15 % of training steps).
"""

from __future__ import annotations

from simcore.catalogue import resolve_accelerator
from simcore.power.coefficients import power_coefficients
from simcore.spec import Accelerator, Machine, SpecError

VOLTAGE_FLOOR = 0.83
"""V does not fall below this share of what it is without the cap."""
SLOWEST = 0.14
"""The slowest speed that was measured (100 of 350 W); lower caps are taken to go no slower."""
LOWEST_CAP_SHARE = 100 / 350
"""Of the TDP, the lowest cap that was measured."""
NEWTON_STEPS = 8
"""From 1 to the cube root of 0.57 or more, to the last bit."""


def checked_cap_w(machine: Machine) -> float | None:
    """The cap on each of the machine's accelerators, None where it has none or where it lies at the TDP or above, so
    never acts. SpecError where even an idle accelerator draws more.
    """
    cap_w, accelerator = machine.power_cap_w, resolve_accelerator(machine)
    if cap_w is None or cap_w >= accelerator.tdp_w:
        return None
    if cap_w <= accelerator.idle_w:
        raise SpecError(
            f"power_cap_w of machine {machine.id}: found {cap_w:g} W, expected more than the {accelerator.idle_w:g} W"
            f" that each {accelerator.id} draws idle (idle_w)"
        )
    return cap_w


def cap_note(machine: Machine) -> str:
    """What is to be said of the machine's cap: that it never acts, or that nothing so low was measured; else empty."""
    accelerator, cap_w = resolve_accelerator(machine), machine.power_cap_w
    if cap_w is None:
        return ""
    if cap_w >= accelerator.tdp_w:
        return (
            f"power_cap_w {cap_w:g} W is not below the {accelerator.tdp_w:g} W TDP of {accelerator.id}: it never acts"
        )
    lowest_w = LOWEST_CAP_SHARE * accelerator.tdp_w
    if cap_w < lowest_w and machine.prefill_slowdown is None:
        return (
            f"power_cap_w {cap_w:g} W is below any cap that was measured ({lowest_w:.0f} W of {accelerator.tdp_w:g}"
            " W): the law that slows its batches is extended"
        )
    return ""


def fixed_w(accelerator: Accelerator) -> float:
    """What an accelerator that works draws at any clock."""
    return accelerator.idle_w + power_coefficients(accelerator).base * (accelerator.tdp_w - accelerator.idle_w)


def speed_under_cap(accelerator: Accelerator, drawn_w: float, cap_w: float) -> float:
    """phi: the clock under ``cap_w`` over the one without it, of work that draws ``drawn_w`` without it."""
    if drawn_w <= cap_w:
        return 1.0
    fixed = fixed_w(accelerator)
    share = (cap_w - fixed) / (drawn_w - fixed)
    if share >= VOLTAGE_FLOOR * VOLTAGE_FLOOR * VOLTAGE_FLOOR:
        return _cube_root(share)
    return max(share / (VOLTAGE_FLOOR * VOLTAGE_FLOOR), SLOWEST)


def _cube_root(of: float) -> float:
    """By Newton's steps, from a start of 1: the same bits on every machine, which a power need not have."""
    root = 1.0
    for _ in range(NEWTON_STEPS):
        root = (2 * root + of / (root * root)) / 3
    return root
