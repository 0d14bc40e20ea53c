"""``vidur_linear_fits.csv``: a layer's matrix products as Vidur profiled them (kernels of 2023), at four batch sizes;
``vidur_linear_fits_constrained.csv``: curves through the same points.

A row is one model on one accelerator at one TP: microseconds of one layer's products for 1, 512, 2,048 and 4,096
tokens. Predicted: ``terms.linear_s`` of one layer with device-time coefficients. They are in no fit; A40, which stands
on A100's shares, has no other measurement.
"""

from __future__ import annotations

from pathlib import Path

from simcore.latency.coefficients import coefficients
from simcore.latency.roofline import stage_parts
from simcore.latency.terms import Part, linear_s
from simcore.spec import SpecError
from simcore.validation.comparison import Comparison, Findings, NotCompared, Place
from simcore.validation.files import Row, read_rows
from simcore.validation.fit_split import is_fitted
from simcore.validation.names import Unknown, gpus_of_name, machine_with, model_of_name

SET = "vidur_linear_fits"
FILE = "vidur_linear_fits.csv"
CURVES_FILE = "vidur_linear_fits_constrained.csv"
TOKENS = (1, 512, 2048, 4096)
COLUMNS = ("dev", "model", "tp", *(f"t{tokens}_us" for tokens in TOKENS))
ENGINE = "kernel"
US_PER_S = 1e6


def compare(path: Path) -> Findings:
    """Each row at each of its batch sizes."""
    findings = Findings()
    for row in read_rows(path, FILE, COLUMNS):
        try:
            findings.compared += _compared(row)
        except Unknown as reason:
            findings.left_out.append(NotCompared(SET, row.name, str(reason), _what(row)))
    return findings


def compare_curves(path: Path) -> Findings:
    """None of them: they are not times."""
    reason = f"coefficients of curves through the points of {FILE}: no time"
    rows = read_rows(path, CURVES_FILE, ("dev", "model", "tp"))
    return Findings(left_out=[NotCompared(SET, row.name, reason, _what(row)) for row in rows])


def _what(row: Row) -> str:
    return f"{row.text('model')} on {row.text('dev')} TP{row.text('tp')}"


def _compared(row: Row) -> list[Comparison]:
    of, accelerator, tensor_parallel = model_of_name(row.text("model")), gpus_of_name(row.text("dev")), row.count("tp")
    if tensor_parallel is None:
        raise Unknown("TP is not a whole number from 1 to a million")
    place = Place(of.id, accelerator.accelerator, tensor_parallel, ENGINE, "vidur bf16")
    part = _part(place)
    found = [_at(row, place, part, tokens) for tokens in TOKENS]
    kept = [one for one in found if one is not None]
    if not kept:
        raise Unknown("no time above 0")
    return kept


def _part(place: Place) -> Part:
    machine, fitted = machine_with(place.accelerator), coefficients(place.accelerator, ENGINE)
    try:
        return stage_parts(model_of_name(place.model), machine, place.tensor_parallel, 1, fitted)[0]
    except SpecError as error:
        raise Unknown(str(error)) from None


def _at(row: Row, place: Place, part: Part, tokens: int) -> Comparison | None:
    measured_us = row.number(f"t{tokens}_us")
    if measured_us is None or measured_us <= 0:
        return None
    layer_us = linear_s(part, tokens) / part.stage.layers * US_PER_S
    what = f"{place.model} on {place.accelerator} TP{place.tensor_parallel}, one layer's products, {tokens} tokens"
    fitted = is_fitted(SET, place, "linear")
    return Comparison(SET, row.name, "linear", place, what, measured_us, layer_us, "us", fitted)
