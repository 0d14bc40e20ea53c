"""Form fields of the question: quantities with units, and lists of counts."""

from collections.abc import Iterable
from typing import Any, cast

from django import forms

from planner.scenarios.quantities import Units, parse_quantity, shown_quantity
from simcore.spec import nearest


class QuantityField(forms.Field):
    """A number with an optional unit. ``expected`` says in words what it wants, with an example."""

    def __init__(
        self,
        expected: str,
        units: Units,
        *,
        above: float | None = None,
        least: float | None = None,
        most: float | None = None,
        whole: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(**{"widget": forms.TextInput(attrs={"inputmode": "decimal"})} | options)
        self.expected, self.units, self.whole = expected, units, whole
        self.above, self.least, self.most = above, least, most

    def to_python(self, value: Any) -> float | int | None:
        if value is None or (isinstance(value, str) and not value.strip()):
            return None
        if isinstance(value, bool):
            raise self.refusal(value)
        try:
            number = parse_quantity(str(value), self.units)
        except ValueError:
            raise self.refusal(value) from None
        if not self._holds(number):
            raise self.refusal(value)
        return int(number) if self.whole else number

    def prepare_value(self, value: Any) -> Any:
        return shown_quantity(value) if isinstance(value, int | float) and not isinstance(value, bool) else value

    def refusal(self, value: Any) -> forms.ValidationError:
        return forms.ValidationError(f"Found {shown(value)}, expected {self.expected}.", code="quantity")

    def _holds(self, number: float) -> bool:
        return (
            (self.above is None or number > self.above)
            and (self.least is None or number >= self.least)
            and (self.most is None or number <= self.most)
            and (not self.whole or number.is_integer())
        )


class BudgetField(QuantityField):
    """A whole number of tokens, or ``auto``."""

    auto = "auto"

    def to_python(self, value: Any) -> Any:
        if isinstance(value, str) and value.strip().lower() == self.auto:
            return self.auto
        return super().to_python(value)


class CountsField(forms.Field):
    """Counts to try, such as ``5, 10, 20-40/5``; kept sorted, each once."""

    most_counts = 200
    most = 100_000
    expected = "machine counts such as 5, 10 or 20-40/5"
    called = "counts"

    def to_python(self, value: Any) -> list[int] | None:
        if value is None or value == [] or (isinstance(value, str) and not value.strip()):
            return None
        parts = value.split(",") if isinstance(value, str) else [str(part) for part in value]
        counts: set[int] = set()
        for part in parts:
            counts.update(self._range(part.strip()))
            self._check_number(len(counts))
        return sorted(counts)

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(map(str, value)) if isinstance(value, list | tuple) else value

    def _range(self, text: str) -> Iterable[int]:
        span, _, step = text.partition("/")
        first, _, last = span.partition("-")
        numbers = [self._whole(first, text), self._whole(last or first, text), self._whole(step or "1", text)]
        if numbers[0] > numbers[1]:
            raise self._refusal(text)
        counts = range(numbers[0], numbers[1] + 1, numbers[2])
        self._check_number(len(counts))  # before they are made: many long ranges take minutes
        return counts

    def _whole(self, digits: str, text: str) -> int:
        plain = digits.strip().lstrip("0")
        if not (plain.isascii() and plain.isdigit()) or len(plain) > len(str(self.most)) or int(plain) > self.most:
            raise self._refusal(text)
        return int(plain)

    def _check_number(self, found: int) -> None:
        if found > self.most_counts:
            raise forms.ValidationError(f"Found {found} {self.called}, expected at most {self.most_counts}.")

    def _refusal(self, text: str) -> forms.ValidationError:
        return forms.ValidationError(f"Found {shown(text)}, expected {self.expected}.")


class BudgetsField(CountsField):
    """Token budgets to try, such as ``128, 512, 2048``; kept sorted, each once."""

    most_counts = 16
    most = 10_000_000
    expected = "token budgets such as 128, 512, 2048"
    called = "token budgets"


class DegreesField(CountsField):
    """Tensor parallel degrees to try, such as ``1, 2, 4, 8``; kept sorted, each once."""

    most_counts = 16
    most = 1024
    expected = "tensor parallel degrees from 1 to 1024 such as 1, 2, 4, 8"
    called = "degrees"


class PickField(forms.ChoiceField):
    """One of the choices; the refusal names what was found and the nearest that there is."""

    def validate(self, value: Any) -> None:
        forms.Field.validate(self, value)
        if value and not self.valid_value(value):
            raise _not_a_choice(value, self.choices)


class PickSeveralField(forms.MultipleChoiceField):
    """Some of the choices, each once, in the order in which they are offered: it is the same question in any order."""

    def clean(self, value: Any) -> list[str]:
        chosen, offered = set(super().clean(value)), cast(Iterable[tuple[str, str]], self.choices)
        return [key for key, _ in offered if key in chosen]

    def validate(self, value: Any) -> None:
        forms.Field.validate(self, value)
        for one in value:
            if not self.valid_value(one):
                raise _not_a_choice(one, self.choices)


def _not_a_choice(value: str, choices: Any) -> forms.ValidationError:
    known = [str(key) for key, _ in choices if key != ""]
    expected = f"one of {', '.join(known)}{nearest(str(value), known)}" if known else "nothing, as there are none yet"
    return forms.ValidationError(f"Found {shown(value)}, expected {expected}.", code="invalid_choice")


def shown(value: Any) -> str:
    """What was found, short enough for a message."""
    text = str(value)
    return f"‘{text if len(text) <= 40 else text[:37] + '…'}’"
