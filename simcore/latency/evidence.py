"""How far to trust a curve: its source, and the roofline's error at the nearest measured points.

Device times are those of data/kernel_steps.csv, an older engine's whole steps those of data/evidence.csv.
"""

from __future__ import annotations

import csv
import dataclasses
import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple, Protocol

from simcore.catalogue import evidence_id, machine_ids, resolve_accelerator
from simcore.catalogue import machine as machine_of
from simcore.catalogue import model as model_of
from simcore.latency.coefficients import coefficients_of
from simcore.latency.curve import IterationCurve
from simcore.latency.kernel_steps import DATE, SOURCE, kernel_steps
from simcore.latency.roofline import roofline_curve
from simcore.spec import LatencySpec, Machine, Model

PS_PER_MS = 1e9


class Group(NamedTuple):
    """What measured points have in common."""

    model_id: str
    accelerator_id: str
    tensor_parallel: int
    weight_precision: str = "bf16"
    kv_precision: str = "bf16"

    @property
    def model(self) -> Model:
        """The catalogue's model at the precisions that it was measured at."""
        return dataclasses.replace(
            model_of(self.model_id),
            weight_precision=self.weight_precision,  # type: ignore[arg-type]
            kv_precision=self.kv_precision,  # type: ignore[arg-type]
        )


class Measured(Protocol):
    """One measured step."""

    @property
    def measured_ms(self) -> float: ...

    def predicted_ms(self, curve: IterationCurve) -> float:
        """The same step by a curve."""


@dataclass(frozen=True)
class Point:
    """A measured step: ``tokens`` of one prompt, or a decode batch of ``tokens`` sequences at ``context``."""

    kind: str
    tokens: int
    context: int
    measured_ms: float

    def predicted_ms(self, curve: IterationCurve) -> float:
        """The same step by a curve."""
        decode = self.kind == "decode"
        chunks = [] if decode else [(self.tokens, 0)]
        return curve.iteration_ps(chunks, [self.context] * self.tokens if decode else []) / PS_PER_MS


@dataclass(frozen=True)
class Points:
    """All points of one group, and where they are from."""

    steps: tuple[Measured, ...]
    source: str
    date: str


@dataclass(frozen=True)
class Evidence:
    """The measured points nearest to a roofline's curve, and how far the formula is off there."""

    group: Group
    exact: bool
    """Whether they are of this very model, accelerator, TP and precision."""
    mean_error: float
    """Mean absolute relative error of the roofline at them."""
    points: int
    source: str
    date: str


def nearest_evidence(model: Model, machine: Machine, tensor_parallel: int, engine: str) -> Evidence:
    """The measured points nearest to a roofline of this engine: another accelerator counts as further than another
    form of model, that as further than another size, precision or TP. ``vllm-2026`` is compared with device times, as
    ``kernel`` is.
    """
    measured = _measured_engine(engine)
    groups = _points(measured)
    nearest = min(groups, key=lambda group: _distance(group, model, machine, tensor_parallel, engine))
    accelerator = evidence_id(resolve_accelerator(machine))
    wanted = Group(model.id, accelerator, tensor_parallel, model.weight_precision, model.kv_precision)
    found = groups[nearest]
    error = mean_error(nearest, measured)
    return Evidence(nearest, nearest == wanted, error, len(found.steps), found.source, found.date)


def evidence(model: Model, machine: Machine, tensor_parallel: int, latency: LatencySpec, curve: IterationCurve) -> str:
    """A curve's nearest measured evidence, in words; where it is not a roofline, its source is all there is to say."""
    if latency.source != "roofline":
        return curve.source
    found = nearest_evidence(model, machine, tensor_parallel, latency.engine)
    host = "; its host time is an estimate" if latency.engine == "vllm-2026" else ""
    return (
        f"{'measured' if found.exact else 'not measured here, nearest'}: {_named(found.group)} ({found.source},"
        f" {found.date}), where this formula is {found.mean_error:.0%} off on average over {found.points}"
        f" points{_what_it_lacks(model, found)}{host}"
    )


def _named(group: Group) -> str:
    weights = "" if group.weight_precision == "bf16" else f" {group.weight_precision}"
    kept = "" if group.kv_precision == "bf16" else f", KV {group.kv_precision}"
    return f"{group.model_id}{weights}{kept} on {group.accelerator_id} TP{group.tensor_parallel}"


def _what_it_lacks(model: Model, found: Evidence) -> str:
    """Forms of the model that the measured one does not have: the error there is without what they add."""
    ours, theirs = _forms(model), _forms(found.group.model)
    lacking = [form for form in ours if form not in theirs]
    return f", of a model without {' or '.join(lacking)}" if lacking else ""


def _forms(model: Model) -> list[str]:
    forms = {
        "experts": model.experts is not None,
        "windowed layers": model.windowed_layers > 0,
        "latent attention": model.attention == "mla",
    }
    return [form for form, has in forms.items() if has]


@cache
def mean_error(group: Group, engine: str) -> float:
    """Mean absolute relative error of the roofline over one group's points."""
    steps = _points(engine)[group].steps
    curve = roofline_curve(group.model, _machine_with(group.accelerator_id), group.tensor_parallel, 1, engine)
    return sum(abs(step.predicted_ms(curve) / step.measured_ms - 1) for step in steps) / len(steps)


def _measured_engine(engine: str) -> str:
    return engine if engine == "vllm-2023" else "kernel"


@cache
def _points(engine: str) -> dict[Group, Points]:
    return _kernel_points() if engine == "kernel" else _engine_points(engine)


def _kernel_points() -> dict[Group, Points]:
    groups: dict[Group, list[Measured]] = {}
    versions: dict[Group, str] = {}
    for step in kernel_steps():
        of = step.group
        group = Group(of.model_id, of.hardware, of.tensor_parallel, of.weight_precision, of.kv_precision)
        groups.setdefault(group, []).append(step)
        versions[group] = of.engine_version
    return {group: Points(tuple(steps), f"{SOURCE}, {versions[group]}", DATE) for group, steps in groups.items()}


def _engine_points(engine: str) -> dict[Group, Points]:
    """Whole steps of an engine, host time included (data/evidence.csv)."""
    text = files("simcore.latency").joinpath("data/evidence.csv").read_text(encoding="utf-8")
    groups: dict[Group, list[Measured]] = {}
    origin: dict[Group, tuple[str, str]] = {}
    for row in csv.DictReader(text.splitlines()):
        if row["engine"] == engine:
            group = Group(row["model"], row["hardware"], int(row["tensor_parallel"]))
            point = Point(row["kind"], int(row["tokens"]), int(row["context"]), float(row["measured_ms"]))
            groups.setdefault(group, []).append(point)
            origin[group] = (row["source"], row["date"])
    return {group: Points(tuple(steps), *origin[group]) for group, steps in groups.items()}


def _distance(
    group: Group, model: Model, machine: Machine, tensor_parallel: int, engine: str
) -> tuple[int, int, float, float]:
    """Another accelerator (one that stands in for it less so), other forms of the model, size and precision, TP."""
    accelerator = resolve_accelerator(machine)
    other = 0 if group.accelerator_id == evidence_id(accelerator) else 2
    if other and group.accelerator_id == coefficients_of(accelerator, engine).stand_in:
        other = 1
    forms = len(set(_forms(model)) ^ set(_forms(group.model)))
    size = abs(math.log2(model.parameters / group.model.parameters)) + (model.id != group.model_id)
    precision = (model.weight_precision != group.weight_precision) + (model.kv_precision != group.kv_precision) / 2
    return other, forms, size + precision, abs(math.log2(tensor_parallel / group.tensor_parallel))


def _machine_with(accelerator_id: str) -> Machine:
    every = (machine_of(machine_id) for machine_id in machine_ids())
    return next(m for m in every if resolve_accelerator(m).id == accelerator_id and m.power_cap_w is None)
