"""``latency.source: measured``: tables of measured step times, the median at each key, linear between.

Prefill time is keyed by prompt_size * batch_size tokens. Decode time is keyed by batch_size; with ``decode_key:
prompt_tokens`` by prompt_size * batch_size, and looked up with the number of sequences, as splitwise-sim does (its
fault). A hybrid batch of n tokens takes hybrid_factor * prefill(n). Medians over several prompts and outputs at one
key are one knot.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from simcore.catalogue import known_as, resolve_accelerator
from simcore.latency.capped import under_cap
from simcore.latency.curve import IterationCurve
from simcore.latency.piecewise import Piecewise
from simcore.latency.step_times import read_step_times, shipped_step_times
from simcore.spec import LatencySpec, Machine, Model, SpecError

PS_PER_MS = 10**9


@dataclass(frozen=True)
class StepTimes:
    """One model's measured medians in ms on one hardware at one TP."""

    prefill_ms: Mapping[int, Fraction]
    """By prompt tokens of the batch."""
    decode_ms: Mapping[int, Fraction]
    """By the decode key."""
    source: str
    """Where they come from, in words."""
    slowed: Fraction
    """Prefill is to be multiplied by this."""
    uncapped: bool
    """Measured without the machine's cap."""


def measured_curve(
    model: Model, machine: Machine, tensor_parallel: int, pipeline_parallel: int, latency: LatencySpec
) -> IterationCurve:
    """The curve of a user's CSV (``latency.path``) or of the shipped table; SpecError says what the table has
    instead.
    """
    if pipeline_parallel != 1:
        raise SpecError(f"pipeline_parallel: found {pipeline_parallel}, expected 1 with latency source measured")
    times = step_times(model, machine, tensor_parallel, latency)
    prefill, decode = _piecewise(times.prefill_ms, times.slowed), _piecewise(times.decode_ms, Fraction(1))
    if latency.decode_key == "batch_size":
        prefill, decode = prefill.floored(), decode.floored()
    knots = tuple(sorted({*prefill.knots, *decode.knots}))
    factor = Fraction(repr(latency.hybrid_factor))
    prefill_ms = [prefill.at(x) for x in knots]
    curve = IterationCurve(
        tokens=knots,
        prefill_ps=tuple(round(v * PS_PER_MS) for v in prefill_ms),
        decode_ps=tuple(round(decode.at(x) * PS_PER_MS) for x in knots),
        hybrid_ps=tuple(round(v * factor * PS_PER_MS) for v in prefill_ms),
        attention=0,
        chunk_read_ps=0,
        context_ps=0,
        decode_seq_ps=0,
        source=f"measured: {times.source}",
    )
    return under_cap(curve, model, machine, tensor_parallel, 1) if times.uncapped else curve


def step_times(model: Model, machine: Machine, tensor_parallel: int, latency: LatencySpec) -> StepTimes:
    """The medians that ``latency`` names for this model, machine and TP, before extension.

    Rows are looked up by the machine's id, then by its accelerator's and by what that is measured as, with ``-pcap``
    where it is capped; a capped machine falls back on uncapped rows in the shipped table alone. They take the machine's
    slowdown, or the law.
    """
    uncapped = known_as(resolve_accelerator(machine))
    capped = "" if machine.power_cap_w is None else "-pcap"
    wanted = [machine.id, *(f"{name}{capped}" for name in uncapped)]
    if latency.path is None:
        table = shipped_step_times(latency.decode_key)
        wanted += uncapped
    else:
        table = read_step_times(latency.path, latency.decode_key)
    for name in dict.fromkeys(wanted):
        found = table.series.get((model.id, name, tensor_parallel))
        if found and found.prefill_ms and found.decode_ms:
            slowed = Fraction(repr(machine.prefill_slowdown or 1.0)) if name in uncapped else Fraction(1)
            words = _words(table.source, name, tensor_parallel, slowed)
            return StepTimes(found.prefill_ms, found.decode_ms, words, slowed, name in uncapped)
    has = ", ".join(f"{m} on {h} TP{t}" for m, h, t in table.series) or "no rows"
    raise SpecError(
        f"latency: found no measured prefill and decode times of {model.id} on {' or '.join(dict.fromkeys(wanted))}"
        f" at tensor_parallel {tensor_parallel} in {table.source}, which has {has}"
    )


def _words(source: str, hardware: str, tensor_parallel: int, slowed: Fraction) -> str:
    assumed = "" if slowed == 1 else f", prefill x {float(slowed):g} (an assumption, not measured)"
    return f"{source}, {hardware} TP{tensor_parallel}{assumed}"


def _piecewise(by_key: Mapping[int, Fraction], factor: Fraction) -> Piecewise:
    keys = tuple(sorted(by_key))
    return Piecewise(keys, tuple(by_key[key] * factor for key in keys))
