"""``latency.source: calibrated``: a roofline with the coefficients that ``calibrate`` fitted to measured results.

LATENCY.json holds all coefficients (so that a later change of the shipped ones changes no calibration), which of them
were replaced, what they were fitted to, the error before and after, and the range that was measured. It is of one
accelerator: another is refused. Another model, TP or load is computed, and ``outside`` says which of them was not
measured.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from simcore.catalogue import known_as, resolve_accelerator
from simcore.latency.capped import under_cap
from simcore.latency.coefficients import LISTED_TP, Coefficients
from simcore.latency.curve import IterationCurve
from simcore.latency.formula import formula
from simcore.latency.roofline import roofline_curve
from simcore.spec import LatencySpec, Machine, Model, SpecError, decode
from simcore.spec.decode import bounded

FORMAT: Literal["phaseplan calibration 1"] = "phaseplan calibration 1"
MOST_BYTES = 64 << 20
SLACK = 1.5
"""So far beyond the ends of what was measured a figure is still called measured."""
MOST_COEFFICIENT = 1e6
LISTED_BY = f"one for tensor_parallel {', '.join(map(str, LISTED_TP))} each"
MOST_LOGARITHM = 100
"""Of measured / predicted: far more than any error, and its exponential is finite."""
Engine = Literal["vllm-2026", "trtllm-2025", "vllm-2023", "kernel"]


@dataclass(frozen=True)
class Span:
    """From the least to the most that was measured."""

    least: float = bounded(least=0)
    most: float = bounded(least=0)

    def __post_init__(self) -> None:
        if self.least > self.most:
            raise SpecError(f"least: found {self.least:g}, expected no more than most ({self.most:g})")

    def covers(self, value: float) -> bool:
        """Whether a value is within it, or nearly so."""
        return self.least / SLACK <= value <= self.most * SLACK


@dataclass(frozen=True)
class Validity:
    """What was measured."""

    model: str
    accelerator: str
    tensor_parallel: tuple[int, ...]
    prompt_tokens: Span
    sequences: Span
    """Served at once by one replica."""
    output_tokens: Span | None = None
    power_cap_w: float | None = bounded(None, above=0)
    """Of the machine that was measured."""
    weight_precision: str | None = None
    """Of most of the model's weights; null in calibrations that were made before it was kept."""


@dataclass(frozen=True)
class Replaced:
    """A coefficient that the results determine."""

    name: str
    shipped: float
    """Of several by TP: the first."""
    fitted: float


@dataclass(frozen=True)
class PhaseError:
    """Mean absolute relative error over the points of one phase."""

    phase: str
    points: int = bounded(least=1)
    before: float = bounded(least=0)
    after: float = bounded(least=0)
    held_out: float | None = bounded(None, least=0)
    """Of points predicted by a fit without them; null where there are too few."""
    bias: float = bounded(0.0, least=-MOST_LOGARITHM, most=MOST_LOGARITHM)
    """Mean of ln(measured / predicted) of those."""
    spread: float | None = bounded(None, least=0, most=MOST_LOGARITHM)
    """Its standard deviation; null as ``held_out``."""


@dataclass(frozen=True)
class Residual:
    """One measured figure, in seconds, and what is predicted of it."""

    file: str
    where: str
    phase: str
    load: str
    measured_s: float = bounded(above=0)
    before_s: float = bounded(above=0)
    after_s: float = bounded(above=0)
    held_out_s: float | None = bounded(None, above=0)


@dataclass(frozen=True)
class FittedFile:
    """A file that it was fitted to."""

    file: str
    sha256: str
    format: str
    rows: int


@dataclass(frozen=True)
class Calibration:
    """LATENCY.json."""

    format: Literal["phaseplan calibration 1"]
    date: str
    """When it was fitted."""
    engine: Engine
    """The generation whose coefficients it began from."""
    coefficients: Coefficients
    replaced: tuple[Replaced, ...]
    validity: Validity
    errors: tuple[PhaseError, ...]
    residuals: tuple[Residual, ...]
    sources: tuple[FittedFile, ...]
    measured_engine: str | None = None
    """The engine and its version, as the files or the user say."""
    measured_dates: tuple[str, ...] = ()
    token_budget: int | None = None
    """Of the engine while it was measured, as assumed by the fit."""
    client_s: float = 0.0
    """Of TTFT, spent outside the engine (network, tokenizer): found beside the fit, in no iteration."""
    flagged: int = 0
    """Rows and figures that were not used."""
    formula: str = ""
    """Hash of the roofline's source: a later one may read the coefficients differently."""

    def __post_init__(self) -> None:
        lists = (("errors", self.errors), ("sources", self.sources), ("tensor_parallel", self.validity.tensor_parallel))
        if empty := next((name for name, found in lists if not found), None):
            raise SpecError(f"{empty}: found none, expected at least one")
        for field in fields(self.coefficients):
            value = getattr(self.coefficients, field.name)
            every = value if isinstance(value, tuple) else (value,)
            if isinstance(value, tuple) and len(value) != len(LISTED_TP):
                raise SpecError(
                    f"coefficients.{field.name}: found {len(value)}, expected {len(LISTED_TP)}: {LISTED_BY}"
                )
            least = 0.0 if _may_be_zero(field.name) else 1e-12
            if any(isinstance(one, float | int) and not least <= one <= MOST_COEFFICIENT for one in every):
                raise SpecError(
                    f"coefficients.{field.name}: found {value}, expected {'at least' if not least else 'above'} 0"
                    f" and at most {MOST_COEFFICIENT:g}"
                )


def _may_be_zero(name: str) -> bool:
    """Times, passes and what is added may; shares, tiles and slowdowns are divided by, or multiply."""
    return name.endswith(("_s", "_passes", "more_tokens", "padding_tokens"))


def calibration_of(latency: LatencySpec) -> Calibration:
    """What a latency source of this kind names, or holds."""
    if latency.calibration is not None:
        try:
            return parse_calibration(latency.calibration.encode())
        except SpecError as error:
            raise SpecError(f"latency.calibration: {error}") from None
    return read_calibration(latency.path or "")


def read_calibration(path: str) -> Calibration:
    """LATENCY.json; SpecError, one line, names the file and the key."""
    try:
        if Path(path).is_file() and Path(path).stat().st_size > MOST_BYTES:
            raise SpecError(f"latency.path: '{path}' has more than {MOST_BYTES >> 20} MiB, expected a LATENCY.json")
        data = Path(path).read_bytes()
    except OSError as error:
        raise SpecError(
            f"latency.path: '{path}' cannot be read ({error.strerror}), expected a LATENCY.json that calibrate wrote"
        ) from None
    try:
        return parse_calibration(data)
    except SpecError as error:
        raise SpecError(f"latency.path: '{path}': {error}") from None


@lru_cache(maxsize=16)
def parse_calibration(data: bytes) -> Calibration:
    """LATENCY.json's bytes; SpecError names the key."""
    try:
        value: Any = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:  # not UTF-8, no JSON, a number of thousands of digits
        where = f"line {error.lineno}" if isinstance(error, json.JSONDecodeError) else "the file"
        raise SpecError(f"{where} is no JSON, expected a LATENCY.json that calibrate wrote") from None
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        found = value.get("format") if isinstance(value, dict) else type(value).__name__
        raise SpecError(
            f"format: found {str(found)[:60]!r}, expected '{FORMAT}': a LATENCY.json that calibrate wrote"
            " (benchmark files go to calibrate first)"
        )
    return decode(Calibration, value)


def calibrated_curve(
    model: Model, machine: Machine, tensor_parallel: int, pipeline_parallel: int, latency: LatencySpec
) -> IterationCurve:
    """The curve by ``latency.path`` (or ``latency.calibration``); SpecError where it is of another accelerator."""
    calibration = calibration_of(latency)
    device, expected = resolve_accelerator(machine), calibration.validity.accelerator
    if expected not in known_as(device):
        raise SpecError(
            f"latency.path: '{latency.path or 'calibration'}' is of {expected}, found {device.id} (machine"
            f" {machine.id}), expected a machine of {expected}, or a latency of its own for {machine.id}:"
            " pools[].latency, machines[].latency, slo.reference_latency"
        )
    curve = _curve(model, machine, tensor_parallel, pipeline_parallel, calibration)
    return replace(curve, source=words(calibration, model, machine, tensor_parallel, pipeline_parallel))


@lru_cache(maxsize=256)
def _curve(
    model: Model, machine: Machine, tensor_parallel: int, pipeline_parallel: int, calibration: Calibration
) -> IterationCurve:
    """Under the machine's cap, unless what was measured was capped itself."""
    parallel = (tensor_parallel, pipeline_parallel)
    curve = roofline_curve(model, machine, *parallel, calibration.engine, calibration.coefficients)
    return curve if calibration.validity.power_cap_w is not None else under_cap(curve, model, machine, *parallel)


def words(
    calibration: Calibration, model: Model, machine: Machine, tensor_parallel: int, pipeline_parallel: int
) -> str:
    """What a calibrated curve rests on, and which of its inputs was not measured."""
    measured = calibration.validity
    beyond = outside(calibration, model, machine, tensor_parallel, pipeline_parallel)
    figures = sum(error.points for error in calibration.errors)
    outside_words = f"; outside what was measured: {', '.join(beyond)}" if beyond else ""
    return (
        f"calibrated: {calibration.engine} fitted to {figures} figures of {measured.model} on"
        f" {measured.accelerator} TP{'/'.join(map(str, measured.tensor_parallel))} ({_files(calibration)},"
        f" {calibration.date}), {_error(calibration)}{outside_words}"
    )


def outside(
    calibration: Calibration,
    model: Model,
    machine: Machine,
    tensor_parallel: int,
    pipeline_parallel: int = 1,
    prompt_tokens: float | None = None,
    output_tokens: float | None = None,
    sequences: float | None = None,
) -> list[str]:
    """Which inputs are outside what was measured, in words; the figures are one replica's and may be left out."""
    measured, found = calibration.validity, []
    if model.id != measured.model:
        found.append(f"model {model.id} (measured {measured.model})")
    precision = model.expert_precision or model.weight_precision
    if measured.weight_precision not in (None, precision):
        found.append(f"{precision} weights (measured {measured.weight_precision})")
    if measured.power_cap_w is not None and machine.power_cap_w != measured.power_cap_w:
        cap = "no power cap" if machine.power_cap_w is None else f"a power cap of {machine.power_cap_w:g} W"
        found.append(f"{cap} (measured {measured.power_cap_w:g} W)")
    if tensor_parallel not in measured.tensor_parallel:
        found.append(f"tensor_parallel {tensor_parallel} (measured {', '.join(map(str, measured.tensor_parallel))})")
    if pipeline_parallel != 1:
        found.append(f"pipeline_parallel {pipeline_parallel} (measured 1)")
    spans = (
        ("prompt tokens", prompt_tokens, measured.prompt_tokens),
        ("output tokens", output_tokens, measured.output_tokens),
        ("sequences at once", sequences, measured.sequences),
    )
    for name, value, span in spans:
        if value is not None and span is not None and not span.covers(value):
            found.append(f"{value:,.0f} {name} (measured {span.least:,.0f} to {span.most:,.0f})")
    if calibration.formula not in ("", formula()):
        found.append("the roofline's formula, which has changed since: calibrate again")
    return found


def _files(calibration: Calibration) -> str:
    first, more = Path(calibration.sources[0].file).name, len(calibration.sources) - 1
    return first if not more else f"{first} and {more} more"


def _error(calibration: Calibration) -> str:
    """The mean over all points of the error, held out where it could be."""
    total = sum(error.points for error in calibration.errors)
    if any(error.held_out is None for error in calibration.errors):
        mean = sum(error.after * error.points for error in calibration.errors) / total
        return f"{mean:.0%} off on average at the points it was fitted to (too few to hold some out)"
    mean = sum((error.held_out or 0.0) * error.points for error in calibration.errors) / total
    return f"{mean:.0%} off on average at points held out of the fit"
