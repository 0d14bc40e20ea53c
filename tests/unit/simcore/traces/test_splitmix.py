"""Random numbers: the published sequence, the claimed accuracy, prefixes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore.traces.splitmix import below, exponentials, natural_log, words


def test_seed_zero_gives_the_published_sequence() -> None:
    # SplitMix64 from state 0, as in the reference implementation.
    assert words(0, 0, 3).tolist() == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


def test_natural_log_is_within_1e_15_of_the_library() -> None:
    values = np.concatenate([np.geomspace(2.0**-53, 1, 100_001), np.linspace(0.5, 2, 100_001)])
    error = np.abs(natural_log(values) - np.log(values))
    assert np.all(error <= 1e-15 * np.maximum(1, np.abs(np.log(values))))


def test_exponentials_have_mean_and_deviation_one() -> None:
    gaps = exponentials(3, 1, 1_000_000)
    assert gaps.min() >= 0
    assert gaps.mean() == pytest.approx(1, abs=0.005)
    assert gaps.std() == pytest.approx(1, abs=0.01)
    assert np.mean(gaps > 3) == pytest.approx(np.exp(-3), abs=0.001)


@given(st.integers(0, 2**64), st.integers(0, 20), st.integers(1, 50), st.integers(1, 50))
def test_a_longer_sequence_begins_as_a_shorter_one(seed: int, stream: int, short: int, more: int) -> None:
    assert words(seed, stream, short + more)[:short].tolist() == words(seed, stream, short).tolist()


@given(st.integers(0, 100), st.integers(1, 2**31))
def test_below_stays_below(seed: int, limit: int) -> None:
    numbers = below(seed, 1, 100, limit)
    assert numbers.min() >= 0
    assert numbers.max() < limit


def test_streams_and_seeds_are_unrelated() -> None:
    first, other_stream, other_seed = (exponentials(*key, 100_000) for key in ((0, 1), (0, 2), (1, 1)))
    for other in (other_stream, other_seed):
        assert abs(np.corrcoef(first, other)[0, 1]) < 0.02
