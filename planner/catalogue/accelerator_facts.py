"""What follows from an accelerator's figures: balance points, what was measured on it, what predictions take too."""

from dataclasses import dataclass

from planner.accounts.owned import Visitor
from planner.catalogue.columns import columns
from planner.catalogue.display import NOT_GIVEN, quantity, words_of
from planner.catalogue.rows import rows
from planner.catalogue.services import accelerator_for
from simcore.balance import balance_points
from simcore.catalogue import POWERED, accelerator, departures, evidence_id, fitted_as
from simcore.latency.coefficients import Coefficients, coefficients_of
from simcore.power import power_coefficients
from simcore.residuals import Residual, residuals
from simcore.spec import Accelerator
from simcore.words import listed

ENGINE = "vllm-2026"
"""The generation that questions are answered with by default."""


@dataclass(frozen=True)
class Measured:
    """Measured rows of an accelerator, of one engine generation and kind of figure."""

    engine: str
    phase: str
    rows: int
    mape: str
    models: str
    sources: str


@dataclass(frozen=True)
class Fitted:
    """What predictions take of an accelerator besides its figures: fitted to measurements."""

    words: str
    text: str
    status: str
    source: str


@dataclass(frozen=True)
class Departure:
    """A figure that it has otherwise than the accelerator that was measured."""

    words: str
    own: str
    measured: str


def accelerator_facts(user: Visitor, row_id: str) -> dict[str, object]:
    """What follows, as fields of a row's page."""
    used_by = [
        (row.row_id, row.name) for row in rows(user, "machines").values() if row.texts.get("accelerator") == row_id
    ]
    device = accelerator_for(user, row_id)
    points = balance_points(device)
    said = listed([f"{point.tokens:,.0f} tokens with weights in {point.weights}" for point in points[:2]])
    notes = [f"Its balance point: {said}."]
    reached = coefficients_of(device, ENGINE)
    return {
        "notes": notes,
        "stand_in": reached.stand_in or "",
        "fitted": _fitted(device, reached),
        "balance": points,
        "measured": _measured(evidence_id(device)),
        "measured_as": fitted_as(device) if fitted_as(device) != row_id else "",
        "departures": _departures(device),
        "used_by": used_by,
    }


def _departures(device: Accelerator) -> list[Departure]:
    """Those of times, and the TDP's, on which measured watts rest."""
    found = departures(device, POWERED)
    if not found:
        return []
    measured = accelerator(fitted_as(device))
    units = columns("accelerators")
    return [
        Departure(words_of(name), *(_shown(getattr(row, name), units[name].unit) for row in (device, measured)))
        for name in found
    ]


def _shown(value: float | None, unit: str) -> str:
    return NOT_GIVEN if value is None else quantity(str(value), unit)


def _fitted(device: Accelerator, reached: Coefficients) -> list[Fitted]:
    power = power_coefficients(device)
    by_engine = f"fitted to {reached.engine_version}, {reached.date}"
    shares = {
        "Of peak FLOP/s that products reach, bf16": (reached.flops_share, reached.status, by_engine),
        "Of peak bandwidth that reading weights reaches": (reached.bandwidth_share, reached.status, by_engine),
        words_of("power_base"): (power.base, power.status, power.source),
        words_of("power_by_mbu"): (power.by_mbu, power.status, power.source),
        words_of("power_by_mfu"): (power.by_mfu, power.status, power.source),
    }
    return [Fitted(words, f"{share:.3g}", status, source) for words, (share, status, source) in shares.items()]


def _measured(accelerator_id: str) -> list[Measured]:
    groups: dict[tuple[str, str], list[Residual]] = {}
    for one in residuals():
        if one.accelerator == accelerator_id:
            groups.setdefault((one.engine, one.phase), []).append(one)
    return [_group(engine, phase, found) for (engine, phase), found in groups.items()]


def _group(engine: str, phase: str, found: list[Residual]) -> Measured:
    points = sum(one.rows for one in found)
    mape = sum(one.rows * one.mape for one in found) / points
    models, sources = ({getattr(one, name) for one in found} for name in ("model", "source"))
    return Measured(engine, phase, points, f"{mape:.1%}", ", ".join(sorted(models)), "; ".join(sorted(sources)))
