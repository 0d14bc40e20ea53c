"""Keys of caches that go by which object it is, where equal ones would take long to compare or cannot be hashed."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Kept = TypeVar("Kept")


class Same(Generic[Kept]):
    """An object that nobody changes, as a key: by where it lies in memory, or by where the parts of it that count lie.
    It is kept with the key, so that nothing else comes to lie there."""

    def __init__(self, value: Kept, *parts: object) -> None:
        self.value = value
        self.place = tuple(map(place_of, parts or (value,)))

    def __hash__(self) -> int:
        return hash(self.place)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.place == other.place


def place_of(value: object) -> tuple[object, ...]:
    """Where an object lies; a slice of an array is a new object each time, so of an array where its numbers are."""
    if isinstance(value, np.ndarray):
        return value.__array_interface__["data"][0], value.shape, value.strides
    return (id(value),)


def whole_length(column: NDArray[Any]) -> int:
    """Of the array that it is a slice of."""
    return len(column.base) if isinstance(column.base, np.ndarray) else len(column)


def are_fixed(*columns: NDArray[Any]) -> bool:
    """Whether nobody may write any of the columns: only then may something be kept for them."""
    return not any(column.flags.writeable for column in columns)
