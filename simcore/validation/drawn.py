"""Watts and joules a token: ``power_anchors.csv``, and what ML.ENERGY's and MLPerf's rows of ``serving_points.csv`` say
in their notes.

The mean of the accelerators' power over one replica's iterations, with and without prompts, at the stated concurrency
or rate; joules a token = watts of the replica's accelerators / its output tokens/s. At the wall the host is added.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from simcore.latency.curve import IterationCurve
from simcore.serving_power.steady import ServingPower, steady_power
from simcore.spec import Machine, Model
from simcore.steady_state.loops import Lengths, Serving, SteadyState, closed_loop
from simcore.validation.comparison import Comparison, Findings, NotCompared, Phase, Place
from simcore.validation.curves import curve_at
from simcore.validation.files import Row, read_rows
from simcore.validation.fit_split import is_fitted
from simcore.validation.names import Unknown, at_precision, gpus_of_name, machine_with, model_of_name
from simcore.validation.serving_points import steady
from simcore.validation.serving_row import SET as SERVING_SET
from simcore.validation.serving_row import ServingRow, kv_tokens_of, understood

SET = "power_anchors"
FILE = "power_anchors.csv"
COLUMNS = ("source", "gpu", "model", "precision", "isl_osl", "tp", "conc", "w_per_gpu", "j_per_out_tok")
RATE = "out_tok_s_per_gpu"
"""A column that such a file may have beside them."""
DRAWN = re.compile(r"avg GPU power (\d+(?:\.\d+)?) W \((\d+) GPU\)(?:, (\d+(?:\.\d+)?) J/output token)?")
AT_THE_WALL = re.compile(r"measured wall power (\d+(?:\.\d+)?) W")
PAIR = re.compile(r"(\d+)k/(\d+)k")
USUAL_LENGTHS = Lengths.of(1024, 1024)
ENGINE = "vllm-2026"


@dataclass(frozen=True)
class Served:
    """A model on a place, and what one replica does there."""

    model: Model
    machine: Machine
    place: Place
    curve: IterationCurve
    lengths: Lengths
    state: SteadyState

    def power(self) -> ServingPower:
        """Of one replica: of its accelerators, and with its machine."""
        place = self.place
        return steady_power(self.model, self.machine, place.tensor_parallel, self.curve, self.lengths, self.state)

    def replica_w(self) -> float:
        """Of one replica's accelerators (of one pipeline stage), idle included, fans not."""
        return self.power().accelerator_w * self.place.tensor_parallel


def compare_notes(rows: list[Row]) -> Findings:
    """Rows of ``serving_points.csv`` whose notes state watts."""
    findings = Findings()
    for row in rows:
        notes = row.text("notes")
        drawn, wall = DRAWN.search(notes), AT_THE_WALL.search(notes)
        if not drawn and not wall:
            continue
        try:
            of = understood(row)
            findings.compared += _drawn(of, drawn) if drawn else []
            findings.compared += _wall(of, float(wall[1])) if wall else []
        except Unknown as reason:
            findings.left_out.append(NotCompared(SERVING_SET, row.name, f"power: {reason}", row.text("model")))
    return findings


def _served(of: ServingRow) -> Served:
    return Served(of.model, of.machine, of.place, of.curve, of.lengths.classes(), steady(of))


def _drawn(of: ServingRow, drawn: re.Match[str]) -> list[Comparison]:
    served = _served(of)
    watts = served.replica_w() * of.replicas
    found = [_comparison(of.row, SERVING_SET, served, "power", float(drawn[1]), watts, "W", of)]
    if drawn[3]:
        joules = watts / (served.state.output_tokens_per_s * of.replicas)
        found.append(_comparison(of.row, SERVING_SET, served, "energy", float(drawn[3]), joules, "J/token", of))
    return found


def _wall(of: ServingRow, measured_w: float) -> list[Comparison]:
    served = _served(of)
    replicas = of.accelerators / of.place.tensor_parallel
    watts = served.power().machine_w * replicas
    return [_comparison(of.row, SERVING_SET, served, "power", measured_w, watts, "W", of)]


def _comparison(
    row: Row, set_name: str, served: Served, phase: Phase, measured: float, predicted: float, unit: str,
    of: ServingRow | None = None,
) -> Comparison:  # fmt: skip
    load = row.text("load") or row.text("conc")
    place = served.place
    what = f"{place.model} {place.variant} on {place.accelerator} TP{place.tensor_parallel}, load {load}"
    assumes, tier = ("; ".join(of.assumes), of.tier) if of else ("", "")
    return Comparison(
        set_name, row.name, phase, place, what, measured, predicted, unit,
        is_fitted(set_name, place, phase, {"load": load}), tier, assumes,
    )  # fmt: skip


def compare(path: Path) -> Findings:
    """The rows of ``power_anchors.csv``."""
    findings = Findings()
    for row in read_rows(path, FILE, COLUMNS):
        try:
            findings.compared += _anchor(row)
        except Unknown as reason:
            what = f"{row.text('model')} on {row.text('gpu')}, concurrency {row.text('conc')}"
            findings.left_out.append(NotCompared(SET, row.name, str(reason), what))
    return findings


def _anchor(row: Row) -> list[Comparison]:
    served, assumes = _anchored(row)
    watts = served.replica_w()
    each_w, joules = row.number("w_per_gpu"), row.number("j_per_out_tok")
    each_tokens_per_s = row.number(RATE)
    found = []
    if each_tokens_per_s:
        made = served.state.output_tokens_per_s / served.place.tensor_parallel
        found.append(_comparison(row, SET, served, "throughput", each_tokens_per_s, made, "tokens/s"))
    if each_w:
        found.append(_comparison(row, SET, served, "power", each_w, watts / served.place.tensor_parallel, "W"))
    if joules:
        predicted = watts / served.state.output_tokens_per_s
        found.append(_comparison(row, SET, served, "energy", joules, predicted, "J/token"))
    if not found:
        raise Unknown("no tokens/s, watts or joules above 0")
    return [replace(one, assumes=assumes) for one in found]


def _anchored(row: Row) -> tuple[Served, str]:
    tensor_parallel, clients = row.count("tp"), row.count("conc")
    if tensor_parallel is None or clients is None:
        raise Unknown("TP or concurrency is not stated")
    accelerator = gpus_of_name(row.text("gpu")).accelerator
    of = at_precision(model_of_name(row.text("model")), _weights(row))
    machine, curve = machine_with(accelerator), curve_at(of, accelerator, tensor_parallel, 1, ENGINE)
    stated = PAIR.search(row.text("isl_osl").split("before")[0])
    lengths = Lengths.of(int(stated[1]) * 1024, int(stated[2]) * 1024) if stated else USUAL_LENGTHS
    kv_tokens = kv_tokens_of(of, machine, tensor_parallel, 1)
    state = closed_loop(curve, lengths, Serving(max_batch_size=max(clients, 1), kv_tokens=kv_tokens), clients)
    place = Place(of.id, accelerator, tensor_parallel, ENGINE, f"vllm {of.expert_precision or of.weight_precision}")
    return Served(of, machine, place, curve, lengths, state), "" if stated else "1,024 prompt and 1,024 output tokens"


def _weights(row: Row) -> str:
    """gpt-oss is published in mxfp4, which these rows call fp4."""
    return "native" if row.text("model").startswith("gpt-oss") else row.text("precision")
