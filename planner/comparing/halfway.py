"""A question halfway between two that were asked: the first one's, with one part of it as the second asks it. Its
answer tells what that part does, where stored results cannot."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from planner.accounts.owned import Visitor
from planner.catalogue.kept import Kept
from planner.scenarios.forms import QuestionForm, clean_inputs
from planner.scenarios.models import Revision
from planner.scenarios.services import author, create_scenario, rows_now
from planner.scenarios.words import OF_SLO
from planner.studies.leases import State
from planner.studies.models import Study
from planner.studies.services import start_study
from planner.studies.waves import ACTIVE
from planner.studies.workers import engine_at_work

ENGINE = "engine version"
CATALOGUE = "catalogue"
REST = "serving options"
MONEY = frozenset({"price_book", "usd_per_month", "most_machines", "racks", "pue", "goal", "size_to", "hold_equal"}) | {
    "power_limit_kw",
    "power_kind",
}
"""Fields that are applied to what was simulated, whatever is halfway."""
NAMED: dict[str, tuple[str, ...]] = {
    "model": ("model", "weight_precision", "kv_precision"),
    "workload": ("workload", "arrivals", "seed", "replications"),
    "rate": ("rate_req_per_s",),
    "objective": ("slo_kind", "failures", *(name for names in OF_SLO.values() for name in names)),
    "machines": ("machines", "on_hand"),
    "iteration times": ("latency", "latency_by_machine"),
    CATALOGUE: ("power",),
    "designs to try": ("families", "counts_tried", "mixed_counts", "prefill_counts", "decode_counts"),
    ENGINE: (),
}
PARTS = NAMED | {
    REST: tuple(
        name
        for name in QuestionForm.base_fields
        if name not in MONEY and not any(name in names for names in NAMED.values())
    )
}
"""Kinds of inputs that a simulation alone tells the effect of, as ``simcore.comparing.inputs`` names them, with the
fields of a question."""


def may_be_asked(kind: str, first: Study, second: Study) -> bool:
    """Whether the engine at work would answer what lies between the two, differing from the first in this kind alone:
    where it is another than the first one's, that is to be told apart before anything else."""
    engine = engine_at_work()
    if kind == ENGINE:
        return engine == second.engine_version != first.engine_version
    return kind in PARTS and engine == first.engine_version


@transaction.atomic
def ask_halfway(user: Visitor, first: Study, second: Study, kind: str) -> Study:
    """The study of the question halfway: the team's own that asks it already, else a new one. FieldErrors where the two
    questions do not go together."""
    if kind == ENGINE:
        return _answered(user, first.revision.inputs, first.revision.rows) or start_study(user, first.revision)
    kept = kept_halfway(first.revision.rows, second.revision.rows, kind)
    inputs = clean_inputs(user, inputs_halfway(first.revision, second.revision, kind), kept)
    if (known := _answered(user, inputs, rows_now(author(user), inputs, kept))) is not None:
        return known
    name = f"{first.revision.title}, with the {kind} of {second.revision.title}"
    origin = f"answer {first.pk}, to tell it from answer {second.pk}"
    return start_study(user, create_scenario(user, inputs, name, origin=origin, kept=kept))


def inputs_halfway(first: Revision, second: Revision, kind: str) -> dict[str, Any]:
    return {**first.inputs, **{name: second.inputs.get(name) for name in PARTS[kind]}}


def kept_halfway(first: Kept, second: Kept, kind: str) -> dict[str, Any]:
    """The first one's rows of the catalogue, with those that the part brings along."""
    if not (first and second):
        return dict(first)
    if kind == CATALOGUE:
        same = second["model"] if second["model"]["id"] == first["model"]["id"] else first["model"]
        theirs = {row["id"]: row for row in second["machines"]}
        return {**first, "model": same, "machines": [theirs.get(row["id"], row) for row in first["machines"]]}
    if kind == "model":
        return {**first, "model": second["model"]}
    if kind == "machines":
        prices = {**first["prices"], "prices": _both(first["prices"]["prices"], second["prices"]["prices"], "machine")}
        return {**first, "machines": _both(first["machines"], second["machines"], "id"), "prices": prices}
    if kind == REST and second.get("fabric"):
        return {**first, "fabric": second["fabric"]}
    return dict(first)


def _both(mine: list[Any], others: list[Any], key: str) -> list[Any]:
    known = {row[key] for row in mine}
    return [*mine, *(row for row in others if row[key] not in known)]


def _answered(user: Visitor, inputs: Mapping[str, Any], rows: Mapping[str, Any]) -> Study | None:
    """A study of that very question, complete or under way, by the engine at work."""
    asked = Study.objects.visible_to(user).filter(state__in=(*ACTIVE, State.DONE))
    for study in asked.filter(engine_version__in=("", engine_at_work())).select_related("revision").order_by("-pk"):
        if study.revision.inputs == inputs and study.revision.rows == rows:
            return study
    return None
