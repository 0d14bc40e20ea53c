"""``splitwise_step_times.csv``: prompts and decodes of BLOOM-176B and Llama-2-70B, 2023.

Rows of one configuration are repeats: their median is one comparison. A prompt time is of ``batch_size`` prompts at
once; a token time is of that many decodes, at the context half way through. Rows of a capped H100 are not measured
(prefill x 1.3, decode copied); runs of over 128 tokens ended early, so that only their token time counts; a run that
took far longer than its steps add up to ran out of KV.
"""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import NamedTuple

from simcore.latency.curve import IterationCurve
from simcore.validation.comparison import Comparison, Findings, NotCompared, Phase, Place
from simcore.validation.curves import curve_at
from simcore.validation.files import Row, read_rows
from simcore.validation.fit_split import is_fitted
from simcore.validation.names import Unknown, gpus_of_name, model_of_name

SET = "splitwise_step_times"
FILE = "splitwise_step_times.csv"
COLUMNS = (
    *("model", "hardware", "tensor_parallel", "prompt_size", "batch_size", "token_size"),
    *("prompt_time", "token_time"),
)
ENGINE = "vllm-2023"
WHOLE_RUN_TOKENS = 128
RAN_OUT_OF_KV = 1.5
PS_PER_MS = 1e9


class Run(NamedTuple):
    """A configuration that was repeated."""

    model: str
    hardware: str
    tensor_parallel: int
    prompt: int
    batch: int
    output: int


def compare(path: Path) -> Findings:
    """Every configuration's prefill and decode."""
    runs: dict[Run, list[Row]] = {}
    findings = Findings()
    for row in read_rows(path, FILE, COLUMNS):
        counts = [row.count(name) for name in ("tensor_parallel", "prompt_size", "batch_size", "token_size")]
        if None in counts:
            findings.left_out.append(NotCompared(SET, row.name, "a size is not a whole number from 1 to a million"))
            continue
        run = Run(row.text("model"), row.text("hardware"), *(count or 0 for count in counts))
        runs.setdefault(run, []).append(row)
    for run, rows in runs.items():
        findings.extend(_compared(run, rows))
    return findings


def _compared(run: Run, rows: list[Row]) -> Findings:
    what = f"{run.model} on {run.hardware} TP{run.tensor_parallel}, {run.batch} x {run.prompt} + {run.output} tokens"
    try:
        if run.hardware.endswith("-pcap"):
            raise Unknown("not measured: H100's rows, prefill times 1.3")
        of, gpu = model_of_name(run.model), gpus_of_name(run.hardware)
        place = Place(of.id, gpu.accelerator, run.tensor_parallel, ENGINE, "vllm 2023 bf16")
        curve = curve_at(of, gpu.accelerator, run.tensor_parallel, 1, ENGINE)
        if _ran_out_of_kv(rows[0], run):
            raise Unknown("ran out of KV: it took far longer than its steps add up to")
    except Unknown as reason:
        return Findings(left_out=[NotCompared(SET, row.name, str(reason), what) for row in rows])
    return _phases(run, rows, place, curve, what)


def _phases(run: Run, rows: list[Row], place: Place, curve: IterationCurve, what: str) -> Findings:
    found = Findings()
    prefill_ps = curve.iteration_ps([(run.prompt, 0)] * run.batch, [])
    decode_ps = curve.iteration_ps([], [run.prompt + run.output // 2] * run.batch)
    early = run.output > WHOLE_RUN_TOKENS
    for phase, column, predicted_ps in (("prefill", "prompt_time", prefill_ps), ("decode", "token_time", decode_ps)):
        if phase == "prefill" and early:
            continue
        times = [value for value in (row.number(column) for row in rows) if value is not None and value > 0]
        if not times:
            found.left_out += [NotCompared(SET, row.name, f"no {column} above 0", what) for row in rows]
            continue
        found.compared.append(_comparison(phase, run, rows, place, what, statistics.median(times), predicted_ps))  # type: ignore[arg-type]
    return found


def _comparison(
    phase: Phase, run: Run, rows: list[Row], place: Place, what: str, measured_ms: float, predicted_ps: int
) -> Comparison:
    fitted = is_fitted(SET, place, phase, {"prompt_tokens": run.prompt * run.batch})
    return Comparison(
        SET, rows[0].name, phase, place, what, measured_ms, predicted_ps / PS_PER_MS, "ms", fitted,
        repeats=tuple(row.name for row in rows[1:]),
    )  # fmt: skip


def _ran_out_of_kv(row: Row, run: Run) -> bool:
    times = [row.number(column) for column in ("e2e_time", "prompt_time", "token_time")]
    if any(time is None or time <= 0 for time in times):
        return False
    whole, prompt, token = (time or 0.0 for time in times)
    return whole > RAN_OUT_OF_KV * (prompt + token * (run.output - 1))
