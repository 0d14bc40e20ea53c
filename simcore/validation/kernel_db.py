"""``kernel_db/``: device times of whole steps from NVIDIA's kernel tables, by backend and precision; no host time.

File names are ``{prefill,decode,mixed}_MODEL_PRECISION_BACKEND.csv``; the model and backend are read from the rows, the
precision from the name. A prefill is one prompt of ``isl`` tokens over ``prefix`` cached ones; a mixed step has
``ctx_tokens`` of a prompt and ``gen_tokens`` decodes at the context isl + osl/2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from simcore.latency.curve import IterationCurve
from simcore.spec import Model
from simcore.validation.comparison import Comparison, Findings, NotCompared, Phase, Place
from simcore.validation.curves import curve_at
from simcore.validation.files import MOST, Row, read_rows
from simcore.validation.fit_split import is_fitted
from simcore.validation.names import Unknown, at_precision, gpus_of_name, model_of_name

SET = "kernel_db"
FOLDER = "kernel_db"
ENGINE = "kernel"
PS_PER_MS = 1e9
COLUMNS = {
    "prefill": ("batch", "isl", "prefix"),
    "decode": ("batch", "context"),
    "mixed": ("ctx_tokens", "gen_tokens", "isl", "osl"),
}
PHASES: dict[str, Phase] = {"prefill": "prefill", "decode": "decode", "mixed": "hybrid"}
EVERY = ("system", "backend", "model", "tp", "latency_ms")
Batch = tuple[list[tuple[int, int]], list[int], str]
"""Prefill chunks, decode contexts, and both in words."""


def compare(folder: Path) -> Findings:
    """All files of the folder."""
    findings = Findings()
    for path in sorted(folder.glob("*.csv")):
        kind = path.name.split("_")[0]
        if kind not in COLUMNS:
            reason = f"a file of another kind, expected a name that begins with {', '.join(COLUMNS)}"
            findings.left_out.append(NotCompared(SET, f"{FOLDER}/{path.name}", reason))
            continue
        rows = read_rows(path, f"{FOLDER}/{path.name}", (*EVERY, *COLUMNS[kind]))
        for row in rows:
            findings.extend(_compared(kind, _precision(path.stem), row))
    return findings


def _precision(stem: str) -> str:
    return next((part for part in reversed(stem.split("_")) if part in ("bf16", "fp8", "fp4", "nvfp4", "mxfp4")), "")


def _compared(kind: str, precision: str, row: Row) -> Findings:
    what = f"{row.text('model')} on {row.text('system')} TP{row.text('tp')}"
    try:
        of = _model(row, precision)
        tensor_parallel, measured = row.count("tp"), row.number("latency_ms")
        if tensor_parallel is None or measured is None or measured <= 0:
            raise Unknown("TP or latency_ms is not a number above 0")
        accelerator = gpus_of_name(row.text("system")).accelerator
        place = Place(of.id, accelerator, tensor_parallel, ENGINE, f"{row.text('backend')} {of.weight_precision}")
        curve = curve_at(of, accelerator, tensor_parallel, 1, ENGINE)
        chunks, contexts, words = BATCHES[kind](row)
    except Unknown as reason:
        return Findings(left_out=[NotCompared(SET, row.name, str(reason), what)])
    return Findings([_comparison(PHASES[kind], row, place, curve, (chunks, contexts, words), measured)])


def _comparison(
    phase: Phase, row: Row, place: Place, curve: IterationCurve, batch: Batch, measured_ms: float
) -> Comparison:
    chunks, contexts, words = batch
    what = f"{place.model} on {place.accelerator} TP{place.tensor_parallel}, {words}"
    predicted_ms = curve.iteration_ps(chunks, contexts) / PS_PER_MS
    return Comparison(SET, row.name, phase, place, what, measured_ms, predicted_ms, "ms", is_fitted(SET, place, phase))


def _model(row: Row, precision: str) -> Model:
    """KV is bf16 in these tables, whatever the weights are."""
    return replace(at_precision(model_of_name(row.text("model")), precision), kv_precision="bf16")


def _prefill(row: Row) -> Batch:
    batch, new, cached = row.count("batch"), row.count("isl"), row.number("prefix")
    if batch is None or new is None or cached is None or not 0 <= cached <= MOST:
        raise Unknown("batch, isl or prefix is not a whole number")
    return [(new, int(cached))] * batch, [], f"{batch} x {new} tokens over {int(cached)}"


def _decode(row: Row) -> Batch:
    batch, context = row.count("batch"), row.count("context")
    if batch is None or context is None:
        raise Unknown("batch or context is not a whole number from 1 to a million")
    return [], [context] * batch, f"{batch} decodes at {context}"


def _mixed(row: Row) -> Batch:
    new, decodes = row.count("ctx_tokens"), row.count("gen_tokens")
    prompt, output = row.count("isl"), row.count("osl")
    if new is None or decodes is None or prompt is None or output is None:
        raise Unknown("ctx_tokens, gen_tokens, isl or osl is not a whole number from 1 to a million")
    context = prompt + output // 2
    return [(new, 0)], [context] * decodes, f"{new} prompt tokens and {decodes} decodes at {context}"


BATCHES: dict[str, Callable[[Row], Batch]] = {"prefill": _prefill, "decode": _decode, "mixed": _mixed}
