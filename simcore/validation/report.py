"""The report in Markdown: the same text for the same data and code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from simcore.validation import accounting, fit_split, lengths
from simcore.validation.comparison import Comparison, Findings, NotCompared
from simcore.validation.goals import Goal, goals
from simcore.validation.open_loops import CapacityComparison
from simcore.validation.public_points import FILE, public_rows
from simcore.validation.serving_row import DEFAULTS, VLLM_LARGE
from simcore.validation.summary import errors_of, grouped

INTRODUCTION = """# Predictions against measurements

Written by `make validate` (`python -m simcore validate --data DIR --out docs/validation.md`); not edited by hand.
Every row of the measured sets is compared with what the product predicts for it, or listed at the end with the reason
why not. Errors are predicted / measured - 1. **Fitted**: the row was used to find the coefficients; **judged**: it was
not. Rows of tiers C and D (bursts, other definitions, Little's law fails) are in no fit and no goal; they are shown
apart.
"""
SEEN = (
    "They are not all blind: some of Qwen3-235B's figures had been seen before the last refit (experts at all"
    " precisions together), though no figure here was put into it, and nothing was changed for these rows once they"
    " were compared. Nor are ML.ENERGY's rows independent of vllm-2026: its host times were fitted to the same"
    " benchmark's bf16 rows of three dense models (Qwen3-32B one of them), of the same vLLM 0.11.1 on H100, and"
    " Qwen3-30B-A3B's device times to NVIDIA's tables of it. They say how far off another model on a known engine is,"
    " not another engine version or harness; only the rows on MI355X are of another harness, engine and accelerator."
)
PUBLIC = (
    "What is far off is Qwen3-235B's fp8 weights with a scale a block of 128 x 128: at 8 and 16 sequences vLLM 0.11"
    " serves them more slowly than the same model in bf16, which the roofline, fitted to products with a scale a"
    " tensor, does not know. DeepSeek-V3's fp8 weights among the judged rows are of that kind too"
    " (docs/decisions/0024)."
)
POWER = ("power", "energy")
MISSED = (
    "Why goals are missed, with figures: docs/decisions/0024. Of vllm-2026: fp8 weights with block scales"
    " (DeepSeek-V3); the host's time a sequence, which is of sampling with top-p and of Python processes whose number"
    " no row states; Llama-3.1-405B's fp8 weights, whose attention its publisher left in bf16. Of trtllm-2025:"
    " Llama-3.1-405B, whose prompts' mean is from memory."
)


def report(found: Findings) -> str:
    """All of it."""
    good = [one for one in found.compared if not one.poor and one.phase not in POWER]
    capacities = [one for one in found.compared if isinstance(one, CapacityComparison)]
    steps = [one for one in good if one.phase != "capacity"]
    parts = [
        INTRODUCTION,
        _goals(goals(found.compared)),
        _split(),
        _counts(found),
        "## Step times, TPOT, TTFT, throughput",
        *_groups(steps),
        _public(public_rows()),
        _capacities(capacities),
        _assumptions(),
        "## Power and energy a token\nAccelerators alone, but for what was measured at the wall.",
        *_groups([one for one in found.compared if not one.poor and one.phase in POWER]),
        "## Poor data: tiers C and D, in no fit and no goal",
        *_groups([one for one in found.compared if one.poor]),
        _left_out(found),
    ]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)


def _goals(found: list[Goal]) -> str:
    rows = [(goal.what, goal.found, goal.wanted, goal.verdict) for goal in found]
    return f"## Goals, on rows that no fit used\n\n{_table(('goal', 'found', 'wanted', ''), rows)}\n\n{MISSED}"


def _split() -> str:
    names = ("set", "engine", "variant", "model", "accelerator", "tensor_parallel", "phase", "where", "source")
    rows = [[row[name] for name in names] for row in fit_split.described()]
    text = "Fitted is what a line of `simcore/validation/data/fitted.csv` names (`*`: any); all else is judged."
    return f"## The split\n\n{text}\n\n" + _table(names, rows)


def _counts(found: Findings) -> str:
    """What became of every file's rows, and the columns that no figure is predicted for."""
    rows = [(one.file, *map(str, (one.rows, one.compared, one.left_out))) for one in found.counts]
    text = (
        "Compared: at least one figure of the row has a prediction; rows of one configuration of"
        " splitwise_step_times.csv are repeats, their median is one comparison. The two add up to the rows."
    )
    names = ("file", "columns", "why")
    columns = [[row[name] for name in names] for row in accounting.columns_left_out()]
    return (
        f"## The rows\n\n{text}\n\n{_table(('file', 'rows', 'compared', 'not compared'), rows)}\n\n"
        f"Columns of measured figures without a comparison of their own:\n\n{_table(names, columns)}"
    )


def _groups(compared: list[Comparison]) -> list[str]:
    """A table a set, then its groups' worst rows."""
    return [_set(name, group) for name, group in grouped(compared, lambda one: one.set).items()]


def _set(name: str, compared: list[Comparison]) -> str:
    groups = grouped(
        compared, lambda one: (one.phase, one.place.engine, one.place.variant, one.place.accelerator, one.fitted)
    )
    head = ("phase", "engine", "measured", "accelerator", "", "rows", "MAPE", "median", "P90")
    rows = []
    for (phase, engine, variant, accelerator, fitted), group in sorted(groups.items()):
        errors = errors_of(group)
        figures = (str(errors.count), f"{errors.mape:.1%}", f"{errors.median:+.1%}", f"{errors.p90:.1%}")
        rows.append((phase, engine, variant, accelerator, "fitted" if fitted else "judged", *figures))
    return f"### {name}\n\n{_table(head, rows)}\n\n{_worst(compared)}"


def _worst(compared: list[Comparison]) -> str:
    head = ("phase", "row", "what", "measured", "predicted", "error", "", "assumed")
    rows = []
    for phase, group in sorted(grouped(compared, lambda one: one.phase).items()):
        rows += [_line(phase, one) for one in errors_of(group).worst]
    return "Worst five of each phase:\n\n" + _table(head, rows)


def _line(phase: str, one: Comparison) -> tuple[str, ...]:
    figures = (f"{one.measured:.4g} {one.unit}", f"{one.predicted:.4g}", f"{one.error:+.0%}")
    return phase, one.row, one.what, *figures, "fitted" if one.fitted else "judged", one.assumes


def _public(rows: list[Comparison]) -> str:
    """Groups of one model, weights and TP, then each row."""
    groups = grouped(rows, lambda one: (one.place.model, one.place.variant, one.place.accelerator))
    lines = [
        (f"{model} {variant} on {accelerator}", str(errors.count), f"{errors.mape:.1%}", f"{errors.median:+.1%}")
        for (model, variant, accelerator), group in groups.items()
        for errors in (errors_of(group),)
    ]
    errors = errors_of(rows)
    text = (
        f"{errors.count} gaps of public sources (`simcore/validation/data/{FILE}`, each with source and date) that no"
        f" fit, goal or residual uses. MAPE {errors.mape:.1%}, median {errors.median:+.1%}. {SEEN}"
    )
    head = ("row", "what", "measured", "predicted", "error")
    each = [(one.row, one.what, f"{one.measured:.4g} ms", f"{one.predicted:.4g}", f"{one.error:+.0%}") for one in rows]
    summed = _table(("group", "rows", "MAPE", "median"), lines)
    return f"## Public rows outside every fit\n\n{text}\n\n{PUBLIC}\n\n{summed}\n\n{_table(head, each)}"


def _capacities(rows: list[CapacityComparison]) -> str:
    head = (
        "row",
        "run",
        "model",
        "accelerator, TP",
        "measured",
        "predicted",
        "ratio",
        "",
        "P99 measured",
        "binds",
        "assumed",
    )
    lines = [
        (
            one.row, one.what, f"{one.place.model} {one.place.variant}",
            f"{one.place.accelerator} TP{one.place.tensor_parallel}", f"{one.measured:.4g} req/s",
            f"{one.predicted:.4g}", f"{one.predicted / one.measured:.2f}",
            f"{'near a limit' if one.near_limit else 'a target'}: {'met' if one.met else 'missed'}",
            one.limits, one.binding, one.assumes,
        )
        for one in rows
    ]  # fmt: skip
    text = "Predicted: the highest Poisson rate at which the row's design, simulated, holds its SLO, one seed."
    return f"## Capacity at the SLO: MLPerf's open loops\n\n{text}\n\n" + _table(head, lines) if rows else ""


def _assumptions() -> str:
    names = (
        "name",
        "prompt_mean",
        "prompt_spread",
        "prompt_longest",
        "output_mean",
        "output_spread",
        "output_longest",
        "source",
    )
    rows = [[row[name] for name in names] for row in lengths.assumed()]
    form = (
        "Lengths are gamma distributed of that mean and spread (standard deviation over mean), cut at the longest;"
        " prompts and outputs are independent; a row's own output mean takes the place of the table's. KV is as a row"
        " says; fp8 for MLPerf's, TensorRT-LLM's and NIM's fp8 and fp4 weights; else the model's. Token budget and"
        " batch size where a row states none: "
    )
    known = {
        f"vllm on 70 GiB or more, but A100, {VLLM_LARGE[0]} and {VLLM_LARGE[1]}, else": DEFAULTS["vllm"],
        **DEFAULTS,
    }
    defaults = ", ".join(f"{name} {budget} and {batch}" for name, (budget, batch) in known.items() if name != "vllm")
    return f"## What rows do not state\n\n{form}{defaults}.\n\n" + _table(names, rows)


def _left_out(found: Findings) -> str:
    groups: dict[tuple[str, str], list[NotCompared]] = {}
    for one in found.left_out:
        groups.setdefault((one.set, one.reason), []).append(one)
    rows = [
        (name, str(len(group)), reason, group[0].what, lines_of([one.row for one in group]))
        for (name, reason), group in sorted(groups.items())
    ]
    text = f"{len(found.left_out)} rows, none dropped: each reason, what the first row is of, and all rows."
    return f"## Not compared\n\n{text}\n\n" + _table(("set", "rows", "reason", "the first", "lines"), rows)


def lines_of(rows: Sequence[str]) -> str:
    """``file.csv:3`` and such as lines by file, neighbours as a range."""
    files: dict[str, list[int]] = {}
    for row in rows:
        name, _, line = row.rpartition(":")
        files.setdefault(name or line, []).extend([int(line)] if name else [])
    return "; ".join(f"{name}: {_ranges(sorted(lines))}" if lines else name for name, lines in files.items())


def _ranges(lines: list[int]) -> str:
    spans: list[list[int]] = []
    for line in lines:
        if spans and line <= spans[-1][1] + 1:
            spans[-1][1] = line
        else:
            spans.append([line, line])
    return ", ".join(str(low) if low == high else f"{low} to {high}" for low, high in spans)
