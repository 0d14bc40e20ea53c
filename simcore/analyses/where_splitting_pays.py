"""Where splitting pays: the best co-located design against the best split one, over how tight the SLO is and how long
the outputs are.

For each pair of an SLO (its limits times a factor) and a workload (its outputs times a factor) both sides are searched
at about what the answer costs (``contest.py``). Compared is the cost of a request/s held, so machines count in
fractions: rounding does not draw the line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from simcore.analyses.contest import Best, Contest, Counts, sized
from simcore.analyses.kind import Field, Json, Kind, Lab, Subject, refuse_failures
from simcore.answer.result import StudyResult
from simcore.catalogue import resolve_machine
from simcore.evaluation import Design
from simcore.families import SPLIT, Line, lines, with_machines
from simcore.fleet import spanned
from simcore.fluid.workload_statistics import WorkloadStatistics
from simcore.search.cost import predicted_cpu_s
from simcore.spec import Case, SpecError, bounded
from simcore.what_if.changes import scaled_slo
from simcore.words import counted, dollars, number, percent

MULTIPLIERS = (0.5, 0.7, 1.0, 1.5, 2.5)
OUTPUTS = (0.25, 0.5, 1.0, 2.0, 4.0)
MOST_VALUES = 9
MOST_CONTENDERS = 6
"""Of each side, those that held the most a dollar in the study first."""
EVEN = 0.02
"""A smaller difference is none: each capacity is found to 1 %."""
CAPACITIES_A_CELL = 6.0
TRIES_A_CELL = 24


@dataclass(frozen=True)
class Parameters:
    """The grid; both have 1, which is the question as it was asked."""

    multipliers: tuple[float, ...] = bounded(MULTIPLIERS, above=0, most=100)
    outputs: tuple[float, ...] = bounded(OUTPUTS, above=0, most=100)

    def __post_init__(self) -> None:
        for name in ("multipliers", "outputs"):
            if not 1 <= len(getattr(self, name)) <= MOST_VALUES:
                raise SpecError(f"{name}: found {len(getattr(self, name))}, expected 1 to {MOST_VALUES}")


@dataclass(frozen=True)
class Spender:
    """A contender that spends about so much an hour; ``usd_per_hour`` is of a machine of each pool."""

    case: Case
    usd_per_hour: tuple[float, ...]
    spend_usd_per_hour: float

    def divisions(self) -> Iterator[Counts]:
        """All ways to spend it on whole replicas."""
        if len(self.usd_per_hour) == 1:
            yield (self._for(0, self.spend_usd_per_hour),)
            return
        price, span = self.usd_per_hour[0], spanned(self.case.pools[0])
        for first in range(span, max(2 * span, int(self.spend_usd_per_hour / price)), span):
            yield first, self._for(1, self.spend_usd_per_hour - first * price)

    def moved(self, counts: Counts, by: int) -> Counts | None:
        """What machines for prefill cost more, those for decode cost less."""
        first = counts[0] + by * spanned(self.case.pools[0])
        left = self.spend_usd_per_hour - first * self.usd_per_hour[0]
        return (first, self._for(1, left)) if first >= 1 and left > self._least(1) / 2 else None

    def as_large(self) -> Case:
        """With about as many machines as it will have."""
        each = self.spend_usd_per_hour / len(self.usd_per_hour)
        return sized(self.case, tuple(self._for(pool, each) for pool in range(len(self.usd_per_hour))))

    def _for(self, pool: int, usd_per_hour: float) -> int:
        """Machines of a pool for about so much, in whole replicas; at least one replica's."""
        span = spanned(self.case.pools[pool])
        return max(1, round(usd_per_hour / self._least(pool))) * span

    def _least(self, pool: int) -> float:
        """Dollars an hour of what one replica takes, or of one machine."""
        return self.usd_per_hour[pool] * spanned(self.case.pools[pool])

    def cost(self, counts: Counts) -> float:
        """Dollars an hour."""
        return sum(price * count for price, count in zip(self.usd_per_hour, counts, strict=True))


@dataclass(frozen=True)
class Task:
    """Both sides, what they may cost, and the grid."""

    together: tuple[Spender, ...]
    split: tuple[Spender, ...]
    usd_per_hour: float
    multipliers: tuple[float, ...]
    outputs: tuple[float, ...]


def task(subject: Subject, parameters: Parameters) -> Task:
    """SpecError where the question has only one side."""
    refuse_failures(subject)
    result = subject.result
    sized_by = result.winner or next(iter(result.closest), None)
    if sized_by is None:
        raise SpecError("no design of this study was evaluated: there is no size to compare at")
    sides = [_contenders(result, is_split, float(sized_by.usd_per_hour)) for is_split in (False, True)]
    for name, side in zip(("co-located", "split"), sides, strict=True):
        if not side:
            raise SpecError(f"none of the question's families is {name} and can run: there is nothing to compare with")
    multipliers, outputs = (tuple(sorted({1.0, *values})) for values in (parameters.multipliers, parameters.outputs))
    return Task(sides[0], sides[1], float(sized_by.usd_per_hour), multipliers, outputs)


def cpu_s(task: Task, statistics: WorkloadStatistics) -> float:
    """Some capacities a cell."""
    every = [predicted_cpu_s(one.as_large(), statistics) for one in (*task.together, *task.split)]
    return CAPACITIES_A_CELL * len(task.multipliers) * len(task.outputs) * sum(every) / len(every)


def run(task: Task, lab: Lab) -> Json:
    """Each cell's best of both sides; the winners of the cell before are tried first."""
    rows = []
    for outputs in task.outputs:
        other, before = lab.with_lengths(1.0, outputs), {"together": -1, "split": -1}
        column = []
        for multiplier in task.multipliers:
            cell = {side: _best(task, side, other, multiplier, before[side]) for side in before}
            before = {side: best.contender for side, best in cell.items()}
            column.append({side: best.__dict__ for side, best in cell.items()})
        rows.append({"output_tokens": other.statistics.decode_tokens + 1, "cells": column})
    return {"columns": rows, "prompt_tokens": lab.statistics.prompt_tokens}


def _best(task: Task, side: str, lab: Lab, multiplier: float, first: int) -> Best:
    contenders: tuple[Spender, ...] = getattr(task, side)
    slo = scaled_slo(contenders[0].case.slo, multiplier)
    return Contest(lab, [replace(one, case=replace(one.case, slo=slo)) for one in contenders]).winner(first)


def told(subject: Subject, parameters: Parameters, task: Task, found: Json) -> Json:
    """The ratio of costs in each cell, and where it passes 1."""
    names = {side: _lines(subject.result, side == "split") for side in ("together", "split")}
    cells = [[_cell(column["cells"][up], names) for column in found["columns"]] for up in range(len(task.multipliers))]
    you = (task.multipliers.index(1.0), task.outputs.index(1.0))
    ratios = [column["output_tokens"] / found["prompt_tokens"] for column in found["columns"]]
    return {
        "multipliers": list(task.multipliers),
        "outputs": list(task.outputs),
        "output_over_input": ratios,
        "cells": cells,
        "you": list(you),
        "usd_per_hour": task.usd_per_hour,
        "sentences": [text for text in (_yours(cells[you[0]][you[1]]), _where(cells), _most(cells, task)) if text],
        "assumptions": _assumptions(task),
    }


def _cell(cell: Json, names: dict[str, list[Design]]) -> Json:
    sides = {side: _named(cell[side], names[side]) for side in names}
    costs = [sides[side]["usd_per_million"] for side in ("together", "split")]
    ratio = costs[0] / costs[1] if all(costs) else None
    return {**sides, "ratio": ratio}


def _named(best: Json, designs: list[Design]) -> Json:
    """With its name and what a million requests cost."""
    if best["contender"] < 0:
        return {"label": None, "capacity_req_per_s": 0.0, "usd_per_million": None}
    return {
        "label": with_machines(designs[best["contender"]], best["counts"]).label,
        "capacity_req_per_s": best["capacity_req_per_s"],
        "usd_per_million": 1e6 / (3600 * best["req_per_s_per_cost"]),
    }


def _contenders(result: StudyResult, is_split: bool, spend: float) -> tuple[Spender, ...]:
    return tuple(Spender(design.case, _prices(design.case, result), spend) for design in _lines(result, is_split))


def _lines(result: StudyResult, is_split: bool) -> list[Design]:
    """One design of each line of a side that can run, those of the most requests a dollar in the study first."""
    every = [line for line in lines(result.spec) if not line.reason and (line.scheduler.kind == SPLIT) is is_split]
    known = {
        key: max((row.req_per_usd or 0.0 for row in result.rows if _row_key(row) == key), default=0.0)
        for key in map(_line_key, every)
    }
    best = sorted(every, key=lambda line: -known[_line_key(line)])[:MOST_CONTENDERS]
    return [line.design((1,) * len(line.pools)) for line in best]


def _line_key(line: Line) -> tuple[object, ...]:
    last = line.pools[-1] if len(line.pools) == 2 else None
    return line.family, line.scheduler.token_budget, line.pools[0].tensor_parallel, last and last.tensor_parallel


def _row_key(row: object) -> tuple[object, ...]:
    names = ("family", "token_budget", "tensor_parallel", "decode_tensor_parallel")
    return tuple(getattr(row, name) for name in names)


def _prices(case: Case, result: StudyResult) -> tuple[float, ...]:
    machines = (resolve_machine(pool.machine).id for pool in case.pools)
    return tuple(float(result.book.price(machine).usd_per_hour) for machine in machines)


def _yours(cell: Json) -> str:
    ratio, together, split = cell["ratio"], cell["together"], cell["split"]
    if ratio is None:
        return f"As you ask, {_only(cell)}."
    sides = (split["label"], together["label"]) if ratio >= 1 else (together["label"], split["label"])
    pair = " against ".join(sides)
    if abs(ratio - 1) < EVEN:
        return f"As you ask, both cost the same a request: {pair}."
    what = "splitting costs" if ratio > 1 else "co-located serving costs"
    less = 1 - 1 / ratio if ratio > 1 else 1 - ratio
    return f"As you ask, {what} {percent(less)} less a request: {pair}."


def _only(cell: Json) -> str:
    able = [name for side, name in (("together", "co-located"), ("split", "split")) if cell[side]["label"]]
    return f"only {able[0]} designs hold the SLO" if able else "no design of this size holds the SLO at any rate"


def _where(cells: Sequence[Sequence[Json]]) -> str:
    every = [cell for row in cells for cell in row]
    pays = sum(_pays(cell) for cell in every)
    even = sum(cell["ratio"] is not None and abs(cell["ratio"] - 1) < EVEN for cell in every)
    neither = sum(not cell["together"]["label"] and not cell["split"]["label"] for cell in every)
    rest = len(every) - pays - even - neither
    said = f"Of {counted(len(every), 'pair')} of SLO and lengths splitting is cheaper in {pays}, co-located in {rest}"
    said += f", even in {even}" if even else ""
    return f"{said}{f'; in {neither} neither holds the SLO' if neither else ''}."


def _pays(cell: Json) -> bool:
    if cell["ratio"] is None:
        return bool(cell["split"]["label"])
    return bool(cell["ratio"] >= 1 + EVEN)


def _most(cells: Sequence[Sequence[Json]], task: Task) -> str:
    known = [
        (cell["ratio"], task.multipliers[up], task.outputs[across])
        for up, row in enumerate(cells)
        for across, cell in enumerate(row)
        if cell["ratio"] is not None
    ]
    if not known or max(known)[0] < 1 + EVEN:
        return "It pays nowhere on this map."
    ratio, multiplier, outputs = max(known)
    return (
        f"It saves most, {percent(1 - 1 / ratio)}, at {number(multiplier)} times the SLO’s limits and"
        f" {number(outputs)} times the output lengths."
    )


def _assumptions(task: Task) -> list[Json]:
    size = dollars(task.usd_per_hour)
    return [
        {
            "text": f"Held fixed: machines for about {size} an hour, prompts, arrivals, prices, iteration times."
            " Every output length is multiplied; every limit of the SLO is.",
            "source": "",
        },
        {
            "text": f"On each side up to {MOST_CONTENDERS} lines of the question’s families, those that held the most a"
            " dollar in the study; of split ones the machines are divided anew in each cell.",
            "source": "",
        },
        {"text": "A capacity is found to 1 %: ratios within 2 % of 1 are even.", "source": "docs/measurement.md"},
    ]


KIND = Kind(
    name="where_splitting_pays",
    title="Where splitting pays",
    about="The best co-located design’s cost a request over the best split one’s, by how tight the SLO is and how long"
    " the outputs are.",
    parameters=Parameters,
    task_type=Task,
    task=task,
    cpu_s=cpu_s,
    steps=lambda task: TRIES_A_CELL * len(task.multipliers) * len(task.outputs),
    run=run,
    told=told,
    fields=(
        Field("multipliers", "SLO limits times", "", "Separated by commas; below 1 is tighter."),
        Field("outputs", "Output lengths times", "", "Separated by commas."),
    ),
)
