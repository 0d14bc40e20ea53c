"""Fits the power coefficients of ``simcore/power`` to measured watts and writes how far off each of them is.

    PYTHONPATH=. PHASEPLAN_SHARED=../shared python benchmarks/fit_power.py [--each] [--check]

Writes simcore/power/data/coefficients.csv and docs/power-fit.md. --each prints every anchor; --check writes nothing and
fails if what is committed is not what the measurements give.

Use (MBU, MFU) is worked out from the step times that were measured with the watts, not from predicted ones, so that an
error of the latency model is not fitted into power. Whole models are kept out of the fit and judged.
"""

import argparse
import csv
import os
import re
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares

from simcore.catalogue import accelerator, machine, model
from simcore.latency.compile import compile_curve
from simcore.power import Load, PowerCoefficients, least_work
from simcore.spec import LatencySpec, Model
from simcore.stages import stages

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "simcore" / "power" / "data" / "coefficients.csv"
REPORT = ROOT / "docs" / "power-fit.md"
DATE = "2026-11-30"
FIELDS = ("base", "by_mbu", "by_mfu", "unpacking")
PACKED = "fit to gpt-oss-120b on one H100 (ML.ENERGY v3, 2026-02), the one accelerator without fp4 that ran it"
MODELS = {
    "Llama-3.1-8B-Instruct": "llama-3.1-8b",
    "Llama-3.1-70B-Instruct": "llama-3.1-70b",
    "Llama-3.1-405B-Instruct-FP8": "llama-3.1-405b",
    "Qwen3-32B": "qwen3-32b",
    "gpt-oss-120b": "gpt-oss-120b",
    "Qwen3-30B-A3B-Instruct-2507": "qwen3-30b-a3b",
}
MACHINES = {"A100": "dgx-a100", "H100": "dgx-h100", "B200": "dgx-b200"}
FITTED_MODELS = (("llama-3.1-8b", 1), ("llama-3.1-70b", 2), ("llama-3.1-70b", 4), ("qwen3-30b-a3b", 1))
# Mean prompt tokens, which ML.ENERGY does not give: an assumption.
PROMPTS = {"LMArena chat prompts": 90, "GPQA prompts": 200}
# Kept out of the fit: one TP degree of A100's, whole models of the others' (of gpt-oss all but InferenceX's TP8, the
# only watts of an H100 with little to do).
FITTED = {
    *(("A100", name, 8) for name in ("bloom-176b", "llama2-70b")),
    *((gpu, *of) for gpu in ("H100", "B200") for of in FITTED_MODELS),
    ("H100", "gpt-oss-120b", 8),
    ("H100", "gpt-oss-120b", 1),
}
# A prompt's peak is read as its draw where it lasts longer than the driver averages over.
PEAK_LASTS_S = 0.1
LONGEST_PROMPT = 4096
SOURCES = {
    "A100": "Splitwise's mean and peak watts of BLOOM-176B and Llama-2-70B at TP8 (splitwise-sim 8f99e7d; MIT)",
    "H100": "ML.ENERGY v3 (2026-02) of Llama-3.1-8B and 70B and Qwen3-30B-A3B, InferenceX#828 of gpt-oss-120b at TP8",
    "B200": "ML.ENERGY v3 (2026-02) of Llama-3.1-8B and 70B and Qwen3-30B-A3B",
}


@dataclass(frozen=True)
class Anchor:
    """Measured watts of one accelerator over parts of time, each with what it did."""

    gpu: str
    model: Model
    tensor_parallel: int
    load: str
    watts: float
    parts: tuple[tuple[float, Load, float], ...]
    """Share of the time, what an iteration does, its measured seconds."""
    predicted_s: tuple[float, ...] = ()

    @property
    def part(self) -> str:
        """What it is used for."""
        return "fitted" if (self.gpu, self.model.id, self.tensor_parallel) in FITTED else "judged"

    def uses(self, predicted: bool = False) -> list[tuple[float, float, float, float]]:
        """Share of the time, MBU, MFU, packed weights' part of MBU."""
        box = accelerator(str(machine(MACHINES[self.gpu]).accelerator))
        part = stages(self.model, self.tensor_parallel, 1)[0]
        times = self.predicted_s if predicted else [seconds for _, _, seconds in self.parts]
        works = (least_work(self.model, box, part, self.tensor_parallel, load) for _, load, _ in self.parts)
        pairs = zip(self.parts, works, times, strict=True)
        return [(share, *work.over(seconds)) for (share, _, _), work, seconds in pairs]


def drawn_w(gpu: str, uses: list[tuple[float, float, float, float]], fitted: PowerCoefficients) -> float:
    """Mean watts of an accelerator."""
    box = accelerator(str(machine(MACHINES[gpu]).accelerator))
    share = sum(time * fitted.share(*use) for time, *use in uses)
    return box.idle_w + share * (box.tdp_w - box.idle_w)


def serving_anchors(data: Path) -> Iterator[Anchor]:
    """ML.ENERGY: watts of saturated replicas by batch size. Expert-parallel runs are left out: they are not built."""
    with (data / "serving_points.csv").open() as stream:
        for row in csv.DictReader(stream):
            watts = re.search(r"avg GPU power (\d+) W \((\d+) GPU\).*avg running batch (\S+)", row["notes"])
            name = row["model"].split("/")[-1]
            if not watts or name not in MODELS or "EP1" not in row["scheduler_chunked"]:
                continue
            served = model(MODELS[name])
            if row["precision"] == "fp8":
                served = replace(served, weight_precision="fp8")
            count, batch = int(watts[2]), float(watts[3])
            gpu, lengths = row["gpu"].split()[-1], (PROMPTS[row["isl"]], float(row["osl"]))
            yield serving(gpu, served, count, batch, float(row["out_tok_s"]), lengths, float(watts[1]) / count)


def inferencex_anchors(data: Path) -> Iterator[Anchor]:
    """InferenceX: the rows of stated lengths, busy for 72 % of the time and more."""
    with (data / "power_anchors.csv").open() as stream:
        for row in csv.DictReader(stream):
            if row["isl_osl"] == "1k/8k":
                tp = int(row["tp"])
                rate, watts = float(row["out_tok_s_per_gpu"]) * tp, float(row["w_per_gpu"])
                yield serving("H100", model(row["model"]), tp, float(row["conc"]), rate, (1024, 8192), watts)


def serving(
    gpu: str, served: Model, tp: int, batch: float, tokens_per_s: float, lengths: tuple[float, float], watts: float
) -> Anchor:
    """A batch kept full: each iteration decodes all but what share of it prefills."""
    prompt, output = lengths
    new, context, seconds = batch / output, prompt + output / 2, batch / tokens_per_s
    load = Load(batch + new * prompt, batch, new * prompt * (prompt + 1) / 2, batch * context, batch)
    curve = compile_curve(served, machine(MACHINES[gpu]), tp, 1, LatencySpec())
    whole = round(batch)
    chunk = [(round(new * prompt), 0)] if round(new * prompt) else []
    predicted = curve.iteration_ps(chunk, [round(context)] * whole) / 1e12
    return Anchor(gpu, served, tp, f"batch {batch:g}", watts, ((1.0, load, seconds),), (predicted,))


def splitwise_anchors(data: Path) -> Iterator[Anchor]:
    """Splitwise's A100: a prompt and 127 decodes, their mean draw, and the prompt's own (the peak), of TDP."""
    runs = defaultdict(list)
    with (data / "splitwise_step_times.csv").open() as stream:
        for row in csv.DictReader(stream):
            size, batch = int(row["prompt_size"]), int(row["batch_size"])
            if row["hardware"] == "a100-80gb" and float(row["average_power"]) and size <= LONGEST_PROMPT:
                key = (row["model"], int(row["tensor_parallel"]), size, batch)
                columns = ("peak_power", "average_power", "prompt_time", "token_time")
                runs[key].append([float(row[column]) for column in columns])
    tdp_w = accelerator("a100-80gb").tdp_w
    for (name, tp, size, batch), rows in runs.items():
        peak, mean, prompt_ms, token_ms = (statistics.median(column) for column in zip(*rows, strict=True))
        served, prefill_s, decode_s = model(name), prompt_ms / 1e3, token_ms / 1e3
        prefill = Load(batch * size, batch, batch * size * (size + 1) / 2, 0, 0)
        decode = Load.of_decodes(batch, size + 64)
        early = prefill_s / (prefill_s + 127 * decode_s)
        curve = compile_curve(served, machine("dgx-a100"), tp, 1, LatencySpec(engine="vllm-2023"))
        predicted = (
            curve.iteration_ps([(size, 0)] * batch, []) / 1e12,
            curve.iteration_ps([], [size + 64] * batch) / 1e12,
        )
        what = f"{batch} x {size} tokens"
        parts = ((early, prefill, prefill_s), (1 - early, decode, decode_s))
        yield Anchor("A100", served, tp, f"mean, {what}", mean * tdp_w, parts, predicted)
        if prefill_s >= PEAK_LASTS_S:
            watts = min(peak, 1.0) * tdp_w
            yield Anchor("A100", served, tp, f"prefill, {what}", watts, ((1.0, prefill, prefill_s),), predicted[:1])


def fit(anchors: list[Anchor]) -> PowerCoefficients:
    """Robust least squares of relative errors, all coefficients at least 0; rounded to two digits."""
    uses = [(anchor.gpu, anchor.uses(), anchor.watts) for anchor in anchors]

    def errors(values: np.ndarray) -> list[float]:
        fitted = PowerCoefficients(*values, "", "")
        return [drawn_w(gpu, use, fitted) / watts - 1 for gpu, use, watts in uses]

    packed = any(use[3] for _, parts, _ in uses for use in parts)
    start = [0.15, 0.8, 1.5, 1.5 if packed else 1.0]
    bounds = ([0, 0, 0, 1], [9, 9, 9, 9 if packed else 1 + 1e-9])
    found = least_squares(errors, start, bounds=bounds, loss="soft_l1", f_scale=0.05, x_scale=[0.1, 0.5, 1, 1]).x
    return PowerCoefficients(*(round(float(value), 2) for value in found), "estimate", "")


def table(fits: dict[str, PowerCoefficients]) -> str:
    """The shipped CSV."""
    lines = ["accelerator,field,value,unit,source,date,status"]
    rows = [(str(machine(MACHINES[gpu]).accelerator), f"fit to {SOURCES[gpu]}", fits[gpu], "estimate") for gpu in fits]
    rows.append(("h200-141gb", "taken as H100's, the same chip: not fitted", fits["H100"], "assumption"))
    means = [round(statistics.mean(getattr(one, field) for one in fits.values()), 2) for field in FIELDS]
    rows.append(("*", "mean of A100, H100 and B200: no watts known", PowerCoefficients(*means, "", ""), "assumption"))
    unpacking = fits["H100"].unpacking
    for name, source, values, status in rows:
        figures = {field: (getattr(values, field), source, status) for field in FIELDS[:3]}
        figures["unpacking"] = (unpacking, PACKED, "estimate" if name == "h100-80gb" else "assumption")
        lines += [f'{name},power_{field},{of:g},,"{why}",{DATE},{how}' for field, (of, why, how) in figures.items()]
    return "\n".join(lines) + "\n"


def report(anchors: list[Anchor], fits: dict[str, PowerCoefficients]) -> str:
    """How far off, by accelerator, model and TP."""
    lines = [
        "# Power: fitted against measured watts",
        "",
        "Written by `benchmarks/fit_power.py`; docs/power.md says what is fitted, `--each` prints every anchor and its",
        "error with predicted step times. Errors are predicted over measured watts of one accelerator, idle",
        "included, with use worked out from the step times that were measured in the same run.",
        "",
        "| accelerator | model | TP | anchors | part | mean error | worst |",
        "|---|---|---|---|---|---|---|",
    ]
    groups = defaultdict(list)
    for anchor in anchors:
        groups[anchor.gpu, anchor.model.id, anchor.tensor_parallel, anchor.part].append(anchor)
    for (gpu, name, tp, part), some in sorted(groups.items()):
        lines.append(f"| {gpu} | {name} | {tp} | {len(some)} | {part} | {cells(some, fits[gpu])} |")
    for gpu in fits:
        for part in ("fitted", "judged"):
            some = [anchor for anchor in anchors if (anchor.gpu, anchor.part) == (gpu, part)]
            lines.append(f"| {gpu} | all | | {len(some)} | {part} | {cells(some, fits[gpu])} |")
    return "\n".join(lines) + "\n"


def error(anchor: Anchor, fitted: PowerCoefficients, predicted: bool = False) -> float:
    """Predicted over measured watts, less 1."""
    return drawn_w(anchor.gpu, anchor.uses(predicted), fitted) / anchor.watts - 1


def cells(anchors: list[Anchor], fitted: PowerCoefficients) -> str:
    """Mean and worst error."""
    errors = [error(anchor, fitted) for anchor in anchors]
    return f"{100 * statistics.mean(map(abs, errors)):.0f} % | {100 * max(errors, key=abs):+.0f} %"


def main() -> int:
    """Fit, and write or check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", action="store_true")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    data = Path(os.environ.get("PHASEPLAN_SHARED", ROOT.parent / "shared")) / "data" / "measured"
    anchors = [*splitwise_anchors(data), *serving_anchors(data), *inferencex_anchors(data)]
    fits = {gpu: fit([a for a in anchors if (a.gpu, a.part) == (gpu, "fitted")]) for gpu in SOURCES}
    if given.each:
        for one in anchors:
            errors = f"{error(one, fits[one.gpu]):+.1%}, predicted times {error(one, fits[one.gpu], True):+.1%}"
            print(
                f"{one.gpu} {one.model.id} TP{one.tensor_parallel} {one.load}: {one.watts:.0f} W, {errors}, {one.part}"
            )
    written = {TABLE: table(fits), REPORT: report(anchors, fits)}
    if given.check:
        stale = [path.name for path, text in written.items() if not path.exists() or path.read_text() != text]
        print(f"not what the measurements give: {', '.join(stale)}" if stale else "as committed")
        return int(bool(stale))
    for path, text in written.items():
        path.write_text(text)
        print(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
