"""One stored physical result of a design under a workload and an SLO: no money in it, JSON in and out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from simcore.spec import Case

Status = Literal["evaluated", "screened", "infeasible", "failed"]
FOUND_TO = 0.99
"""A capacity is found to this part of what the design holds: up to it over this, a run at the rate itself decides."""
WORTH_RUNNING = 0.8
"""Designs that hold at least this share of the required rate are run at it."""


@dataclass(frozen=True)
class Rival:
    """An evaluated design that uses no more of any machine than one still to be evaluated, and holds the grid's k-th
    rate (``rate_grid``)."""

    label: str
    k: int


@dataclass(frozen=True)
class Design:
    """One candidate cluster. ``design_id`` is a hash of the case: the same cluster has the same id in every study."""

    design_id: str
    label: str
    """For people: ``11 DGX H100 prefill + 9 DGX A100 decode``."""
    family: str
    """``sarathi:dgx-h100``, ``splitwise:dgx-h100+dgx-a100``."""
    case: Case
    rival: Rival | None = None
    """Of a work item: unless the design holds the rival's rate too, its capacity is not asked for."""
    rate_only: bool = False
    """Of a work item: only whether the design holds the required rate is asked."""
    known: Evaluation | None = None
    """Of a work item: what an earlier one has found of the design."""
    seeds: tuple[int, ...] = ()
    """Of a work item: the other seeds under which its capacity, known under the study's first, is asked."""


@dataclass(frozen=True)
class LimitResult:
    """One SLO limit as it came out at one rate."""

    metric: str
    percentile: float
    limit: float
    value: float | None
    """None: infinite (a request unfinished or refused)."""
    met: bool

    @property
    def name(self) -> str:
        """``ttft_p99``; an attainment share has percentile 0: ``attainment``."""
        return f"{self.metric.removesuffix('_s')}_p{self.percentile:g}" if self.percentile else self.metric


@dataclass(frozen=True)
class LimitsAt:
    """The limits as they came out at one rate (0: every request alone)."""

    rate_req_per_s: float
    limits: tuple[LimitResult, ...]


@dataclass(frozen=True)
class PhaseResult:
    """A pool's batches of one kind."""

    phase: str
    """``prefill``, ``decode`` or ``hybrid``."""
    busy: float
    """Share of the pool's time."""
    mfu: float
    """Over that time, as ``mbu``."""
    mbu: float


@dataclass(frozen=True)
class PoolResult:
    """A pool's use over the run: shares of its replicas' time (docs/measurement.md).

    prefill + decode + hybrid = busy; busy + bubble + blocked + transfer_wait + idle = 1.
    """

    role: str
    machine: str
    machines: int
    replicas: int
    busy: float
    prefill: float
    decode: float
    hybrid: float
    idle: float
    blocked: float
    mfu: float
    mbu: float
    kv_peak_share: float
    nic_busy: float
    bubble: float = 0.0
    """A stage idle while its replica works, mean over stages."""
    transfer_wait: float = 0.0
    padding: float = 0.0
    """Tokens computed for nobody over all tokens computed."""
    bubbles: tuple[dict[str, float], ...] = ()
    """By stage, then by cause (``BubbleCause``): shares of the run."""
    phases: tuple[PhaseResult, ...] = ()


@dataclass(frozen=True)
class RateResult:
    """A design simulated at one rate."""

    rate_req_per_s: float
    met: bool
    stable: bool
    limits: tuple[LimitResult, ...]
    pools: tuple[PoolResult, ...]
    mean_w: float
    """Drawn by all machines, idle and host included."""
    p99_w: float
    """Of 1 s averages."""
    input_tokens_per_s: float
    """From the first arrival to the last finish, as what follows."""
    output_tokens_per_s: float
    finished_req_per_s: float = 0.0
    """Less than ``rate_req_per_s`` by the time in which the last requests drain. Zero where it was not kept."""

    @property
    def tokens_a_request(self) -> tuple[float, float] | None:
        """Of input and of output, of a mean request that was served; None where that was not kept."""
        requests = self.finished_req_per_s
        return (self.input_tokens_per_s / requests, self.output_tokens_per_s / requests) if requests else None


@dataclass(frozen=True)
class RateRun:
    """A design at the rate that a study asks for; ``reason``: why it could not be simulated."""

    result: RateResult | None
    reason: str = ""
    requests_simulated: int = 0
    events: int = 0
    cpu_s: float = field(default=0.0, compare=False)


@dataclass(frozen=True)
class Trial:
    """Whether a design holds a rate; runs were given up as soon as it could not."""

    holds: bool
    simulations: int
    requests_simulated: int
    events: int
    cpu_s: float = field(default=0.0, compare=False)


@dataclass(frozen=True)
class Replication:
    """A design's capacity under one seed."""

    seed: int
    capacity_req_per_s: float
    low_req_per_s: float
    high_req_per_s: float
    """The interval that this seed alone gives."""
    binding_limit: str
    binding_pool: str


@dataclass(frozen=True)
class Evaluation:
    """What a design can do. ``reason`` says why where there is no capacity."""

    design_id: str
    status: Status
    reason: str = ""
    capacity_req_per_s: float = 0.0
    capacity_low: float = 0.0
    capacity_high: float = 0.0
    binding_limit: str = ""
    """What fails first above capacity: ``ttft_p99``, ``kv``, ``unstable``."""
    binding_pool: str = ""
    at_capacity: RateResult | None = None
    at_required: RateResult | None = None
    warnings: tuple[str, ...] = ()
    simulations: int = 0
    requests_simulated: int = 0
    events: int = 0
    """Simulated: arrivals, selections of a batch, finishes, transfers."""
    cpu_s: float = field(default=0.0, compare=False)
    """What it took, by this process's clock."""
    engine_version: str = ""
    key: str = field(default="", compare=False)
    """Hash of all that determines the capacity (simcore/keys.py)."""
    rate_only: bool = False
    """Only whether it holds the required rate was asked."""
    held_required: bool | None = None
    replications: tuple[Replication, ...] = ()
    """Under each seed, the first one first; empty where one seed told it from the others."""
    around: tuple[LimitsAt, ...] = ()
    """The limits at no load, a little below the capacity, at it and just above it (where run): how fast each is used
    up (simcore/trust). Where no rate holds, at the lowest that was tried."""
    whole: Evaluation | None = None
    """With all its machines, where some may be lost; what is above is then of the worst loss (simcore/survival.py)."""
    losses: tuple[Loss, ...] = ()
    """In each way to lose as many machines as the study says."""
    lost: tuple[int, ...] = ()
    """The worst: machines of each pool. Empty: no loss is worse than none."""

    @property
    def with_all(self) -> Evaluation:
        """With all its machines."""
        return self.whole or self

    @property
    def parts(self) -> tuple[Evaluation, ...]:
        """In each way to lose machines, then with all."""
        return (*(loss.evaluation for loss in self.losses), self.whole) if self.whole else (self,)

    @property
    def misses_alone(self) -> bool:
        """Whether requests all but alone miss a limit: then they do with any number of these machines."""
        held = self.status != "evaluated" or self.capacity_req_per_s > 0
        return not held and self.binding_limit not in ("", "kv", "unstable")

    def holds(self, rate_req_per_s: float) -> bool:
        """Whether the design serves the rate within its SLO: simulated at it, and not above a capacity found lower.

        The capacity is found to 1 %, so a rate within 1 % of it is decided by the simulation at the rate itself; a rate
        below the capacity over several seeds is held, whatever the first seed's simulation says. Where machines may be
        lost it is to be held whichever are.
        """
        if self.whole is not None:
            return all(part.holds(rate_req_per_s) for part in self.parts)
        if self.replications and self.capacity_req_per_s >= rate_req_per_s:
            return True
        if self.at_required is None or self.at_required.rate_req_per_s != rate_req_per_s:
            return self.capacity_req_per_s >= rate_req_per_s
        return self.at_required.met and self.capacity_req_per_s >= FOUND_TO * rate_req_per_s

    def wants_run(self, rate_req_per_s: float) -> bool:
        """Whether a run at the rate says more than the capacity: not far above it, where a queue only grows; but where
        no rate holds, as it may say what is missed."""
        far_above = 0 < self.capacity_req_per_s < WORTH_RUNNING * rate_req_per_s
        return self.status == "evaluated" and not far_above

    def answers(self, asked: Design) -> bool:
        """Whether it has what a work item asks."""
        if asked.seeds and self.status == "evaluated" and not self.replications:
            return False
        return asked.rate_only or not self.rate_only

    def of(self, asked: Design) -> Evaluation:
        """As a study keeps it, with what it knew before: another design of the same figures may have been simulated."""
        mine, known = replace(self, design_id=asked.design_id), asked.known
        return mine if known is None else replace(mine.with_trial(known), held_required=known.held_required)

    @property
    def by_bound(self) -> bool:
        """Screened without a run: found anew whenever more is known, not kept."""
        return self.status == "screened" and not self.simulations

    def with_trial(self, trial: Trial | Evaluation) -> Evaluation:
        """With what was spent on it before its capacity was asked for."""
        return replace(
            self,
            simulations=self.simulations + trial.simulations,
            requests_simulated=self.requests_simulated + trial.requests_simulated,
            events=self.events + trial.events,
            cpu_s=self.cpu_s + trial.cpu_s,
        )

    def with_required(self, run: RateRun) -> Evaluation:
        """What the design can do, and how it does at the required rate."""
        if run.result is None:
            return Evaluation(
                self.design_id, "infeasible", run.reason, engine_version=self.engine_version, key=self.key
            )
        return replace(
            self,
            at_required=run.result,
            simulations=self.simulations + 1,
            requests_simulated=self.requests_simulated + run.requests_simulated,
            events=self.events + run.events,
            cpu_s=self.cpu_s + run.cpu_s,
        )


@dataclass(frozen=True)
class Loss:
    """What a design can do without so many machines of each pool; ``infeasible`` where nothing of one is left."""

    lost: tuple[int, ...]
    evaluation: Evaluation
