"""A field with one input for each machine: how many are on hand, whose iteration times."""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

Pairs = Iterable[tuple[str, str]]


class ByMachineWidget(forms.Widget):
    """An input named ``NAME-MACHINE`` for each machine that is offered, or one JSON object under ``NAME``."""

    def __init__(self, each: forms.Widget) -> None:
        super().__init__()
        self.each = each
        self.machines: list[tuple[str, str]] = []

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> dict[str, Any]:
        if isinstance(data.get(name), Mapping):
            return dict(data[name])
        names = {machine: f"{name}-{machine}" for machine, _ in self.machines}
        return {machine: data[key] for machine, key in names.items() if data.get(key) not in (None, "")}

    def value_omitted_from_data(self, data: Mapping[str, Any], files: Any, name: str) -> bool:
        return name not in data and not any(f"{name}-{machine}" in data for machine, _ in self.machines)

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        given = value if isinstance(value, Mapping) else {}
        lines = []
        for machine, label in self.machines:
            key = f"{name}-{machine}"
            control = self.each.render(key, given.get(machine, ""), {**(attrs or {}), "id": f"id_{key}"}, renderer)
            lines.append((machine, f"id_{key}", label, control))
        return format_html_join("", '<div data-machine="{}"><label for="{}">{}</label>{}</div>', lines) or SafeString()

    def id_for_label(self, id_: str) -> str:
        return ""


class ByMachineField(forms.Field):
    """Machine → value of ``each``, of the machines that have one, in the order in which they are offered."""

    def __init__(self, each: forms.Field, **options: Any) -> None:
        super().__init__(required=False, widget=ByMachineWidget(each.widget), **options)
        self.each = each

    def __deepcopy__(self, memo: dict[int, Any]) -> "ByMachineField":
        """Each form's own: what one user may choose is no choice of another's."""
        copied: ByMachineField = super().__deepcopy__(memo)
        copied.each = deepcopy(self.each, memo)
        widget: Any = copied.widget
        widget.each = copied.each.widget
        return copied

    def offer(self, machines: Pairs) -> None:
        widget: Any = self.widget
        widget.machines = list(machines)

    def clean(self, value: Any) -> dict[str, Any]:
        widget: Any = self.widget
        given = value if isinstance(value, Mapping) else {}
        wrong = [key for key in given if key not in dict(widget.machines)]
        if wrong:
            raise ValidationError(f"Found ‘{wrong[0]}’, expected one of the machines that there are.")
        cleaned = {key: self._one(label, given[key]) for key, label in widget.machines if key in given}
        return {key: one for key, one in cleaned.items() if one not in (None, "")}

    def _one(self, label: str, value: Any) -> Any:
        try:
            return self.each.clean(value)
        except ValidationError as error:
            raise ValidationError(f"{label}: {' '.join(error.messages)}") from None

    def prepare_value(self, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return {}
        return {key: self.each.prepare_value(one) for key, one in value.items()}


def said(value: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """``DGX A100 40, DGX H100 12``."""
    return ", ".join(f"{names.get(key, key)} {one}" for key, one in value.items())


def of_chosen(value: Mapping[str, Any], chosen: Iterable[str]) -> dict[str, Any]:
    """What is said of machines that are chosen: the same question, whatever was typed beside another."""
    kept = set(chosen)
    return {key: one for key, one in value.items() if key in kept}
