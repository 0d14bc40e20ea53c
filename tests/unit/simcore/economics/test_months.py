import pytest

from simcore.economics.months import Month, month, months_from
from simcore.spec import SpecError


def test_a_month_has_the_hours_of_its_days():
    assert [Month(2027, 1).hours, Month(2027, 2).hours, Month(2028, 2).hours] == [744, 672, 696]


def test_a_period_ends_where_the_next_begins():
    last = Month(2027, 12)
    assert (last.start, last.end) == ("2027-12-01T00:00:00Z", "2028-01-01T00:00:00Z")


def test_months_are_counted_over_years():
    months = months_from(Month(2026, 11), 4)
    assert [str(one) for one in months] == ["2026-11", "2026-12", "2027-01", "2027-02"]
    assert Month(2026, 11).until(months[-1]) == 3
    assert Month(2027, 2).plus(-14) == Month(2025, 12)


@pytest.mark.parametrize("text", ["2027-13", "2027-1", "27-01", "", "2027-00", "2027/01", "２０２７-01"])
def test_what_is_no_month_is_refused(text):
    with pytest.raises(SpecError, match="expected a month such as 2027-01"):
        month(text)
