"""What the catalogue's pages show."""

from dataclasses import dataclass

from planner.accounts.owned import Visitor
from planner.catalogue.display import STATUS_WORDS, ShownFigure, shown
from planner.catalogue.services import (
    accelerator_for,
    figures_of,
    machine_for,
    model_for,
    price_books_for,
    rows_of,
)
from simcore.memory import kv_bytes_per_token, weight_bytes
from simcore.shapes import active_parameters, embedding_parameters
from simcore.spec import Accelerator, Model, PriceBook

TITLES = {"accelerators": "Accelerators", "machines": "Machines", "models": "Models"}
COLUMNS = {
    "accelerators": {
        "bf16_flops_per_s": "bf16 dense",
        "memory_bytes": "Memory (driver)",
        "memory_bandwidth_bytes_per_s": "Bandwidth",
        "link_bandwidth_bytes_per_s": "Link, one way",
        "tdp_w": "TDP",
        "idle_w": "Idle",
    },
    "machines": {
        "accelerator": "Accelerator",
        "accelerators": "Of them",
        "nic_bytes_per_s": "NIC of each, one way",
        "host_w": "Host",
        "fans_w": "Fans",
        "nameplate_w": "Nameplate",
        "power_cap_w": "Cap of each",
    },
    "models": {
        "parameters": "Parameters",
        "layers": "Layers",
        "hidden_size": "Hidden size",
        "heads": "Heads",
        "kv_heads": "KV heads",
        "max_model_tokens": "Longest sequence",
    },
}
"""The overview's columns and their headings."""


@dataclass(frozen=True)
class Line:
    """One row of an overview: its id, name, and the figures of the table's columns (None: not given)."""

    row_id: str
    name: str
    cells: list[ShownFigure | None]
    doubtful: int
    """Figures that are not verified."""


@dataclass(frozen=True)
class Table:
    """One table of the overview."""

    table: str
    title: str
    columns: list[str]
    lines: list[Line]


@dataclass(frozen=True)
class RowPage:
    """One row with the provenance of each figure, and what follows from it."""

    table: str
    title: str
    row_id: str
    name: str
    figures: list[ShownFigure]
    notes: list[str]
    statuses: dict[str, str]


@dataclass(frozen=True)
class Overview:
    """The catalogue's first page."""

    tables: list[Table]
    books: list[PriceBook]


def overview(user: Visitor) -> Overview:
    """All tables and price books."""
    return Overview([_table(user, name) for name in TITLES], list(price_books_for(user).values()))


def row_page(user: Visitor, table: str, row_id: str) -> RowPage:
    """One row; SpecError where there is none."""
    figures = [shown(figure) for figure in figures_of(user, table, row_id)]
    used = {figure.status: STATUS_WORDS[figure.status] for figure in figures}
    name = next((figure.value for figure in figures if figure.field == "name"), row_id)
    return RowPage(table, TITLES[table], row_id, name, figures, _notes(user, table, row_id), used)


def _table(user: Visitor, table: str) -> Table:
    columns = COLUMNS[table]
    lines = []
    for row_id, row in rows_of(user, table).items():
        figures = {figure.field: shown(figure) for figure in row}
        doubtful = sum(figure.status != "verified" for figure in figures.values())
        name = figures["name"].value if "name" in figures else row_id
        lines.append(Line(row_id, name, [figures.get(column) for column in columns], doubtful))
    return Table(table, TITLES[table], list(columns.values()), lines)


def _notes(user: Visitor, table: str, row_id: str) -> list[str]:
    """What follows from the figures, in words."""
    if table == "models":
        return _model_notes(model_for(user, row_id))
    if table == "machines":
        machine = machine_for(user, row_id)
        of = machine.accelerator
        device = of if isinstance(of, Accelerator) else accelerator_for(user, of)
        idle = machine.host_w + machine.accelerators * device.idle_w
        return [
            f"Idle it draws {idle:,.0f} W, and {machine.provisioned():,.0f} W are provisioned for it;"
            f" its {machine.accelerators} × {device.name} hold"
            f" {machine.accelerators * device.memory_bytes / 1e9:,.0f} GB."
        ]
    return []


def _model_notes(model: Model) -> list[str]:
    experts = f", experts in {model.expert_precision}" if model.expert_precision else ""
    notes = [
        f"Weights take {weight_bytes(model) / 1e9:,.1f} GB ({weight_bytes(model):,} bytes) in"
        f" {model.weight_precision}{experts}; the KV of one token takes {kv_bytes_per_token(model):,} bytes in"
        f" {model.kv_precision}."
    ]
    if model.attention == "mla":
        notes.append("All heads share its latent: every accelerator of a tensor-parallel group holds the whole of it.")
    if model.window_tokens:
        notes.append(
            f"{model.windowed_layers} of its {model.layers} layers keep a request's last {model.window_tokens:,} tokens"
            " only: a long request takes less KV than its tokens times that."
        )
    if model.experts:
        active = active_parameters(model) + embedding_parameters(model)
        notes.append(
            f"A token takes {model.experts_per_token} of {model.experts} experts a layer, {active / 1e9:,.1f} billion"
            " parameters with the LM head; all experts stay in memory."
        )
    return notes
