"""REST v1 of the comparison: what the page says, and each column's row of designs.csv."""

from collections.abc import Sequence
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from planner.comparing.asked import Line
from planner.comparing.columns import Column
from planner.comparing.page import ComparePage, Driven, compare_page
from planner.studies.actions import study_for
from simcore.rows import as_json


class Compare(APIView):
    """``?study=1&study=2&design=1:0b7f…``, at most four; ``baseline``: one of them."""

    def get(self, request: Request) -> Response:
        return Response(as_told(compare_page(request.user, request.query_params)))


class StudyCompare(APIView):
    """The same of one study's answer and designs alone."""

    def get(self, request: Request, study_id: int) -> Response:
        study_for(request, study_id)
        return Response(as_told(compare_page(request.user, request.query_params, of_study=study_id)))


def as_told(page: ComparePage) -> dict[str, Any]:
    """Names of columns are keys; all rows are there, with whether they differ."""
    columns = page.columns
    told: dict[str, Any] = {
        "columns": [_column(column) for column in columns],
        "left_out": page.left_out,
        "baseline": page.baseline.name if columns else None,
    }
    if not columns:
        return told
    return told | {
        "verdict": page.verdict,
        "incomplete": page.incomplete,
        "inputs": [_line(line, columns) for line in page.all_inputs],
        "figures": [_line(line, columns) for line in page.all_figures],
        "drivers": [_driven(one, page.baseline) for one in page.driven],
    }


def _column(column: Column) -> dict[str, Any]:
    return {
        "name": column.name,
        "study": column.study.pk,
        "design": column.key.design_id or None,
        "title": column.title,
        "state": column.study.state,
        "partial": column.study.is_partial,
        "engine_version": column.study.engine_version,
        "row": as_json(column.row) if column.row else None,
    }


def _line(line: Line, columns: Sequence[Column]) -> dict[str, Any]:
    names = [column.name for column in columns]
    return {
        "label": line.label,
        "differs": line.differs,
        "values": dict(zip(names, line.cells, strict=True)),
        "against_baseline": {name: delta for name, (_, delta) in zip(names, line.pairs, strict=True) if delta},
    }


def _driven(one: Driven, baseline: Column) -> dict[str, Any]:
    return {
        "from": baseline.name,
        "to": one.column.name,
        "words": one.words,
        "by_way_of": [column.name for column in one.way],
        "usd_per_month": {"from": str(one.found.start), "to": str(one.found.end), "change": str(one.found.change)},
        "steps": [
            {
                "kind": step.kind,
                "inputs": list(step.inputs),
                "answer": step.answer,
                "usd_per_month": str(step.usd_per_month),
                "change": str(step.change),
                "alone": None if step.alone is None else str(step.alone),
                "simulated": step.is_simulated,
                "kinds": list(step.kinds),
            }
            for step in one.found.steps
        ],
    }
