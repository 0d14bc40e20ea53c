"""Power coefficients of an accelerator brought to a measured mean: idle as measured, the rest times one factor.

One run says one thing, so ``base``, ``by_mbu`` and ``by_mfu`` are scaled together: how they stand to each other stays
as fitted. The error at other loads is that of the shipped coefficients, less what they all have in common.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from simcore.catalogue import resolve_accelerator
from simcore.latency.curve import IterationCurve
from simcore.power import power_coefficients
from simcore.serving_power.steady import serving_power
from simcore.spec import Accelerator, Machine, Model, SpecError
from simcore.steady_state.mean_iteration import Lengths, Serving

MOST_FACTOR = 8.0
DIGITS = 4


@dataclass(frozen=True)
class Run:
    """What a replica did while its power was logged."""

    model: Model
    machine: Machine
    tensor_parallel: int
    curve: IterationCurve
    lengths: Lengths
    concurrency: float
    """Of one replica."""
    serving: Serving

    def predicted_w(self, accelerator: Accelerator) -> float:
        """Mean of one accelerator with these figures."""
        machine = replace(self.machine, accelerator=accelerator)
        power = serving_power(
            self.model, machine, self.tensor_parallel, self.curve, self.lengths, self.concurrency, self.serving
        )
        return power.accelerator_w


@dataclass(frozen=True)
class PowerCalibration:
    """A machine whose accelerators draw what was measured."""

    machine: Machine
    accelerator: Accelerator
    factor: float
    before_w: float
    """Predicted with the figures that the machine came with."""
    after_w: float


def calibrate_power(run: Run, measured_w: float, idle_w: float | None) -> PowerCalibration:
    """``measured_w``: mean of one accelerator; ``idle_w``: its idle draw, where the log has it. SpecError where the
    mean is none that an accelerator of this TDP (or cap) and idle draw can have.
    """
    shipped = resolve_accelerator(run.machine)
    idle = shipped.idle_w if idle_w is None else round(idle_w, 1)
    most = min(shipped.tdp_w, run.machine.power_cap_w or shipped.tdp_w)
    if not idle < measured_w:
        raise SpecError(f"power: found a mean of {measured_w:.4g} W, expected more than the {idle:.4g} W drawn idle")
    if idle >= most:
        raise SpecError(f"power: found {idle:.4g} W idle, expected less than {most:g} W, what {shipped.id} may draw")

    def scaled(factor: float) -> Accelerator:
        given = power_coefficients(shipped)
        base, by_mbu, by_mfu = (round(factor * value, DIGITS) for value in (given.base, given.by_mbu, given.by_mfu))
        return replace(shipped, idle_w=idle, power_base=min(base, 1.0), power_by_mbu=by_mbu, power_by_mfu=by_mfu)

    def error(factor: float) -> float:

        return run.predicted_w(scaled(factor)) - measured_w

    if error(MOST_FACTOR) < 0:
        raise SpecError(
            f"power: found a mean of {measured_w:.4g} W of one {shipped.id}, expected at most the {most:g} W that it"
            " may draw: is it this accelerator, and its cap?"
        )
    from scipy.optimize import brentq  # slow to load: the command line starts without it

    factor = float(brentq(error, 0.0, MOST_FACTOR, xtol=10**-DIGITS))
    fitted = scaled(factor)
    machine = replace(run.machine, accelerator=fitted)
    return PowerCalibration(machine, fitted, factor, run.predicted_w(shipped), run.predicted_w(fitted))
