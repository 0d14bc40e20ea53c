"""The lines of ``simcore/residuals.csv``: what predictions name their errors by."""

from __future__ import annotations

import csv
import io

from simcore.residuals import COLUMNS
from simcore.validation.comparison import Comparison, Findings
from simcore.validation.summary import errors_of, grouped

SOURCES = {
    "splitwise_step_times": "Splitwise's step times of 2023 (splitwise-sim 8f99e7d; MIT)",
    "kernel_db": "NVIDIA's kernel tables (aiconfigurator-core 0.12.0; Apache-2.0)",
    "serving_points": "published serving results of 2024 to 2026 (MLPerf v5.1, ML.ENERGY v3 and others)",
    "power_anchors": "InferenceX telemetry of 2026",
}
PARTS = ("linear",)
Key = tuple[str, str, str, str, int, str, bool, str]


def residual_lines(found: Findings) -> list[str]:
    """Header and rows, in order; no poor tier, no parts of steps: nobody asks for a prediction of one."""
    groups = grouped([one for one in found.compared if not one.poor and one.phase not in PARTS], _key)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for key in sorted(groups):
        writer.writerow(_row(key, groups[key]))
    return text.getvalue().splitlines()


def _key(one: Comparison) -> Key:
    place = one.place
    where = (place.engine, place.variant, place.accelerator, place.model, place.tensor_parallel)
    return *where, one.phase, one.fitted, one.set


def _row(key: Key, group: list[Comparison]) -> list[str]:
    *place, fitted, set_name = key
    errors = errors_of(group)
    bias = sum(one.error for one in group) / len(group)
    figures = [f"{value:.4f}" for value in (bias, errors.spread, errors.mape)]
    named = [str(value) for value in place]
    return [*named, "yes" if fitted else "no", str(errors.count), *figures, SOURCES.get(set_name, set_name)]
