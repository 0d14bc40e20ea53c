"""A heat map as a drawing of its own: cells in colour with their values, lines of equal value, an outline, marks.

The server draws it (``templates/analyses/_heat_map.html``), so that it is there without a script, scales in print, and
each cell can be a link. Colours are classes of ``static/css/maps.css``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from planner.analyses.shown.contours import contour

CELL_WIDTH, CELL_HEIGHT = 40, 28
WIDE_CELL_WIDTH, WIDE_CELL_HEIGHT = 68, 40
FEW = 9
"""Columns that leave room for wide cells."""
LEFT, TOP, RIGHT, BOTTOM = 16, 26, 20, 48
INSET = 2
NAME_BELOW = 38
CROSS, CROSS_AT = 7, 4
LETTER_WIDTH = 6.6
SHADES = 9


@dataclass(frozen=True)
class Place:
    """One cell of a map, as it is given."""

    value: float | None
    """None: not known."""
    text: str
    words: str
    """What is said where one points at it."""
    css: str
    """``shade-0`` to ``shade-9``, ``warm-3``, ``hatched``."""
    design_id: str | None = None
    inside: bool = False
    """Within the outline."""


@dataclass(frozen=True)
class Mark:
    """A sign on a cell."""

    across: int
    up: int
    css: str
    words: str


@dataclass(frozen=True)
class Level:
    """A line of equal value, of a grid of values by cell."""

    values: Sequence[Sequence[float | None]]
    level: float
    words: str
    css: str = "level"


@dataclass(frozen=True)
class DrawnCell:
    place: Place
    x: float
    y: float
    middle: float
    baseline: float


@dataclass(frozen=True)
class DrawnMark:
    mark: Mark
    x: float
    y: float

    @property
    def cross(self) -> str:
        """In the cell's corner, beside its value."""
        return f"M{self.x + CROSS_AT} {self.y + CROSS_AT}l{CROSS} {CROSS}m0 -{CROSS}l-{CROSS} {CROSS}"


@dataclass(frozen=True)
class Label:
    x: float
    y: float
    text: str


@dataclass(frozen=True)
class Line:
    path: str
    css: str
    label: Label | None


@dataclass(frozen=True)
class HeatMap:
    """Rows are given from the bottom."""

    id: str
    title: str
    summary: str
    names: tuple[str, str]
    across: tuple[str, ...]
    up: tuple[str, ...]
    places: Sequence[Sequence[Place]]
    levels: tuple[Level, ...] = ()
    marks: tuple[Mark, ...] = ()
    key: tuple[tuple[str, str], ...] = ()
    """Classes and what they mean."""

    @property
    def cell_width(self) -> int:
        return WIDE_CELL_WIDTH if len(self.across) <= FEW else CELL_WIDTH

    @property
    def cell_height(self) -> int:
        return WIDE_CELL_HEIGHT if len(self.across) <= FEW else CELL_HEIGHT

    @property
    def mark_width(self) -> int:
        return self.cell_width - 2 * INSET

    @property
    def mark_height(self) -> int:
        return self.cell_height - 2 * INSET

    @property
    def left(self) -> float:
        """Room for the labels up."""
        return LEFT + LETTER_WIDTH * max(map(len, self.up))

    @property
    def width(self) -> float:
        return self.left + self.cell_width * len(self.across) + RIGHT + self._level_room

    @property
    def height(self) -> float:
        return TOP + self.cell_height * len(self.up) + BOTTOM

    @property
    def _level_room(self) -> float:
        return LETTER_WIDTH * max((len(level.words) for level in self.levels), default=0)

    @property
    def axis_y(self) -> float:
        """Below the lowest row."""
        return TOP + self.cell_height * len(self.up)

    @property
    def name_y(self) -> float:
        """Below the labels across."""
        return self.axis_y + NAME_BELOW

    @property
    def axis_middle(self) -> float:
        return self.left + self.cell_width * len(self.across) / 2

    def _corner(self, across: float, up: float) -> tuple[float, float]:
        """Of a cell, its upper left corner; its middle where half a cell is added to both."""
        return self.left + self.cell_width * across, TOP + self.cell_height * (len(self.up) - 1 - up)

    def _middle(self, across: float, up: float) -> tuple[float, float]:
        x, y = self._corner(across, up)
        return x + self.cell_width / 2, y + self.cell_height / 2

    @cached_property
    def cells(self) -> list[DrawnCell]:
        """From the top, row by row, as they are read."""
        found = []
        for up in reversed(range(len(self.up))):
            for across, place in enumerate(self.places[up]):
                x, y = self._corner(across, up)
                found.append(DrawnCell(place, x, y, x + self.cell_width / 2, y + self.cell_height / 2 + 4))
        return found

    @property
    def across_labels(self) -> list[Label]:
        return [Label(self._middle(i, 0)[0], self.axis_y + 16, text) for i, text in enumerate(self.across)]

    @property
    def up_labels(self) -> list[Label]:
        return [Label(self.left - 6, self._middle(0, i)[1] + 4, text) for i, text in enumerate(self.up)]

    @property
    def drawn_marks(self) -> list[DrawnMark]:
        corners = [(mark, self._corner(mark.across, mark.up)) for mark in self.marks]
        return [DrawnMark(mark, x + INSET, y + INSET) for mark, (x, y) in corners]

    @property
    def lines(self) -> list[Line]:
        return [line for level in self.levels if (line := self._line(level))]

    def _line(self, level: Level) -> Line | None:
        stretches = [tuple(self._middle(*end) for end in stretch) for stretch in contour(level.values, level.level)]
        if not stretches:
            return None
        path = " ".join(f"M{_pair(first)}L{_pair(second)}" for first, second in stretches)
        x, y = max((end for stretch in stretches for end in stretch), key=lambda end: (end[0], -end[1]))
        return Line(path, level.css, Label(round(x + 4, 1), round(y + 4, 1), level.words))

    @property
    def outline(self) -> str:
        """Around the cells that are inside."""
        everywhere = [(across, up) for up in range(len(self.up)) for across in range(len(self.across))]
        sides = [side for place in everywhere for side in self._sides(*place)]
        return " ".join(f"M{_pair(first)}L{_pair(second)}" for first, second in sides)

    def _sides(self, across: int, up: int) -> list[tuple[tuple[float, float], tuple[float, float]]]:
        if not self._inside(across, up):
            return []
        x, y = self._corner(across, up)
        right, low = x + self.cell_width, y + self.cell_height
        sides = {
            (-1, 0): ((x, y), (x, low)),
            (1, 0): ((right, y), (right, low)),
            (0, 1): ((x, y), (right, y)),
            (0, -1): ((x, low), (right, low)),
        }
        return [side for (dx, dy), side in sides.items() if not self._inside(across + dx, up + dy)]

    def _inside(self, across: int, up: int) -> bool:
        within = 0 <= up < len(self.up) and 0 <= across < len(self.across)
        return within and self.places[up][across].inside


def shade(value: float, low: float, high: float) -> str:
    """One of ten shades between two values."""
    return f"shade-{round(SHADES * min(max((value - low) / (high - low), 0), 1)) if high > low else SHADES}"


def _pair(point: tuple[float, float]) -> str:
    return f"{point[0]:.1f} {point[1]:.1f}"
