"""A wave's designs cut into shards of one to three seconds of predicted cost, in the order in which they are wanted."""

from collections.abc import Sequence

from simcore.evaluation import Design
from simcore.search.cost import RUNS, TRIAL_RUNS, predicted_cpu_s
from simcore.study import Context
from simcore.survival import evaluated_cases

LEAST_S, MOST_S = 1.0, 3.0
SHARDS_A_WAVE = 16
"""A wave is cut at least so finely, as far as its shards stay above the least: workers end it together."""


def shards(designs: Sequence[Design], context: Context) -> list[list[Design]]:
    """The designs in their order, a few at a time."""
    statistics, failures = context.statistics, context.spec.failures
    return cut(designs, [predicted_cpu_s(design.case, statistics, runs_of(design, failures)) for design in designs])


def runs_of(design: Design, failures: int = 0) -> float:
    """One with a rival mostly fails in the run at its rate; of close ones a capacity a seed is searched. Where machines
    may be lost so of what is left, too."""
    return _runs_of_one(design) * evaluated_cases(len(design.case.pools), failures)


def _runs_of_one(design: Design) -> float:
    if design.seeds:
        return RUNS * len(design.seeds)
    return TRIAL_RUNS if design.rate_only or design.rival is not None else RUNS


def cut(designs: Sequence[Design], costs_s: Sequence[float]) -> list[list[Design]]:
    """Parts of about equal cost; a design that takes longer than a shard should is one by itself."""
    size_s = min(MOST_S, max(LEAST_S, sum(costs_s) / SHARDS_A_WAVE))
    parts: list[list[Design]] = []
    room_s = 0.0
    for design, cost_s in zip(designs, costs_s, strict=True):
        if not parts or cost_s / 2 > room_s:  # nearer to the size without it
            parts.append([])
            room_s = size_s
        parts[-1].append(design)
        room_s -= cost_s
    return parts
