"""Synthetic workloads: a shipped mix of lengths with generated arrivals.

The n-th request of a seed has the same lengths however many are generated and at whatever rate.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from simcore.spec.decode import bounded, decode, encode
from simcore.traces.arrivals import MOST_REQUESTS, constant_ps, poisson_ps
from simcore.traces.errors import TraceError
from simcore.traces.mixes import mix
from simcore.traces.trace import PS_PER_S, IntArray, Trace

DEFAULT_REQUESTS = 10_000
ARRIVAL_STREAM = 4


@dataclass(frozen=True)
class SyntheticSpec:
    """What is generated: by number of requests (10,000 if neither is given) or by duration."""

    mix: Literal["conversation", "coding"]
    rate_req_per_s: float = bounded(1.0, above=0)
    requests: int | None = bounded(None, least=1, most=MOST_REQUESTS)
    duration_s: float | None = bounded(None, above=0)
    arrivals: Literal["poisson", "constant"] = "poisson"
    seed: int = bounded(0, least=0)

    def __post_init__(self) -> None:
        if self.requests is not None and self.duration_s is not None:
            raise TraceError("requests: found both requests and duration_s, expected one of them")
        if self.duration_s is not None and self.duration_s * self.rate_req_per_s > MOST_REQUESTS:
            raise TraceError(
                f"duration_s: found {self.duration_s * self.rate_req_per_s:,.0f} requests "
                f"({self.duration_s:g} s at {self.rate_req_per_s:g} requests/s), expected at most {MOST_REQUESTS:,}"
            )

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
    arrival_ps = _arrivals(spec)
    prompts, outputs = mix(spec.mix).sample(len(arrival_ps), spec.seed)
    return Trace.of(f"{spec.mix} mix", arrival_ps, prompts, outputs)


def _arrivals(spec: SyntheticSpec) -> IntArray:
    if spec.duration_s is None:
        return _first_arrivals(spec, spec.requests or DEFAULT_REQUESTS)
    mean = spec.duration_s * spec.rate_req_per_s
    # Ten standard deviations of a Poisson count: enough, but for one in 10^22 seeds.
    arrival_ps = _first_arrivals(spec, math.ceil(mean + 10 * math.sqrt(mean)) + 10)
    within = arrival_ps[: int(np.searchsorted(arrival_ps, round(spec.duration_s * PS_PER_S), side="right"))]
    if not len(within):
        raise TraceError(
            f"duration_s: found no arrival within {spec.duration_s:g} s at {spec.rate_req_per_s:g} "
            "requests/s, expected at least one: a longer duration or a higher rate"
        )
    return within


def _first_arrivals(spec: SyntheticSpec, requests: int) -> IntArray:
    if spec.arrivals == "constant":
        return constant_ps(spec.rate_req_per_s, requests)
    return poisson_ps(spec.rate_req_per_s, requests, spec.seed, ARRIVAL_STREAM)
