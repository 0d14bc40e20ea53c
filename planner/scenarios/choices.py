"""What a question may choose from: the rows that the user sees."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from planner.accounts.owned import Visitor
from planner.calibrations.services import PREFIX as CALIBRATION
from planner.calibrations.services import offered as offered_calibrations
from planner.catalogue.kept import NOTHING, Kept, kept_fabric, kept_machines, kept_model, price_books_of
from planner.catalogue.services import names_of
from planner.power_logs.services import PREFIX as POWER_LOG
from planner.power_logs.services import offered as offered_power_logs
from planner.workloads.models import Workload
from simcore.catalogue import machine, machine_ids
from simcore.families import CO_LOCATED, SCHEDULER_NAMES, SPLIT
from simcore.spec import Fabric, Machine, Model, PriceBook

Pairs = list[tuple[str, str]]
LATENCIES = [
    ("roofline", "Roofline, engines of 2026"),
    ("roofline-trtllm", "Roofline, TensorRT-LLM of 2025"),
    ("roofline-2023", "Roofline, engines of 2023"),
    ("roofline-kernel", "Roofline, device time alone"),
    ("measured", "Measured: Splitwise's step times, 2023"),
]
"""Shipped iteration times; a team's calibrations follow."""
MOST_PAIRED = 40
"""Machines of which every family is offered, also of a machine that is added on the page; of more they would be tens of
thousands."""
OWN_NICS = ("", "each machine's own NICs")
POWERS = [("catalogue", "as the catalogue has it")]
"""Drawn power; a team's power logs follow."""
LOST = {
    "latency": (CALIBRATION, "a calibration that was deleted, or is another team's"),
    "power": (POWER_LOG, "a power log that was deleted, or is another team's"),
}
"""Field → how its keys of uploaded rows begin, and what is said of one that there is no more."""


@dataclass(frozen=True)
class Choices:
    user: Visitor
    models: Pairs
    machines: Pairs
    workloads: Pairs
    price_books: Mapping[str, PriceBook]
    calibrations: Pairs
    fabrics: Pairs
    power_logs: Pairs

    kept: Kept = field(default_factory=dict)
    """Rows that the question keeps, as they were: it may still choose them where the catalogue has them no more."""

    @classmethod
    def of(cls, user: Visitor, kept: Kept = NOTHING) -> "Choices":
        model = kept_model(kept)
        return cls(
            user=user,
            kept=kept,
            models=_with(names_of(user, "models"), [model] if model else []),
            machines=_with(names_of(user, "machines"), kept_machines(kept).values()),
            workloads=[(str(pk), name) for pk, name in Workload.objects.visible_to(user).values_list("pk", "name")],
            price_books=price_books_of(user, kept),
            calibrations=offered_calibrations(user),
            fabrics=_with(names_of(user, "fabrics"), [fabric] if (fabric := kept_fabric(kept)) else []),
            power_logs=offered_power_logs(user),
        )

    def fields(self, chosen: Collection[str] | None = None) -> dict[str, Pairs]:
        """Field of the question → its choices; of many machines' families those of the ``chosen`` ones alone."""
        return {
            "model": self.models,
            "workload": self.workloads,
            "machines": self.machines,
            "slowdown_reference": [(name, machine(name).name) for name in machine_ids()],  # as shipped: a yardstick
            "price_book": [(book.id, book.name) for book in self.price_books.values()],
            "families": self.families(chosen),
            "latency": self.latencies(),
            "fabric": [OWN_NICS, *self.fabrics],
            "power": [*POWERS, *self.power_logs],
        }

    def latencies(self) -> Pairs:
        return [*LATENCIES, *self.calibrations]

    def families(self, chosen: Collection[str] | None = None) -> Pairs:
        """Every family of the machines: id and label."""
        machines = self.machines
        if chosen is not None and len(machines) > MOST_PAIRED:
            machines = [(name, label) for name, label in machines if name in chosen]
        together = [
            (f"{kind}:{name}", f"{SCHEDULER_NAMES[kind]} on {label}") for kind in CO_LOCATED for name, label in machines
        ]
        split = [
            (f"{SPLIT}:{first}+{second}", f"split, {label} prefill, {other} decode")
            for first, label in machines
            for second, other in machines
        ]
        return together + split


def _with(pairs: Pairs, kept: Iterable[Fabric | Model | Machine]) -> Pairs:
    """The rows kept too, under their names as they were."""
    return list({**dict(pairs), **{row.id: row.name for row in kept}}.items())
