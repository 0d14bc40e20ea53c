"""What walks over a window's requests say: counts, sums and percentiles."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simcore.engine.fast.layout import address_of, table
from simcore.engine.inputs import ClusterInputs
from simcore.engine.outputs import RunResult
from simcore.engine.tally.keys import key
from simcore.engine.tally.lone import replicas_of
from simcore.engine.tally.ranks import Kept, bounds, in_order, stride_of
from simcore.engine.tally.records import (
    BATCH,
    COLUMNS,
    E2E_SLOWDOWN,
    SUMS,
    TBT_SLOWDOWN,
    TPOT,
    TPOT_FRACTION,
    TPOT_WHOLE,
    TTFT_SLOWDOWN,
    Counts,
    Requests,
    Sum,
    Walk,
)
from simcore.engine.tally.walk import count, walk_over
from simcore.latency.curve import IterationCurve
from simcore.slo.distribution import HALF_BITS, MANTISSA_BITS, rank

PER_TOKEN = (TPOT, TBT_SLOWDOWN)
KEYED = (TPOT, TTFT_SLOWDOWN, E2E_SLOWDOWN, TBT_SLOWDOWN)
WIDE = ("arrival_ps", "prompt_tokens", "cached_prompt_tokens", "output_tokens")
TIMES = ("first_scheduled_ps", "first_token_ps", "finish_ps")
SMALL = ("status", "prefill_replica", "decode_replica", "preemptions")


@dataclass(frozen=True)
class Question:
    """What is asked of a window's requests."""

    percentiles: Mapping[int, Sequence[float]]
    """By column."""
    means: bool = False
    reference: IterationCurve | None = None
    """For slowdowns."""
    limits_ps: tuple[float, float] = (math.inf, math.inf)
    """TTFT and TPOT: how many requests keep both is counted."""
    tpot_of_all: float | None = None
    """A percentile of TPOT over all requests, 0 where there is no second token."""


@dataclass
class Requested:
    """The requests of a run as compiled code takes them."""

    rows: NDArray[Any]
    held: list[NDArray[Any]]

    @classmethod
    def of(cls, inputs: ClusterInputs, run: RunResult) -> Requested:
        """Columns are copied only where an engine has them in another form."""
        wide = {name: getattr(inputs, name) for name in WIDE} | {name: getattr(run.requests, name) for name in TIMES}
        columns = {name: np.ascontiguousarray(column, np.int64) for name, column in wide.items()}
        columns |= {name: np.ascontiguousarray(getattr(run.requests, name), np.int32) for name in SMALL}
        rows = table(Requests, 1, stride=1, **{name: address_of(column) for name, column in columns.items()})
        return cls(rows, list(columns.values()))

    @property
    def address(self) -> int:
        """What compiled code is given."""
        return address_of(self.rows)

    def counts(self, window: tuple[int, int]) -> dict[str, int]:
        """``Counts`` of a range, by name."""
        made = table(Counts, 1)
        self.rows["first"], self.rows["end"] = window
        count(self.address, address_of(made))
        return dict(zip(made.dtype.names or (), made[0].tolist(), strict=True))


@dataclass
class Tally:
    """The answer."""

    counts: dict[str, int]
    found: dict[tuple[int, int], int] = field(default_factory=dict)
    """Values by column and rank among its finite ones; without what could not be told but from a whole column."""
    sums: list[int] | None = None
    """None where nothing was walked over."""
    in_time: int | None = None
    exact: bool = False
    """Whether the sum of TPOTs is."""

    @cached_property
    def requests(self) -> int:
        """How many there are."""
        return self.counts["finished"] + self.counts["refused"] + self.counts["unfinished"]

    def population(self, column: int) -> tuple[int, int]:
        """How many requests have an entry in a column, and how many of them a finite one."""
        if column in PER_TOKEN:
            return self.counts["several"], self.counts["several_finished"]
        return self.requests, self.counts["finished"]

    def rank_of_tpot_of_all(self, percentile: float) -> int:
        """Among TPOTs, where those with one token count as the least of all: none of them from 0 down."""
        zeros = self.counts["finished"] - self.counts["several_finished"]
        return rank(percentile, self.requests) - zeros if self.requests else 0

    def at(self, column: int, percentile: float) -> float | None:
        """A column's percentile; None where it was not found."""
        total = self.population(column)[0]
        return self.at_rank(column, rank(percentile, total)) if total else 0.0

    def at_rank(self, column: int, place: int) -> float | None:
        """By rank."""
        if place > self.population(column)[1]:
            return math.inf
        value = self.found.get((column, place))
        return None if value is None else _number(column, value)

    def mean(self, column: int, place: int) -> float | None:
        """Of a column of which every entry is finite, by its sum; None where that was not found."""
        total = self.population(column)[0]
        if self.sums is None or (column == TPOT and not self.exact):
            return None
        if column != TPOT:
            return self.sums[place] / total
        parts = (self.sums[TPOT_WHOLE] << MANTISSA_BITS) + self.sums[TPOT_FRACTION]
        return parts / (1 << MANTISSA_BITS) / total


def tally(inputs: ClusterInputs, requested: Requested, window: tuple[int, int], question: Question) -> Tally:
    """What is asked of the requests ``window`` = [first, one past last). Counts alone where a request's time alone, or
    what it is worked out by, leaves int64."""
    found = Tally(requested.counts(window))
    walks = Walks.of(inputs, requested, found, question)
    if walks is not None:
        walks.answer()
    return found


@dataclass
class Walks:
    """The walks over one window: one over all, and before it, where they are many, one over a sample."""

    requested: Requested
    rows: NDArray[Any]
    held: list[Any]
    found: Tally
    question: Question

    @classmethod
    def of(cls, inputs: ClusterInputs, requested: Requested, found: Tally, question: Question) -> Walks | None:
        """Ready to walk."""
        counts, replicas = found.counts, replicas_of(inputs, question.reference)
        if not replicas.fit(counts["longest_prompt"] + counts["longest_output"]):
            return None
        batch, third = np.empty(COLUMNS * BATCH, np.int64), counts["finished"] // 3
        ttft_limit, tpot_limit = map(key, question.limits_ps)
        rows = table(
            Walk,
            1,
            **replicas.fields,
            third=third,
            late=counts["finished"] - third,
            ttft_limit=ttft_limit,
            tpot_limit=tpot_limit,
            batch=address_of(batch),
        )
        return cls(requested, rows, [replicas, batch], found, question)

    def answer(self) -> None:
        """Fill in what was found."""
        ranks, stride = self._ranks(), stride_of(self.found.requests)
        if stride > 1:
            self._find_by_sample(ranks, stride)
            return
        kept = Kept.whole(list(ranks), self.found.counts["finished"])
        self._walk(kept, 1, whole=True)
        for i, (column, places) in enumerate(ranks.items()):
            values = in_order(kept.between(i), places)
            self.found.found.update({(column, place): values[place] for place in places})

    def _ranks(self) -> dict[int, list[int]]:
        """The ranks to look for, by column: not those of requests that did not finish."""
        ranks: dict[int, set[int]] = {}
        for column, wanted in self.question.percentiles.items():
            total = self.found.population(column)[0]
            ranks[column] = {rank(p, total) for p in wanted} if total else set()
        if self.question.tpot_of_all is not None:
            ranks.setdefault(TPOT, set()).add(self.found.rank_of_tpot_of_all(self.question.tpot_of_all))
        finite = {column: self.found.population(column)[1] for column in ranks}
        kept = {column: sorted(p for p in places if 0 < p <= finite[column]) for column, places in ranks.items()}
        return {column: places for column, places in kept.items() if places}

    def _find_by_sample(self, ranks: dict[int, list[int]], stride: int) -> None:
        sampled = Kept.whole(list(ranks), self.found.requests // stride + 1)
        self._walk(sampled, stride, whole=False)
        asked = []
        for i, (column, places) in enumerate(ranks.items()):
            sample, count = np.sort(sampled.between(i)), self.found.population(column)[1]
            asked += [(place, bounds(sample, place, count, column)) for place in places]
        kept = Kept.of([bound for _, bound in asked])
        self._walk(kept, 1, whole=True)
        for i, (place, (column, *_)) in enumerate(asked):
            value = kept.at_rank(i, place)
            if value is not None:
                self.found.found[column, place] = value

    def _walk(self, kept: Kept, stride: int, whole: bool) -> None:
        """``whole``: what is summed and counted is that of all requests."""
        rows, sums = self.rows, table(Sum, SUMS)
        rows["sums"], rows["brackets"], rows["bracket_count"] = address_of(sums), address_of(kept.rows), len(kept.rows)
        rows["means"], rows["delays"], rows["in_time"] = int(whole and self.question.means), int(whole), 0
        self.requested.rows["stride"] = stride
        walk_over(self.requested.address, address_of(rows))
        self.requested.rows["stride"] = 1
        self.found.sums = [(high << HALF_BITS) + low for high, low in sums.tolist()]
        self.found.in_time, self.found.exact = int(rows["in_time"][0]), not rows["inexact"][0]


def _number(column: int, value: int) -> float:
    return float(np.int64(value).view(np.float64)) if column in KEYED else float(value)
