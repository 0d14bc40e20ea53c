"""One row's page: every figure with where it is from, and what follows from them."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from planner.accounts.owned import Visitor
from planner.catalogue.accelerator_facts import Departure, Fitted, Measured, accelerator_facts
from planner.catalogue.books import books
from planner.catalogue.display import STATUS_WORDS, ShownFigure, quantity, shown
from planner.catalogue.listing import TITLES
from planner.catalogue.models import FigureOverride
from planner.catalogue.rows import ORIGINS, Row
from planner.catalogue.services import accelerator_for, fabric_for, machine_for, model_for, names_of, whole_machines_for
from simcore import catalogue
from simcore.balance import BalancePoint
from simcore.memory import DoesNotFit, kv_bytes_per_token, kv_capacity, weight_bytes
from simcore.power import idle_w
from simcore.shapes import active_parameters, embedding_parameters
from simcore.spec import Accelerator, Machine, MemorySpec, Model, PriceBook, SpecError

DEGREES = (1, 2, 4, 8)
"""Tensor parallel, as a model's page tries them."""


@dataclass(frozen=True)
class FigureLine:
    """A figure, and the shipped one that it stands in for."""

    figure: ShownFigure
    shipped: ShownFigure | None = None
    by: str = ""
    """Whose hand a team's own figure is from, and the day."""


@dataclass(frozen=True)
class PriceLine:
    """A machine's price in one book."""

    book: PriceBook
    usd_per_hour: str
    kind: str
    date: str


@dataclass(frozen=True)
class Fit:
    """What a machine holds of a model at each of the degrees: KV tokens of a replica, or why none."""

    machine_id: str
    name: str
    cells: list[tuple[str, str]]
    """What is shown, and the reason where it does not fit."""


@dataclass(frozen=True)
class RowPage:
    """One row, and what follows from it."""

    row: Row
    title: str
    lines: list[FigureLine]
    notes: list[str]
    statuses: dict[str, str]
    balance: list[BalancePoint] = field(default_factory=list)
    measured: list[Measured] = field(default_factory=list)
    stand_in: str = ""
    """The accelerator whose measured shares of its peaks predictions take, where nothing was measured on this one."""
    measured_as: str = ""
    """Another accelerator, whose measurements are taken for its own."""
    departures: list[Departure] = field(default_factory=list)
    """Figures in which it is not the one that was measured."""
    fitted: list[Fitted] = field(default_factory=list)
    used_by: list[tuple[str, str]] = field(default_factory=list)
    """Machines that have the accelerator: id and name."""
    prices: list[PriceLine] = field(default_factory=list)
    fits: list[Fit] = field(default_factory=list)
    broken: str = ""
    """Why the figures together are no row, where they are not."""

    @property
    def origin_words(self) -> str:
        return ORIGINS[self.row.origin]


def row_page(user: Visitor, row: Row) -> RowPage:
    """The page of a row."""
    lines = [_line(row, name) for name in row.figures]
    used = {line.figure.status: STATUS_WORDS[line.figure.status] for line in lines}
    try:
        follows = FOLLOWS[row.table](user, row.row_id)
    except SpecError as error:
        follows = {"notes": [], "broken": f"{error}."}
    return RowPage(row, TITLES[row.table], lines, statuses=used, **follows)  # type: ignore[arg-type]


def _line(row: Row, name: str) -> FigureLine:
    stands_in = name in row.own and name in row.shipped
    by = _by(row.own[name]) if name in row.own else ""
    return FigureLine(shown(row.figures[name]), shown(row.shipped[name]) if stands_in else None, by)


def _by(figure: FigureOverride) -> str:
    author = figure.created_by
    name = author.get_full_name() or author.get_username() if author else "somebody"
    return f"{name}, {figure.created_at.date().isoformat()}"


def _of_machine(user: Visitor, row_id: str) -> dict[str, object]:
    machine = machine_for(user, row_id)
    of = machine.accelerator
    device = of if isinstance(of, Accelerator) else accelerator_for(user, of)
    whole = replace(machine, accelerator=device)
    return {"notes": [*_machine_notes(whole, device), *_yardstick(whole)], "prices": _prices(user, row_id)}


def _yardstick(machine: Machine) -> list[str]:
    """Of a shipped machine that the team has otherwise."""
    if machine.id not in catalogue.machine_ids():
        return []
    shipped = catalogue.machine(machine.id)
    if machine == replace(shipped, accelerator=catalogue.resolve_accelerator(shipped)):
        return []
    return [
        "Where slowdown limits are relative to it, it stays as it is shipped: the same limits mean the same in every"
        " team and year."
    ]


def _machine_notes(machine: Machine, device: Accelerator) -> list[str]:
    count = machine.accelerators
    memory, sent = count * device.memory_bytes / 1e9, count * machine.nic_bytes_per_s
    return [
        f"Idle it draws {idle_w(machine):,.0f} W; {machine.provisioned():,.0f} W are provisioned for it, and its"
        f" nameplate says {machine.nameplate_w:,.0f} W.",
        f"Its {count} × {device.name} hold {memory:,.0f} GB and send {quantity(str(sent), 'bytes/s')} together, one"
        " way.",
    ]


def _prices(user: Visitor, machine_id: str) -> list[PriceLine]:
    return [
        PriceLine(book.book, f"{price.usd_per_hour} {price.currency}", price.kind.replace("_", " "), price.date)
        for book in books(user).values()
        if (price := book.price(machine_id))
    ]


def _of_fabric(user: Visitor, row_id: str) -> dict[str, object]:
    fabric = fabric_for(user, row_id)
    achieved = quantity(str(fabric.achieved_bytes_per_s()), "bytes/s")
    return {"notes": [f"A long transfer gets {achieved} a port, one way, after {quantity(str(fabric.setup_s), 's')}."]}


def _of_model(user: Visitor, row_id: str) -> dict[str, object]:
    model = model_for(user, row_id)
    machines = _machines(user, [key for key, _ in names_of(user, "machines")])
    return {"notes": list(_model_notes(model)), "fits": [_fit(model, machine) for machine in machines]}


def _machines(user: Visitor, row_ids: list[str]) -> list[Machine]:
    """Those whose figures go together: one of a team's that does not is no reason to show none."""
    try:
        return whole_machines_for(user, row_ids)
    except SpecError:
        halves = (row_ids[: len(row_ids) // 2], row_ids[len(row_ids) // 2 :])
        return [machine for half in halves for machine in _machines(user, half)] if len(row_ids) > 1 else []


def _fit(model: Model, machine: Machine) -> Fit:
    cells = [_held(model, machine, degree) if degree <= machine.accelerators else ("", "") for degree in DEGREES]
    return Fit(machine.id, machine.name, cells)


def _held(model: Model, machine: Machine, degree: int) -> tuple[str, str]:
    try:
        return f"{kv_capacity(model, machine, degree, 1, MemorySpec()).tokens:,}", ""
    except DoesNotFit as error:
        return "no", str(error)
    except SpecError as error:
        return "–", str(error)


def _model_notes(model: Model) -> Iterable[str]:
    experts = f", experts in {model.expert_precision}" if model.expert_precision else ""
    yield (
        f"Weights take {weight_bytes(model) / 1e9:,.1f} GB ({weight_bytes(model):,} bytes) in"
        f" {model.weight_precision}{experts}; the KV of one token takes {kv_bytes_per_token(model):,} bytes in"
        f" {model.kv_precision}."
    )
    if model.attention == "mla":
        yield "All heads share its latent: every accelerator of a tensor-parallel group holds the whole of it."
    if model.window_tokens:
        yield (
            f"{model.windowed_layers} of its {model.layers} layers keep a request's last {model.window_tokens:,} tokens"
            " only: a long request takes less KV than its tokens times that."
        )
    if model.experts:
        active = active_parameters(model) + embedding_parameters(model)
        yield (
            f"A token takes {model.experts_per_token} of {model.experts} experts a layer, {active / 1e9:,.1f} billion"
            " parameters with the LM head; all experts stay in memory."
        )


FOLLOWS = {"accelerators": accelerator_facts, "machines": _of_machine, "fabrics": _of_fabric, "models": _of_model}
"""What follows from a row of each table, as fields of its page."""
