"""Low, base and high of amounts, by the ends of the capacity's interval."""

from dataclasses import replace

from simcore.economics.cost_sheet import cost_sheet
from simcore.economics.interval import Interval, headroom, of_amount, of_line, summed
from tests.unit.simcore.economics.plans import PHYSICS, D, over, owned

KNOWN = replace(PHYSICS, capacity_low=D(10), capacity_high=D(15))


def test_machines_are_in_proportion_to_the_capacity_and_staff_is_not():
    lines = cost_sheet([KNOWN], D(10), replace(owned(), demand=over(1))).lines("book")
    found = {line.category: of_line(line, KNOWN) for line in lines if line.pool != "decode"}
    assert found["capital"] == Interval(D("4500.00"), D("5625.00"), D("6750.00"))  # × 12 ÷ 15; × 12 ÷ 10
    assert found["staff"] == Interval(D("20000.00"), D("20000.00"), D("20000.00"))
    whole = summed(of_line(line, KNOWN) for line in lines)
    assert whole.low_usd < whole.base_usd < whole.high_usd
    assert whole.part(whole.base_usd) == whole


def test_where_no_capacity_is_certain_there_is_no_high_end():
    none = replace(KNOWN, capacity_low=D(0), capacity_high=None)
    assert of_amount(D(100), none) == Interval(None, D(100), None)
    assert summed([of_amount(D(100), none), of_amount(D(1), KNOWN)]) == Interval(None, D(101), None)


def test_headroom_is_what_is_held_beyond_the_rate():
    assert headroom(PHYSICS, D(10)) == D("0.2")
