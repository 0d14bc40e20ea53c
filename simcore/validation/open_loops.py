"""MLPerf's open loops of ``serving_points.csv``: capacity at the row's SLO, by simulation.

A row is compared where it states TP and token budget (vLLM's own default counts as stated where it says so). The
design is the row's: accelerators / (TP x PP) replicas, ``vllm_v1`` with the token budget, or ``vllm`` with whole
prompts where it is unchunked, batch size as stated, router ``jsq``, Poisson arrivals, lengths as assumed of the row's
data set. Rows of one design and SLO share one search: output means are rounded to 5 tokens for that.

A row's median TPOT is compared too, with as many requests in flight as its rate, TTFT and TPOT imply (Little's law):
near the capacity that says more than the TPOT at the same rate.

Many rows are target rates that were met, not maxima. Where the measured P99 of TTFT or TPOT is within 10 % of its limit
the measured rate is near the maximum: predicted / measured is to be in 0.85 to 1.3; elsewhere at least 0.85.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from simcore.capacity.find import Capacity, find_capacity
from simcore.search.offered_load import requests_needed
from simcore.spec import SpecError
from simcore.traces import PS_PER_S, Trace
from simcore.validation.comparison import Comparison, Findings, NotCompared
from simcore.validation.designs import SEED, Design
from simcore.validation.files import Row
from simcore.validation.fit_split import is_fitted
from simcore.validation.lengths import Workload
from simcore.validation.names import Unknown
from simcore.validation.serving_points import at_concurrency
from simcore.validation.serving_row import SET, ServingRow, leading_number, understood

SLO = re.compile(r"SLO p99 TTFT (\d+(?:\.\d+)?)/TPOT (\d+(?:\.\d+)?) ms")
BUDGET_STATED = re.compile(r"max_num_tokens|max_num_batched_tokens|budget|defaults", re.IGNORECASE)
NEAR_LIMIT = 0.9
LEAST, MOST = 0.85, 1.3
OUTPUT_STEP = 5
MOST_OVER = 2.0
"""A trace is long enough to look for capacities of up to so many times the measured rate."""
MS_PER_S = 1e3


@dataclass(frozen=True)
class CapacityComparison(Comparison):
    """A capacity at an SLO, with what decides whether it is met."""

    near_limit: bool = False
    """Whether a measured P99 is within 10 % of its limit."""
    limits: str = ""
    """The SLO, and the measured P99s."""
    binding: str = ""
    """What binds in the simulation."""

    @property
    def met(self) -> bool:
        """Within the goal."""
        ratio = self.predicted / self.measured
        return ratio >= LEAST and (ratio <= MOST or not self.near_limit)


@dataclass(frozen=True)
class Question:
    """A design, lengths and an SLO: what one search answers."""

    design: Design
    lengths: Workload
    ttft_s: float
    tpot_s: float


def is_open_loop(row: Row) -> bool:
    """Whether a row is an open loop with an SLO."""
    return row.text("load_kind") == "rate" and SLO.search(row.text("notes")) is not None


def compare(rows: list[Row]) -> Findings:
    """Every open loop with an SLO."""
    findings = Findings()
    for row in rows:
        try:
            findings.compared += _compared(understood(row))
        except (Unknown, SpecError) as reason:
            what = f"{row.text('source').split('results/')[-1]}, {row.text('load')} requests/s"
            findings.left_out.append(NotCompared(SET, row.name, str(reason), what))
    return findings


def _compared(of: ServingRow) -> list[Comparison]:
    measured = leading_number(of.row.text("load"))
    if measured is None:
        raise Unknown(f"rate '{of.row.text('load')}' is not a number")
    if not BUDGET_STATED.search(of.row.text("scheduler_chunked")):
        raise Unknown("the token budget is not stated")
    step = _step(of, measured)
    return [_capacity(of, measured), *([step] if step else [])]


def _step(of: ServingRow, rate: float) -> Comparison | None:
    """TPOT with as many in flight as the row's own figures imply."""
    tpot_ms, in_flight = of.row.number("tpot_ms_p50"), in_flight_of(of, rate)
    if not tpot_ms or in_flight is None:
        return None
    state = at_concurrency(of, in_flight)
    what = f"{_run(of)}, {in_flight:.0f} in flight"
    fitted = is_fitted(SET, of.place, "tpot", of.origin)
    return Comparison(
        SET, of.row.name, "tpot", of.place, what, tpot_ms, state.tpot_s * MS_PER_S, "ms", fitted, of.tier,
        "; ".join(of.assumes),
    )  # fmt: skip


def in_flight_of(of: ServingRow, rate: float) -> float | None:
    """Requests in flight over all replicas by Little's law: the rate times TTFT and all gaps."""
    ttft_ms, tpot_ms = of.row.number("ttft_ms_p50"), of.row.number("tpot_ms_p50")
    if not ttft_ms or not tpot_ms:
        return None
    return rate * (ttft_ms + tpot_ms * of.lengths.classes().steps) / MS_PER_S


def _run(of: ServingRow) -> str:
    return of.row.text("source").split("results/")[-1]


def _capacity(of: ServingRow, measured: float) -> CapacityComparison:
    question = _question(of)
    found = _search(question, _round_up(measured))
    return CapacityComparison(
        set=SET,
        row=of.row.name,
        phase="capacity",
        place=of.place,
        what=_run(of),
        measured=measured,
        predicted=found.rate_req_per_s,
        unit="requests/s",
        fitted=is_fitted(SET, of.place, "capacity", of.origin),
        tier=of.tier,
        assumes="; ".join(of.assumes),
        near_limit=_near(of.row, question),
        limits=_limits(of.row, question),
        binding=found.binding.limit,
    )


def _question(of: ServingRow) -> Question:
    limits = SLO.search(of.row.text("notes"))
    if limits is None:
        raise Unknown("no SLO is stated")
    output = of.lengths.output
    rounded = replace(output, mean=max(round(output.mean / OUTPUT_STEP), 1) * OUTPUT_STEP)
    lengths = replace(of.lengths, output=rounded, assumes="")
    return Question(Design.of(of), lengths, float(limits[1]) / MS_PER_S, float(limits[2]) / MS_PER_S)


def _near(row: Row, asked: Question) -> bool:
    shares = [
        (row.number("ttft_ms_p99") or 0.0) / MS_PER_S / asked.ttft_s,
        (row.number("tpot_ms_p99") or 0.0) / MS_PER_S / asked.tpot_s,
    ]
    return max(shares) >= NEAR_LIMIT


def _limits(row: Row, asked: Question) -> str:
    return (
        f"TTFT {row.text('ttft_ms_p99') or '?'} of {asked.ttft_s * MS_PER_S:g} ms,"
        f" TPOT {row.text('tpot_ms_p99') or '?'} of {asked.tpot_s * MS_PER_S:g} ms"
    )


def _round_up(rate: float) -> float:
    """To a power of two: rows of one design ask for one trace."""
    return float(2 ** int(np.ceil(np.log2(rate))))


@cache
def _search(asked: Question, rate: float) -> Capacity:
    requests = requests_needed(rate * MOST_OVER)
    prompts, outputs = asked.lengths.sample(requests, SEED)
    arrivals = (np.arange(requests) * PS_PER_S / rate).astype(np.int64)
    case = asked.design.case({"ttft_s": asked.ttft_s, "tpot_s": asked.tpot_s})
    return find_capacity(case, Trace.of("assumed lengths", arrivals, prompts, outputs))
