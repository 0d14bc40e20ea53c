"""Which designs the map around a design has: those of its lines, with counts around its own.

Designs of one line differ by counts alone. Two pools: the centre's line, prefill counts across and decode counts up.
One pool: counts across, and the lines of the family up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from simcore.answer.result import StudyResult
from simcore.catalogue import resolve_machine
from simcore.evaluation import Design
from simcore.families import SPLIT
from simcore.fluid.bounds import FluidBound, fluid_bound
from simcore.fluid.workload_statistics import WorkloadStatistics
from simcore.rows import DesignRow
from simcore.spec import Case, SpecError

Counts = tuple[int, ...]
LineKey = tuple[object, ...]
STEPS_EACH_WAY = {1: 10, 2: 7}
"""By pools."""
FINE_UP_TO = 24
"""Around a count up to this every count is shown; beyond in steps of this part of it."""
MOST_LINES = 8


@dataclass(frozen=True)
class Lines:
    """The designs around one."""

    result: StudyResult
    statistics: WorkloadStatistics
    centre: DesignRow

    @property
    def is_split(self) -> bool:
        return self.centre.scheduler == SPLIT

    @cached_property
    def keys(self) -> list[LineKey]:
        """Those of the family; of two pools the centre's alone."""
        own = line_of(self.centre)
        if self.is_split:
            return [own]
        every = sorted(dict.fromkeys(line_of(row) for row in self.result.rows if row.family == self.centre.family))
        at = every.index(own)
        first = min(max(at - MOST_LINES // 2, 0), max(len(every) - MOST_LINES, 0))
        return every[first : first + MOST_LINES]

    @cached_property
    def rows(self) -> Mapping[LineKey, Mapping[Counts, DesignRow]]:
        """The study's designs of these lines."""
        found: dict[LineKey, dict[Counts, DesignRow]] = {line: {} for line in self.keys}
        for row in self.result.rows:
            if (line := line_of(row)) in found:
                found[line][counts_of(row)] = row
        return found

    def tried(self, line: int) -> Mapping[Counts, DesignRow]:
        """The study's designs of one line."""
        return self.rows[self.keys[line]]

    @cached_property
    def designs(self) -> list[Design]:
        """One of each line."""
        first = (next(iter(self.rows[line].values())) for line in self.keys)
        return [self.result.designs[row.design_id] for row in first]

    @cached_property
    def bounds(self) -> list[FluidBound | None]:
        """None: it cannot run."""
        return [_bound(design.case, self.statistics) for design in self.designs]

    @cached_property
    def across(self) -> tuple[int, ...]:
        return self._counts(0)

    @cached_property
    def _upwards(self) -> tuple[int, ...]:
        return self._counts(1)

    def _counts(self, pool: int) -> tuple[int, ...]:
        """Around the centre's count in even steps, and the counts tried between."""
        middle = counts_of(self.centre)[pool]
        steps = STEPS_EACH_WAY[len(counts_of(self.centre))]
        step = max(1, middle // FINE_UP_TO)
        even = {middle + step * k for k in range(-steps, steps + 1)}
        tried = {counts[pool] for line in self.keys for counts in self.rows[line]}
        shown = {count for count in even | {c for c in tried if min(even) <= c <= max(even)} if count >= 1}
        return tuple(sorted(sorted(shown, key=lambda count: (abs(count - middle), count))[: 3 * steps]))

    @property
    def places(self) -> Iterator[list[tuple[int, Counts]]]:
        """By up, then across: which line, and how many machines."""
        if self.is_split:
            for decode in self._upwards:
                yield [(0, (prefill, decode)) for prefill in self.across]
        else:
            for line in range(len(self.keys)):
                yield [(line, (count,)) for count in self.across]

    @property
    def up(self) -> tuple[str, ...]:
        if self.is_split:
            return tuple(f"{count:,}" for count in self._upwards)
        return tuple(line_words(design.case) for design in self.designs)

    @property
    def names(self) -> tuple[str, str]:
        names = [resolve_machine(pool.machine).name for pool in self.designs[0].case.pools]
        if self.is_split:
            return f"{names[0]} machines for prefill", f"{names[1]} machines for decode"
        return f"{names[0]} machines", "Token budget and parallelism" if len(self.keys) > 1 else ""


def line_of(row: DesignRow) -> LineKey:
    """Designs of one line differ by counts alone."""
    return (
        row.family,
        row.tensor_parallel,
        row.pipeline_parallel,
        row.decode_tensor_parallel or 0,
        row.decode_pipeline_parallel or 0,
        row.token_budget or 0,
    )


def counts_of(row: DesignRow) -> Counts:
    if row.scheduler == SPLIT:
        return row.prefill_machines or 0, row.decode_machines or 0
    return (row.mixed_machines or 0,)


def line_words(case: Case) -> str:
    pool, budget = case.pools[0], case.scheduler.token_budget
    parallel = f"TP{pool.tensor_parallel}" + (f" PP{pool.pipeline_parallel}" if pool.pipeline_parallel > 1 else "")
    return f"{budget} tokens, {parallel}" if budget else parallel


def _bound(case: Case, statistics: WorkloadStatistics) -> FluidBound | None:
    try:
        return fluid_bound(case, statistics)
    except SpecError:
        return None
