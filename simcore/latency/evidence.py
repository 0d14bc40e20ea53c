"""How far to trust a curve: its source, and the roofline's error at the nearest measured points (data/evidence.csv)."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from simcore.catalogue import machine as machine_of
from simcore.catalogue import machine_ids, model_ids, resolve_accelerator
from simcore.catalogue import model as model_of
from simcore.latency.curve import IterationCurve
from simcore.latency.roofline import roofline_curve
from simcore.spec import LatencySpec, Machine, Model

PS_PER_MS = 1e9
Group = tuple[str, str, int]


@dataclass(frozen=True)
class Point:
    """One measured step: ``tokens`` of one prompt, or a decode batch of ``tokens`` sequences at ``context``."""

    kind: str
    tokens: int
    context: int
    measured_ms: float
    source: str
    date: str

    def predicted_ms(self, curve: IterationCurve) -> float:
        """The same step by a curve."""
        decode = self.kind == "decode"
        chunks = [] if decode else [(self.tokens, 0)]
        return curve.iteration_ps(chunks, [self.context] * self.tokens if decode else []) / PS_PER_MS


@dataclass(frozen=True)
class Evidence:
    """The measured points nearest to a roofline's curve, and how far the formula is off there."""

    group: Group
    exact: bool
    """Whether they are of this very model, accelerator and TP."""
    mean_error: float
    """Mean absolute relative error of the roofline at them."""
    points: int
    source: str
    date: str


def nearest_evidence(model: Model, machine: Machine, tensor_parallel: int, engine: str) -> Evidence:
    """The measured points nearest to a roofline of this engine: another accelerator counts as further than another
    model, that as further than another TP. ``vllm-2026`` is compared with device times, as ``kernel`` is.
    """
    measured = _measured_engine(engine)
    groups = _points(measured)
    nearest = min(groups, key=lambda group: _distance(group, model, machine, tensor_parallel))
    exact = nearest == (model.id, resolve_accelerator(machine).id, tensor_parallel)
    first = groups[nearest][0]
    return Evidence(nearest, exact, mean_error(nearest, measured), len(groups[nearest]), first.source, first.date)


def evidence(model: Model, machine: Machine, tensor_parallel: int, latency: LatencySpec, curve: IterationCurve) -> str:
    """A curve's nearest measured evidence, in words; where it is not a roofline, its source is all there is to say."""
    if latency.source != "roofline":
        return curve.source
    found = nearest_evidence(model, machine, tensor_parallel, latency.engine)
    host = "; its host time is an estimate" if latency.engine == "vllm-2026" else ""
    return (
        f"{'measured' if found.exact else 'not measured here, nearest'}: {found.group[0]} on {found.group[1]}"
        f" TP{found.group[2]} ({found.source}, {found.date}), where this formula is {found.mean_error:.0%} off on"
        f" average over {found.points} points{_what_it_lacks(model, found)}{host}"
    )


def _what_it_lacks(model: Model, found: Evidence) -> str:
    """Forms of the model that the measured one does not have: the error there is without what they add."""
    ours, theirs = _forms(model), _forms(model_of(found.group[0]))
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
    points = _points(engine)[group]
    curve = roofline_curve(model_of(group[0]), _machine_with(group[1]), group[2], 1, engine)
    return sum(abs(point.predicted_ms(curve) / point.measured_ms - 1) for point in points) / len(points)


def measured_groups(engine: str) -> tuple[Group, ...]:
    """(model, accelerator, TP) that have measured points under an engine generation (``kernel`` or ``vllm-2023``)."""
    return tuple(_points(engine))


def _measured_engine(engine: str) -> str:
    return engine if engine == "vllm-2023" else "kernel"


@cache
def _points(engine: str) -> dict[Group, list[Point]]:
    text = files("simcore.latency").joinpath("data/evidence.csv").read_text(encoding="utf-8")
    groups: dict[Group, list[Point]] = {}
    for row in csv.DictReader(text.splitlines()):
        if row["engine"] == engine:
            group = (row["model"], row["hardware"], int(row["tensor_parallel"]))
            groups.setdefault(group, []).append(
                Point(
                    row["kind"],
                    int(row["tokens"]),
                    int(row["context"]),
                    float(row["measured_ms"]),
                    row["source"],
                    row["date"],
                )
            )
    return groups


def _distance(group: Group, model: Model, machine: Machine, tensor_parallel: int) -> tuple[bool, float, float]:
    """Another accelerator is further than another model, and that further than another TP."""
    measured = model_of(group[0]).parameters if group[0] in model_ids() else 1
    size = abs(math.log2(model.parameters / measured)) + (model.id != group[0])
    return resolve_accelerator(machine).id != group[1], size, abs(math.log2(tensor_parallel / group[2]))


def _machine_with(accelerator_id: str) -> Machine:
    every = (machine_of(machine_id) for machine_id in machine_ids())
    return next(m for m in every if resolve_accelerator(m).id == accelerator_id and m.power_cap_w is None)
