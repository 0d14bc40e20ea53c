"""Consistency checks: what of a question does not go together, said before it is asked."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from planner.scenarios.bare import Bare, Lone, latency_on, time
from planner.scenarios.limit_checks import too_few, too_little_power
from simcore.catalogue import resolve_machine, resolve_model
from simcore.search.offered_load import requests_needed
from simcore.spec import AbsoluteSlo, AttainmentSlo, SlowdownSlo
from simcore.traces.arrivals import MOST_REQUESTS
from simcore.words import listed, number

BURSTY_GAP_CV = 1.2
"""From here on, arrivals are called bursty; a Poisson process has 1, and a sample of one seldom 1.1."""
COPIES_LAST = " Shifted copies of the trace (Advanced, Traffic) last as long as it does."
FAR_RATE = 20.0
"""From so many times a trace's own rate on, its minutes become seconds."""


def warnings(bare: Bare) -> Iterable[str]:
    """What may be asked all the same."""
    yield from _bursts_lost(bare)
    yield from _tight(bare)
    yield from _beyond_context(bare)
    yield from _short_trace(bare)
    yield from too_little_power(bare)
    yield from too_few(bare)
    yield from _mixed_sources(bare)
    yield from left_out(bare)


def obstacles(bare: Bare) -> Iterable[str]:
    """What no study could answer."""
    if not bare.pools:
        yield "Nothing chosen can run this."
        yield from _reasons(bare)
        return
    yield from _too_many_copies(bare)
    yield from _refused_requests(bare)


def left_out(bare: Bare) -> Iterable[str]:
    """What is chosen and will not be tried."""
    yield from _unused(bare)
    yield from _reasons(bare)


def _reasons(bare: Bare) -> Iterable[str]:
    """Why lines cannot run, each reason once."""
    families: dict[str, set[str]] = {}
    for line in bare.found.lines:
        if line.reason:
            families.setdefault(line.reason, set()).add(line.family)
    for reason, of in families.items():
        yield f"{reason[:1].upper()}{reason[1:]} ({len(of)} famil{'y' if len(of) == 1 else 'ies'})."


def _unused(bare: Bare) -> Iterable[str]:
    """Machines chosen that no family ticked under Advanced uses."""
    used = {pool.machine.id for line in bare.found.lines for pool in line.pools}
    for choice in bare.spec.machines:
        machine = resolve_machine(choice.machine)
        if machine.id not in used:
            yield f"No family ticked under Advanced uses {machine.name}: it will not be tried."


def _bursts_lost(bare: Bare) -> Iterable[str]:
    """Arrivals burstier than Poisson's that the question puts aside: they may cost several times the machines."""
    if bare.spec.arrivals == "poisson" and bare.requests.gap_cv >= BURSTY_GAP_CV:
        yield (
            f"Arrivals will be Poisson. The trace's own come in bursts (gaps' coefficient of variation"
            f" {number(bare.requests.gap_cv)}, Poisson's is 1) and may need many more machines: choose them under"
            " Advanced."
        )


def _too_many_copies(bare: Bare) -> Iterable[str]:
    """Shifted copies of the trace that no simulation takes: every design would be refused for them."""
    return _copies_beyond(bare) if bare.spec.arrivals == "superpose" else ()


def _copies_beyond(bare: Bare) -> Iterable[str]:
    trace, rate = bare.requests.trace, bare.spec.rate_req_per_s
    if not trace.duration_s:
        return
    copies = round(rate * trace.duration_s / (len(trace) - 1))
    if copies * len(trace) > MOST_REQUESTS:
        yield (
            f"Shifted copies of the trace reach {number(rate)} requests/s with {copies:,} of its"
            f" {len(trace):,} requests; at most {MOST_REQUESTS:,} requests are simulated. Choose a lower rate, or other"
            " arrivals under Advanced, Traffic."
        )


def _longest(bare: Bare) -> NDArray[np.int64]:
    trace = bare.requests.trace
    return trace.prompt_tokens + trace.output_tokens


def _beyond_context(bare: Bare) -> Iterable[str]:
    """Requests that the model has no context for: simulated all the same, unless the longest is set."""
    model, longest = resolve_model(bare.spec.model), _longest(bare)
    most = bare.spec.memory.max_model_tokens
    beyond = int((longest > model.max_model_tokens).sum())
    if beyond and (most is None or most > model.max_model_tokens):
        yield (
            f"{_share(beyond, len(longest))} are longer, prompt and output together, than the"
            f" {model.max_model_tokens:,} tokens of {model.name}'s context (the longest {int(longest.max()):,}). They"
            " are simulated as if it took them; to refuse them, set the longest request under Advanced, Memory."
        )


def _refused_requests(bare: Bare) -> Iterable[str]:
    """Refused requests count as missed: where more are refused than the limits leave, no design holds them."""
    most = bare.spec.memory.max_model_tokens
    if most is None:
        return
    longest = _longest(bare)
    refused, left = int((longest > most).sum()), _share_left(bare)
    if refused > left * len(longest):
        yield (
            f"{_share(refused, len(longest))} are longer than the {most:,} tokens of the longest request (Advanced,"
            f" Memory): they are refused and count as missed, and the limits leave {100 * left:g} %. No design holds"
            " them."
        )


def _share_left(bare: Bare) -> float:
    """The share of requests that may miss every limit."""
    slo = bare.spec.slo
    if isinstance(slo, AttainmentSlo):
        return 1 - slo.share
    limits = slo.limits() if isinstance(slo, SlowdownSlo) else slo.limits
    return 1 - max(limit.percentile for limit in limits) / 100


def _share(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,} requests ({number(100 * part / whole)} %)"


def _short_trace(bare: Bare) -> Iterable[str]:
    """A trace of minutes at a far higher rate: its requests are over in seconds, and it is used once."""
    spec, trace = bare.spec, bare.requests.trace
    needed = requests_needed(spec.rate_req_per_s)
    if spec.arrivals == "superpose" or len(trace) >= needed or len(trace) < 2 or not trace.duration_s:
        return
    own = (len(trace) - 1) / trace.duration_s
    lasts = len(trace) / spec.rate_req_per_s
    far = spec.rate_req_per_s > FAR_RATE * own
    times = f", {number(spec.rate_req_per_s / own)} times the trace's own" if far else ""
    yield (
        f"The workload has {len(trace):,} requests: at {number(spec.rate_req_per_s)} requests/s{times}, they are over"
        f" in {time(lasts)}. A capacity wants {needed:,} of them; fewer make it less sure, and what builds up slowly is"
        f" not seen.{'' if any(_copies_beyond(bare)) else COPIES_LAST}"
    )


def _tight(bare: Bare) -> Iterable[str]:
    """Limits that not even a lone request on the fastest machine meets."""
    fastest = min(bare.everywhere(), key=lambda one: one.times.first_token_s)
    for metric, limit_s in _limits_s(bare):
        alone = _alone_s(metric, fastest)
        if alone > limit_s:
            yield (
                f"Tight: a median request alone on the fastest machine, {fastest.machine.name}, takes {time(alone)} to"
                f" {metric} where the limit is {time(limit_s)}."
            )


def _limits_s(bare: Bare) -> Sequence[tuple[str, float]]:
    """Limits that a median request must keep, with what they are on: the first token, a later token."""
    slo = bare.spec.slo
    if isinstance(slo, AttainmentSlo):
        return [("the first token", slo.ttft_s), ("a later token", slo.tpot_s)]
    names = {"ttft": "the first token", "tpot": "a later token", "tbt": "a later token", "e2e": "the last token"}
    if isinstance(slo, AbsoluteSlo):
        given = [(limit.metric.removesuffix("_s"), limit) for limit in slo.limits if limit.limit]
        return [(names[metric], limit.limit or 0.0) for metric, limit in given if _of_median(metric, limit.percentile)]
    lone = bare.reference()
    at_median = [(limit.metric.removesuffix("_slowdown"), limit) for limit in slo.limits() if limit.percentile == 50]
    return [(names[metric], (limit.limit or 0.0) * _alone_s(names[metric], lone)) for metric, limit in at_median]


def _of_median(metric: str, percentile: float) -> bool:
    return metric != "queue" and percentile >= 50


def _alone_s(metric: str, lone: Lone) -> float:
    times = {"the first token": lone.times.first_token_s, "a later token": lone.times.token_s}
    return times.get(metric, lone.end_to_end_s)


def _mixed_sources(bare: Bare) -> Iterable[str]:
    """Machines whose times come from different sources are compared across them."""
    sources: dict[str, list[str]] = {}
    for machine in bare.machines:
        latency = latency_on(bare.spec, machine.id)
        source = "calibrated" if latency.source == "calibrated" else f"{latency.source} ({latency.engine})"
        sources.setdefault("measured" if latency.source == "measured" else source, []).append(machine.name)
    if len(sources) > 1:
        told = [f"{listed(names)}: {source}" for source, names in sources.items()]
        yield (
            f"Iteration times come from different sources, which may differ more than the machines: {'; '.join(told)}."
        )
