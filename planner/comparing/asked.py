"""What those compared were asked, side by side: only what differs, or all of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from planner.comparing.columns import Column
from planner.scenarios.forms import QuestionForm
from planner.scenarios.kept_changes import kept_changes
from planner.scenarios.labels import bare_label
from planner.scenarios.words import read_by, value_of
from planner.studies.asked import words_of


@dataclass(frozen=True)
class Line:
    """One row of a table: a label, and a cell a column. ``deltas``: against the baseline, in words; empty: none."""

    label: str
    cells: tuple[str, ...]
    deltas: tuple[str, ...] = ()
    differs: bool = True

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Each cell with its delta."""
        return list(zip(self.cells, self.deltas or ("",) * len(self.cells), strict=True))


def inputs(columns: Sequence[Column], baseline: Column) -> list[Line]:
    """Each input that any of them reads, in the form's order, then the catalogue's figures that moved."""
    asked = [column.study.revision.inputs for column in columns]
    words = [words_of(column.study) for column in columns]
    read = {name for one in asked for name in read_by(one)}
    lines = []
    for name in QuestionForm.base_fields:
        if name not in read:
            continue
        cells = tuple(said.value(name, one) for said, one in zip(words, asked, strict=True))
        values = [value_of(name, one) for one in asked]
        lines.append(Line(bare_label(name), cells, differs=any(value != values[0] for value in values)))
    return [*lines, *_catalogue(columns, baseline)]


def _catalogue(columns: Sequence[Column], baseline: Column) -> list[Line]:
    """Figures of rows that all but name themselves: those that a column keeps otherwise than the baseline does."""
    found = [
        {change.label: change for change in kept_changes(baseline.study.revision.rows, column.study.revision.rows)}
        for column in columns
    ]
    lines = []
    for label in dict.fromkeys(label for changes in found for label in changes):
        was = next(changes[label].before for changes in found if label in changes)
        cells = tuple(changes[label].after if label in changes else was for changes in found)
        lines.append(Line(f"catalogue: {label}", cells))
    return lines
