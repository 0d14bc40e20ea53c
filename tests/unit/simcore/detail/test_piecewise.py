"""Means over steps of what lasts: exact, however it lies on the steps."""

import numpy as np
import pytest

from simcore.detail.piecewise import Lasting

EDGES = np.array([0, 10, 20, 30])


def column(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def test_what_lasts_counts_by_how_much_of_a_step_it_takes() -> None:
    lasting = Lasting.level(column(-5, 5, 12), column(5, 25, 13), column(1, 2, 10))
    assert lasting.means(EDGES).tolist() == pytest.approx([0.5 + 1.0, 2.0 + 1.0, 1.0])


def test_without_weights_things_are_counted() -> None:
    assert Lasting.level(column(0, 0), column(10, 30)).means(EDGES).tolist() == [2.0, 1.0, 1.0]


def test_what_grows_evenly_has_its_middle_s_value() -> None:
    lasting = Lasting(column(5), column(25), np.array([100.0]), np.array([140.0]))
    # 100 to 110 over half a step, 110 to 130, 130 to 140 over half a step
    assert lasting.means(EDGES).tolist() == pytest.approx([52.5, 120.0, 67.5])


def test_what_takes_no_time_counts_nothing() -> None:
    lasting = Lasting(column(5), column(5), np.array([7.0]), np.array([9.0]))
    assert lasting.means(EDGES).tolist() == [0.0, 0.0, 0.0]


def test_what_is_elsewhere_counts_nothing() -> None:
    assert Lasting.level(column(-9, 30), column(0, 40)).means(EDGES).tolist() == [0.0, 0.0, 0.0]
