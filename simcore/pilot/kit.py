"""The kit of one design: runs, what to expect of each, and the bands.

A band's edges are the predictions with every iteration as short and as long as the error of iteration times allows at
90 % (``simcore.trust``). The design holds the required rate with all iterations up to ``allowed`` times as long, so
beyond the prediction at that the claim fails, whatever the error was thought to be.

A pair cannot load both replicas as the whole design does where their pools differ in number: it has two runs. The first
has the rate at which the larger pool's replica is loaded as in the design, the second that of the smaller pool, with
the other phase's tokens shortened by their ratio.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from simcore.catalogue import resolve_model
from simcore.families import design_id
from simcore.pilot.error import TimeRange, time_range
from simcore.pilot.loading import bench_command
from simcore.pilot.part import Part, smallest_part
from simcore.pilot.prediction import Prediction, predict
from simcore.pilot.serving import Command, engine_words, serve_commands
from simcore.spec import Case, SpecError

RUN_S = 600
LEAST_REQUESTS, MOST_REQUESTS = 300, 20_000
LEAST_LOAD = 1e-6
FIGURES = ("ttft_s", "tpot_s")


@dataclass(frozen=True)
class Band:
    """One figure of a run: what is predicted, the range within the model's error, and where not to buy."""

    figure: str
    """``ttft_s`` or ``tpot_s`` (means), ``req_per_s``."""
    predicted: float
    low: float
    high: float
    limit: float
    """Beyond it (above for times, below for a rate) the design does not hold what it is bought for."""


@dataclass(frozen=True)
class PilotRun:
    """One benchmark."""

    name: str
    shows: str
    prompt_tokens: int
    output_tokens: int
    req_per_s: float
    requests: int
    bands: tuple[Band, ...]
    command: Command
    part: Part
    """That it loads."""


@dataclass(frozen=True)
class PilotKit:
    """All that a pilot needs."""

    part: str
    engine: str
    serve: tuple[Command, ...]
    runs: tuple[PilotRun, ...]
    ranges: tuple[TimeRange, ...]
    """Of each replica."""
    allowed: float

    def run(self, name: str) -> PilotRun:
        """A run by its name."""
        for run in self.runs:
            if run.name == name:
                return run
        raise SpecError(f"run: found '{name}', expected one of {', '.join(run.name for run in self.runs)}")

    def run_of(self, prompt_tokens: float | None, output_tokens: float | None) -> PilotRun:
        """The run whose lengths are nearest to a result's; ``verdict`` says whether they are near enough."""

        def off(run: PilotRun) -> float:
            prompt, output = prompt_tokens or 0.0, output_tokens or 0.0
            return abs(prompt / run.prompt_tokens - 1) + abs(output / run.output_tokens - 1)

        return min(self.runs, key=off)


def pilot_kit(
    case: Case,
    prompt_tokens: float,
    output_tokens: float,
    required_req_per_s: float,
    allowed: float,
    ranges: Mapping[str, TimeRange] | None = None,
) -> PilotKit:
    """The kit of a design that is bought for a rate.

    ``prompt_tokens``, ``output_tokens``: of the workload's mean request. ``allowed``: how many times as long all its
    iterations may take with the rate still held, at least 1. ``ranges``: by role, in place of what measurements say of
    iteration times. SpecError where there is nothing to run it on, or where the design does not hold the rate.
    """
    if not allowed >= 1:
        raise SpecError(f"capacity: found {allowed:.3g} × the required rate, expected a design that holds it")
    part = smallest_part(case)
    known = ranges or {}
    spans = tuple(known.get(pool.role) or time_range(case, pool.role) for pool in part.pools)
    loads = list(_loads(part, prompt_tokens, output_tokens, required_req_per_s))
    runs = tuple(_run(part, load, spans, allowed, f"pilot-{_stem(case)}-{i}") for i, load in enumerate(loads, 1))
    longest = max(run.prompt_tokens + run.output_tokens for run in runs)
    return PilotKit(_part_words(part), engine_words(part), tuple(serve_commands(part, longest)), runs, spans, allowed)


Load = tuple[str, int, int, float]
"""What a run shows, prompt and output tokens, requests/s."""


def _loads(part: Part, prompt_tokens: float, output_tokens: float, req_per_s: float) -> list[Load]:
    prompt, output = max(round(prompt_tokens), 1), max(round(output_tokens), 1)
    if not part.split:
        return [("the replica as loaded in the design", prompt, output, req_per_s / part.pools[0].replicas)]
    prefill, decode = (pool.replicas for pool in part.pools)
    if prefill == decode:
        return [("both replicas as loaded in the design", prompt, output, req_per_s / prefill)]
    ratio = min(prefill, decode) / max(prefill, decode)
    fewer_tokens = max(round(prompt * ratio), 1), 1 + max(round((output - 1) * ratio), 0)
    first, second = ("prefill", "decode") if prefill > decode else ("decode", "prefill")
    shortened = (fewer_tokens[0], output) if second == "decode" else (prompt, fewer_tokens[1])
    return [
        (f"the {first} replica as loaded in the design", prompt, output, req_per_s / max(prefill, decode)),
        (f"the {second} replica as loaded in the design", *shortened, req_per_s / min(prefill, decode)),
    ]


def _run(part: Part, load: Load, ranges: Sequence[TimeRange], allowed: float, name: str) -> PilotRun:
    shows, prompt, output, req_per_s = load
    if req_per_s < LEAST_LOAD:
        raise SpecError(f"rate: found {req_per_s:.3g} requests/s a replica, expected a load that can be measured")
    requests = min(max(math.ceil(req_per_s * RUN_S), LEAST_REQUESTS), MOST_REQUESTS)
    edges = [
        predict(part, prompt, output, req_per_s, slower)
        for slower in (
            [1.0] * len(ranges),
            [span.faster for span in ranges],
            [span.slower for span in ranges],
            [allowed] * len(ranges),
        )
    ]
    command = bench_command(part, name, prompt, output, req_per_s, requests)
    return PilotRun(name, shows, prompt, output, req_per_s, requests, _bands(edges, output), command, part)


def _bands(edges: list[Prediction], output_tokens: int) -> tuple[Band, ...]:
    shown = FIGURES if output_tokens > 1 else FIGURES[:1]
    times = tuple(Band(name, *(getattr(edge, name) for edge in edges)) for name in shown)
    rates = [edge.req_per_s for edge in edges]
    return (*times, Band("req_per_s", rates[0], min(rates[:3]), max(rates[:3]), rates[3]))


def _part_words(part: Part) -> str:
    model = resolve_model(part.case.model)
    pools = " and ".join(
        f"one {pool.role} replica ({pool.accelerators} of the {pool.machine.accelerators} accelerators of a"
        f" {pool.machine.name}; the design has {pool.replicas})"
        for pool in part.pools
    )
    return f"{model.name}, {pools}"


def _stem(case: Case) -> str:
    return design_id(case)[:8]
