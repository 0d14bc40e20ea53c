"""A whole study: which designs to evaluate, wave after wave, and which need no evaluation.

``next_designs`` is a pure function of the question and of what is known so far: whoever runs the evaluations (the
command line's processes, a web worker's shards) asks it again when a wave is done, and is finished when it is empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from simcore.evaluation import Design, Evaluation
from simcore.search.context import Context, context
from simcore.search.lower_bound import wanted_at_lower_bound
from simcore.search.offered_load import requests_needed
from simcore.search.replay import Replay
from simcore.search.waves import screened_by
from simcore.spec import StudySpec
from simcore.survival import any_lost_words
from simcore.traces import Trace, read_trace
from simcore.traces.arrivals import MOST_REQUESTS
from simcore.traces.synthetic import SyntheticSpec, generate
from simcore.words import number

__all__ = ["Context", "context", "load_trace", "next_designs", "screened"]

MOST_RATES = 3.0
"""A synthetic workload is made long enough for capacities up to this multiple of the required rate."""


def next_designs(context: Context, done: Mapping[str, Evaluation]) -> list[Design]:
    """The designs still to be evaluated before more can be decided, most promising first; empty when the study is
    complete. One with a ``rival`` is to be run at its rate first.

    Replays the search on the evaluations known: pure, so a study that was interrupted goes on where it stopped. First
    each line's measure, from which it closes in on the required rate (``refine``): the answer, and what the candidates
    are then held to (``search``). What more is known by then may bring lines closer still; where nothing within the
    limits holds the rate, the most capable lines are followed beyond them, so that the answer can say what would be
    needed. All this by the study's first seed; then the close designs by its others (``replications``). At last, where
    the question is sized to an interval's lower bound, what holds the rate there too (``lower_bound``), and what the
    question names beside (``also``).
    """
    replay = Replay(context, done)
    return (
        replay.candidates()
        or replay.refined()
        or replay.beyond_limits()
        or replay.replicated()
        or wanted_at_lower_bound(replay)
        or replay.also()
    )


def screened(context: Context, done: Mapping[str, Evaluation]) -> list[tuple[Design, Evaluation]]:
    """The candidates that need no simulation so far, each with the reason: an evaluated design beats them whatever
    machines and power cost."""
    replay = Replay(context, done)
    replay.candidates()
    found = context.candidates
    by = screened_by(found, replay.known)
    return [(context.design(index), _screened(context, done, index, better)) for index, better in by.items()]


def _screened(context: Context, done: Mapping[str, Evaluation], index: int, better: int) -> Evaluation:
    bound, design = float(context.candidates.bound[index]), context.design(better)
    reason = (
        f"holds at most {number(bound)} requests/s by the fluid bound{any_lost_words(context.spec.failures)};"
        f" {design.label} holds {number(done[design.design_id].capacity_req_per_s)} with no more of any machine or of"
        " power"
    )
    return Evaluation(context.design(index).design_id, "screened", reason, capacity_high=bound)


def load_trace(spec: StudySpec) -> Trace:
    """The workload of a STUDY.json: its trace file, or its mix with enough requests for every design's search."""
    if spec.workload.trace is not None:
        return read_trace(spec.workload.trace)[0]
    mix = SyntheticSpec.from_json(spec.workload.synthetic, "workload.synthetic")
    if mix.requests is None and mix.duration_s is None:
        mix = replace(mix, requests=min(requests_needed(spec.rate_req_per_s * MOST_RATES), MOST_REQUESTS))
    return generate(mix)
