import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore.capacity import interval
from simcore.capacity.interval import resampled
from simcore.slo.distribution import rank


def by_hand(values, percentile):
    """Each resample written out and sorted."""
    blocks = min(interval.BLOCKS, len(values))
    size = len(values) // blocks
    grid = values[: blocks * size].reshape(blocks, size)
    picks = np.random.default_rng(interval.SEED).integers(0, blocks, (interval.RESAMPLES, blocks))
    return np.array([np.sort(grid[pick].ravel())[rank(percentile, blocks * size) - 1] for pick in picks])


@given(
    st.lists(st.integers(0, 9) | st.floats(0, 1e9), min_size=1, max_size=300), st.sampled_from([1, 50, 90, 99.9, 100])
)
def test_a_resample_s_percentile_is_that_of_its_values(values, percentile):
    column = np.array(values, float)
    assert np.array_equal(resampled(column, percentile), by_hand(column, percentile))


@pytest.mark.parametrize("length", [39, 40, 41, 127, 5000, 5123])
def test_at_any_length_and_with_values_that_never_came(length):
    rng = np.random.default_rng(length)
    column = np.where(rng.random(length) < 0.1, np.inf, rng.integers(0, 50, length))
    for percentile in (50, 90, 95):
        assert np.array_equal(resampled(column, percentile), by_hand(column, percentile))
