"""How bursty a trace comes out at another rate, by each way."""

import numpy as np
import pytest

from simcore.traces import PS_PER_S, Trace
from simcore.traces.rescaled import WINDOWS_S, Burstiness, expected_dispersion, rescaled
from simcore.traces.statistics import busiest_req_per_s, index_of_dispersion, statistics


@pytest.fixture(scope="module")
def bursty() -> Trace:
    """Ten requests within a tenth of a second, at times of a Poisson process of one burst in two seconds."""
    bursts = np.cumsum(np.random.default_rng(3).exponential(2, 4000))
    times = np.sort((bursts[:, None] + np.linspace(0, 0.1, 10)).ravel())
    return Trace.of("bursts", np.rint(times * PS_PER_S).astype(np.int64), [100] * 40_000, [10] * 40_000)


def test_compressing_moves_the_index_along_and_superposing_keeps_it(bursty: Trace) -> None:
    own, found = Burstiness.of(bursty), rescaled(bursty, 20 * bursty.rate_per_s)
    assert own.dispersion[1] == pytest.approx(9.5, rel=0.1)
    assert found["trace"].dispersion[1] == pytest.approx(index_of_dispersion(bursty, 20), rel=0.05)
    assert found["superpose"].dispersion[1] == pytest.approx(own.dispersion[1], rel=0.15)
    assert found["poisson"].dispersion[1] == pytest.approx(1, abs=0.2)
    assert found["superpose"].rate_req_per_s == pytest.approx(20 * bursty.rate_per_s)


@pytest.mark.parametrize("how", ["trace", "superpose", "poisson"])
@pytest.mark.parametrize("window_s", [1, 5])
def test_what_is_expected_is_what_comes(bursty: Trace, how: str, window_s: int) -> None:
    rate = 2 * bursty.rate_per_s
    came = rescaled(bursty, rate)[how].dispersion[window_s]
    assert expected_dispersion(bursty, rate, how, window_s) == pytest.approx(came, rel=0.25)


def test_a_trace_without_a_rate_says_so() -> None:
    found = rescaled(Trace.of("t", [0, 0], [5, 6], [1, 2]), 3.0)
    assert "at one instant" in found["trace"].problem
    assert found["poisson"].problem == ""
    assert set(found["poisson"].dispersion) == set(WINDOWS_S)


def test_the_busiest_windows(bursty: Trace) -> None:
    assert busiest_req_per_s(bursty, 60) > 1.3 * bursty.rate_per_s
    assert statistics(bursty)["busiest_req_per_s"]["3600_s"] == pytest.approx(bursty.rate_per_s, rel=0.1)
    assert busiest_req_per_s(Trace.of("t", [0, 70 * PS_PER_S], [5, 6], [1, 2]), 60) is None


def test_counts_are_those_of_numpy_unique(bursty: Trace) -> None:
    offsets = bursty.arrival_ps - bursty.arrival_ps[0]
    windows = int(offsets[-1]) // (7 * PS_PER_S)
    _, counts = np.unique((offsets // (7 * PS_PER_S))[offsets < windows * 7 * PS_PER_S], return_counts=True)
    squares, requests = int((counts * counts).sum()), int(counts.sum())
    assert index_of_dispersion(bursty, 7) == (windows * squares - requests**2) / (windows * requests)
