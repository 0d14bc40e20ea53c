"""What an SLO allows in milliseconds, for this model: of a median request, or on each machine."""

from collections.abc import Iterable
from dataclasses import dataclass

from planner.scenarios.bare import Bare, Lone, time
from planner.scenarios.sources import SOURCES
from simcore.slo.objective import decode_iteration_s
from simcore.spec import AbsoluteSlo, AttainmentSlo, Limit, SlowdownSlo
from simcore.words import limit_name, limit_value, listed, number, with_article

SLOWDOWN_LABELS = {
    "ttft_slowdown": "First token",
    "tbt_slowdown": "A later token (mean of a request)",
    "e2e_slowdown": "End to end",
}


@dataclass(frozen=True)
class LimitTable:
    """``short``: in the sentence, beside the objective. ``head`` and ``rows``: all of it."""

    short: str
    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    origin: str = ""
    """What the limits are from, where they are not the user's own."""


def limits_shown(bare: Bare, lone: Lone) -> LimitTable:
    slo = bare.spec.slo
    if isinstance(slo, SlowdownSlo):
        return _slowdown(slo, lone)
    if isinstance(slo, AttainmentSlo):
        return _attainment(slo)
    return _absolute(slo, bare)


def allowed(bare: Bare, lone: Lone) -> str:
    """The limits as a sentence of the preview."""
    slo = bare.spec.slo
    if isinstance(slo, SlowdownSlo):
        at_median = {limit.name: limit.limit or 0.0 for limit in slo.limits()}
        first, later = at_median["ttft_slowdown_p50"], at_median["tbt_slowdown_p50"]
        return (
            f"The limits allow {time(first * lone.times.first_token_s)} and {time(later * lone.times.token_s)} at the"
            " median."
        )
    if isinstance(slo, AttainmentSlo):
        return (
            f"The limits allow {time(slo.ttft_s)} to the first token and {time(slo.tpot_s)} a token, to"
            f" {100 * slo.share:g} % of all requests."
        )
    return f"The limits allow {listed([_words(limit) for limit in slo.limits])}."


def _slowdown(slo: SlowdownSlo, lone: Lone) -> LimitTable:
    alone_s = dict(zip(SLOWDOWN_LABELS, (lone.times.first_token_s, lone.times.token_s, lone.end_to_end_s), strict=True))
    by_metric: dict[str, dict[float, float]] = {}
    for limit in slo.limits():
        by_metric.setdefault(limit.metric, {})[limit.percentile] = limit.limit or 0.0
    percentiles = tuple(by_metric["ttft_slowdown"])
    rows = tuple(
        (SLOWDOWN_LABELS[metric], time(alone_s[metric]), *(_cell(at[p], alone_s[metric]) for p in percentiles))
        for metric, at in by_metric.items()
    )
    first, later = (
        " / ".join(_ms(at * alone_s[metric]) for at in by_metric[metric].values())
        for metric in ("ttft_slowdown", "tbt_slowdown")
    )
    requests = lone.requests
    caption = (
        f"Of the median request, {requests.prompt_tokens:,} tokens in and {requests.output_tokens:,} out; each request"
        f" has limits of its own, against itself alone on {with_article(lone.machine.name)}."
    )
    head = ("", "Alone", *(f"P{p:g}" for p in percentiles))
    short = f"first token {first} ms, then {later} ms a token"
    return LimitTable(short, caption, head, rows, SOURCES["slo_kind"].origin)


def _cell(times: float, alone_s: float) -> str:
    return f"{time(times * alone_s)} ({times:g}×)"


def _ms(seconds: float) -> str:
    return number(1000 * seconds)


def _attainment(slo: AttainmentSlo) -> LimitTable:
    rows = (("First token", time(slo.ttft_s)), ("A later token, mean of a request", time(slo.tpot_s)))
    caption = f"The same request meets both, {100 * slo.share:g} % of all requests do."
    short = f"first token {_ms(slo.ttft_s)} ms, then {_ms(slo.tpot_s)} ms a token"
    return LimitTable(short, caption, ("", "At most"), rows)


def _absolute(slo: AbsoluteSlo, bare: Bare) -> LimitTable:
    rows = [row for limit in slo.limits for row in _rows(limit, bare)]
    short = ", ".join(f"{name} {value}" for name, value in rows[:3]) + (", …" if len(rows) > 3 else "")
    caption = "The same for every request."
    if any(limit.limit_x_decode is not None for limit in slo.limits):
        caption = "A decode iteration is of 32 requests at a context of 4,096 tokens, on the design's own replica."
    return LimitTable(short, caption, ("", "At most"), tuple(rows))


def _rows(limit: Limit, bare: Bare) -> Iterable[tuple[str, str]]:
    """A limit in decode iterations differs by machine."""
    name = limit_name(limit.metric, limit.percentile)
    if limit.limit_x_decode is None:
        yield name, time(limit.limit or 0.0)
        return
    able = [line for line in bare.found.lines if not line.reason]
    decoding = {(line.pools[-1].machine.id, line.pools[-1].tensor_parallel): line for line in able}
    for (_, tensor_parallel), line in decoding.items():
        iteration_s = decode_iteration_s(line.design((1,) * len(line.pools)).case)
        yield (
            f"{name} on {line.pools[-1].machine.name}, TP{tensor_parallel}",
            time(limit.limit_x_decode * iteration_s),
        )


def _words(limit: Limit) -> str:
    name = limit_name(limit.metric, limit.percentile)
    if limit.limit_x_decode is not None:
        return f"{name} of {limit.limit_x_decode:g} decode iterations"
    return f"{name} of {limit_value(limit.metric, limit.limit)}"
