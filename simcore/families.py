"""Families of designs: ``sarathi:<machine>``, ``splitwise:<prefill machine>+<decode machine>``, and their members.

A line is the designs of one family that differ by machine counts alone (same scheduler options, same parallelism):
one count for co-located serving, two (prefill, decode) for phase-split serving. The search walks along lines.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal, cast

from simcore.catalogue import resolve_accelerator, resolve_machine, resolve_model
from simcore.evaluation import Design
from simcore.latency.compile import compile_curve
from simcore.memory import kv_capacity
from simcore.spec import (
    AUTO,
    SCHEDULER_KINDS,
    Case,
    KvTransferSpec,
    LatencySpec,
    Machine,
    MachineChoice,
    PoolSpec,
    SchedulerSpec,
    SpecError,
    StudySpec,
    nearest,
)
from simcore.spec.identity import identity

SPLIT = "splitwise"
CO_LOCATED = tuple(kind for kind in SCHEDULER_KINDS if kind != SPLIT)
DEFAULT_CO_LOCATED = ("sarathi", "vllm")
SCHEDULER_NAMES = {
    "sarathi": "Sarathi",
    "vllm": "vLLM V0, 2023",
    "vllm_v1": "vLLM V1, 2025",
    "orca": "Orca",
    "request_level": "FasterTransformer",
    "splitwise_baseline": "Splitwise baseline",
}
TOKEN_BUDGETS = {"sarathi": (512, 2048), "vllm_v1": (2048,)}
"""Tried where the user gives none: Sarathi-Serve's own for strict and for relaxed limits (OSDI 2024, section 5.1);
vLLM's default of 2025."""


@dataclass(frozen=True)
class PoolChoice:
    """One pool of a line, without its count."""

    role: Literal["mixed", "prefill", "decode"]
    machine: Machine
    tensor_parallel: int
    pipeline_parallel: int
    latency: LatencySpec
    on_hand: int | None

    def replicas(self, machines: int) -> int:
        """How many replicas so many machines carry; 0 where they are fewer than one replica spans."""
        if self.span > 1:
            return machines // self.span
        return machines * (self.machine.accelerators // (self.tensor_parallel * self.pipeline_parallel))

    @property
    def span(self) -> int:
        """Machines that one replica takes: 1 where it fits on a part of one."""
        return -(-self.tensor_parallel * self.pipeline_parallel // self.machine.accelerators)


@dataclass(frozen=True)
class Line:
    """Designs that differ by counts alone; ``reason`` says why none of them can run, where so."""

    family: str
    scheduler: SchedulerSpec
    pools: tuple[PoolChoice, ...]
    spec: StudySpec
    reason: str = ""

    def design(self, counts: tuple[int, ...]) -> Design:
        """The member with so many machines in each pool."""
        pools = tuple(
            PoolSpec(
                pool.role,
                pool.machine,
                machines=count,
                tensor_parallel=pool.tensor_parallel,
                pipeline_parallel=pool.pipeline_parallel,
                latency=pool.latency,
            )
            for pool, count in zip(self.pools, counts, strict=True)
        )
        case = Case(
            resolve_model(self.spec.model),
            pools,
            self.scheduler,
            memory=self.spec.memory,
            kv_transfer=_transfer(self.scheduler, self.spec),
            latency=self.spec.latency,
            slo=self.spec.slo,
            prices=self.spec.prices if isinstance(self.spec.prices, str) else self.spec.prices.id,
            pue=self.spec.pue,
            arrivals=self.spec.arrivals,
            seed=self.spec.seeds[0],
        )
        return Design(design_id(case), label(self.scheduler, self.pools, counts), self.family, case)

    def whole(self, counts: tuple[int, ...]) -> tuple[int, ...]:
        """No more machines than make whole replicas, of each pool one at least: others would stand idle."""
        pairs = zip(counts, (pool.span for pool in self.pools), strict=True)
        return tuple(max(count // span, 1) * span for count, span in pairs)

    def nameplate_w(self, counts: tuple[int, ...]) -> float:
        """Nameplate watts of so many machines."""
        return sum(pool.machine.nameplate_w * count for pool, count in zip(self.pools, counts, strict=True))


def label(scheduler: SchedulerSpec, pools: Sequence[PoolChoice | PoolSpec], counts: Sequence[int]) -> str:
    """What a design is called: ``11 DGX H100 prefill + 9 DGX A100 decode``."""
    names = [resolve_machine(pool.machine).name for pool in pools]
    budget = scheduler.token_budget
    said = f", {'auto' if budget == AUTO else f'{budget}-token'} budget" if budget else ""
    tail = said + _parallelism(pools)
    if scheduler.kind == SPLIT:
        parts = [f"{count} {name} {pool.role}" for pool, name, count in zip(pools, names, counts, strict=True)]
        return " + ".join(parts) + (", chunked" if scheduler.chunked else "") + tail
    return f"{SCHEDULER_NAMES[scheduler.kind]} on {counts[0]} {names[0]}{tail}"


def _parallelism(pools: Sequence[PoolChoice | PoolSpec]) -> str:
    """``, TP4``, ``, TP4 PP2 + TP8``; nothing where each pool's replicas are whole machines in one stage."""
    sizes = [(pool.tensor_parallel, pool.pipeline_parallel) for pool in pools]
    if all(size == (resolve_machine(pool.machine).accelerators, 1) for pool, size in zip(pools, sizes, strict=True)):
        return ""
    each = [f"TP{tensor}" + (f" PP{stages}" if stages > 1 else "") for tensor, stages in sizes]
    return ", " + " + ".join(dict.fromkeys(each))


def with_machines(design: Design, counts: Sequence[int]) -> Design:
    """The member of the design's line with so many machines in each pool."""
    pools, label, begun = [], design.label, ""
    for pool, count in zip(design.case.pools, counts, strict=True):
        name = resolve_machine(pool.machine).name
        before, _, label = label.partition(f"{pool.machines} {name}")
        begun += f"{before}{count} {name}"
        pools.append(replace(pool, machines=count))
    case = replace(design.case, pools=tuple(pools))
    return Design(design_id(case), begun + label, design.family, case)


def design_id(case: Case) -> str:
    """Twelve hex digits of a hash of the cluster and its rules; SLO, prices, arrivals and seed are left out, and
    what is not set of fields that came later (``simcore.spec.identity``): a new one gives no design another id."""
    physical = {key: value for key, value in identity(case).items() if key not in ("slo", "prices", "arrivals", "seed")}
    text = json.dumps(physical, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def family_ids(spec: StudySpec) -> tuple[str, ...]:
    """The families asked for, checked; where none is named: Sarathi and vLLM on each machine, every split pair."""
    names = [resolve_machine(choice.machine).id for choice in spec.machines]
    if spec.families:
        for family in spec.families:
            _check_family(family, names)
        return spec.families
    together = [f"{kind}:{name}" for kind in DEFAULT_CO_LOCATED for name in names]
    return tuple(together + [f"{SPLIT}:{first}+{second}" for first in names for second in names])


def lines(spec: StudySpec) -> list[Line]:
    """Every line of the study's families, those that cannot run too, with the reason."""
    choices = {resolve_machine(choice.machine).id: choice for choice in spec.machines}
    return [line for family in family_ids(spec) for line in _family_lines(family, spec, choices)]


def _family_lines(family: str, spec: StudySpec, choices: dict[str, MachineChoice]) -> Iterable[Line]:
    kind, machine_names = _parse(family)
    found = [_pool_choices(role, choices[name], spec) for role, name in zip(_roles(kind), machine_names, strict=True)]
    schedulers = _schedulers(kind, spec)
    if all(able for able, _ in found):
        for scheduler in schedulers:
            for pools in _together([able for able, _ in found], spec):
                yield Line(family, scheduler, pools, spec)
    first = [[*able, *unable][0] for able, unable in found]
    told: dict[tuple[PoolChoice, ...], str] = {}
    for place, (_, unable) in enumerate(found):
        for pool, reason in unable.items():
            told.setdefault((*first[:place], pool, *first[place + 1 :]), reason)
    for pools, reason in told.items():
        yield Line(family, schedulers[0], pools, spec, reason)


def _together(options: Sequence[list[PoolChoice]], spec: StudySpec) -> list[tuple[PoolChoice, ...]]:
    """Pools that are tried with each other: all of them where sizes are given, else largest with largest."""
    if spec.scheduler_options.tensor_parallels:
        return list(product(*options))
    positions = range(max(map(len, options)))
    return [tuple(found[min(position, len(found) - 1)] for found in options) for position in positions]


def _pool_choices(
    role: Literal["mixed", "prefill", "decode"], choice: MachineChoice, spec: StudySpec
) -> tuple[list[PoolChoice], dict[PoolChoice, str]]:
    """The pool at each tensor parallel size worth trying; and those that cannot run, with the reason: each of the sizes
    given, else one where none can run."""
    named = resolve_machine(choice.machine)
    machine = replace(named, accelerator=resolve_accelerator(named))  # so that ids and keys hash its figures
    latency = choice.latency or spec.latency
    stages = _stages(role, spec)
    tried = _sizes(role, machine, spec)
    runs: dict[int, PoolChoice] = {}
    reasons: dict[PoolChoice, str] = {}
    for size in tried:
        pool = PoolChoice(role, machine, size, stages, latency, choice.on_hand)
        try:
            _check_runs(machine, size, stages, latency, spec)
            runs[size] = pool
        except SpecError as error:
            reasons[pool] = str(error)
    if spec.scheduler_options.tensor_parallels:
        return [runs[size] for size in reversed(runs)], reasons
    whole = [size for size in runs if stages > 1 and size * stages <= machine.accelerators][-1:]  # within one machine
    sizes = sorted({min(runs), *whole, max(runs)}, reverse=True) if runs else []
    return [runs[size] for size in sizes], {} if runs else dict([*reasons.items()][-1:])


def _check_runs(machine: Machine, tensor_parallel: int, stages: int, latency: LatencySpec, spec: StudySpec) -> None:
    model = resolve_model(spec.model)
    kv_capacity(model, machine, tensor_parallel, stages, spec.memory)
    compile_curve(model, machine, tensor_parallel, stages, latency)


def _stages(role: str, spec: StudySpec) -> int:
    options = spec.scheduler_options
    return (options.decode_pipeline_parallel if role == "decode" else None) or options.pipeline_parallel


def _sizes(role: str, machine: Machine, spec: StudySpec) -> list[int]:
    options = spec.scheduler_options
    given = (options.decode_tensor_parallel if role == "decode" else None) or options.tensor_parallel
    if given or options.tensor_parallels:
        return [given] if given else sorted(set(options.tensor_parallels))
    heads = resolve_model(spec.model).heads
    return [
        size
        for size in (2**power for power in range(machine.accelerators.bit_length()))
        if size <= machine.accelerators and heads % size == 0
    ]


def _schedulers(kind: str, spec: StudySpec) -> list[SchedulerSpec]:
    options = spec.scheduler_options
    plain = SchedulerSpec(cast(Literal["sarathi"], kind), max_batch_size=options.max_batch_size)
    given = options.token_budgets or (options.token_budget,)
    if kind == SPLIT and options.chunked:
        whole = replace(plain, max_batch_tokens=options.max_batch_tokens, chunked=True)
        return [replace(whole, token_budget=budget) for budget in given]
    if kind not in TOKEN_BUDGETS:
        return [replace(plain, max_batch_tokens=options.max_batch_tokens)]
    return [replace(plain, token_budget=budget) for budget in (TOKEN_BUDGETS[kind] if None in given else given)]


def _transfer(scheduler: SchedulerSpec, spec: StudySpec) -> KvTransferSpec:
    """The study's transfer, as early as the scheduler can where it gives none; a co-located design sends nothing."""
    early = KvTransferSpec(mode="chunkwise" if scheduler.chunked else "layerwise")
    given = spec.kv_transfer or early
    return early if given.mode == "chunkwise" and not scheduler.chunked else given


def _roles(kind: str) -> tuple[Literal["mixed", "prefill", "decode"], ...]:
    return ("prefill", "decode") if kind == SPLIT else ("mixed",)


def _parse(family: str) -> tuple[str, list[str]]:
    kind, _, machines = family.partition(":")
    return kind, machines.split("+")


def _check_family(family: str, names: list[str]) -> None:
    kind, machines = _parse(family)
    if kind not in SCHEDULER_KINDS:
        raise SpecError(
            f"families: found '{family}', expected a kind of {', '.join(SCHEDULER_KINDS)}"
            f"{nearest(kind, SCHEDULER_KINDS)}"
        )
    wanted = len(_roles(kind))
    if len(machines) != wanted:
        form = f"{SPLIT}:<prefill machine>+<decode machine>" if kind == SPLIT else f"{kind}:<machine>"
        raise SpecError(f"families: found '{family}', expected {form}")
    for machine in machines:
        if machine not in names:
            raise SpecError(
                f"families: '{family}' names machine '{machine}', expected one of the study's machines:"
                f" {', '.join(names)}{nearest(machine, names)}"
            )
