"""The roofline's coefficients by accelerator and engine generation (data/coefficients.csv, one row a figure)."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

ANY = "*"
"""Rows of an accelerator that has none of its own."""
LISTED_TP = (2, 4, 8)


@dataclass(frozen=True)
class Coefficients:
    """How close to its peaks an accelerator gets, and what the engine's host side adds."""

    tile_tokens: int
    """Linear operators compute whole tiles of so many tokens."""
    flops_share: float
    """Of the peak FLOP/s, in linear operators."""
    bandwidth_share: float
    """Of the memory bandwidth, reading weights."""
    layer_overhead_s: float
    elementwise_passes: float
    """Norms, activations, residuals: reads or writes of one hidden state a token and layer; not sharded by TP."""
    attention_flops_share: float
    attention_bandwidth_share: float
    allreduce_latency_s: tuple[float, ...]
    """By ``LISTED_TP``."""
    allreduce_bandwidth_share: tuple[float, ...]
    """Of the scale-up link's bandwidth, by ``LISTED_TP``."""
    host_step_s: float
    """Host time of each iteration."""
    host_step_per_doubling_s: float
    """More of it in decode iterations for each doubling of TP."""
    host_sequence_s: float
    """More of it for each decode."""
    prefill_floor_s: float
    """What the host takes to launch a batch with prompts; overlaps with the device: (floor^4 + device^4)^(1/4)."""
    large_batch_slowdown: float
    """Batches with prompts of over 2048 tokens at TP8 take so many times longer (half of it at TP4, none at TP2)."""
    status: str
    """The weakest status among its rows: ``assumption`` where another accelerator's stand in."""


@cache
def coefficients(accelerator_id: str, engine: str) -> Coefficients:
    """The coefficients of an accelerator under an engine generation, or those of ``*`` where it has none of its own."""
    rows = _table().get((accelerator_id, engine)) or _table()[ANY, engine]
    plain = {name: float(value) for name, (value, _) in rows.items() if "_tp" not in name}
    return Coefficients(
        **{**plain, "tile_tokens": int(plain["tile_tokens"])},  # type: ignore[arg-type]
        allreduce_latency_s=tuple(float(rows[f"allreduce_latency_s_tp{t}"][0]) for t in LISTED_TP),
        allreduce_bandwidth_share=tuple(float(rows[f"allreduce_bandwidth_share_tp{t}"][0]) for t in LISTED_TP),
        status="assumption" if any(status == "assumption" for _, status in rows.values()) else "estimate",
    )


@cache
def _table() -> dict[tuple[str, str], dict[str, tuple[str, str]]]:
    text = files("simcore.latency").joinpath("data/coefficients.csv").read_text(encoding="utf-8")
    table: dict[tuple[str, str], dict[str, tuple[str, str]]] = {}
    for row in csv.DictReader(text.splitlines()):
        key = (row["accelerator"], row["engine"])
        table.setdefault(key, {})[row["field"]] = (row["value"], row["status"])
    return table
