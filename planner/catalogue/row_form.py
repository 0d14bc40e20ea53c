"""The form of a row: every figure with its unit and range, and one provenance for all that is changed at once."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils import timezone

from planner.accounts.models import Team, User
from planner.catalogue.columns import Column, columns, date_problem
from planner.catalogue.display import quantity
from planner.catalogue.editing import (
    Draft,
    StaleError,
    id_problem,
    one_at_a_time,
    same_value,
    write,
)
from planner.catalogue.models import USER
from planner.catalogue.rows import Row, row_or_none
from planner.catalogue.services import names_of
from planner.catalogue.together import check_row, rows_beside
from planner.catalogue.typed import stored
from simcore.catalogue import STATUSES
from simcore.spec import SpecError

STATUS_CHOICES = [(USER, "your team's own"), *((status, status) for status in STATUSES)]
LONGEST_SOURCE = 500
ID = "id"
MEASURED_AS = "measured_as"


class RowForm(forms.Form):
    """``row`` is changed; with ``like`` instead, or with neither, a new row is made."""

    source = forms.CharField(
        max_length=LONGEST_SOURCE,
        error_messages={"required": "Found nothing, expected where the figures are from: a data sheet, an offer."},
    )
    date = forms.CharField(label="Date of the source", max_length=10)
    status = forms.ChoiceField(choices=STATUS_CHOICES, initial=USER)
    seen = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(
        self, team: Team, user: User, table: str, data: Any = None, *, row: Row | None = None, like: Row | None = None
    ) -> None:
        super().__init__(data)
        self.label_suffix = ""
        self.team, self.user, self.table, self.row, self.like = team, user, table, row, like
        self.fields["date"].initial = timezone.now().date().isoformat()
        self.fields["seen"].initial = row.version if row else ""
        if row is None:
            self.fields[ID] = forms.CharField(label="Id", max_length=100, initial="")
        for column in columns(table).values():
            self.fields[column.field] = self._field(column)

    @property
    def figures(self) -> list[tuple[Column, Any, str]]:
        """The figures' columns and bound fields, in order, and the shipped value where the team has another."""
        return [(column, self[column.field], self._shipped(column)) for column in columns(self.table).values()]

    def _shipped(self, column: Column) -> str:
        if self.row is None or column.field not in self.row.own or column.field not in self.row.shipped:
            return ""
        return quantity(self.row.shipped[column.field].value, column.unit)

    def clean_date(self) -> str:
        text: str = self.cleaned_data["date"].strip()
        if problem := date_problem(text):
            raise forms.ValidationError(sentence(problem))
        return text

    def clean_id(self) -> str:
        row_id: str = self.cleaned_data[ID].strip()
        if problem := id_problem(row_id):
            raise forms.ValidationError(sentence(problem))
        if row_or_none(self.user, self.table, row_id):
            raise forms.ValidationError(f"Found ‘{row_id}’ in the catalogue already; expected another id.")
        return row_id

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or self.cleaned_data
        for column in columns(self.table).values():
            data[column.field] = stored(str(data.get(column.field) or ""), column.unit)
            self._check(column, data[column.field])
        if not self.errors:
            self._check_together(data)
        if not self.errors and not self._drafts() and not self._dropped():
            self.add_error(None, "Found no figure changed; expected one at least.")
        return data

    def save(self) -> str:
        """The saved row's id. StaleError where the row was changed by somebody else in between."""
        row_id: str = self.row.row_id if self.row else self.cleaned_data[ID]
        with one_at_a_time(self.team):
            now = row_or_none(self.user, self.table, row_id)
            if (now.version if now else "") != self.cleaned_data["seen"]:
                raise StaleError
            write(self.team, self.user, now or Row(self.table, row_id), self._drafts(), self._dropped())
        return row_id

    def _field(self, column: Column) -> forms.Field:
        options: list[tuple[str, str]] = []
        if column.of:
            options = [(key, f"{name} ({key})") for key, name in names_of(self.user, column.of)]
        elif column.kind == "flag":
            options = [("true", "yes"), ("false", "no")]
        elif column.kind == "choice":
            options = [(choice, choice) for choice in column.choices]
        empty = f"not given: {column.default}" if column.default else "not given"
        widget = forms.Select(choices=[("", empty), *options]) if options else forms.TextInput()
        return forms.CharField(
            label=column.words,
            required=False,
            widget=widget,
            initial=self._initial(column.field),
            max_length=None,
        )

    def _initial(self, field: str) -> str:
        """A clone is called otherwise, and is the same device as what it is cloned from until it says another."""
        before = self._before.get(field, "")
        if self.like and field == MEASURED_AS and self.like.shipped:
            return before or self.like.row_id
        return f"{before}, ours" if field == "name" and self.like else before

    @property
    def _before(self) -> Mapping[str, str]:
        """Values as they are, or as the row that is cloned has them."""
        base = self.row or self.like
        return base.texts if base else {}

    def _check(self, column: Column, text: str) -> None:
        if text:
            problem = column.problem(text)
        elif column.required or (self.row and column.field in self.row.shipped):
            problem = f"found nothing, expected {column.expected}"
        else:
            problem = ""
        if problem:
            self.add_error(column.field, sentence(problem))

    def _check_together(self, data: Mapping[str, Any]) -> None:
        texts = {name: data[name] for name in columns(self.table) if data[name]}
        row_id = self.row.row_id if self.row else data[ID]
        try:
            check_row(self.table, row_id, texts, rows_beside(self.user, self.table))
        except SpecError as error:
            field, _, problem = str(error).partition(": ")
            self.add_error(field if field in self.fields else None, sentence(problem))

    def _drafts(self) -> list[Draft]:
        """Figures that are to be written: the changed ones with the provenance typed, a clone's others with its own."""
        drafts = []
        for column in columns(self.table).values():
            text = self.cleaned_data[column.field]
            changed = not same_value(text, self._before.get(column.field, ""))
            if text and changed:
                drafts.append(self._draft(column, text))
            elif text and self.like:
                drafts.append(Draft(column.field, *_provenance(self.like, column.field)))
        return drafts

    def _draft(self, column: Column, text: str) -> Draft:
        data = self.cleaned_data
        return Draft(column.field, text, column.unit, data["source"].strip(), data["date"], data["status"])

    def _dropped(self) -> list[str]:
        """Figures of the team's own that are to be given no more."""
        return [name for name in (self.row.own if self.row else ()) if not self.cleaned_data.get(name)]


def _provenance(row: Row, field: str) -> tuple[str, str, str, str, str]:
    figure = row.figures[field]
    return figure.value, figure.unit, figure.source, figure.date, figure.status


def sentence(problem: str) -> str:
    """A problem as a message of its own."""
    return f"{problem[:1].upper()}{problem[1:]}."
