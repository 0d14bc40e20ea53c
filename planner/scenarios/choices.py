"""What a question may choose from: the rows that the user sees."""

from collections.abc import Mapping
from dataclasses import dataclass

from planner.accounts.models import User
from planner.workloads.models import Workload
from simcore import catalogue
from simcore.families import CO_LOCATED, SPLIT
from simcore.spec import PriceBook

Pairs = list[tuple[str, str]]


@dataclass(frozen=True)
class Choices:
    user: User
    models: Pairs
    machines: Pairs
    workloads: Pairs
    price_books: Mapping[str, PriceBook]

    @classmethod
    def of(cls, user: User) -> "Choices":
        return cls(
            user=user,
            models=[(name, catalogue.model(name).name) for name in catalogue.model_ids()],
            machines=[(name, catalogue.machine(name).name) for name in catalogue.machine_ids()],
            workloads=[(str(pk), name) for pk, name in Workload.objects.visible_to(user).values_list("pk", "name")],
            price_books=catalogue.price_books(),
        )

    def fields(self) -> dict[str, Pairs]:
        """Field of the question → its choices."""
        return {
            "model": self.models,
            "workload": self.workloads,
            "machines": self.machines,
            "slowdown_reference": self.machines,
            "price_book": [(book.id, book.name) for book in self.price_books.values()],
            "families": self.families(),
        }

    def families(self) -> Pairs:
        """Every family of the machines: id and label."""
        together = [(f"{kind}:{name}", f"{kind} on {label}") for kind in CO_LOCATED for name, label in self.machines]
        split = [
            (f"{SPLIT}:{first}+{second}", f"split, {label} prefill, {other} decode")
            for first, label in self.machines
            for second, other in self.machines
        ]
        return together + split
