"""A team's own model out of a Hugging Face configuration: what it means, and its figures as rows with provenance."""

from dataclasses import dataclass, fields

from django.db import transaction
from django.utils import timezone

from planner.accounts.models import Team, User
from planner.accounts.owned import Visitor
from planner.catalogue.display import quantity, words_of
from planner.catalogue.editing import Draft, write
from planner.catalogue.models import USER
from planner.catalogue.rows import Row
from planner.catalogue.services import names_of
from simcore.catalogue import figures
from simcore.hf_config import Check, Imported, checks
from simcore.shapes import kv_bytes_per_token, weight_bytes
from simcore.spec import Model

TABLE = "models"
COUNTED = ("parameters",)
"""Fields that are counted from the shapes, not read."""


@dataclass(frozen=True)
class ShownCheck:
    """One comparison in words."""

    words: str
    agrees: bool


@dataclass(frozen=True)
class Report:
    """A configuration's meaning, before it is saved."""

    name: str
    row_id: str
    facts: list[tuple[str, str]]
    checks: list[ShownCheck]
    notes: list[str]


def taken(user: Visitor, row_id: str) -> bool:
    """Whether the user's catalogue has the id already."""
    return row_id in dict(names_of(user, TABLE))


def report_of(imported: Imported, published: int | None) -> Report:
    """The model's figures and what they were checked against."""
    model = imported.model
    facts = [
        ("Parameters", f"{model.parameters:,}{_active(imported)}"),
        ("KV of one token", f"{kv_bytes_per_token(model):,} bytes in {model.kv_precision}"),
        ("Weights", f"{weight_bytes(model) / 1e9:,.1f} GB in {_precisions(model)}"),
        *(
            (words_of(field), quantity(text, unit))
            for field, text, unit in figures_of_model(model)
            if field in SHOWN and text != "0"
        ),
    ]
    compared = [_shown(check) for check in checks(imported, published)]
    return Report(model.name, model.id, facts, compared, list(imported.notes))


SHOWN = (
    *("layers", "hidden_size", "heads", "kv_heads", "head_dim", "intermediate_size", "vocab_size", "max_model_tokens"),
    *("windowed_layers", "window_tokens", "experts", "experts_per_token", "expert_intermediate_size", "shared_experts"),
    *("dense_layers", "kv_lora_rank", "qk_rope_head_dim"),
)


@transaction.atomic
def save_model(team: Team, user: User, imported: Imported) -> None:
    """The model's figures as the team's own rows; IntegrityError if the team has the id already."""
    today = timezone.now().date().isoformat()
    drafts = [
        Draft(field, text, unit, _source(imported, field), today, USER)
        for field, text, unit in figures_of_model(imported.model)
    ]
    write(team, user, Row(TABLE, imported.model.id), drafts)


def figures_of_model(model: Model) -> list[tuple[str, str, str]]:
    """Field, value as the CSVs write it, unit; fields without a value are left out."""
    units = {figure.field: figure.unit for figure in figures(TABLE)}
    values = [(field.name, getattr(model, field.name)) for field in fields(model) if field.name != "id"]
    return [(name, _text(value), units.get(name, "")) for name, value in values if value is not None]


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _source(imported: Imported, field: str) -> str:
    if field in COUNTED:
        return "counted from the shapes in the config.json that was imported"
    if field == "name":
        return "as named when its config.json was imported"
    key = imported.found.get(field)
    said = f"key {key}" if key else "by its family's rules"
    family = f" ({imported.model_type})" if imported.model_type else ""
    return f"config.json{family} as imported, {said}"


def _active(imported: Imported) -> str:
    return f", of which a token takes {imported.counted.active:,}" if imported.model.experts else ""


def _precisions(model: Model) -> str:
    experts = f", experts in {model.expert_precision}" if model.expert_precision else ""
    return f"{model.weight_precision}{experts}"


def _shown(check: Check) -> ShownCheck:
    what = check.what[:1].upper() + check.what[1:]
    if check.found == check.expected:
        return ShownCheck(f"{what}: the same as {check.against}.", check.agrees)
    off = f"{abs(check.difference) * 100:.2g} % {'more' if check.difference > 0 else 'less'}"
    return ShownCheck(f"{what}: {check.found:,}, {off} than {check.against}, {check.expected:,.0f}.", check.agrees)
