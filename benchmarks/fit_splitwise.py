"""The engine generation vllm-2023: coefficients from Splitwise's step times, whole steps at once.

Points are medians of runs alike in model, TP, prompt and batch. Prompt times of runs with up to 128 output tokens only
(longer ones ended early), at their token count; token times at the mean context of a run's outputs. Left out: runs that
ran out of KV memory. simcore/validation/data/fitted.csv says which points are fitted to: every second size of a
batch's prompts, of each model and TP; those between judge. All-reduces are Vidur's profiles of the same machines.
"""

from __future__ import annotations

import csv
import dataclasses
import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from benchmarks.fit_device import UNFITTED, machine_with
from simcore.catalogue import model
from simcore.latency.coefficients import Coefficients
from simcore.latency.curve import PS_PER_S, IterationCurve
from simcore.latency.roofline import roofline_curve
from simcore.validation.comparison import Place
from simcore.validation.fit_split import is_fitted
from simcore.validation.step_times import ENGINE, SET

HARDWARE = ("a100-80gb", "h100-80gb")
LONGEST_OUTPUT_TOKENS = 128
OUT_OF_MEMORY = ("llama2-70b", 2, 64)
"""Model, TP, sequences."""
ROBUST = 0.05
ENOUGH = 1e-4
MOST_STEPS = 40
"""Where the fit stops: change of its cost, of its coefficients; steps."""
VIDUR = {
    "a100-80gb": ((43e-6, 44e-6, 49e-6), (0.567, 0.58, 0.517)),
    "h100-80gb": ((18e-6, 27e-6, 30e-6), (0.651, 0.802, 0.769)),
}
"""All-reduce on the DGX: latency and share of the link's bandwidth at TP2, TP4, TP8 (microsoft/vidur 7d47513; MIT)."""
BOUNDS: dict[str, tuple[float, float, float]] = {
    "flops_share": (0.75, 0.3, 1.0),
    "bandwidth_share": (0.9, 0.7, 1.0),
    "elementwise_passes": (30.0, 8.0, 100.0),
    "attention_flops_share": (0.3, 0.05, 1.0),
    "host_step_s": (8e-3, 0.0, 40e-3),
    "host_step_per_doubling_s": (1e-3, 0.0, 10e-3),
    "host_sequence_s": (0.2e-3, 0.0, 1e-3),
    "crowded_sequence_s": (0.3e-3, 0.0, 2e-3),
    "prefill_launch_s": (0.6e-3, 0.0, 2e-3),
    "decode_launch_s": (0.3e-3, 0.0, 2e-3),
    "large_batch_slowdown": (1.3, 1.0, 2.0),
}
"""Field -> where the fit starts, least, most."""


@dataclass(frozen=True)
class SplitwisePoint:
    """The median of runs alike."""

    hardware: str
    model_id: str
    tensor_parallel: int
    kind: str
    prompt_tokens: int
    sequences: int
    context: int
    measured_s: float

    @property
    def fitted(self) -> bool:
        """Whether it was fitted to; else it judges."""
        place = Place(self.model_id, self.hardware, self.tensor_parallel, ENGINE, "vllm 2023 bf16")
        return is_fitted(SET, place, self.kind, {"prompt_tokens": self.prompt_tokens * self.sequences})

    def predicted_s(self, curve: IterationCurve) -> float:
        """The same step by a curve."""
        chunks = [(self.prompt_tokens, 0)] * self.sequences if self.kind == "prefill" else []
        contexts = [] if self.kind == "prefill" else [self.context] * self.sequences
        return curve.iteration_ps(chunks, contexts) / PS_PER_S


def splitwise_points(path: Path) -> list[SplitwisePoint]:
    """Of the file of step times, those that were measured (capped rows are not)."""
    alike: dict[tuple[object, ...], list[float]] = defaultdict(list)
    with path.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["hardware"] in HARDWARE:
                for key, value in _readings(row):
                    alike[key].append(value)
    return [SplitwisePoint(*key, statistics.median(values) / 1e3) for key, values in alike.items()]  # type: ignore[arg-type]


def _readings(row: dict[str, str]) -> list[tuple[tuple[object, ...], float]]:
    """A row's prompt time and token time, each under what it is alike by."""
    prompt, batch, output = (int(row[name]) for name in ("prompt_size", "batch_size", "token_size"))
    group = (row["hardware"], row["model"], int(row["tensor_parallel"]))
    if (*group[1:], batch) == OUT_OF_MEMORY:
        return []
    run_tokens = (float(row["e2e_time"]) - float(row["prompt_time"])) / float(row["token_time"])
    readings: list[tuple[tuple[object, ...], float]] = []
    if output <= LONGEST_OUTPUT_TOKENS:
        readings.append(((*group, "prefill", prompt, batch, 0), float(row["prompt_time"])))
    context = prompt + round(min(run_tokens, output) / 2)
    if output <= LONGEST_OUTPUT_TOKENS:
        context = prompt + output // 2
    readings.append(((*group, "decode", prompt, batch, context), float(row["token_time"])))
    return readings


def fit_splitwise(hardware: str, points: Sequence[SplitwisePoint]) -> Coefficients:
    """The coefficients of one accelerator under vllm-2023."""
    own = [point for point in points if point.hardware == hardware and point.fitted]
    latency, bandwidth = VIDUR[hardware]
    start = dataclasses.replace(
        UNFITTED,
        quantised_tile_tokens=128,
        allreduce_latency_s=latency,
        allreduce_bandwidth_share=bandwidth,
        engine_version="vLLM of 2023 (Splitwise's)",
        date="2023-11",
    )
    first, least, most = (np.array(column) for column in zip(*BOUNDS.values(), strict=True))
    solved = least_squares(
        lambda scaled: residuals(_with(start, scaled * first), own),
        np.ones(len(first)),
        bounds=(least / first, most / first),
        loss="soft_l1",
        f_scale=ROBUST,
        diff_step=1e-4,
        ftol=ENOUGH,
        xtol=ENOUGH,
        max_nfev=MOST_STEPS,
    )
    return _with(start, solved.x * first)


def _with(start: Coefficients, values: NDArray[np.float64]) -> Coefficients:
    return dataclasses.replace(start, **dict(zip(BOUNDS, map(float, values), strict=True)))  # type: ignore[arg-type]


def residuals(fitted: Coefficients, points: Sequence[SplitwisePoint]) -> NDArray[np.float64]:
    """Relative errors."""
    curves = {
        (p.hardware, p.model_id, p.tensor_parallel): roofline_curve(
            model(p.model_id), machine_with(p.hardware), p.tensor_parallel, 1, ENGINE, fitted
        )
        for p in points
    }
    of = [point.predicted_s(curves[point.hardware, point.model_id, point.tensor_parallel]) for point in points]
    return np.array([predicted / point.measured_s - 1 for predicted, point in zip(of, points, strict=True)])
