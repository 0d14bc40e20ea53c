"""The columns of designs.csv (CONTRACT.md), in order: one row type for page, API, CSV and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any


@dataclass(frozen=True)
class DesignRow:
    """One design of a study with its money and power. None: does not apply or was not computed."""

    design_id: str
    label: str
    family: str
    scheduler: str
    prefill_machine: str | None
    prefill_machines: int | None
    decode_machine: str | None
    decode_machines: int | None
    mixed_machine: str | None
    mixed_machines: int | None
    tensor_parallel: int
    pipeline_parallel: int
    token_budget: int | None
    decode_tensor_parallel: int | None
    decode_pipeline_parallel: int | None
    capacity_req_per_s: float | None
    capacity_low: float | None
    """At 90 %, as ``capacity_high``: the simulation's noise and the error of iteration times (docs/uncertainty.md)."""
    capacity_high: float | None
    """Of a screened design the most that it can hold, by the simulation."""
    met: bool | None
    """Holds the study's required rate within its limits of money, power and machines."""
    binding_limit: str | None
    binding_pool: str | None
    usd_per_hour: Decimal
    nameplate_w: float
    provisioned_w: float
    mean_w: float | None
    p99_w: float | None
    req_per_usd: float | None
    req_per_s_per_kw: float | None
    on_cost_frontier: bool
    cost_dominated_by: str | None
    on_power_frontier: bool
    power_dominated_by: str | None
    status: str
    reason: str
    noise_low: float | None = None
    """The capacity's interval by the simulation's noise alone."""
    noise_high: float | None = None
    req_per_usd_low: float | None = None
    req_per_usd_high: float | None = None
    req_per_s_per_kw_low: float | None = None
    req_per_s_per_kw_high: float | None = None
    tied_with_answer: bool | None = None
    """Of designs that meet the question: what is known does not tell it from the answer (simcore/trust/ties.py)."""
    capacity_all_machines_req_per_s: float | None = None
    """Where the study asks what is held with machines lost: that of all of them. ``capacity_req_per_s``, and all that
    follows from it, is of the worst loss."""
    worst_loss: str | None = None
    """``1 decode machine lost``."""


COLUMNS: tuple[str, ...] = tuple(field.name for field in fields(DesignRow))


def in_order(rows: Iterable[DesignRow], families: Sequence[str]) -> list[DesignRow]:
    """By family as ``families`` names them, then by what they run, the fewest machines first: alike however a search
    came by them, so that a file of them is the same from the page and from the command line."""
    places = {family: place for place, family in enumerate(families)}
    return sorted(rows, key=lambda row: (places.get(row.family, len(places)), *_place(row)))


def _place(row: DesignRow) -> tuple[Any, ...]:
    parallel = (row.tensor_parallel, row.pipeline_parallel, row.decode_tensor_parallel, row.decode_pipeline_parallel)
    counts = (row.mixed_machines, row.prefill_machines, row.decode_machines)
    return (row.family, row.token_budget or 0, *(n or 0 for n in (*parallel, *counts)), row.design_id)


def as_json(row: DesignRow) -> dict[str, Any]:
    """The row as JSON values, full precision; money as text so that no digit is lost."""
    return {name: str(value) if isinstance(value := getattr(row, name), Decimal) else value for name in COLUMNS}


def as_text(row: DesignRow) -> list[str]:
    """The row as CSV cells: empty for None, ``true``/``false``, shortest exact decimal form of floats."""
    return [_text(getattr(row, name)) for name in COLUMNS]


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)
