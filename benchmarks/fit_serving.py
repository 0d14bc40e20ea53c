"""What serving engines add to device time: coefficients of ``vllm-2026`` and ``trtllm-2025``, for all accelerators.

Rows and their split are validation's (simcore/validation/data/fitted.csv). vllm-2026: the host's time for an iteration
and for each sequence in it, from the mean gaps that ML.ENERGY measured of ``vllm serve`` at 8 to 1,024 sequences.
trtllm-2025: the same, and what its matrix products reach at fp8 (inputs are quantised inside the product before, so
that takes no time of its own; at fp4 they reach what vLLM's do), from the TPOT of two systems of MLPerf.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from simcore.latency.coefficients import Coefficients
from simcore.latency.roofline import roofline_curve
from simcore.steady_state.loops import closed_loop
from simcore.validation.fit_split import is_fitted
from simcore.validation.names import Unknown
from simcore.validation.open_loops import in_flight_of, is_open_loop
from simcore.validation.serving_points import rows_of, running_of
from simcore.validation.serving_row import SET, ServingRow, leading_number, understood

ROBUST = 0.1
"""Shares that a gap is off by count less than their square well above this."""
VLLM: Mapping[str, tuple[float, float, float]] = {
    "host_step_s": (1e-3, 0.0, 10e-3),
    "host_sequence_s": (30e-6, 0.0, 300e-6),
}
"""Field -> where the fit starts, least, most."""
TRTLLM: Mapping[str, tuple[float, float, float]] = {
    "host_step_s": (3e-3, 0.0, 20e-3),
    "host_sequence_s": (20e-6, 0.0, 300e-6),
    "fp8_flops_share": (0.7, 0.2, 1.0),
}
FUSED = {"quantise_overhead_s": 0.0, "quantise_passes": 0.0}
"""What trtllm-2025 is taken to have: inputs quantised inside products."""
ENGINES = {"vllm-2026": (VLLM, {}), "trtllm-2025": (TRTLLM, FUSED)}


@dataclass(frozen=True)
class Gap:
    """A measured mean gap between tokens, with so many requests in flight on one replica."""

    row: ServingRow
    in_flight: float
    measured_s: float

    def predicted_s(self, fitted: Coefficients) -> float:
        """By a roofline with other coefficients."""
        of, place = self.row, self.row.place
        curve = roofline_curve(of.model, of.machine, place.tensor_parallel, of.pipeline_parallel, place.engine, fitted)
        serving = replace(of.batching(), max_batch_size=self.in_flight)
        state = closed_loop(curve, of.lengths.classes(), serving, max(self.in_flight, 1.0))
        return state.concurrency / state.output_tokens_per_s if running_of(of) is not None else state.tpot_s


def fitted_gaps(path: Path, engine: str) -> list[Gap]:
    """Those rows of ``serving_points.csv`` that the split gives to the fit."""
    gaps = []
    for row in rows_of(path):
        try:
            of = understood(row)
        except Unknown:
            continue
        if of.place.engine == engine and is_fitted(SET, of.place, "tpot", of.origin):
            gap = _gap(of)
            gaps += [gap] if gap else []
    return gaps


def _gap(of: ServingRow) -> Gap | None:
    running, tokens = running_of(of), of.row.number("out_tok_s")
    if running is not None and tokens:
        return Gap(of, running / of.replicas, running / tokens)
    rate, tpot_ms = leading_number(of.row.text("load")), of.row.number("tpot_ms_p50")
    in_flight = in_flight_of(of, rate) if rate and is_open_loop(of.row) else None
    return Gap(of, in_flight / of.replicas, tpot_ms / 1e3) if in_flight and tpot_ms else None


def fit_serving(path: Path, engine: str, device: Mapping[str, Coefficients]) -> dict[str, float]:
    """The engine's own coefficients, over the device's as they were fitted (by accelerator)."""
    bounds, fixed = ENGINES[engine]
    gaps = fitted_gaps(path, engine)
    start, least, most = (np.array(column) for column in zip(*bounds.values(), strict=True))

    def errors(values: NDArray[np.float64]) -> NDArray[np.float64]:
        own = {**fixed, **dict(zip(bounds, map(float, values), strict=True))}
        return np.array([np.log(gap.predicted_s(_with(device, gap, own)) / gap.measured_s) for gap in gaps])

    found = least_squares(errors, start, bounds=(least, most), x_scale=start, loss="soft_l1", f_scale=ROBUST)
    return {**fixed, **dict(zip(bounds, map(float, found.x), strict=True))}


def _with(device: Mapping[str, Coefficients], gap: Gap, own: Mapping[str, float]) -> Coefficients:
    return replace(device[gap.row.place.accelerator], **own)  # type: ignore[arg-type]
