"""What the requests of a run's window waited for, and what is counted of them: told by compiled walks over them
(``tally``), and by whole columns (``latencies.py``, ``slo.py``) where these cannot tell. The numbers are the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from simcore.engine.inputs import ClusterInputs
from simcore.engine.outputs import FINISHED, RunResult
from simcore.engine.tally import records
from simcore.engine.tally.tally import Question, Requested, Tally, tally
from simcore.latency.curve import PS_PER_S
from simcore.same import Same
from simcore.slo.distribution import REPORTED, Distribution, distribution_s, exact_sum, gap_percentiles, in_seconds
from simcore.slo.latencies import Latencies
from simcore.slo.objective import ColumnsOfWaits, Objective, attainment_percentile, percentiles_asked, values_ps
from simcore.spec import AttainmentSlo

COLUMN_OF = {
    "queue_s": records.QUEUE, "ttft_s": records.TTFT, "e2e_s": records.E2E, "tpot_s": records.TPOT,
    "ttft_slowdown": records.TTFT_SLOWDOWN, "e2e_slowdown": records.E2E_SLOWDOWN, "tbt_slowdown": records.TBT_SLOWDOWN,
}  # fmt: skip
SUM_OF = {
    "queue_s": records.SUM_OF_QUEUE, "ttft_s": records.SUM_OF_TTFT, "e2e_s": records.SUM_OF_E2E,
    "tpot_s": records.TPOT_WHOLE,
}  # fmt: skip
SUMMARISED = tuple(SUM_OF)
GOALS_KEPT = 64


@dataclass(frozen=True)
class Waited:
    """``slo.Waits`` of a run over the requests ``window`` = [first, one past last), whose token gaps were kept."""

    inputs: ClusterInputs
    run: RunResult
    goal: Objective
    window: tuple[int, int]
    summarised: bool = False
    """Whether ``distribution`` will be asked for, of each of ``SUMMARISED``."""

    @cached_property
    def tally(self) -> Tally:
        """What the walks told."""
        return tally(self.inputs, self.requested, self.window, _question(Same(self.goal), self.summarised))

    @cached_property
    def requested(self) -> Requested:
        """What is walked over."""
        return Requested.of(self.inputs, self.run)

    @property
    def counts_of_run(self) -> dict[str, int]:
        """``Tally.counts`` of all requests, not of the window's alone."""
        every = (0, len(self.inputs.arrival_ps))
        return self.tally.counts if self.window == every else self.requested.counts(every)

    @cached_property
    def latencies(self) -> Latencies:
        """Whole columns."""
        return window_latencies(self.inputs, self.run, self.window)

    def __len__(self) -> int:
        return self.tally.requests

    @property
    def gaps_never(self) -> int:
        """How many of the gaps that were due never came."""
        return max(self.tally.counts["output_tokens"] - len(self) - self.run.gaps.total, 0)

    def percentiles(self, metric: str, wanted: Sequence[float]) -> list[float]:
        """A metric at some percentiles, in its unit."""
        if metric == "tbt_s":
            return [gap / PS_PER_S for gap in gap_percentiles(self.run.gaps, self.gaps_never, wanted)]
        found = self._found(metric, wanted)
        if found is None:
            return self._columns.percentiles(metric, wanted)
        return found if self.goal.reference is not None else [value / PS_PER_S for value in found]

    def tpot_of_all_s(self, percentile: float) -> float:
        """TPOT over all requests: 0 where there is no second token."""
        place = self.tally.rank_of_tpot_of_all(percentile)
        found = self.tally.at_rank(records.TPOT, place) if place > 0 else 0.0
        return self._columns.tpot_of_all_s(percentile) if found is None else found / PS_PER_S

    def in_time(self, ttft_limit_ps: float, tpot_limit_ps: float) -> int:
        """How many requests keep both limits, which are the goal's."""
        found = self.tally.in_time
        return self._columns.in_time(ttft_limit_ps, tpot_limit_ps) if found is None else found

    def distribution(self, metric: str) -> Distribution:
        """Of one of ``SUMMARISED``."""
        total, finite = self.tally.population(COLUMN_OF[metric])
        points = self._found(metric, REPORTED)
        mean = self.tally.mean(COLUMN_OF[metric], SUM_OF[metric]) if total == finite > 0 else math.inf
        if not total or points is None or mean is None:
            return distribution_s(values_ps(metric, self.latencies))
        return in_seconds(mean, points)

    @cached_property
    def e2e_sum_ps(self) -> int:
        """Of the requests that finished; of what is summarised."""
        if self.tally.sums is not None:
            return self.tally.sums[records.SUM_OF_E2E]
        return sum(exact_sum(part.finished.e2e_ps) for part in self.latencies.parts())

    @cached_property
    def decode_sum_ps(self) -> int:
        """First token to last, of the requests that finished; of what is summarised."""
        if self.tally.sums is not None:
            return self.tally.sums[records.SUM_OF_E2E] - self.tally.sums[records.SUM_OF_TTFT]
        return sum(exact_sum(part.finished.decode_ps) for part in self.latencies.parts())

    @property
    def _columns(self) -> ColumnsOfWaits:
        return ColumnsOfWaits(self.goal, self.latencies)

    def _found(self, metric: str, wanted: Sequence[float]) -> list[float] | None:
        found = [self.tally.at(COLUMN_OF[metric], p) for p in wanted]
        return [value for value in found if value is not None] if None not in found else None


def window_latencies(inputs: ClusterInputs, run: RunResult, window: tuple[int, int]) -> Latencies:
    """The window's requests; a request that did not finish is infinite in everything."""
    part, requests = slice(*window), run.requests
    output = inputs.output_tokens[part]
    return Latencies(
        arrival_ps=inputs.arrival_ps[part],
        prompt_tokens=inputs.prompt_tokens[part],
        cached_prompt_tokens=inputs.cached_prompt_tokens[part],
        output_tokens=output,
        first_scheduled_ps=requests.first_scheduled_ps[part],
        first_token_ps=requests.first_token_ps[part],
        finish_ps=requests.finish_ps[part],
        done=requests.status[part] == FINISHED,
        gaps=run.gaps,
        gaps_due=int(output.sum()) - len(output),
    )


@lru_cache(maxsize=GOALS_KEPT)
def _question(of: Same[Objective], summarised: bool) -> Question:
    """What a goal asks, and a summary."""
    goal = of.value
    percentiles: dict[int, set[float]] = {}
    for metric, wanted in percentiles_asked(goal).items():
        if metric in COLUMN_OF:
            percentiles.setdefault(COLUMN_OF[metric], set()).update(wanted)
    for metric in SUMMARISED if summarised else ():
        percentiles.setdefault(COLUMN_OF[metric], set()).update(REPORTED)
    asked = {column: tuple(wanted) for column, wanted in percentiles.items()}
    if not isinstance(goal.slo, AttainmentSlo):
        return Question(asked, summarised, goal.reference)
    limits_ps = goal.slo.ttft_s * PS_PER_S, goal.slo.tpot_s * PS_PER_S
    return Question(asked, summarised, goal.reference, limits_ps, attainment_percentile(goal.slo))
