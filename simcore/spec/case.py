"""CASE.json: one design under one workload's rules (CONTRACT.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from simcore.spec.decode import SpecError, bounded, decode
from simcore.spec.hardware import Machine, Model
from simcore.spec.prices import PriceBook
from simcore.spec.slo import Slo, SlowdownSlo, check_auto_budget, decode_slo

Role = Literal["mixed", "prefill", "decode"]
SchedulerKind = Literal["sarathi", "vllm", "vllm_v1", "orca", "request_level", "splitwise_baseline", "splitwise"]
SCHEDULER_KINDS: tuple[str, ...] = get_args(SchedulerKind)
AUTO: Literal["auto"] = "auto"
DEFAULT_PUE = 1.54
"""Mean of the data centres that answered Uptime Institute's survey of 2025; large new ones reach 1.1 to 1.2."""
BUDGET_KINDS = ("sarathi", "vllm_v1")
MOST_AUTO_BUDGET = 8192
"""The most tokens that ``token_budget`` ``auto`` chooses."""
Reservation = Literal["on_demand", "full_output", "output_at_decode", "max_length"]
AvailabilityState = Literal["starting", "up", "draining", "failed"]
MOST_BATCH_SIZE = 10_000_000
"""Requests; no trace has as many."""
MOST_AVAILABILITY_S = 5_000_000
"""As late as a request may arrive."""


@dataclass(frozen=True)
class LatencySpec:
    """Where iteration times come from (DESIGN.md section 3)."""

    source: Literal["roofline", "measured", "curve", "calibrated"] = "roofline"
    engine: Literal["vllm-2026", "trtllm-2025", "vllm-2023", "kernel"] = "vllm-2026"
    path: str | None = None
    calibration: str | None = None
    """A LATENCY.json's text in place of its path: a study's copy, which needs no file."""
    hybrid_factor: float = bounded(1.1, above=0)
    decode_key: Literal["batch_size", "prompt_tokens"] = "batch_size"
    tokens: tuple[int, ...] | None = None
    prefill_s: tuple[float, ...] | None = None
    decode_s: tuple[float, ...] | None = None
    hybrid_s: tuple[float, ...] | None = None
    attention_s: float = bounded(0.0, least=0, most=1)
    chunk_read_s: float = bounded(0.0, least=0, most=1)
    context_s: float = bounded(0.0, least=0, most=1)
    decode_seq_s: float = bounded(0.0, least=0, most=1)

    def __post_init__(self) -> None:
        if self.source == "calibrated" and (self.path is None) == (self.calibration is None):
            found = "missing" if self.path is None else "found with calibration"
            raise SpecError(f"path: {found}, expected the LATENCY.json that calibrate wrote with source calibrated")


@dataclass(frozen=True)
class AvailabilitySpec:
    """From a moment of the run on, a replica of the pool (``replica`` None: each) is in a state; before, it is up."""

    state: AvailabilityState
    at_s: float = bounded(least=0, most=MOST_AVAILABILITY_S)
    replica: int | None = bounded(None, least=0)


@dataclass(frozen=True)
class PoolSpec:
    """Replicas that share a role. ``machines`` or ``replicas`` says how many; neither: one machine."""

    role: Role
    machine: str | Machine
    machines: int | None = bounded(None, least=1, most=100_000)
    replicas: int | None = bounded(None, least=1, most=100_000)
    tensor_parallel: int = bounded(1, least=1)
    pipeline_parallel: int = bounded(1, least=1)
    latency: LatencySpec | None = None
    availability: tuple[AvailabilitySpec, ...] = ()
    data_parallel: int | None = bounded(None, least=1)
    expert_parallel: int | None = bounded(None, least=1)

    def __post_init__(self) -> None:
        if self.machines is not None and self.replicas is not None:
            raise SpecError("replicas: found with machines, expected only one of the two")
        _refuse_reserved("data_parallel", self.data_parallel)
        _refuse_reserved("expert_parallel", self.expert_parallel)


@dataclass(frozen=True)
class SchedulerSpec:
    """A policy and its options; None = the kind's own default, resolved in ``simcore.engine.compile``."""

    kind: SchedulerKind
    token_budget: int | Literal["auto"] | None = bounded(None, least=1)
    max_batch_tokens: int | None = bounded(None, least=1)
    max_batch_size: int | None = bounded(None, least=1, most=MOST_BATCH_SIZE)
    mixed_pool: bool = True
    chunked: bool = False
    """Kind ``splitwise``: prefill, decode and mixed machines batch as ``sarathi`` does, under ``token_budget`` (None:
    ``max_batch_tokens``)."""
    prompt_pending_limit: int = bounded(8192, least=0)
    padded_prompts: bool = False
    preempt_when_full: bool = False
    pad_compute: bool = True
    keep_finished: bool = True
    ageing: Literal["fair", "none", "splitwise-sim"] = "fair"
    decode_runs: Literal["stepwise", "contiguous"] = "stepwise"
    tokens_per_step: float | None = bounded(None, least=1)

    def __post_init__(self) -> None:
        _refuse_reserved("tokens_per_step", self.tokens_per_step)
        if self.chunked:
            self._check_chunked()
        if self.token_budget == AUTO and not self.has_token_budget:
            raise SpecError(
                f"token_budget: found 'auto' with kind {self.kind}, which has no token budget, expected null;"
                f" kinds that have one: {', '.join(BUDGET_KINDS)}, and splitwise with chunked"
            )

    @property
    def has_token_budget(self) -> bool:
        """Whether its batches are filled up to a token budget."""
        return self.kind in BUDGET_KINDS or self.chunked

    def _check_chunked(self) -> None:
        if self.kind != "splitwise":
            raise SpecError(f"chunked: found true with kind {self.kind}, expected false, or kind splitwise")
        for name, simulated, plain in (("decode_runs", "contiguous", "stepwise"), ("ageing", "splitwise-sim", "fair")):
            if getattr(self, name) == simulated:
                raise SpecError(
                    f"{name}: found '{simulated}' with chunked, expected {plain}: batches are then chosen as with"
                    " kind sarathi"
                )


@dataclass(frozen=True)
class KvTransferSpec:
    """How a prompt's KV goes from its prefill replica to its decode replica."""

    mode: Literal["serialized", "layerwise", "chunkwise"] = "serialized"
    """Sent when the prompt has ended; layer by layer; or with ``scheduler.chunked`` chunk by chunk."""
    bandwidth_bytes_per_s: float | None = bounded(None, above=0)
    """None: the slower of the two replicas' NICs."""
    contention: bool = True
    block_tokens: int | None = bounded(None, least=1)
    """None: ``setup_s`` is taken once; else once for each so many tokens that are sent, the last block begun too."""
    setup_s: float | None = bounded(None, least=0, most=86_400)
    retry_s: float | None = bounded(None, above=0, most=86_400)
    """None: as soon as there is room at the destination; else polled at this interval."""


@dataclass(frozen=True)
class MemorySpec:
    """KV memory of a replica and how it is reserved. None = derived, or the scheduler kind's default."""

    usable: float = bounded(0.90, above=0, most=1)
    reservation: Reservation | None = None
    block_tokens: int = bounded(16, least=1)
    watermark: float | None = bounded(None, least=0, most=1)
    kv_tokens: int | None = bounded(None, least=1)
    kv_bytes_per_token: float | None = bounded(None, above=0)
    max_model_tokens: int | None = bounded(None, least=1)


@dataclass(frozen=True)
class Case:
    """One candidate cluster and the rules that it runs under."""

    model: str | Model
    pools: tuple[PoolSpec, ...]
    scheduler: SchedulerSpec
    router: Literal["jsq", "round_robin", "random", "least_kv", "least_waiting"] = "jsq"
    kv_transfer: KvTransferSpec = field(default_factory=KvTransferSpec)
    memory: MemorySpec = field(default_factory=MemorySpec)
    latency: LatencySpec = field(default_factory=LatencySpec)
    slo: Slo = field(default_factory=SlowdownSlo)
    prices: str | PriceBook = "list"
    pue: float = bounded(DEFAULT_PUE, least=1, most=5)
    """The site's power usage effectiveness: what it takes over what its machines draw (``simcore.facility``)."""
    arrivals: Literal["trace", "superpose", "poisson"] = "trace"
    seed: int = bounded(0, least=0)
    simultaneous_arrivals: Literal["together", "one_by_one"] | None = None
    router_ties: Literal["index", "pool_order"] = "index"

    def __post_init__(self) -> None:
        _check_roles(self)
        if self.scheduler.token_budget == AUTO:
            check_auto_budget(self.slo)
        _check_transfer(self)


def decode_case(value: Any) -> Case:
    """CASE.json to a Case; SpecError names the key."""
    if not isinstance(value, Mapping):
        raise SpecError(f"case: found {type(value).__name__}, expected an object")
    plain = {k: v for k, v in value.items() if k != "slo"}
    case = decode(Case, plain)
    if "slo" not in value:
        return case
    return Case(**{**case.__dict__, "slo": decode_slo(value["slo"])})


def _refuse_reserved(name: str, value: float | None) -> None:
    """A key that is kept for what is not built yet says so, by name."""
    if value not in (None, 1):
        raise SpecError(f"{name}: {value:g} is not built yet, expected null or 1")


def _check_transfer(case: Case) -> None:
    mode, chunked = case.kv_transfer.mode, case.scheduler.chunked
    if mode == "layerwise" and chunked:
        raise SpecError(
            "kv_transfer.mode: found 'layerwise' with scheduler.chunked, expected serialized or chunkwise: a prompt's"
            " layers are done chunk by chunk"
        )
    if mode == "chunkwise" and not chunked:
        raise SpecError(
            "kv_transfer.mode: found 'chunkwise' without scheduler.chunked, expected serialized or layerwise:"
            " prompts are not chunked"
        )


def _check_roles(case: Case) -> None:
    roles = [pool.role for pool in case.pools]
    if not roles:
        raise SpecError("pools: found none, expected at least one")
    if case.scheduler.kind != "splitwise":
        if set(roles) != {"mixed"}:
            raise SpecError(
                f"pools: found roles {', '.join(roles)}, expected mixed only with scheduler kind {case.scheduler.kind}"
            )
    elif "mixed" not in roles and not {"prefill", "decode"} <= set(roles):
        raise SpecError(f"pools: found roles {', '.join(roles)}, expected prefill and decode pools with kind splitwise")
