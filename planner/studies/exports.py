"""A study's designs as files: the columns of designs.csv, the same rows as page and API."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from planner.scenarios.errors import FieldErrors
from planner.schemas import address
from planner.spreadsheet import csv_form
from planner.studies.models import Study
from planner.studies.results import progress
from planner.studies.supposing import answer, supposed
from planner.studies.supposing import as_json as supposed_json
from simcore.answer.hold_equal import comparison_json
from simcore.answer.spent import spent
from simcore.rows import COLUMNS, as_json
from simcore.spec import SpecError

Query = Mapping[str, Any]
NOTHING: Query = {}


def designs_csv(study: Study, query: Query = NOTHING) -> str:
    """designs.csv: the designs that were tried so far, under what ``query`` supposes, written as it asks (``locale``,
    ``bom``). FieldErrors: it cannot be."""
    try:
        form = csv_form(query)
    except SpecError as error:
        name, _, words = str(error).partition(": ")
        raise FieldErrors({name: words}) from None
    _, found = supposed(study, query)
    rows = ([getattr(row, name) for name in COLUMNS] for row in found.result.rows)
    return form.written(COLUMNS, rows, "\r\n")  # as plan writes it


def designs_json(study: Study, query: Query = NOTHING) -> dict[str, Any]:
    """The answer, its designs, and all that it rests on, under what ``query`` supposes. FieldErrors: it cannot be."""
    _, found = supposed(study, query)
    return {
        "schema": address("designs-1"),
        **summary(study, query),
        "designs": [as_json(row) for row in found.result.rows],
        "spec": study.spec | {"prices": study.prices},  # a STUDY.json, whatever the team's catalogue has become
        "prices": study.prices,
        "trace_hash": study.trace_hash,
        "engine_version": study.engine_version,
    }


def summary(study: Study, query: Query = NOTHING) -> dict[str, Any]:
    """The study without its designs: state, progress, answer, under what ``query`` supposes. FieldErrors: it cannot
    be."""
    now = progress(study)
    moves, found = supposed(study, query, now)  # of the same moment: a running study goes on meanwhile
    return {
        "id": study.pk,
        "name": study.revision.title,
        "scenario": study.revision.scenario_id,
        "revision": study.revision.number,
        "state": study.state,
        "partial": study.is_partial,
        "error": study.error,
        "created_at": study.created_at.isoformat(),
        "finished_at": study.finished_at and study.finished_at.isoformat(),
        "progress": {
            "tried": now.tried,
            "total": now.total,
            "failed": now.failed,
            "phase": now.phase,
            "damaged": now.damaged,
        },
        "answer": [asdict(line) for line in answer(study, found, now)],
        "hold_equal": comparison_json(found.result),
        "spent": asdict(spent(found.base.evaluations.values())),
        **supposed_json(moves, found),
    }
