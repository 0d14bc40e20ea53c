"""The lines under the question: what the fluid bound knows before anything is simulated. No engine, no worker."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from planner.accounts.owned import Visitor
from planner.scenarios.choices import Choices
from planner.scenarios.errors import FieldErrors
from planner.scenarios.forms import QuestionForm
from planner.scenarios.page import QuestionPage
from planner.studies.spec import compile_question
from planner.workloads.models import Workload
from simcore.catalogue import resolve_machine, resolve_model
from simcore.counts import grid
from simcore.families import SPLIT, PoolChoice
from simcore.fluid import LoneRequest, lone_request, work_machines
from simcore.spec import AbsoluteSlo, AttainmentSlo, Limit, Machine, SlowdownSlo, SpecError, StudySpec, WorkloadSpec
from simcore.study import LIKELY_BATCH, Context, context
from simcore.traces import Trace
from simcore.traces.arrivals import MOST_REQUESTS
from simcore.traces.statistics import burstiness
from simcore.trust.outside import Asked, Curve, outside_measured
from simcore.trust.sentences import outside_words
from simcore.words import limit_name, limit_value, listed, number
from simcore.workload_statistics import WorkloadStatistics

CACHED_TRACES = 4
CACHED_PREVIEWS = 32
BARE = "-"
BURSTY_GAP_CV = 1.2
"""From here on, arrivals are called bursty; a Poisson process has 1, and a sample of one seldom 1.1."""


@dataclass(frozen=True)
class Preview:
    """What is shown: sentences, what stands in the way, and whether a study could find anything at all."""

    lines: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    impossible: bool = False
    outside: str = ""
    """Inputs that no measurement covers."""
    offers_defaults: bool = False
    """Something stands in the way, and what is set under Advanced may be why."""


@dataclass(frozen=True)
class Requests:
    """A workload's requests and what the bounds need to know of them."""

    trace: Trace
    statistics: WorkloadStatistics
    prompt_tokens: int
    """The median, as that of output."""
    output_tokens: int
    asked: Asked
    gap_cv: float
    """Of the gaps between arrivals; 0 where there are too few to tell."""


@dataclass(frozen=True)
class Lone:
    """A median request alone on a machine."""

    machine: Machine
    times: LoneRequest
    requests: Requests

    @property
    def end_to_end_s(self) -> float:
        return self.times.first_token_s + self.times.token_s * (self.requests.output_tokens - 1)


def preview(user: Visitor, data: Mapping[str, Any], offered: Choices | None = None) -> Preview:
    """The preview of typed values; what is wrong with them instead, where they are."""
    form = QuestionForm(user, data, offered=offered)
    found, page = _checked(user, form), QuestionPage(form)
    advanced_matters = form.is_valid() or page.advanced_open
    return replace(found, offers_defaults=bool(found.warnings and advanced_matters and page.differing))


def _checked(user: Visitor, form: QuestionForm) -> Preview:
    if not form.is_valid():
        return Preview(warnings=tuple(_complaints(QuestionPage(form))))
    try:
        question = compile_question(user, form.cleaned_data, form.offered.kept)
        return _of(_bare(question.spec), question.workload.pk, question.trace_hash)
    except FieldErrors as error:
        return Preview(warnings=tuple(error.fields.values()), impossible=True)
    except SpecError as error:
        return Preview(warnings=(str(error),), impossible=True)


def _bare(spec: StudySpec) -> StudySpec:
    """Without what no line depends on: money, so that a changed price finds the lines made, and what the workload is
    called, for its requests are asked for."""
    limits = replace(spec.limits, usd_per_month=None)
    return replace(spec, prices=BARE, limits=limits, workload=WorkloadSpec(trace=BARE))


@lru_cache(maxsize=CACHED_PREVIEWS)
def _of(spec: StudySpec, workload_id: int, trace_hash: str) -> Preview:
    requests = _requests(workload_id, trace_hash)
    found = context(spec, requests.trace)
    pools = {pool.machine.id: pool for line in found.lines if not line.reason for pool in line.pools}
    if not pools:
        return Preview(warnings=("Nothing chosen can run this.", *_reasons(found)), impossible=True)
    if too_many := tuple(_too_many_copies(spec, requests.trace)):
        return Preview(warnings=too_many, impossible=True)
    machines = [pool.machine for pool in pools.values()]
    lone = _lone(_reference(spec, machines), spec, requests)
    fastest = min((_lone(machine, spec, requests) for machine in machines), key=lambda one: one.times.first_token_s)
    return Preview(
        (
            *(_alone(lone), _allowed(spec, lone), _work(spec, pools.values(), requests)),
            *_bursts_lost(spec, requests),
            _designs(found),
        ),
        (*_tight(spec, fastest), *_too_little_power(spec, machines), *_left_out(found), *_reasons(found)),
        outside=outside_words(outside_measured(_curves(found), requests.asked)),
    )


def _curves(found: Context) -> list[Curve]:
    """Of all pools that may be tried. How many sequences they decode at once is known of designs only."""
    model = resolve_model(found.spec.model)
    pools = [pool for line in found.lines if not line.reason for pool in line.pools]
    return [Curve(model, pool.machine, pool.tensor_parallel, pool.pipeline_parallel, pool.latency) for pool in pools]


def _reasons(found: Context) -> Iterable[str]:
    """Why lines cannot run, each reason once."""
    families: dict[str, set[str]] = {}
    for line in found.lines:
        if line.reason:
            families.setdefault(line.reason, set()).add(line.family)
    for reason, of in families.items():
        yield f"{reason[:1].upper()}{reason[1:]} ({len(of)} famil{'y' if len(of) == 1 else 'ies'})."


def _left_out(found: Context) -> Iterable[str]:
    """Machines chosen that no family ticked under Advanced uses."""
    used = {pool.machine.id for line in found.lines for pool in line.pools}
    for choice in found.spec.machines:
        machine = resolve_machine(choice.machine)
        if machine.id not in used:
            yield f"No family ticked under Advanced uses {machine.name}: it will not be tried."


def _complaints(page: QuestionPage) -> Iterable[str]:
    return (f"{field.label}: {message}" if field else message for field, message in page.errors)


@lru_cache(maxsize=CACHED_TRACES)
def _requests(workload_id: int, content_hash: str) -> Requests:
    """Read once; the hash is part of the key, so that a changed workload is read again."""
    trace = Workload.unscoped.get(pk=workload_id).trace()
    prompt, output = (int(np.median(tokens)) for tokens in (trace.prompt_tokens, trace.output_tokens))
    return Requests(
        trace, WorkloadStatistics.of(trace), prompt, output, Asked.of(trace), burstiness(trace)["gap_cv"] or 0.0
    )


def _reference(spec: StudySpec, machines: Sequence[Machine]) -> Machine:
    """What a slowdown is relative to; else the first of the machines chosen that can run the model."""
    return resolve_machine(spec.slo.reference) if isinstance(spec.slo, SlowdownSlo) else machines[0]


def _lone(machine: Machine, spec: StudySpec, requests: Requests) -> Lone:
    model = resolve_model(spec.model)
    times = lone_request(model, machine, spec.latency, requests.prompt_tokens, requests.output_tokens)
    return Lone(machine, times, requests)


def _alone(lone: Lone) -> str:
    then = f", then {_time(lone.times.token_s)} a token" if lone.times.token_s else ""
    return (
        f"Before any queueing: one request alone on a {lone.machine.name} ({lone.requests.prompt_tokens:,} tokens in,"
        f" {lone.requests.output_tokens:,} out, the medians): first token {_time(lone.times.first_token_s)}{then}."
    )


def _allowed(spec: StudySpec, lone: Lone) -> str:
    slo = spec.slo
    if isinstance(slo, AttainmentSlo):
        return (
            f"The limits allow {_time(slo.ttft_s)} to the first token and {_time(slo.tpot_s)} a token,"
            f" to {100 * slo.share:g} % of all requests."
        )
    if isinstance(slo, AbsoluteSlo):
        return f"The limits allow {listed([_words(limit) for limit in slo.limits])}."
    bases = {
        "ttft_slowdown": ("first token", lone.times.first_token_s),
        "tbt_slowdown": ("a token", lone.times.token_s),
        "e2e_slowdown": ("end to end", lone.end_to_end_s),
    }
    parts = []
    for metric, (label, alone_s) in bases.items():
        values = [_time((limit.limit or 0) * alone_s) for limit in slo.limits() if limit.metric == metric]
        parts.append(f"{label} {' / '.join(values)}")
    return f"For it the limits allow, at P50 / P90 / P99: {'; '.join(parts)}."


def _words(limit: Limit) -> str:
    name = limit_name(limit.metric, limit.percentile)
    if limit.limit_x_decode is not None:
        return f"{name} of {limit.limit_x_decode:g} decode iterations"
    return f"{name} of {limit_value(limit.metric, limit.limit)}"


def _work(spec: StudySpec, pools: Iterable[PoolChoice], requests: Requests) -> str:
    parts = []
    for pool in pools:
        need = work_machines(
            resolve_model(spec.model),
            pool.machine,
            pool.latency,
            requests.statistics,
            spec.rate_req_per_s,
            pool.tensor_parallel,
            pool.pipeline_parallel,
            LIKELY_BATCH,
        )
        parts.append(f"{number(need.prefill)} {pool.machine.name} for prefill and {number(need.decode)} for decode")
    return f"The work alone needs {', or '.join(parts)}."


def _bursts_lost(spec: StudySpec, requests: Requests) -> Iterable[str]:
    """Arrivals burstier than Poisson's that the question puts aside: they may cost several times the machines."""
    if spec.arrivals == "poisson" and requests.gap_cv >= BURSTY_GAP_CV:
        yield (
            f"Arrivals will be Poisson. The trace's own come in bursts (gaps' coefficient of variation"
            f" {number(requests.gap_cv)}, Poisson's is 1) and may need many more machines: choose them under Advanced."
        )


def _too_many_copies(spec: StudySpec, trace: Trace) -> Iterable[str]:
    """Shifted copies of the trace that no simulation takes: every design would be refused for them."""
    if spec.arrivals != "superpose" or not trace.duration_s:
        return
    copies = round(spec.rate_req_per_s * trace.duration_s / (len(trace) - 1))
    if copies * len(trace) > MOST_REQUESTS:
        yield (
            f"Shifted copies of the trace reach {number(spec.rate_req_per_s)} requests/s with {copies:,} of its"
            f" {len(trace):,} requests; at most {MOST_REQUESTS:,} requests are simulated. Choose a lower rate, or other"
            " arrivals under Advanced, Traffic."
        )


def _designs(found: Context) -> str:
    """The size of the first wave, by the counts proposed alone: making the designs takes longer than all the rest."""
    able = [(line, bounds) for line, bounds in zip(found.lines, found.bounds, strict=True) if not line.reason]
    designs = sum(len(grid(line, found.spec, bounds)) for line, bounds in able)
    families = {line.family for line, _ in able}
    split = sum(family.startswith(f"{SPLIT}:") for family in families)
    return (
        f"{designs} designs to try first: {len(families) - split} co-located and {split} split"
        f" famil{'y' if split == 1 else 'ies'}; what they show leads to the next."
    )


def _tight(spec: StudySpec, fastest: Lone) -> Iterable[str]:
    """Limits that not even a lone request on the fastest machine meets."""
    metrics = {"ttft_s": fastest.times.first_token_s, "tpot_s": fastest.times.token_s, "tbt_s": fastest.times.token_s}
    if isinstance(spec.slo, AttainmentSlo):
        limits = [("ttft_s", spec.slo.ttft_s), ("tpot_s", spec.slo.tpot_s)]
    elif isinstance(spec.slo, AbsoluteSlo):
        limits = [(limit.metric, limit.limit) for limit in spec.slo.limits if limit.limit]
    else:
        limits = []
    for metric, limit in limits:
        if metric in metrics and metrics[metric] > limit:
            yield (
                f"Tight: a median request alone on the fastest machine, {fastest.machine.name}, takes"
                f" {_time(metrics[metric])} where the limit is {_time(limit)}."
            )


def _too_little_power(spec: StudySpec, machines: Iterable[Machine]) -> Iterable[str]:
    limit, kind = spec.limits.power_limit_kw, spec.limits.power_kind
    if limit is None or kind not in ("nameplate", "provisioned"):
        return
    least = min(machines, key=lambda machine: _rated(machine, kind))
    if _rated(least, kind) > limit * 1000:
        yield (
            f"The power limit of {number(limit)} kW is under one {least.name}"
            f" ({number(_rated(least, kind) / 1000)} kW {kind}): the answer will say how far the nearest designs miss."
        )


def _rated(machine: Machine, kind: str) -> float:
    return machine.nameplate_w if kind == "nameplate" else machine.provisioned()


def _time(seconds: float) -> str:
    return f"{number(seconds)} s" if seconds >= 1 else f"{number(1000 * seconds)} ms"
