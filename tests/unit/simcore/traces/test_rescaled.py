"""How bursty a trace comes out at another rate, by each way."""

import numpy as np
import pytest

from simcore.traces import PS_PER_S, Trace
from simcore.traces.resample import How, at_rate
from simcore.traces.rescaled import WINDOWS_S, Burstiness, Times, expected_dispersion, rescaled
from simcore.traces.statistics import busiest_req_per_s, gap_cv, index_of_dispersion, statistics


@pytest.fixture(scope="module")
def bursty() -> Trace:
    """Ten requests within a tenth of a second, at times of a Poisson process of one burst in two seconds."""
    bursts = np.cumsum(np.random.default_rng(3).exponential(2, 4000))
    times = np.sort((bursts[:, None] + np.linspace(0, 0.1, 10)).ravel())
    return Trace.of("bursts", np.rint(times * PS_PER_S).astype(np.int64), [100] * 40_000, [10] * 40_000)


def test_compressing_moves_the_index_along_and_superposing_keeps_it(bursty: Trace) -> None:
    own, found = Burstiness.of(Times.of(bursty.arrival_ps)), rescaled(bursty.arrival_ps, 20 * bursty.rate_per_s)
    assert own.dispersion == {window: index_of_dispersion(bursty, window) for window in WINDOWS_S}
    assert own.dispersion[1] == pytest.approx(9.5, rel=0.1)
    assert found["trace"].dispersion[1] == pytest.approx(index_of_dispersion(bursty, 20), rel=0.05)
    assert found["superpose"].dispersion[1] == pytest.approx(own.dispersion[1], rel=0.15)
    assert found["poisson"].dispersion[1] == pytest.approx(1, abs=0.2)
    assert found["superpose"].rate_req_per_s == pytest.approx(20 * bursty.rate_per_s)


@pytest.mark.parametrize("how", ["trace", "superpose", "poisson"])
@pytest.mark.parametrize("window_s", [1, 5])
def test_what_is_expected_is_what_comes(bursty: Trace, how: str, window_s: int) -> None:
    rate = 2 * bursty.rate_per_s
    came = rescaled(bursty.arrival_ps, rate)[how].dispersion[window_s]
    assert expected_dispersion(bursty, rate, how, window_s) == pytest.approx(came, rel=0.25)


@pytest.mark.parametrize("how", ["trace", "superpose", "poisson"])
@pytest.mark.parametrize("times", [0.01, 0.7, 3.3, 50])
def test_it_is_what_the_trace_brought_there_shows(bursty: Trace, how: How, times: float) -> None:
    rate = times * bursty.rate_per_s
    found, brought = rescaled(bursty.arrival_ps, rate)[how], at_rate(bursty, rate, how)
    if how == "superpose" and times == 50:  # of so many copies the first part is looked at
        assert found.of_first == 20_000
        return
    assert found.requests == len(brought)
    assert found.rate_req_per_s == pytest.approx(brought.rate_per_s, rel=1e-6)
    assert found.gap_cv == pytest.approx(gap_cv(brought.arrival_ps), rel=1e-4)
    for window, value in found.dispersion.items():
        expected = index_of_dispersion(brought, window)
        assert value == (None if expected is None else pytest.approx(expected, rel=1e-3))


def test_a_burst_of_a_microsecond_is_stretched_to_hours() -> None:
    trace = Trace.of("t", np.arange(1000) ** 2, [5] * 1000, [1] * 1000)
    expected = Burstiness.of(Times.of(at_rate(trace, 0.1).arrival_ps)).dispersion
    assert rescaled(trace.arrival_ps, 0.1)["trace"].dispersion == pytest.approx(expected, rel=1e-3)
    assert "found arrivals up to" in rescaled(trace.arrival_ps, 1e-6)["trace"].problem


def test_a_trace_without_a_rate_says_so() -> None:
    found = rescaled(Trace.of("t", [0, 0], [5, 6], [1, 2]).arrival_ps, 3.0)
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
