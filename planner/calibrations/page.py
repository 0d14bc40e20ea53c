"""A calibration's page in words and tables; what is said here is said without any script."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from planner.calibrations.figures import Figure, residual_figure
from planner.calibrations.models import Calibration
from planner.calibrations.services import in_fields
from simcore.latency.calibrated import Calibration as Fitted
from simcore.latency.calibrated import PhaseError, Replaced, Span

MS = 1e3
PLURALS = {"row left out": "rows left out", "not used": "figures not used", "noted": "noted"}


@dataclass(frozen=True)
class CalibrationPage:
    ERRORS: ClassVar = ("phase", "points", "before", "after", "held out")
    COEFFICIENTS: ClassVar = ("coefficient", "shipped", "fitted", "factor")

    calibration: Calibration
    origin: str
    lines: Sequence[str]
    errors: Sequence[Sequence[str]]
    coefficients: Sequence[Sequence[str]]
    figure: Figure | None
    residuals: Sequence[Sequence[str]]
    sources: Sequence[Sequence[str]]
    flagged: Sequence[str]
    flags: Sequence[dict[str, Any]]

    @property
    def name(self) -> str:
        return self.calibration.name


@dataclass(frozen=True)
class ListRow:
    calibration: Calibration
    points: int
    before: str
    after: str


def listed(calibration: Calibration) -> ListRow:
    fitted = calibration.fitted()
    points = sum(error.points for error in fitted.errors)
    held = all(error.held_out is not None for error in fitted.errors)
    after = _weighted(fitted.errors, "held_out" if held else "after")
    words = after if held else f"{after} (none held out)"
    return ListRow(calibration, points, _weighted(fitted.errors, "before"), words)


def calibration_page(calibration: Calibration) -> CalibrationPage:
    fitted = calibration.fitted()
    return CalibrationPage(
        calibration,
        _origin(fitted),
        [_range(fitted), *_engine(fitted), *_outside(fitted), *_doubt(fitted)],
        [[e.phase, f"{e.points}", _percent(e.before), _percent(e.after), _percent(e.held_out)] for e in fitted.errors],
        [_coefficient(replaced) for replaced in fitted.replaced],
        residual_figure(fitted.residuals) if fitted.residuals else None,
        [
            [r.phase, r.load, f"{r.measured_s * MS:.4g}", *(_off(t, r.measured_s) for t in _times(r)), r.where]
            for r in sorted(fitted.residuals, key=lambda r: -abs(r.after_s / r.measured_s - 1))
        ],
        [[source.file, source.format, f"{source.rows:,}"] for source in fitted.sources],
        [_flagged(*sort) for sort in calibration.found["counts"]],
        [flag | {"reason": in_fields(flag["reason"])} for flag in calibration.found["flags"]],
    )


def _flagged(effect: str, field: str, count: int) -> str:
    return f"{PLURALS[effect] if count > 1 else effect}{f' ({field})' if field else ''}: {count:,}"


def _times(residual: Any) -> tuple[float | None, ...]:
    return residual.before_s, residual.after_s, residual.held_out_s


def _origin(fitted: Fitted) -> str:
    measured = fitted.validity
    points = sum(error.points for error in fitted.errors)
    weights = f" in {measured.weight_precision}" if measured.weight_precision else ""
    return (
        f"{fitted.engine} fitted to {points} measured figures of {measured.model}{weights} on {measured.accelerator},"
        f" tensor parallel {', '.join(map(str, measured.tensor_parallel))}, on {fitted.date}."
    )


def _range(fitted: Fitted) -> str:
    measured = fitted.validity
    output = f", outputs of {_span(measured.output_tokens)}" if measured.output_tokens else ""
    return (
        f"Measured: prompts of {_span(measured.prompt_tokens)}{output} tokens, {_span(measured.sequences)} sequences at"
        " once. A question outside of it is answered, and its answer names what was not measured."
    )


def _engine(fitted: Fitted) -> list[str]:
    said = [f"Engine: {fitted.measured_engine}."] if fitted.measured_engine else []
    if fitted.token_budget:
        said.append(f"Taken for granted while measuring: a token budget of {fitted.token_budget:,}.")
    return said


def _outside(fitted: Fitted) -> list[str]:
    if fitted.client_s < 1e-4:
        return []
    return [f"Of each TTFT, {fitted.client_s * MS:.1f} ms are spent outside the engine (network, tokenizer)."]


def _doubt(fitted: Fitted) -> list[str]:
    if any(error.held_out is None for error in fitted.errors):
        return ["Too few loads to hold some out: how far the fit is off elsewhere is not known."]
    if _mean(fitted.errors, "held_out") >= _mean(fitted.errors, "before"):
        return ["At points held out the fit is no better than the shipped coefficients: use those, or measure more."]
    return []


def _coefficient(replaced: Replaced) -> list[str]:
    seconds = replaced.name.endswith("_s")
    values = [f"{v * MS:.4g} ms" if seconds else f"{v:.4g}" for v in (replaced.shipped, replaced.fitted)]
    factor = f"{replaced.fitted / replaced.shipped:.2f}" if replaced.shipped else "–"
    return [replaced.name.removesuffix("_s").replace("_", " "), *values, factor]


def _weighted(errors: Sequence[PhaseError], name: str) -> str:
    return _percent(_mean(errors, name))


def _mean(errors: Sequence[PhaseError], name: str) -> float:
    total = sum(error.points for error in errors)
    return sum((getattr(error, name) or 0.0) * error.points for error in errors) / total if total else 0.0


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"


def _off(predicted_s: float | None, measured_s: float) -> str:
    return "–" if predicted_s is None else f"{predicted_s / measured_s - 1:+.1%}"


def _span(span: Span) -> str:
    return f"{span.least:,.0f}" if round(span.least) == round(span.most) else f"{span.least:,.0f} to {span.most:,.0f}"
