"""The least of many numbers, and the first place that has it, kept while they change. One number a replica::

    row:  least of all | least of each group of 32 | v0 v1 ... v31 | v32 ... v63 | ...
                                                     FOREVER: none, as beyond the last replica

A number that falls is compared with its group's least and with the least of all. One that rises has its group looked
through if it was the least there, and the groups if it was the least of all: 32 numbers side by side, and one for every
32 replicas. That is not O(log N), but quicker up to some thousand replicas: the compiler looks at several numbers at
once, where the branches of a tree are guessed wrong half the time.
"""

from __future__ import annotations

import numpy as np

from simcore.engine.fast.jit import step
from simcore.engine.fast.layout import Int64, numbers
from simcore.engine.fast.state import FOREVER, NONE

GROUP = 32
GROUP_BITS = 5


def groups_of(count: int) -> int:
    """How many groups so many numbers make."""
    return -(-count // GROUP)


def flat_row(groups: int) -> Int64:
    """A row for so many groups that has no number yet."""
    return np.full(1 + groups + GROUP * groups, FOREVER)


@step
def change_number(row: int, groups: int, place: int, number: int) -> None:
    """A place has another number from now on."""
    cells = numbers(row)
    group, cell = 1 + (place >> GROUP_BITS), 1 + groups + place
    before = cells[cell]
    cells[cell] = number
    if number <= before:
        cells[group] = min(cells[group], number)
        cells[0] = min(cells[0], number)
    elif before == cells[group]:
        first = 1 + groups + GROUP * (group - 1)
        cells[group] = least_between(row, first, first + GROUP)
        if before == cells[0]:
            cells[0] = least_between(row, 1, 1 + groups)


@step
def least_between(row: int, first: int, end: int) -> int:
    """The least of some cells."""
    cells = numbers(row)
    least = cells[first]
    for cell in range(first + 1, end):
        least = min(least, cells[cell])
    return least


@step
def least_number(row: int) -> int:
    """The least of all; FOREVER: there is none."""
    return numbers(row)[0]


@step
def first_with_least(row: int, groups: int) -> int:
    """The first place that has it."""
    cells = numbers(row)
    least = cells[0]
    if least == FOREVER:
        return NONE
    group = 1
    while cells[group] != least:
        group += 1
    cell = 1 + groups + GROUP * (group - 1)
    while cells[cell] != least:
        cell += 1
    return cell - 1 - groups
