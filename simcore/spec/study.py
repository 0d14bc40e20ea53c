"""STUDY.json: a question over many designs (CONTRACT.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from simcore.spec.case import AUTO, DEFAULT_PUE, MOST_BATCH_SIZE, KvTransferSpec, LatencySpec, MemorySpec
from simcore.spec.decode import SpecError, bounded, decode
from simcore.spec.hardware import Machine, Model
from simcore.spec.prices import PriceBook
from simcore.spec.slo import Slo, SlowdownSlo, check_auto_budget, decode_slo
from simcore.spec.week import Week, check_week

Goal = Literal["cost", "power", "machines", "throughput", "frontier"]
PowerKind = Literal["nameplate", "provisioned", "drawn_mean", "drawn_p99"]
SizeTo = Literal["median", "lower_bound"]
HeldEqual = Literal["rate", "cost", "power", "machines"]
MOST_FAILURES = 16
"""Machines lost at once: each pair of pools may lose them in one way more than there are."""


@dataclass(frozen=True)
class WorkloadSpec:
    """A trace file, or a synthetic mix (an object that ``simcore.traces.synthetic`` reads)."""

    trace: str | None = None
    synthetic: dict[str, Any] | None = None
    growth_per_month: float | None = bounded(None, above=-1, most=10)
    """Of the rate, compounding; of a synthetic mix its own, unless it is given here. It changes no request."""
    week: Week | None = None
    """Relative rates of 24 hours on seven days, Monday first; of a mix, or of a trace of a week or more, its own,
    unless it is given here. It changes no request: the section of a week reads it."""

    def __post_init__(self) -> None:
        if (self.trace is None) == (self.synthetic is None):
            raise SpecError("trace: give exactly one of trace and synthetic")
        if self.week is not None:
            check_week(self.week)

    @property
    def monthly_growth(self) -> float | None:
        """Of the rate; None where nothing is known of it."""
        own = (self.synthetic or {}).get("growth_per_month")
        return own if self.growth_per_month is None else self.growth_per_month


@dataclass(frozen=True)
class MachineChoice:
    """A machine that may be bought, and how many are on hand (None: no limit)."""

    machine: str | Machine
    on_hand: int | None = bounded(None, least=0)
    latency: LatencySpec | None = None


@dataclass(frozen=True)
class StudyLimits:
    """What a design may use at most; None: no limit."""

    usd_per_month: float | None = bounded(None, above=0)
    power_limit_kw: float | None = bounded(None, above=0)
    power_kind: PowerKind = "nameplate"
    machines: int | None = bounded(None, least=1)
    racks: int | None = bounded(None, least=1)


@dataclass(frozen=True)
class CountGrid:
    """Counts to try outright, instead of those that the search picks."""

    mixed: tuple[int, ...] | None = bounded(None, least=1, most=100_000)
    prefill: tuple[int, ...] | None = bounded(None, least=1, most=100_000)
    decode: tuple[int, ...] | None = bounded(None, least=1, most=100_000)
    every: bool = False
    """Where none are given: co-located, every count (from 8 on in steps of a quarter; those around the required rate
    and the largest exactly); split, beside every prefill count as many decode machines as the limits leave room for."""


@dataclass(frozen=True)
class AlsoTry:
    """Counts of a family's pools to try when the search has ended, which they do not change."""

    family: str
    counts: tuple[int, ...] = bounded(least=1, most=100_000)
    """Of a split family prefill, then decode."""


@dataclass(frozen=True)
class SchedulerOptions:
    """Options shared by the families' schedulers; None: each kind's default."""

    token_budget: int | Literal["auto"] | None = bounded(None, least=1)
    token_budgets: tuple[int, ...] = bounded((), least=1)
    """Several, each a line of designs of its own; instead of ``token_budget``."""
    max_batch_tokens: int | None = bounded(None, least=1)
    max_batch_size: int | None = bounded(None, least=1, most=MOST_BATCH_SIZE)
    chunked: bool = False
    """The splitwise families' machines chunk prompts beside decodes."""
    tensor_parallel: int | None = bounded(None, least=1)
    """None: all of a machine's accelerators, or fewer where the model fits and the source has the data."""
    tensor_parallels: tuple[int, ...] = bounded((), least=1)
    """Several, each tried, in split families each of prefill with each of decode; instead of ``tensor_parallel``."""
    pipeline_parallel: int = bounded(1, least=1)
    decode_tensor_parallel: int | None = bounded(None, least=1)
    """Of the splitwise families' decode machines; None: as ``tensor_parallel`` says of the others."""
    decode_pipeline_parallel: int | None = bounded(None, least=1)
    """None: ``pipeline_parallel``."""

    def __post_init__(self) -> None:
        if self.token_budget is not None and self.token_budgets:
            raise SpecError("token_budgets: found with token_budget, expected only one of the two")
        if self.tensor_parallel is not None and self.tensor_parallels:
            raise SpecError("tensor_parallels: found with tensor_parallel, expected only one of the two")


@dataclass(frozen=True)
class StudySpec:
    """Which machines, how many of each, run how, hold ``rate_req_per_s`` within the SLO, for the goal?"""

    model: str | Model
    workload: WorkloadSpec
    rate_req_per_s: float = bounded(above=0, most=1_000_000)
    machines: tuple[MachineChoice, ...] = ()
    families: tuple[str, ...] = ()
    """``sarathi:<machine>``, ``splitwise:<prefill machine>+<decode machine>``, …; empty: all that apply."""
    scheduler_options: SchedulerOptions = field(default_factory=SchedulerOptions)
    slo: Slo = field(default_factory=SlowdownSlo)
    prices: str | PriceBook = "list"
    pue: float = bounded(DEFAULT_PUE, least=1, most=5)
    """The site's; on drawn power alone."""
    limits: StudyLimits = field(default_factory=StudyLimits)
    goal: Goal = "cost"
    hold_equal: HeldEqual | None = None
    """What the comparison of families holds equal (``simcore.answer.hold_equal``); it changes no answer."""
    size_to: SizeTo = "median"
    """Which of a design's capacity must reach the rate: what was simulated, or its 90 % interval's lower bound."""
    failures: int = bounded(0, least=0, most=MOST_FAILURES)
    """Machines lost at once that must be survived: whichever they are, what is left holds the rate."""
    latency: LatencySpec = field(default_factory=LatencySpec)
    memory: MemorySpec = field(default_factory=MemorySpec)
    kv_transfer: KvTransferSpec | None = None
    """None: layer by layer, or with ``scheduler_options.chunked`` chunk by chunk."""
    arrivals: Literal["trace", "superpose", "poisson"] = "trace"
    seeds: tuple[int, ...] = bounded((0,), least=0)
    counts: CountGrid = field(default_factory=CountGrid)
    also: tuple[AlsoTry, ...] = ()

    def __post_init__(self) -> None:
        if not self.machines:
            raise SpecError("machines: found none, expected at least one")
        if not self.seeds:
            raise SpecError("seeds: found none, expected at least one")
        if self.scheduler_options.token_budget == AUTO:
            check_auto_budget(self.slo)
        self._check_transfer()

    def _check_transfer(self) -> None:
        mode = self.kv_transfer.mode if self.kv_transfer else "serialized"
        chunked = self.scheduler_options.chunked
        if mode == "layerwise" and chunked:
            raise SpecError(
                "kv_transfer.mode: found 'layerwise' with scheduler_options.chunked, expected serialized or chunkwise"
            )
        if mode == "chunkwise" and not chunked:
            raise SpecError(
                "kv_transfer.mode: found 'chunkwise' without scheduler_options.chunked, expected serialized or"
                " layerwise"
            )


def decode_study(value: Any) -> StudySpec:
    """STUDY.json to a StudySpec; SpecError names the key."""
    if not isinstance(value, Mapping):
        raise SpecError(f"study: found {type(value).__name__}, expected an object")
    plain = {k: v for k, v in value.items() if k != "slo"}
    study = decode(StudySpec, plain)
    if "slo" not in value:
        return study
    return StudySpec(**{**study.__dict__, "slo": decode_slo(value["slo"])})
