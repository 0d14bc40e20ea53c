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


def evidence(model: Model, machine: Machine, tensor_parallel: int, latency: LatencySpec, curve: IterationCurve) -> str:
    """A curve's source and its nearest measured evidence, in words."""
    if latency.source != "roofline":
        return curve.source
    engine = "vllm-2023" if latency.engine == "vllm-2023" else "kernel"
    groups = _points(engine)
    nearest = min(groups, key=lambda group: _distance(group, model, machine, tensor_parallel))
    error = mean_error(nearest, engine)
    exact = nearest == (model.id, resolve_accelerator(machine).id, tensor_parallel)
    host = "; its host time is an estimate" if latency.engine == "vllm-2026" else ""
    first = groups[nearest][0]
    return (
        f"{curve.source}; {'measured' if exact else 'not measured here, nearest'}: {nearest[0]} on {nearest[1]}"
        f" TP{nearest[2]} ({first.source}, {first.date}), where this formula is {error:.0%} off on average over"
        f" {len(groups[nearest])} points{host}"
    )


def mean_error(group: Group, engine: str) -> float:
    """Mean absolute relative error of the roofline over one group's points."""
    points = _points(engine)[group]
    curve = roofline_curve(model_of(group[0]), _machine_with(group[1]), group[2], 1, engine)
    return sum(abs(point.predicted_ms(curve) / point.measured_ms - 1) for point in points) / len(points)


def measured_groups(engine: str) -> tuple[Group, ...]:
    """(model, accelerator, TP) that have measured points under an engine generation (``kernel`` or ``vllm-2023``)."""
    return tuple(_points(engine))


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
