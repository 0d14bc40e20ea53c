"""Form fields: what they take, and what they say."""

import pytest
from django.forms import ValidationError

from planner.scenarios import quantities as units
from planner.scenarios.fields import CountsField, PickField, PickSeveralField, QuantityField


def _rate(**options: object) -> QuantityField:
    return QuantityField("a rate such as 70", units.REQ_PER_S, above=0, most=1e6, **options)  # type: ignore[arg-type]


def test_a_quantity_takes_text_and_json_numbers() -> None:
    assert [_rate().clean(value) for value in ("10k", 70, 0.5)] == [10_000.0, 70.0, 0.5]


@pytest.mark.parametrize("value", ["abc", "0", "-1", "1e7", True, "nan", [1], {"a": 1}])
def test_a_quantity_says_what_was_found_and_what_is_expected(value: object) -> None:
    with pytest.raises(ValidationError, match=r"Found ‘.*’, expected a rate such as 70."):
        _rate().clean(value)


def test_a_quantity_that_is_not_required_may_be_empty() -> None:
    assert _rate(required=False).clean("  ") is None


def test_a_whole_number_refuses_a_fraction_and_stays_an_integer() -> None:
    field = QuantityField("a whole number", units.PLAIN, least=1, whole=True)
    assert field.clean("2k") == 2000
    assert isinstance(field.clean("2k"), int)
    with pytest.raises(ValidationError, match=r"Found ‘2.5’, expected a whole number."):
        field.clean("2.5")


def test_counts_are_a_sorted_set_with_ranges() -> None:
    assert CountsField().clean("5, 40-50/5, 5,10") == [5, 10, 40, 45, 50]
    assert CountsField().clean([3, 1]) == [1, 3]
    assert CountsField(required=False).clean(" ") is None


@pytest.mark.parametrize("text", ["a", "0", "5,,6", "-3", "10-5", "1.5", "1-9/0", "100001", "²", "9" * 5000])
def test_counts_name_the_part_that_is_wrong(text: str) -> None:
    with pytest.raises(ValidationError, match=r"Found ‘.*’, expected machine counts such as"):
        CountsField().clean(text)


def test_too_many_counts_are_refused() -> None:
    with pytest.raises(ValidationError, match=r"Found 1000 counts, expected at most 200"):
        CountsField().clean("1-1000")
    with pytest.raises(ValidationError, match=r"Found 201 counts, expected at most 200"):
        CountsField().clean("1-200, 201")


def test_a_long_range_is_refused_before_its_counts_are_made() -> None:
    with pytest.raises(ValidationError, match=r"Found 100000 counts, expected at most 200"):
        CountsField().clean(",".join(["1-100000"] * 100_000))  # made one by one they would take a quarter of an hour


def test_a_choice_that_is_not_there_is_named_with_the_nearest() -> None:
    field = PickField(choices=[("dgx-a100", "DGX A100"), ("dgx-h100", "DGX H100")])
    with pytest.raises(ValidationError, match=r"Found ‘dgx-h10’.*dgx-a100, dgx-h100.*nearest: 'dgx-h100'"):
        field.clean("dgx-h10")


def test_several_choices_are_kept_once_in_the_order_in_which_they_are_offered() -> None:
    field = PickSeveralField(choices=[("a", "A"), ("b", "B")])
    assert field.clean(["b", "a", "b"]) == ["a", "b"]
    with pytest.raises(ValidationError, match=r"Found ‘c’"):
        field.clean(["a", "c"])
