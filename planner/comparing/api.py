"""REST v1 of the comparison: what the page says, and each column's row of designs.csv."""

from collections.abc import Sequence
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.operation import RestView, operation
from planner.api.queries import words_of
from planner.api.shapes import Shape, anything, flag, keyed, many, maybe, money, text, whole
from planner.api.shapes import told as shape_of
from planner.comparing.asked import Line
from planner.comparing.columns import Column
from planner.comparing.page import ComparePage, Driven, compare_page
from planner.studies.actions import study_for
from planner.studies.api_shapes import DESIGN
from simcore.rows import as_json

ADDRESSED = (
    words_of("study", "A study's number.", several=True),
    words_of("design", "A study's number, `:` and one of its designs.", several=True),
    words_of("baseline", "The one that the others are told against, as `study` or `design` has it."),
    words_of("order", "Of the steps of `drivers`, such as `rate.prices`."),
)
COLUMN = shape_of(
    "",
    name=text("A to D."),
    study=whole(),
    design=maybe(text("Null: its answer.")),
    title=text(),
    state=text(),
    partial=flag(),
    engine_version=text(),
    row=maybe(DESIGN),
)
COMPARED_LINE = shape_of(
    "", label=text(), differs=flag(), values=keyed(anything()), against_baseline=keyed(anything())
)  # fmt: skip
STEP = shape_of(
    "",
    kind=text(),
    inputs=many(text()),
    answer=anything(),
    usd_per_month=money(),
    change=money(),
    alone=maybe(money()),
    simulated=flag(),
    kinds=many(text()),
)
DRIVEN: Shape = {
    **shape_of("", to=text(), words=anything(), by_way_of=many(text()), usd_per_month=keyed(money()), steps=many(STEP)),
}
COMPARISON: Shape = {
    **shape_of("", columns=many(COLUMN), left_out=whole(), baseline=maybe(text())),
}
COMPARISON["properties"] |= {
    "verdict": anything("In sentences."),
    "incomplete": anything(),
    "inputs": many(COMPARED_LINE),
    "figures": many(COMPARED_LINE),
    "drivers": many(DRIVEN),
}


class Compare(RestView):
    """``?study=1&study=2&design=1:0b7f…``, at most four; ``baseline``: one of them."""

    @operation("Answers side by side", query=ADDRESSED, answers={200: COMPARISON}, errors=(404,))
    def get(self, request: Request) -> Response:
        return Response(as_told(compare_page(request.user, request.query_params)))


class StudyCompare(RestView):
    """The same of one study's answer and designs alone."""

    @operation("A study's designs side by side", query=ADDRESSED, answers={200: COMPARISON})
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
