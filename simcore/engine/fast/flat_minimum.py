"""The least of many numbers, and the first place that has it, kept while they change. One number a replica::

    row:  least of all | least of each range of 32 | v0 v1 ... v31 | v32 ... v63 | ...
                                                     FOREVER: none, as beyond the last replica

A number that falls is compared with its range's least and with the least of all. One that rises has its range looked
through if it was the least there, and the ranges if it was the least of all: 32 numbers side by side, and one for every
32 replicas. That is not O(log N), but quicker up to some thousand replicas: the compiler looks at several numbers at
once, where the branches of a tree are guessed wrong half the time.

Numbers that change often and are asked for seldom, the loads of replicas, are looked through when they are asked for
(``note_number``, ``first_least``); they are not negative, and the first cell of their row has no meaning.
"""

from __future__ import annotations

import numpy as np

from simcore.engine.fast.jit import step
from simcore.engine.fast.layout import Int64, numbers
from simcore.engine.fast.state import FOREVER, NONE

RANGE = 32
RANGE_BITS = 5
RISEN = -1
"""In place of a range's least: it is not known, as the one that was has risen."""


def ranges_of(count: int) -> int:
    """How many ranges so many numbers make."""
    return -(-count // RANGE)


def flat_row(ranges: int) -> Int64:
    """A row for so many ranges that has no number yet."""
    return np.full(1 + ranges + RANGE * ranges, FOREVER)


@step
def change_number(row: int, ranges: int, place: int, number: int) -> None:
    """A place has another number from now on."""
    cells = numbers(row)
    in_range, cell = 1 + (place >> RANGE_BITS), 1 + ranges + place
    before = cells[cell]
    cells[cell] = number
    if number <= before:
        cells[in_range] = min(cells[in_range], number)
        cells[0] = min(cells[0], number)
    elif before == cells[in_range]:
        first = 1 + ranges + RANGE * (in_range - 1)
        cells[in_range] = least_between(row, first, first + RANGE)
        if before == cells[0]:
            cells[0] = least_between(row, 1, 1 + ranges)


@step
def change_only_number(row: int, number: int) -> None:
    """The same of a row for one place: its number is the least."""
    cells = numbers(row)
    cells[0] = cells[1] = cells[2] = number


@step
def least_between(row: int, first: int, end: int) -> int:
    """The least of some cells."""
    cells, least = numbers(row), FOREVER
    for cell in range(first, end):
        least = min(least, cells[cell])
    return least


@step
def note_number(row: int, ranges: int, place: int, number: int) -> None:
    """A place has another number from now on, in a row of which only the first place with the least is asked for, and
    seldom: if its range's least has risen, that is looked for then (``first_least``)."""
    cells = numbers(row)
    in_range, cell = 1 + (place >> RANGE_BITS), 1 + ranges + place
    before, least = cells[cell], cells[in_range]
    cells[cell] = number
    if number < least:
        cells[in_range] = number
    elif before == least and number > before:
        cells[in_range] = RISEN


@step
def first_least(row: int, ranges: int) -> int:
    """The first place with the least number of such a row; ``NONE``: it has no number."""
    cells, least, least_range = numbers(row), FOREVER, NONE
    for number in range(ranges):
        in_range = 1 + number
        if cells[in_range] == RISEN:
            first = 1 + ranges + RANGE * number
            cells[in_range] = least_between(row, first, first + RANGE)
        if cells[in_range] < least:
            least, least_range = cells[in_range], number
    if least_range == NONE:
        return NONE
    return RANGE * least_range + place_of(row, 1 + ranges + RANGE * least_range, least)


@step
def place_of(row: int, first: int, number: int) -> int:
    """Where in a range that begins at this cell a number comes first; it does."""
    cells, place = numbers(row), 0
    while cells[first + place] != number:
        place += 1
    return place


@step
def least_number(row: int) -> int:
    """The least of all; FOREVER: there is none."""
    return numbers(row)[0]


@step
def first_with_least(row: int, ranges: int) -> int:
    """The first place that has it."""
    cells = numbers(row)
    least = cells[0]
    if least == FOREVER:
        return NONE
    number = 0
    while cells[1 + number] != least:
        number += 1
    return RANGE * number + place_of(row, 1 + ranges + RANGE * number, least)
