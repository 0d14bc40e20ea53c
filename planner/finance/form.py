"""The form of the assumptions: each field with what stands in it, and a choice for each term that has a quote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from django.utils import timezone

from planner.finance.costs import Costs
from planner.finance.fields import GROUPS, MACHINE, QUOTE_LABELS, FieldSpec, machine_field, quote_field, texts_of
from planner.finance.quotes import Offered, choices
from planner.studies.stored import prices_of, spec_of
from simcore.catalogue import resolve_machine


@dataclass(frozen=True)
class Input:
    """One field of the form with what stands in it."""

    name: str
    field: FieldSpec
    value: str
    error: str = ""


@dataclass(frozen=True)
class AssumptionsForm:
    """Of a study's costs."""

    costs: Costs
    entered: Mapping[str, str] = field(default_factory=dict)
    """What a visitor tried to save, where it was refused."""
    error: tuple[str, str] = ("", "")
    offered: Offered = field(default_factory=dict)

    @property
    def groups(self) -> list[tuple[str, list[Input]]]:
        """Terms and site, then each machine's prices."""
        return [(group.title, [self._input(spec.path, spec) for spec in group.fields]) for group in GROUPS]

    @property
    def machine_groups(self) -> list[tuple[str, list[Input]]]:
        return [
            (self._name(one.machine), [*self._of_machine(place), *self._quotes(place, one.machine)])
            for place, one in enumerate(self.costs.assumptions.machines)
        ]

    def anchor(self, path: str) -> str:
        """The id of an assumption's field, of a group's first where a whole group is meant."""
        part, _, rest = path.partition(".")
        if part == "machines":
            machine, _, name = rest.rpartition(".")
            ids = [one.machine for one in self.costs.assumptions.machines]
            return f"field-machines.{ids.index(machine)}.{name}" if machine in ids else "assumed-title"
        fields = [spec.path for group in GROUPS for spec in group.fields]
        exact = path if path in fields else next((name for name in fields if name.startswith(f"{path}.")), "")
        return f"field-{exact}" if exact else "assumed-title"

    def _of_machine(self, place: int) -> list[Input]:
        return [self._input(machine_field(place, spec), spec) for spec in MACHINE]

    def _quotes(self, place: int, machine: str) -> Iterator[Input]:
        book, today = prices_of(self.costs.study).id, timezone.now().date()
        for term, label in QUOTE_LABELS.items():
            if options := choices(self.offered, machine, term, book, today):
                name = quote_field(place, term)
                yield self._input(name, FieldSpec(name, label, choices=tuple(options)))

    def _name(self, machine: str) -> str:
        spec = spec_of(self.costs.study)
        names = {found.id: found.name for found in (resolve_machine(one.machine) for one in spec.machines)}
        return names.get(machine, machine)

    @cached_property
    def _texts(self) -> dict[str, str]:
        return {**texts_of(self.costs.assumptions), **self.entered}

    def _input(self, name: str, spec: FieldSpec) -> Input:
        return Input(name, spec, self._texts.get(name, ""), self.error[1] if self.error[0] == name else "")
