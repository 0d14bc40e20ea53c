"""A generated workload's spec in words and as a table of its classes."""

from collections.abc import Sequence

from planner.numerals import short
from simcore.spec.week import HOURS
from simcore.traces.lengths import LengthSpec
from simcore.traces.synthetic import SyntheticSpec
from simcore.traces.week import relative_rates

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
CLASS_HEAD = (
    *("class", "share", "prompt tokens", "output tokens", "rank correlation", "cached", "hit the cache"),
    "cost centre",
)


def origin(spec: SyntheticSpec, requests: int) -> str:
    """Where the requests come from, in a sentence or two."""
    lengths = (
        f"lengths of the {spec.mix} mix, fitted to Azure's LLM inference traces of November 2023"
        if spec.mix
        else f"{len(spec.classes)} class{'es' if len(spec.classes) > 1 else ''} of requests"
    )
    return (
        f"Generated: {lengths}; {requests:,} requests, {_arrivals(spec)} at {short(spec.rate_req_per_s)} requests/s"
        f"{' on average over the week' if spec.week else ''}, seed {spec.seed}."
    )


def lines(spec: SyntheticSpec) -> list[str]:
    """What else is to be known of it, a sentence each."""
    return [*_users(spec), *_week(spec), *_growth(spec)]


def busiest_rate(spec: SyntheticSpec) -> float | None:
    """Of the week's busiest hour, in requests/s."""
    return spec.rate_req_per_s * max(relative_rates(spec.week)) if spec.week else None


def class_rows(spec: SyntheticSpec) -> list[Sequence[str]]:
    """A row a class, under CLASS_HEAD."""
    return [
        (
            one.name,
            f"{100 * one.share:.4g} %",
            _lengths(one.prompt_tokens, one.mix),
            _lengths(one.output_tokens, one.mix),
            "the mix's" if one.mix else f"{one.correlation:+.2f}",
            f"{100 * one.cached_prompt_share:.4g} %",
            f"{100 * one.cache_hit_share:.4g} %" if one.cached_prompt_share else "–",
            one.cost_centre or "–",
        )
        for one in spec.classes
    ]


def _lengths(lengths: LengthSpec | None, mix: str | None) -> str:
    if lengths is None:
        return f"of the {mix} mix"
    if lengths.percentiles is not None:
        said = "; ".join(f"P{percentile:g} {tokens:,.0f}" for percentile, tokens in lengths.points)
    else:
        centre = f"median {lengths.median:,.10g}" if lengths.median is not None else f"mean {lengths.mean:,.10g}"
        said = f"{centre}; sigma {lengths.sigma:g}"
    bounds = ("" if lengths.least == 1 else f"; least {lengths.least:,}") + (
        "" if lengths.most is None else f"; most {lengths.most:,}"
    )
    return said + bounds


def _arrivals(spec: SyntheticSpec) -> str:
    if spec.arrivals == "gamma":
        return f"in bursts (gamma gaps of variation {spec.gap_cv:g})"
    return "Poisson" if spec.arrivals == "poisson" else "evenly spaced"


def _users(spec: SyntheticSpec) -> list[str]:
    if spec.users is None:
        return []
    users = spec.users
    answer = f" and {short(users.response_s)} s for an answer" if users.response_s else ""
    most = "" if users.response_s else " The time of an answer is counted as none: it is the most that they make."
    return [
        f"{short(users.users)} users who ask again after {short(users.think_time_s)} s of thought{answer} make"
        f" {short(users.rate_req_per_s)} requests/s. That is an open rate: nobody waits for a slow system before asking"
        f" again.{most}"
    ]


def _week(spec: SyntheticSpec) -> list[str]:
    rate = busiest_rate(spec)
    if spec.week is None or rate is None:
        return []
    rates = relative_rates(spec.week)
    least = short(spec.rate_req_per_s * min(rates))
    return [
        f"Over the week the rate goes from {least} to {short(rate)} requests/s, the most on"
        f" {_hour(rates.index(max(rates)))}. The requests begin on {_hour(spec.first_hour)}."
    ]


def _hour(hour: int) -> str:
    return f"{DAYS[hour // HOURS]} at {hour % HOURS}:00"


def _growth(spec: SyntheticSpec) -> list[str]:
    if spec.growth_per_month is None:
        return []
    year = (1 + spec.growth_per_month) ** 12
    return [f"Traffic grows by {100 * spec.growth_per_month:.3g} % a month: {short(year)} times in a year."]
