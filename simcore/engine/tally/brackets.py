"""Which values of a batch's columns lie between bounds: counted, and kept.

All but a few lie in no bracket. So a column is first compared as a whole, in loops without branches that LLVM makes
vectors of: what is below each lower bound is counted, what is in any bracket is marked. Only marked values are looked
at one by one.
"""

from __future__ import annotations

from simcore.engine.fast.jit import step
from simcore.engine.fast.layout import BYTES, numbers
from simcore.engine.tally.records import BATCH, MARKS, PLACES, TBT_SLOWDOWN, TPOT, Bracket, Walk, bracket_row


@step
def keep(walk: Walk, filled: int, several: int) -> None:
    """The brackets of each column, which stand one after the other, with a batch's values of it."""
    place = 0
    while place < walk.bracket_count:
        column, first = bracket_row(walk.brackets, place).column, place
        values = several if column in (TPOT, TBT_SLOWDOWN) else filled
        while place < walk.bracket_count and bracket_row(walk.brackets, place).column == column:
            place += 1
        if is_whole(bracket_row(walk.brackets, first)):
            keep_all(walk, bracket_row(walk.brackets, first), values)
        else:
            keep_between(walk, first, place, values)


@step
def is_whole(bracket: Bracket) -> bool:
    """Whether every value is asked for."""
    return bracket.low == bracket.high


@step
def keep_all(walk: Walk, bracket: Bracket, values: int) -> None:
    """Keep a batch's values."""
    kept, column = bracket.kept + BYTES * bracket.between, column_at(walk, bracket.column)
    for i in range(values):
        numbers(kept)[i] = numbers(column)[i]
    bracket.between += values


@step
def keep_between(walk: Walk, first: int, end: int, values: int) -> None:
    """Count a batch's values below the brackets ``first`` to before ``end`` of a column, and keep those inside."""
    marks, places = column_at(walk, MARKS), column_at(walk, PLACES)
    column = column_at(walk, bracket_row(walk.brackets, first).column)
    for i in range(values):
        numbers(marks)[i] = 0
    for place in range(first, end):
        compare(bracket_row(walk.brackets, place), column, marks, values)
    inside = 0
    for i in range(values):
        numbers(places)[inside] = i
        inside += numbers(marks)[i]
    for i in range(inside):
        value = numbers(column)[numbers(places)[i]]
        for place in range(first, end):
            put_inside(bracket_row(walk.brackets, place), value)


@step
def compare(bracket: Bracket, column: int, marks: int, values: int) -> None:
    """Count values of a column below the bracket, and mark those inside."""
    low, high, below = bracket.low, bracket.high, 0
    for i in range(values):
        value = numbers(column)[i]
        below += int(value < low)
        numbers(marks)[i] |= int(value >= low) & int(value <= high)
    bracket.below += below


@step
def put_inside(bracket: Bracket, value: int) -> None:
    """Count a value at a bound, keep it between them."""
    if value == bracket.low:
        bracket.at_low += 1
    elif value == bracket.high:
        bracket.at_high += 1
    elif bracket.low < value < bracket.high:
        if bracket.between < bracket.room:
            numbers(bracket.kept)[bracket.between] = value
        bracket.between += 1


@step
def column_at(walk: Walk, column: int) -> int:
    """The address of a column of the batch."""
    return walk.batch + BYTES * BATCH * column
