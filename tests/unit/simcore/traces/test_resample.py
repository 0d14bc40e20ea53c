"""Other rates: exact where exactness is claimed, common random numbers, nothing used twice unasked."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simcore.traces import Trace, TraceError
from simcore.traces.arrivals import scaled
from simcore.traces.resample import at_rate, block_bootstrap
from simcore.traces.statistics import index_of_dispersion
from simcore.traces.synthetic import SyntheticSpec, generate

RATES = st.floats(0.01, 1000)


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    arrivals_ms = draw(st.lists(st.integers(0, 3_600_000), min_size=2, max_size=30, unique=True))
    lengths = draw(st.lists(st.integers(1, 9), min_size=len(arrivals_ms), max_size=len(arrivals_ms)))
    return Trace.of("t", [at * 10**9 for at in sorted(arrivals_ms)], lengths, lengths)


@pytest.fixture(scope="module")
def conversation() -> Trace:
    return generate(SyntheticSpec(mix="conversation", rate_req_per_s=5, requests=5000))


@given(traces(), RATES)
def test_compressed_times_are_exact_to_half_a_picosecond(trace: Trace, rate: float) -> None:
    found = at_rate(trace, rate)
    span = int(trace.arrival_ps[-1] - trace.arrival_ps[0])
    factor = (len(trace) - 1) * 10**12 / Fraction(str(rate)) / span
    for before, after in zip(trace.arrival_ps.tolist(), found.arrival_ps.tolist(), strict=True):
        assert abs((before - int(trace.arrival_ps[0])) * factor - after) <= Fraction(1, 2)
    assert found.prompt_tokens.tolist() == trace.prompt_tokens.tolist()


@given(
    st.lists(st.integers(0, 5 * 10**18), min_size=1, max_size=20),
    st.integers(1, 10**9),
    st.integers(1, 10**18),
)
@example([1, 3, 5], 1, 2)
@example([2**53 + 1, 2**53 + 3], 1, 2)
@example([10**18, 10**18 + 1], 999_999_999, 10**9)
def test_times_are_scaled_as_fractions_are_rounded_half_up(times: list[int], over: int, under: int) -> None:
    factor, times = Fraction(over, under), sorted(times)
    exact = [math.floor(at * factor + Fraction(1, 2)) for at in times]
    if exact[-1] > 10**18:
        return
    assert scaled(np.array(times), factor, 10**18).tolist() == exact


@given(traces(), st.floats(0.1, 20), st.integers(0, 5))
def test_superposed_copies_hold_each_request_equally_often(trace: Trace, times: float, seed: int) -> None:
    rate = trace.rate_per_s * times
    many = at_rate(trace, rate, "superpose", seed)
    copies = len(many) // len(trace)
    assert copies == 1 or abs(copies - times) < 0.501
    assert sorted(many.prompt_tokens.tolist()) == sorted(trace.prompt_tokens.tolist() * copies)
    assert many.rate_per_s == pytest.approx(rate, rel=1e-6)


def test_more_copies_than_can_be_held_are_an_error(conversation: Trace) -> None:
    with pytest.raises(TraceError, match="expected at most 5,000,000 requests"):
        at_rate(conversation, 50_000, "superpose")


def test_superposing_averages_bursts_out_and_compressing_does_not() -> None:
    on_and_off = np.concatenate([np.arange(50) * 10**10 + block * 20 * 10**12 for block in range(100)])
    trace = Trace.of("t", on_and_off, np.ones(5000), np.ones(5000))
    ten_times = [at_rate(trace, trace.rate_per_s * 10, how) for how in ("superpose", "trace")]
    superposed, compressed = (index_of_dispersion(faster, 0.1) for faster in ten_times)
    assert superposed is not None
    assert compressed is not None
    assert superposed < compressed / 3


def test_compressing_moves_the_index_of_a_window_to_a_shorter_one() -> None:
    busy = np.concatenate([120 * 10**12 * block + np.arange(60) * 10**12 for block in range(20)] + [[2400 * 10**12]])
    trace = Trace.of("t", busy, np.ones(1201), np.ones(1201))
    faster = at_rate(trace, trace.rate_per_s * 6)
    assert index_of_dispersion(trace, 60) == 30
    assert index_of_dispersion(faster, 10) == 30


@pytest.mark.parametrize("window_s", [1, 10, 60])
def test_poisson_arrivals_have_an_index_of_one(window_s: int) -> None:
    even = Trace.of("t", np.arange(200_001) * 10**11, np.ones(200_001), np.ones(200_001))
    index = index_of_dispersion(at_rate(even, 20, "poisson", seed=3), window_s)
    windows = 10_000 / window_s
    assert index == pytest.approx(1, abs=3.5 * (2 / windows) ** 0.5)
    assert index_of_dispersion(even, window_s) == 0


def test_poisson_keeps_lengths_in_order_and_scales_one_sequence(conversation: Trace) -> None:
    slow, fast = (at_rate(conversation, rate, "poisson", seed=4) for rate in (5, 20))
    assert fast.prompt_tokens.tolist() == conversation.prompt_tokens.tolist()
    assert np.abs(fast.arrival_ps * 4 - slow.arrival_ps).max() <= 4 * 500_000 + 500_000
    assert fast.rate_per_s == pytest.approx(20, rel=0.05)
    other = at_rate(conversation, 5, "poisson", seed=5)
    assert other.arrival_ps.tolist() != slow.arrival_ps.tolist()


@pytest.mark.parametrize("how", ["trace", "superpose", "poisson"])
def test_requests_is_a_limit_not_a_wish(conversation: Trace, how: str) -> None:
    whole = at_rate(conversation, 5, how)
    assert len(at_rate(conversation, 5, how, requests=9_999)) == len(whole) == 5000
    assert at_rate(conversation, 5, how, requests=70).content_hash() == whole.first(70).content_hash()


@pytest.mark.parametrize("how", ["trace", "superpose", "poisson"])
@pytest.mark.parametrize("rate", [0, -1, float("nan"), float("inf")])
def test_a_rate_must_be_positive(conversation: Trace, how: str, rate: float) -> None:
    with pytest.raises(TraceError, match="expected more than 0"):
        at_rate(conversation, rate, how)


@pytest.mark.parametrize("how", ["trace", "superpose"])
@pytest.mark.parametrize("arrivals", [[5], [5, 5, 5]])
def test_a_trace_at_one_instant_has_no_rate(how: str, arrivals: list[int]) -> None:
    trace = Trace.of("t", arrivals, [1] * len(arrivals), [1] * len(arrivals))
    with pytest.raises(TraceError, match="at one instant"):
        at_rate(trace, 2, how)
    assert len(at_rate(trace, 2, "poisson")) == len(arrivals)


def test_a_rate_too_low_for_the_clock_is_an_error(conversation: Trace) -> None:
    with pytest.raises(TraceError, match="expected at most 5400000 s"):
        at_rate(conversation, 1e-4)


def test_bootstrap_keeps_runs_with_their_gaps(conversation: Trace) -> None:
    again = block_bootstrap(conversation, 1)
    assert len(again) == len(conversation)
    assert again.content_hash() != block_bootstrap(conversation, 2).content_hash()
    assert again.rate_per_s == pytest.approx(conversation.rate_per_s, rel=0.1)
    known = set(zip(np.diff(conversation.arrival_ps).tolist(), conversation.prompt_tokens[1:].tolist(), strict=True))
    kept = list(zip(np.diff(again.arrival_ps).tolist(), again.prompt_tokens[1:].tolist(), strict=True))
    assert sum(pair in known for pair in kept) >= len(kept) - 1


@given(traces(), st.integers(0, 9))
def test_bootstrap_works_for_any_trace(trace: Trace, seed: int) -> None:
    assert set(block_bootstrap(trace, seed).prompt_tokens) <= set(trace.prompt_tokens)
