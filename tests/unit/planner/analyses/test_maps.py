"""Maps: lines of equal value and outlines lie where the values say."""

import re

import pytest

from planner.analyses.shown.contours import contour
from planner.analyses.shown.heat_map import HeatMap, Level, Mark, Place, shade

RAMP = [[float(across) for across in range(4)] for _ in range(3)]
"""Grows to the right."""


def test_a_line_of_equal_value_crosses_a_ramp_where_it_reaches_it() -> None:
    stretches = contour(RAMP, 1.25)
    assert len(stretches) == 2
    assert all(x == pytest.approx(1.25) for stretch in stretches for x, _ in stretch)
    assert sorted(y for stretch in stretches for _, y in stretch) == [0, 1, 1, 2]


def test_there_is_no_line_where_values_are_not_known_or_never_reach_it() -> None:
    assert contour(RAMP, 7.0) == []
    assert contour([[0.0, None], [1.0, 2.0]], 0.5) == []
    assert contour([[1.0]], 1.0) == []


@pytest.mark.parametrize("corners", [[[2.0, 0.0], [0.0, 2.0]], [[0.0, 2.0], [2.0, 0.0]]])
@pytest.mark.parametrize("level", [0.9, 1.1])
def test_a_saddle_s_lines_part_what_is_above_from_what_is_below(corners: list[list[float]], level: float) -> None:
    """The middle is 1: with a level below it the two high corners are joined, else they are apart."""
    joined = level < 1
    for (x1, y1), (x2, y2) in contour(corners, level):
        middle = round((x1 + x2) / 2), round((y1 + y2) / 2)
        cut_off = corners[middle[1]][middle[0]]
        assert (cut_off < level) == joined


def drawn(inside: list[list[bool]], **changes: object) -> HeatMap:
    places = [[Place(1.0, "1", "one", "plain", None, cell) for cell in row] for row in inside]
    names = tuple(str(i) for i in range(len(inside[0])))
    plain = {"id": "m", "title": "", "summary": "", "names": ("x", "y"), "across": names}
    return HeatMap(**{**plain, "up": tuple(str(i) for i in range(len(inside))), "places": places, **changes})


def test_the_outline_goes_around_what_is_inside() -> None:
    found = drawn([[True, True], [True, False]])
    sides = re.findall(r"M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)", found.outline)
    around = sum(abs(float(x1) - float(x2)) + abs(float(y1) - float(y2)) for x1, y1, x2, y2 in sides)
    assert around == pytest.approx(4 * found.cell_width + 4 * found.cell_height)
    assert drawn([[False]]).outline == ""


def test_rows_are_drawn_from_the_top_and_given_from_the_bottom() -> None:
    found = drawn([[True, True], [False, False]], marks=(Mark(1, 0, "answer", "it"),))
    first, last = found.cells[0], found.cells[-1]
    assert first.y < last.y
    assert not first.place.inside
    assert last.place.inside
    mark = found.drawn_marks[0]
    assert (mark.x > found.left + found.cell_width, mark.y > last.y) == (True, True)


def test_a_line_has_its_name_at_its_right_end_and_none_without_a_line() -> None:
    found = drawn([[True] * 4] * 3, levels=(Level(RAMP, 1.5, "half"), Level(RAMP, 9.0, "never")))
    line = found.lines[0]
    assert len(found.lines) == 1
    assert line.label is not None
    assert line.label.text == "half"
    assert line.label.x == pytest.approx(found.left + found.cell_width * 2 + 4)


def test_shades_run_between_the_ends() -> None:
    assert [shade(value, 10, 20) for value in (5, 10, 15, 20, 30)] == [
        "shade-0",
        "shade-0",
        "shade-4",
        "shade-9",
        "shade-9",
    ]
    assert shade(3, 3, 3) == "shade-9"
