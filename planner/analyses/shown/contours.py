"""Lines of equal value over a grid, by marching squares: from edge to edge of the squares between cells' centres."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

Grid = Sequence[Sequence[float | None]]
Point = tuple[float, float]
"""Across and up, in cells: whole numbers are centres."""


def contour(values: Grid, level: float) -> list[tuple[Point, Point]]:
    """The stretches of the line along which the values, linear between neighbours, equal the level. Where a value is
    not known there is no line."""
    rows, columns = len(values), len(values[0]) if values else 0
    return [
        stretch
        for up in range(rows - 1)
        for across in range(columns - 1)
        for stretch in _square(values, level, up, across)
    ]


def _square(values: Grid, level: float, up: int, across: int) -> Iterator[tuple[Point, Point]]:
    """A square is cut by one line, or by two where opposite corners are on one side: then each cuts off a corner that
    is above where the middle is below, or the other way round."""
    corners = [(across, up), (across + 1, up), (across + 1, up + 1), (across, up + 1)]
    known = [values[y][x] for x, y in corners]
    if any(value is None for value in known):
        return
    above = [value >= level for value in known if value is not None]
    cut = [side for side in range(4) if above[side] != above[(side + 1) % 4]]
    cuts = {side: _cut(values, level, corners[side], corners[(side + 1) % 4]) for side in cut}
    sides = list(cuts)
    if len(sides) == 2:
        yield cuts[sides[0]], cuts[sides[1]]
    elif len(sides) == 4:
        middle = sum(value for value in known if value is not None) / 4 >= level
        pairs = ((3, 0), (1, 2)) if above[0] != middle else ((0, 1), (2, 3))
        yield from ((cuts[a], cuts[b]) for a, b in pairs)


def _cut(values: Grid, level: float, first: tuple[int, int], second: tuple[int, int]) -> Point:
    low, high = values[first[1]][first[0]] or 0.0, values[second[1]][second[0]] or 0.0
    share = (level - low) / (high - low)
    return first[0] + share * (second[0] - first[0]), first[1] + share * (second[1] - first[1])
