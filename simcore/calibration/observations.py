"""Measured points as figures that a curve predicts: a step's time, or a replica's mean TPOT and TTFT under its load.

Runs of the step-time CSV that differ in output length only are one figure, their median. A load is taken as so many
served at once: those that a closed loop keeps in flight, of an open one Little's law, and where requests waited for a
place (``places``) those that were decoded. TTFT is used where nobody did; a closed loop's is its median where the file
has one, since means hold the burst that it begins with.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from simcore.calibration.places import decoding, lengths_of, most_wait, places, replicas_of
from simcore.calibration.target import Target
from simcore.latency.curve import PS_PER_S, IterationCurve
from simcore.latency.roofline import roofline_curve
from simcore.measurements import Flag, Flags, ServingPoint, StepPoint
from simcore.steady_state.loops import Lengths, Serving, closed_loop

NOISE = {"prefill": 0.05, "decode": 0.05, "TPOT": 0.05, "TTFT": 0.1, "E2E": 0.05}
"""Relative; what a formula of this form leaves and measurements repeat to. TTFT also holds what clients add."""


@dataclass(frozen=True)
class Figure:
    """One measured time."""

    phase: str
    seconds: float


@dataclass(frozen=True)
class Step:
    """A batch of prompts, or of decodes."""

    file: str
    where: str
    load: str
    tensor_parallel: int
    figures: tuple[Figure, ...]
    kind: str
    sequences: int
    context_tokens: int

    def predicted_s(self, curve: IterationCurve, client_s: float) -> tuple[float, ...]:
        """The iteration's time; no client has a part in it."""
        if self.kind == "prefill":
            return (curve.iteration_ps([(self.context_tokens, 0)] * self.sequences, []) / PS_PER_S,)
        return (curve.iteration_ps([], [self.context_tokens] * self.sequences) / PS_PER_S,)


@dataclass(frozen=True)
class Load:
    """A replica that serves so many at once."""

    file: str
    where: str
    load: str
    tensor_parallel: int
    figures: tuple[Figure, ...]
    lengths: Lengths
    serving: Serving
    served: float

    def predicted_s(self, curve: IterationCurve, client_s: float) -> tuple[float, ...]:
        """Mean TPOT, TTFT or E2E, as measured."""
        state = closed_loop(curve, self.lengths, self.serving, self.served)
        ttft = state.ttft_s + client_s
        every = {"TPOT": state.tpot_s, "TTFT": ttft, "E2E": ttft + self.lengths.steps * state.tpot_s}
        return tuple(every[figure.phase] for figure in self.figures)


Observation = Step | Load


def observations(
    serving: Sequence[ServingPoint], steps: Sequence[StepPoint], target: Target, flags: Flags
) -> list[Observation]:
    """All that the points measured."""
    return [*_steps(steps), *_loads(serving, target, flags)]


def _steps(steps: Sequence[StepPoint]) -> list[Step]:
    groups: dict[tuple[int, str, int, int, str], list[StepPoint]] = {}
    for point in steps:
        prompt = round(point.context_tokens) if point.kind == "prefill" else _bucket(point.context_tokens)
        key = (point.setting.tensor_parallel or 1, point.kind, point.sequences, prompt, point.file)
        groups.setdefault(key, []).append(point)
    return [_step(key, every) for key, every in groups.items()]


def _bucket(tokens: float) -> int:
    """Contexts that differ by output length alone are one: they are told apart by an eighth of their power of two."""
    return round(8 * math.log2(max(tokens, 1)))


def _step(key: tuple[int, str, int, int, str], every: list[StepPoint]) -> Step:
    degree, kind, sequences, _, file = key
    context = round(statistics.median(point.context_tokens for point in every))
    seconds = statistics.median(point.time_s for point in every)
    where = every[0].where if len(every) == 1 else f"{every[0].where} and {len(every) - 1} more"
    batch = f"{sequences} x {context} tokens" if kind == "prefill" else f"{sequences} at context {context}"
    return Step(file, where, f"{kind} of {batch}", degree, (Figure(kind, seconds),), kind, sequences, max(context, 1))


def _loads(points: Sequence[ServingPoint], target: Target, flags: Flags) -> list[Load]:
    degrees = sorted({point.setting.tensor_parallel or 1 for point in points})
    found: list[Load] = []
    for degree in degrees:
        own = [point for point in points if (point.setting.tensor_parallel or 1) == degree]
        serving = places(own, target, degree, flags).serving(target)
        curve = roofline_curve(target.model, target.machine, degree, 1, target.engine)
        found += [one for point in own if (one := _load(point, target, degree, serving, curve, flags)) is not None]
    return found


def _load(
    point: ServingPoint, target: Target, degree: int, serving: Serving, curve: IterationCurve, flags: Flags
) -> Load | None:
    lengths, served = lengths_of(point), max(_in_flight(point) / replicas_of(point, target), 1.0)
    waiting = served > serving.residents(lengths) or most_wait(point, served, curve, serving)
    figures = _figures(point, waiting, flags)
    if not figures:
        flags.add(Flag(point.file, point.where, "", "", "no figure of it can be used", "row left out"))
        return None
    if waiting and decoding(point):
        served = max(decoding(point) / replicas_of(point, target), 1.0)
    asked = f"{point.rate_req_per_s:.3g} requests/s, " if point.load == "rate" and point.rate_req_per_s else ""
    words = f"{asked}{served:.4g} served at once, {lengths.prompt:,.0f} + {lengths.steps + 1:,.0f} tokens"
    return Load(point.file, point.where, words, degree, figures, lengths, serving, served)


def _in_flight(point: ServingPoint) -> float:
    """Those that a closed loop keeps; of an open one by Little's law, for as many are what its times are of."""
    if point.load == "concurrency" and point.concurrency:
        return point.concurrency
    if point.requests_per_s and point.stays_s:
        return point.requests_per_s * point.stays_s
    return decoding(point) or 1.0


def _figures(point: ServingPoint, waiting: bool, flags: Flags) -> tuple[Figure, ...]:
    median_first = point.load != "rate"
    ttft = (point.ttft_median_s or point.ttft_s) if median_first else (point.ttft_s or point.ttft_median_s)
    if ttft and waiting:
        reason = "more in flight than were served at once: requests waited for a place"
        flags.add(Flag(point.file, point.where, "TTFT", "", reason, "not used"))
        ttft = None
    found = []
    if point.tpot_s and point.output_tokens and point.output_tokens > 1:
        found.append(Figure("TPOT", point.tpot_s))
    if ttft:
        found.append(Figure("TTFT", ttft))
    if not found and point.e2e_s and not waiting:
        found.append(Figure("E2E", point.e2e_s))
    return tuple(found)
