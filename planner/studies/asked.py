"""What a study was asked, in words, from its own copies: rows that changed or went since then do not change it."""

from planner.scenarios.choices import LATENCIES, POWERS
from planner.scenarios.words import Words
from planner.studies import stored
from planner.studies.models import Study
from planner.studies.names import family_names
from simcore.catalogue import machine, machine_ids, resolve_machine, resolve_model


def words_of(study: Study) -> Words:
    """The names of what the study chose from, as they were."""
    spec, book = stored.spec_of(study), stored.prices_of(study)
    model = resolve_model(spec.model)
    machines = [resolve_machine(choice.machine) for choice in spec.machines]
    fabric = study.revision.rows.get("fabric")
    return Words(
        {
            "model": {model.id: model.name},
            "workload": {str(study.workload_id): study.workload.name},
            "machines": {machine.id: machine.name for machine in machines},
            "price_book": {book.id: book.name},
            "families": family_names(spec),
            "latency": {**_uploaded(study, "latency", "a calibration of the team"), **dict(LATENCIES)},
            "power": {**_uploaded(study, "power", "a power log of the team"), **dict(POWERS)},
            "fabric": {fabric["id"]: fabric["name"]} if fabric else {},
            "slowdown_reference": {name: machine(name).name for name in machine_ids()},
        }
    )


def _uploaded(study: Study, name: str, words: str) -> dict[str, str]:
    """A row of the team's own that the question chose: what it is, and not what the team calls it."""
    chosen = {study.revision.inputs.get(name), *(study.revision.inputs.get(f"{name}_by_machine") or {}).values()}
    return {str(key): words for key in chosen if key}


def sentence(study: Study) -> str:
    return words_of(study).sentence(study.revision.inputs)


def set_apart(study: Study) -> list[str]:
    """What the question set beside its sentence."""
    return words_of(study).apart_from_defaults(study.revision.inputs)
