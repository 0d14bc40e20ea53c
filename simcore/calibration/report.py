"""A calibration as lines to read: what was read and flagged, errors before and after, coefficients, residuals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from simcore.latency.calibrated import Calibration, PhaseError, Replaced, Residual, Span
from simcore.measurements import Measurements

SHOWN_FLAGS = 5
"""Of one sort."""
PLURALS = {"row left out": "rows left out", "not used": "figures not used", "noted": "noted"}
SHOWN_RESIDUALS = 40
MILLI = 1e3
WHOLE = 0.999
LEAST_CLIENT_S = 1e-4


def lines(calibration: Calibration, found: Measurements) -> Iterator[str]:
    """All of it, in the order of reading."""
    yield from _files(found)
    yield from _flags(found)
    yield ""
    yield from _range(calibration)
    yield ""
    yield from _errors(calibration.errors)
    yield ""
    yield from _coefficients(calibration)
    yield ""
    yield from _residuals(calibration.residuals)


def _files(found: Measurements) -> Iterator[str]:
    for source in found.sources:
        rows = "1 row" if source.rows == 1 else f"{source.rows:,} rows"
        yield f"{source.file}: {source.format}, {rows}"
    points = {"serving result": len(found.serving), "step": len(found.steps)}
    usable = ", ".join(f"{n:,} {name}{'' if n == 1 else 's'}" for name, n in points.items())
    yield f"Usable before looking at model and machine: {usable}"


def _flags(found: Measurements) -> Iterator[str]:
    if not found.flags.counts:
        yield "Nothing flagged."
    for (effect, field), count in sorted(found.flags.counts.items()):
        yield f"Flagged: {PLURALS[effect] if count > 1 else effect}, {count:,}{f': {field}' if field else ''}"
        first = [flag for flag in found.flags.listed if (flag.effect, flag.field) == (effect, field)]
        yield from (f"  {flag}" for flag in first[:SHOWN_FLAGS])
        if count > SHOWN_FLAGS:
            yield f"  and {count - SHOWN_FLAGS:,} more"


def _range(calibration: Calibration) -> Iterator[str]:
    measured = calibration.validity
    degrees = ", ".join(map(str, measured.tensor_parallel))
    yield f"Fitted: {calibration.engine} to {measured.model} on {measured.accelerator}, tensor parallel {degrees}"
    output = f", output {_span(measured.output_tokens)} tokens" if measured.output_tokens else ""
    yield (
        f"Measured range: prompts {_span(measured.prompt_tokens)} tokens{output},"
        f" {_span(measured.sequences)} sequences at once"
    )
    if calibration.measured_engine:
        yield f"Engine: {calibration.measured_engine}"
    if calibration.token_budget:
        yield f"Taken for granted: a token budget of {calibration.token_budget:,} (--token-budget)"


def _span(span: Span) -> str:
    return f"{span.least:,.0f}" if round(span.least) == round(span.most) else f"{span.least:,.0f} to {span.most:,.0f}"


def _errors(errors: Sequence[PhaseError]) -> Iterator[str]:
    yield f"{'mean error':12}{'points':>8}{'before':>9}{'after':>9}{'held out':>10}"
    for error in errors:
        out = "-" if error.held_out is None else f"{error.held_out:.1%}"
        yield f"{error.phase:12}{error.points:>8}{error.before:>9.1%}{error.after:>9.1%}{out:>10}"
    if any(error.held_out is None for error in errors):
        yield "Too few loads to hold some out: what the fit does elsewhere is not known."
    elif _weighted(errors, held=True) >= _weighted(errors, held=False):
        yield "At points held out the fit is no better than the shipped coefficients: use those, or measure more."


def _weighted(errors: Sequence[PhaseError], held: bool) -> float:
    return sum(((error.held_out or 0.0) if held else error.before) * error.points for error in errors)


def _coefficients(calibration: Calibration) -> Iterator[str]:
    if not calibration.replaced:
        yield "No coefficient is determined by these results: the shipped ones stand."
    else:
        yield f"{'coefficient':28}{'shipped':>12}{'fitted':>12}{'factor':>9}"
    for replaced in calibration.replaced:
        factor = f"{replaced.fitted / replaced.shipped:.2f}" if replaced.shipped else "-"
        shipped, fitted = _value(replaced, replaced.shipped), _value(replaced, replaced.fitted)
        yield f"{replaced.name:28}{shipped:>12}{fitted:>12}{factor:>9}"
        if replaced.name.endswith("_share") and replaced.fitted > WHOLE:
            yield "  at its peak: the catalogue's figure, the precision or the degree may not be what was measured"
    if calibration.client_s > LEAST_CLIENT_S:
        outside = f"{calibration.client_s * MILLI:.1f} ms of each TTFT"
        yield f"Outside the engine (network, tokenizer): {outside}, not in the curve"


def _value(replaced: Replaced, value: float) -> str:
    return f"{value * MILLI:.4g} ms" if replaced.name.endswith("_s") else f"{value:.4g}"


def _residuals(residuals: Sequence[Residual]) -> Iterator[str]:
    yield f"{'phase':8}{'measured':>12}{'before':>9}{'after':>9}{'held out':>10}  load (file, place)"
    worst = sorted(residuals, key=lambda r: -abs(r.after_s / r.measured_s - 1))
    for r in worst[:SHOWN_RESIDUALS]:
        out = "-" if r.held_out_s is None else f"{r.held_out_s / r.measured_s - 1:+.1%}"
        yield (
            f"{r.phase:8}{r.measured_s * MILLI:>9.4g} ms{r.before_s / r.measured_s - 1:>+9.1%}"
            f"{r.after_s / r.measured_s - 1:>+9.1%}{out:>10}  {r.load} ({r.file}, {r.where})"
        )
    if len(residuals) > SHOWN_RESIDUALS:
        yield f"and {len(residuals) - SHOWN_RESIDUALS:,} more with smaller errors (all are in LATENCY.json)"
