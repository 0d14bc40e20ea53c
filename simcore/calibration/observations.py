"""Measured points as figures that a curve predicts: a step's time, or a replica's mean TPOT and TTFT under its load.

Runs of the step-time CSV that differ in output length only are one figure, their median. TTFT is used where nobody
waited for a place in the batch; a closed loop's is its median where the file has one, since means hold the burst that
it begins with.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from simcore.calibration.target import Target
from simcore.latency.curve import PS_PER_S, IterationCurve
from simcore.measurements import Flag, Flags, ServingPoint, StepPoint
from simcore.memory import DoesNotFit, kv_capacity
from simcore.spec import MemorySpec
from simcore.steady_state import Lengths, Serving, closed_loop, open_loop

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
    """A replica under a closed loop (``concurrency``) or an open one (``rate_req_per_s``)."""

    file: str
    where: str
    load: str
    tensor_parallel: int
    figures: tuple[Figure, ...]
    lengths: Lengths
    serving: Serving
    concurrency: float | None
    rate_req_per_s: float | None

    def predicted_s(self, curve: IterationCurve, client_s: float) -> tuple[float, ...]:
        """Mean TPOT, TTFT or E2E, as measured."""
        if self.rate_req_per_s is not None:
            state = open_loop(curve, self.lengths, self.serving, self.rate_req_per_s)
        else:
            state = closed_loop(curve, self.lengths, self.serving, self.concurrency or 1.0)
        ttft = state.ttft_s + client_s
        every = {"TPOT": state.tpot_s, "TTFT": ttft, "E2E": ttft + self.lengths.steps * state.tpot_s}
        return tuple(every[figure.phase] for figure in self.figures)


Observation = Step | Load


def observations(
    serving: Sequence[ServingPoint], steps: Sequence[StepPoint], target: Target, flags: Flags
) -> list[Observation]:
    """All that the points measured."""
    found: list[Observation] = [*_steps(steps)]
    found += [one for one in (_load(point, target, flags) for point in serving) if one is not None]
    return found


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


def _load(point: ServingPoint, target: Target, flags: Flags) -> Load | None:
    degree, replicas = point.setting.tensor_parallel or 1, point.setting.replicas or target.replicas or 1
    if not point.prompt_tokens or not point.output_tokens:
        return None
    lengths = Lengths.of(max(point.prompt_tokens, 1.0), max(point.output_tokens, 1.0))
    serving = Serving(
        token_budget=target.token_budget,
        prefill_apart=target.engine == "vllm-2023",
        max_batch_size=max(target.max_batch_size, _decoding(point) / replicas),
        kv_tokens=_kv_tokens(point, target, degree, flags),
    )
    concurrency = max((point.concurrency or 1.0) / replicas, 1.0) if point.load != "rate" else None
    rate = point.rate_req_per_s / replicas if point.load == "rate" and point.rate_req_per_s else None
    waiting = concurrency is not None and concurrency > serving.residents(lengths)
    figures = _figures(point, waiting, flags)
    if not figures:
        flags.add(Flag(point.file, point.where, "", "", "no figure of it can be used", "row left out"))
        return None
    asked = f"{rate:.3g} requests/s" if rate is not None else f"{concurrency:.4g} in flight"
    words = f"{asked}, {point.prompt_tokens:,.0f} + {point.output_tokens:,.0f} tokens"
    return Load(point.file, point.where, words, degree, figures, lengths, serving, concurrency, rate)


def _figures(point: ServingPoint, waiting: bool, flags: Flags) -> tuple[Figure, ...]:
    median_first = point.load != "rate"
    ttft = (point.ttft_median_s or point.ttft_s) if median_first else (point.ttft_s or point.ttft_median_s)
    if ttft and waiting:
        reason = "more in flight than the batch or the KV memory takes: requests waited for a place"
        flags.add(Flag(point.file, point.where, "TTFT", "", reason, "not used"))
        ttft = None
    found = []
    if point.tpot_s and point.output_tokens and point.output_tokens > 1:
        found.append(Figure("TPOT", point.tpot_s))
    if ttft:
        found.append(Figure("TTFT", ttft))
    if not found and point.e2e_s and not waiting and point.load != "burst":
        found.append(Figure("E2E", point.e2e_s))
    return tuple(found)


def _decoding(point: ServingPoint) -> float:
    """Sequences that were seen being decoded at once: the engine's batch took at least as many."""
    if not (point.requests_per_s and point.tpot_s and point.output_tokens):
        return 0.0
    return point.requests_per_s * point.tpot_s * (point.output_tokens - 1)


def _kv_tokens(point: ServingPoint, target: Target, degree: int, flags: Flags) -> float:
    try:
        return kv_capacity(target.model, target.machine, degree, 1, MemorySpec()).tokens
    except DoesNotFit as error:
        flags.add(Flag(point.file, point.where, "", f"TP{degree}", f"by our count it does not fit: {error}", "noted"))
        return math.inf
