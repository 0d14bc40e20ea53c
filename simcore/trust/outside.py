"""What of a question no measurement covers: each input by name, with what was measured instead."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from simcore.catalogue import accelerator as accelerator_of
from simcore.catalogue import (
    departures,
    evidence_id,
    fitted_as,
    model_ids,
    resolve_accelerator,
    resolve_machine,
    resolve_model,
)
from simcore.catalogue import model as model_of
from simcore.latency.calibrated import calibration_of, outside
from simcore.latency.measured import step_times
from simcore.memory import DoesNotFit, kv_capacity
from simcore.scheduler_defaults import BATCH_SIZES
from simcore.spec import Accelerator, Case, LatencySpec, Machine, MemorySpec, Model, PoolSpec, SpecError
from simcore.traces import Trace
from simcore.trust.groups import ErrorGroup, error_groups, place_of
from simcore.trust.phase_error import PHASES
from simcore.words import listed

LONG_SHARE = 0.99
"""Longer prompts than this share of all are left out of sight."""
DEVICE_TIMES = {"vllm-2026": "kernel", "trtllm-2025": "kernel"}
"""The generation whose kernels were measured apart stands on these too."""
TIMES = frozenset(name for names in PHASES.values() for name in names)


@dataclass(frozen=True)
class Asked:
    """What requests ask for, in tokens."""

    prompt_tokens: float
    """Mean, as that of output."""
    output_tokens: float
    long_prompt_tokens: int
    """One in a hundred is longer."""

    @classmethod
    def of(cls, trace: Trace) -> Asked:
        """Of a workload."""
        prompts = sorted(trace.prompt_tokens.tolist())
        long = prompts[min(math.ceil(LONG_SHARE * len(prompts)), len(prompts)) - 1]
        return cls(float(trace.prompt_tokens.mean()), float(trace.output_tokens.mean()), int(long))


@dataclass(frozen=True)
class Curve:
    """Whose iteration times are asked for."""

    model: Model
    machine: Machine
    tensor_parallel: int
    pipeline_parallel: int
    latency: LatencySpec
    batch_size: int = 0
    """The most sequences that decode at once; 0 where none do."""
    memory: MemorySpec | None = None

    @property
    def device(self) -> Accelerator:
        return resolve_accelerator(self.machine)

    @property
    def accelerator(self) -> str:
        """The accelerator's id, as people know it."""
        return self.device.id


def curves_of(cases: Iterable[Case]) -> list[Curve]:
    """Of all pools of some designs, each once."""
    found: dict[Curve, None] = {}
    for case in cases:
        for pool in case.pools:
            found[_curve(case, pool)] = None
    return list(found)


def _curve(case: Case, pool: PoolSpec) -> Curve:
    most = case.scheduler.max_batch_size or BATCH_SIZES[case.scheduler.kind]
    return Curve(
        resolve_model(case.model),
        resolve_machine(pool.machine),
        pool.tensor_parallel,
        pool.pipeline_parallel,
        pool.latency or case.latency,
        0 if pool.role == "prefill" else most,
        case.memory,
    )


def outside_measured(curves: Iterable[Curve], asked: Asked) -> list[str]:
    """One line for each input that is outside, whatever the number of curves that it concerns."""
    curves = list(curves)
    found: dict[str, None] = {}
    for curve in curves:
        found |= dict.fromkeys(RULES[curve.latency.source](curve, asked))
    return [*found, *_sequences(curves, asked)]


def outside_answer(answer: Iterable[Case], beside: Iterable[Case], asked: Asked) -> list[str]:
    """What no measurement covers of the answer, then of the designs shown beside it alone, which the line says."""
    own = outside_measured(curves_of(answer), asked)
    others = [line for line in outside_measured(curves_of(beside), asked) if line not in own]
    return own + [f"{line} (a design shown beside the answer)" for line in others]


def _calibrated(curve: Curve, asked: Asked) -> Iterable[str]:
    beyond = outside(
        calibration_of(curve.latency),
        curve.model,
        curve.machine,
        curve.tensor_parallel,
        curve.pipeline_parallel,
        prompt_tokens=asked.prompt_tokens,
        output_tokens=asked.output_tokens,
    )
    if beyond:
        file = f" ({Path(curve.latency.path).name})" if curve.latency.path else ""
        yield f"{curve.machine.id}: its calibration{file} does not cover {', '.join(beyond)}"


def _given(curve: Curve, asked: Asked) -> Iterable[str]:
    return []


def _table(curve: Curve, asked: Asked) -> Iterable[str]:
    """Of measured step times: prompts longer than the largest batch."""
    times = step_times(curve.model, curve.machine, curve.tensor_parallel, curve.latency)
    most = max(times.prefill_ms)
    if asked.long_prompt_tokens > most:
        yield (
            f"prompts of {asked.long_prompt_tokens:,} tokens: step times of {curve.accelerator} were measured to"
            f" {most:,}"
        )
    if times.slowed != 1:
        slowed = f"{curve.accelerator} x {float(times.slowed):g}"
        yield f"{curve.machine.id}: its prefill times are those of {slowed}, assumed"


def _roofline(curve: Curve, asked: Asked) -> Iterable[str]:
    engine = curve.latency.engine
    every = [group for group in _measured(engine) if group.phase in TIMES]
    here = [group for group in every if group.place.accelerator == evidence_id(curve.device)]
    yield from _forms(curve.model, engine, every)
    yield from _accelerator(curve, engine, here)
    yield from _parallel(curve, here)
    precision = place_of(curve.model, curve.accelerator, 1).precision
    known = dict.fromkeys(group.place.precision for group in here)
    if here and precision not in known:
        yield f"{precision} weights: {curve.accelerator} was measured with {listed(list(known))}"
    most, _ = _reach()[engine]
    if asked.long_prompt_tokens > most:
        yield f"prompts of {asked.long_prompt_tokens:,} tokens: times of {engine} were measured to {most:,}"


def _sequences(curves: Iterable[Curve], asked: Asked) -> Iterable[str]:
    """More decodes at once than were measured, where batch size and KV memory allow them: each accelerator's most."""
    beyond: dict[tuple[str, int], int] = {}
    for curve in curves:
        measured = _most_measured(curve)
        allowed = 0 if measured is None else _decodes_at_once(curve, asked)
        if measured is not None and allowed > measured:
            place = (curve.accelerator, measured)
            beyond[place] = max(beyond.get(place, 0), allowed)
    for (accelerator, measured), most in beyond.items():
        yield f"up to {most:,} decodes at once on {accelerator}: times were measured to {measured:,}"


def _most_measured(curve: Curve) -> int | None:
    """Decodes at once up to which its times were measured; None where nothing says, or a calibration does."""
    if curve.latency.source == "roofline":
        return _reach()[curve.latency.engine][1]
    if curve.latency.source == "measured":
        return int(max(step_times(curve.model, curve.machine, curve.tensor_parallel, curve.latency).decode_ms))
    return None


def _decodes_at_once(curve: Curve, asked: Asked) -> int:
    """The most that batch size and KV memory allow; 0 where that is not known."""
    if not curve.batch_size or curve.memory is None:
        return 0
    parallel = (curve.tensor_parallel, curve.pipeline_parallel)
    try:
        tokens = kv_capacity(curve.model, curve.machine, *parallel, curve.memory).tokens
    except (DoesNotFit, SpecError):
        return 0
    return min(curve.batch_size, int(tokens / (asked.prompt_tokens + asked.output_tokens / 2)))


def _forms(model: Model, engine: str, groups: Iterable[ErrorGroup]) -> Iterable[str]:
    """Forms of a model that none of the measured ones has."""
    measured = {group.place.model for group in groups}
    known = {form for name in measured if name in model_ids() for form in forms(model_of(name))}
    for form in forms(model):
        if form not in known:
            yield f"{form} of {model.id}: no such model was measured with {engine}"


def forms(model: Model) -> list[str]:
    """What distinguishes a model from a dense one with all of its context kept."""
    has = {
        "experts": model.experts is not None,
        "windowed layers": model.windowed_layers > 0,
        "latent attention": model.attention == "mla",
    }
    return [form for form, is_so in has.items() if is_so]


def _accelerator(curve: Curve, engine: str, here: list[ErrorGroup]) -> Iterable[str]:
    departs = departures(curve.device)
    if departs:
        yield f"accelerator {curve.accelerator}: {_departing(curve.device, departs)}"
    elif not here:
        yield f"accelerator {curve.accelerator}: no time of it was compared with {engine}, others' stand in"
    elif engine in DEVICE_TIMES and not any(_is_whole_engine(group, engine) for group in here):
        found = "its kernels were measured, no whole engine; host time is others'"
        yield f"engine {engine} on {curve.accelerator}: {found}"


def _departing(device: Accelerator, names: Iterable[str]) -> str:
    """In what it is not the one that was measured."""
    measured = accelerator_of(fitted_as(device))
    said = [f"{name} {_figure(device, name)}, measured with {_figure(measured, name)}" for name in names]
    return f"{listed(said)} ({measured.id})"


def _figure(device: Accelerator, name: str) -> str:
    value = getattr(device, name)
    return "none" if value is None else f"{value:g}"


def _is_whole_engine(group: ErrorGroup, engine: str) -> bool:
    """Of the generation's own software."""
    return group.place.software == engine.partition("-")[0] and group in error_groups(engine)


def _parallel(curve: Curve, here: list[ErrorGroup]) -> Iterable[str]:
    degrees = sorted({group.place.tensor_parallel for group in here})
    if degrees and not degrees[0] <= curve.tensor_parallel <= degrees[-1]:
        measured = f"{degrees[0]} to {degrees[-1]}" if len(degrees) > 1 else f"{degrees[0]}"
        yield f"tensor_parallel {curve.tensor_parallel} on {curve.accelerator}: measured at {measured}"
    if curve.pipeline_parallel > 1:
        yield f"pipeline_parallel {curve.pipeline_parallel}: no pipeline was measured"


def _measured(engine: str) -> tuple[ErrorGroup, ...]:
    device = DEVICE_TIMES.get(engine)
    return error_groups(engine) + (error_groups(device) if device else ())


@cache
def _reach() -> dict[str, tuple[int, int]]:
    """Engine generation → the longest prompt, and the most decodes at once, that were measured."""
    text = files("simcore.trust").joinpath("data/reach.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    return {row["engine"]: (int(row["prompt_tokens"]), int(row["sequences"])) for row in rows}


RULES: dict[str, Callable[[Curve, Asked], Iterable[str]]] = {
    "roofline": _roofline,
    "measured": _table,
    "calibrated": _calibrated,
    "curve": _given,
}
