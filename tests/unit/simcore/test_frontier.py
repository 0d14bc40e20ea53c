from hypothesis import given
from hypothesis import strategies as st

from simcore.frontier import Point, dominators

coordinates = st.integers(0, 8).map(float)


def beats(a: Point, b: Point) -> bool:
    return a.x <= b.x and a.y >= b.y and (a.x, a.y) != (b.x, b.y)


def test_a_cheaper_design_that_holds_more_dominates():
    assert dominators([Point("dear", 5, 10), Point("cheap", 3, 12)]) == {"cheap": None, "dear": "cheap"}


def test_a_dearer_design_that_holds_more_stands_beside():
    assert dominators([Point("small", 3, 8), Point("large", 6, 16)]) == {"small": None, "large": None}


def test_equal_designs_stand_together():
    assert dominators([Point("a", 3, 8), Point("b", 3, 8)]) == {"a": None, "b": None}


def test_nothing_gives_nothing():
    assert dominators([]) == {}


@given(st.lists(st.tuples(coordinates, coordinates), max_size=12))
def test_dominators_equal_the_definition(pairs):
    points = [Point(str(i), x, y) for i, (x, y) in enumerate(pairs)]
    found = dominators(points)
    by_id = {point.design_id: point for point in points}
    for point in points:
        beaten = any(beats(other, point) for other in points)
        assert (found[point.design_id] is not None) == beaten
        if beaten:
            dominator = by_id[found[point.design_id]]
            assert beats(dominator, point)
            assert found[dominator.design_id] is None
