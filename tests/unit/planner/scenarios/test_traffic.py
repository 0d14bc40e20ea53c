"""How bursty the requests come out is said under the question."""

from types import SimpleNamespace

import numpy as np
import pytest

from planner.scenarios.traffic import traffic
from simcore.traces import PS_PER_S, SyntheticSpec, Trace, generate
from simcore.traces.statistics import index_of_dispersion
from simcore.words import number


def said(trace: Trace, rate: float, how: str) -> list[str]:
    bare = SimpleNamespace(
        requests=SimpleNamespace(trace=trace), spec=SimpleNamespace(rate_req_per_s=rate, arrivals=how)
    )
    return list(traffic(bare))


@pytest.fixture(scope="module")
def pulses() -> Trace:
    """Two minutes without a request after each with sixty, one a second: for two hours."""
    times = [minute * 180 + second for minute in range(40) for second in range(60)]
    return Trace.of("pulses", np.array(times) * PS_PER_S, [5] * 2400, [6] * 2400)


def test_compressed_copied_and_poisson(pulses: Trace) -> None:
    compressed = said(pulses, 60 * pulses.rate_per_s, "trace")[0]
    assert "Traffic: the workload's times compressed 60 times." in compressed
    after = index_of_dispersion(pulses, 60)
    assert f"The variance of requests is {number(after)} in 1 s" in compressed
    copies = said(pulses, 60 * pulses.rate_per_s, "superpose")[0]
    assert "60 shifted copies of the workload" in copies
    poisson = said(pulses, 9, "poisson")[0]
    assert "lengths at Poisson times. The variance of requests is 1 in 1 s and 1 in 60 s times their mean" in poisson


def test_a_short_run_says_that_it_cannot_tell() -> None:
    short = generate(SyntheticSpec("coding", 10, 300))
    assert "too short to tell in 60 s" in said(short, 20, "trace")[0]
    assert said(Trace.of("t", [0, 0], [1, 1], [1, 1]), 5, "trace") == []
