"""Synthetic workloads: lengths of a shipped mix or of named classes, with generated arrivals.

The n-th request of a seed has the same lengths however many are generated and at whatever rate.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from simcore.spec.decode import bounded, decode, encode
from simcore.spec.week import Week, check_week
from simcore.traces.arrivals import MOST_REQUESTS, UNITS_PER_GAP, at_rate_ps, poisson_gaps
from simcore.traces.classes import RequestClass, check_classes, draw
from simcore.traces.errors import TraceError
from simcore.traces.gamma import gamma_gaps
from simcore.traces.mixes import mix
from simcore.traces.trace import PS_PER_S, IntArray, Trace
from simcore.traces.week import busiest_hour, through_the_week, weighted_s

DEFAULT_REQUESTS = 10_000
DEFAULT_RATE_REQ_PER_S = 1.0
ARRIVAL_STREAM = 4
HOURS_A_WEEK = 168


@dataclass(frozen=True)
class UsersSpec:
    """People who ask, read the answer, think, and ask again. No user waits for another: the rate is open."""

    users: float = bounded(above=0, most=1e12)
    """Active at once."""
    think_time_s: float = bounded(least=0, most=1e9)
    """From the end of an answer to the next question, on average."""
    response_s: float = bounded(0.0, least=0, most=1e6)
    """How long an answer takes, on average; 0, the most traffic that so many users make."""

    def __post_init__(self) -> None:
        if self.think_time_s + self.response_s <= 0:
            raise TraceError("think_time_s: found 0 with a response_s of 0, expected more than 0 together")

    @property
    def rate_req_per_s(self) -> float:
        """Users over the time from one question to the next."""
        return self.users / (self.think_time_s + self.response_s)


@dataclass(frozen=True)
class SyntheticSpec:
    """What is generated: by number of requests (10,000 if neither is given) or by duration."""

    mix: Literal["conversation", "coding"] | None = None
    rate_req_per_s: float = bounded(DEFAULT_RATE_REQ_PER_S, above=0)
    """With ``week`` the mean over the week; with ``users`` it follows from them."""
    requests: int | None = bounded(None, least=1, most=MOST_REQUESTS)
    duration_s: float | None = bounded(None, above=0)
    arrivals: Literal["poisson", "constant", "gamma"] = "poisson"
    seed: int = bounded(0, least=0)
    classes: tuple[RequestClass, ...] = ()
    """Instead of ``mix``."""
    gap_cv: float | None = bounded(None, least=0.1, most=10)
    """Of ``gamma`` arrivals: standard deviation over mean of the gaps; 1 is Poisson."""
    week: Week | None = None
    """Relative rates of 24 hours on seven days, Monday first."""
    start_hour: int | None = bounded(None, least=0, most=HOURS_A_WEEK - 1)
    """Of the week, in which the first request comes; None: the busiest one."""
    users: UsersSpec | None = None
    """Instead of ``rate_req_per_s``."""
    growth_per_month: float | None = bounded(None, above=-1, most=10)
    """Of the rate, compounding: 0.05 is 5 % a month. It changes no request: sections that look ahead read it."""

    def __post_init__(self) -> None:
        if (self.mix is None) == (not self.classes):
            raise TraceError("mix: give exactly one of mix and classes")
        if self.classes:
            check_classes(self.classes)
        self._check_arrivals()
        self._take_users()
        if self.requests is not None and self.duration_s is not None:
            raise TraceError("requests: found both requests and duration_s, expected one of them")
        if self.duration_s is not None and self.expected_requests(self.duration_s) > MOST_REQUESTS:
            raise TraceError(
                f"duration_s: found {self.expected_requests(self.duration_s):,.0f} requests "
                f"({self.duration_s:g} s at {self.rate_req_per_s:g} requests/s), expected at most {MOST_REQUESTS:,}"
            )

    def _check_arrivals(self) -> None:
        if (self.arrivals == "gamma") != (self.gap_cv is not None):
            found = "found without gap_cv" if self.gap_cv is None else f"found {self.arrivals!r} with gap_cv"
            raise TraceError(f"arrivals: {found}, expected 'gamma' and gap_cv together")
        if self.week is not None:
            check_week(self.week)
        elif self.start_hour is not None:
            raise TraceError("start_hour: found without week, expected both")

    def _take_users(self) -> None:
        if self.users is None:
            return
        rate = self.users.rate_req_per_s
        if self.rate_req_per_s not in (DEFAULT_RATE_REQ_PER_S, rate):
            raise TraceError(f"rate_req_per_s: found {self.rate_req_per_s:g} with users, expected one of the two")
        object.__setattr__(self, "rate_req_per_s", rate)

    def expected_requests(self, duration_s: float) -> float:
        """How many come within the time, on average."""
        if self.week is None:
            return self.rate_req_per_s * duration_s
        return self.rate_req_per_s * weighted_s(self.week, self.first_hour, duration_s)

    @property
    def first_hour(self) -> int:
        """Of the week, in which the first request comes."""
        if self.start_hour is not None or self.week is None:
            return self.start_hour or 0
        return busiest_hour(self.week)

    @property
    def name(self) -> str:
        """What the trace is called."""
        return f"{self.mix} mix" if self.mix else f"mix of {', '.join(one.name for one in self.classes)}"

    @classmethod
    def from_json(cls, value: Any, where: str = "synthetic") -> Self:
        """From a JSON object; SpecError names the key, what was found, what is expected."""
        return decode(cls, value, where)

    def to_json(self) -> dict[str, Any]:
        """The JSON object that from_json gives an equal spec for."""
        spec: dict[str, Any] = encode(self)
        return spec


def generate(spec: SyntheticSpec) -> Trace:
    """The trace of a spec: the same on every machine. Raises TraceError where it would be empty or too long."""
    arrival_ps = arrival_times(spec)
    if spec.mix is not None:
        prompts, outputs = mix(spec.mix).sample(len(arrival_ps), spec.seed)
        return Trace.of(spec.name, arrival_ps, prompts, outputs)
    drawn = draw(spec.classes, len(arrival_ps), spec.seed)
    lengths = (drawn.prompt_tokens, drawn.output_tokens, drawn.cached_prompt_tokens)
    return Trace.of(spec.name, arrival_ps, *lengths, classes=drawn.classes)


def arrival_times(spec: SyntheticSpec) -> IntArray:
    """When a spec's requests come, in picoseconds. Raises TraceError as generate does."""
    if spec.duration_s is None:
        return _first_arrivals(spec, spec.requests or DEFAULT_REQUESTS)
    mean = spec.expected_requests(spec.duration_s)
    # Ten standard deviations of a Poisson count: enough, but for one in 10^22 seeds.
    spread = 10 * max(spec.gap_cv or 1, 1) * math.sqrt(mean)
    arrival_ps = _first_arrivals(spec, math.ceil(mean + spread) + 10)
    within = arrival_ps[: int(np.searchsorted(arrival_ps, round(spec.duration_s * PS_PER_S), side="right"))]
    if not len(within):
        raise TraceError(
            f"duration_s: found no arrival within {spec.duration_s:g} s at {spec.rate_req_per_s:g} "
            "requests/s, expected at least one: a longer duration or a higher rate"
        )
    return within


def _first_arrivals(spec: SyntheticSpec, requests: int) -> IntArray:
    gaps = _gaps(spec, requests)
    if spec.week is None:
        return at_rate_ps(gaps, spec.rate_req_per_s)
    return through_the_week(gaps, spec.rate_req_per_s, spec.week, spec.first_hour)


def _gaps(spec: SyntheticSpec, requests: int) -> IntArray:
    """Times in 10^-12 mean gaps of an even rate."""
    if spec.arrivals == "constant":
        return np.arange(requests, dtype=np.int64) * UNITS_PER_GAP
    if spec.gap_cv is not None:
        return np.cumsum(gamma_gaps(spec.gap_cv, requests, spec.seed, ARRIVAL_STREAM))
    return poisson_gaps(requests, spec.seed, ARRIVAL_STREAM)
