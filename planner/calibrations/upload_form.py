"""What all forms share that make a team's row, under a name of its own, of uploaded files."""

from typing import Any, ClassVar

from django import forms
from django.db import IntegrityError

from planner.accounts.models import Team, User
from planner.calibrations.services import MOST_BYTES
from planner.plain_text import NameField

NAME_LENGTH = 100
MOST_FILES = 50
ENGINES = [
    ("vllm-2026", "engines of 2026"),
    ("trtllm-2025", "TensorRT-LLM of 2025"),
    ("vllm-2023", "engines of 2023"),
    ("kernel", "device time alone"),
]
MOST = 10_000_000


class SeveralFiles(forms.ClearableFileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """One or more files, as a list."""

    widget = SeveralFiles

    def clean(self, data: Any, initial: Any = None) -> Any:
        files = data if isinstance(data, list | tuple) else [data] if data else []
        if len(files) > MOST_FILES:
            raise forms.ValidationError(f"Found {len(files)} files, expected at most {MOST_FILES}.")
        return [super(FilesField, self).clean(file, initial) for file in files or [None]]


def count_field(label: str, initial: int | None = None) -> forms.IntegerField:
    """A whole number from 1 that may be left out."""
    return forms.IntegerField(label=label, required=False, initial=initial, min_value=1, max_value=MOST)


class UploadForm(forms.Form):
    """``uploads`` names the field of files, ``row`` the kind of row. A form of this sort reads its files in ``read``
    and makes the row in ``made``."""

    uploads: ClassVar[str]
    row: ClassVar[Any]

    name = NameField(max_length=NAME_LENGTH, required=False)

    def __init__(self, team: Team, user: User, *args: Any, too_large: bool = False, **options: Any) -> None:
        super().__init__(*args, **options)
        self.label_suffix = ""
        self.team, self.user = team, user
        if too_large:
            limit = MOST_BYTES // 1_000_000
            self.fields[self.uploads].error_messages["required"] = f"Found a file of more than {limit} MB."

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors:
            data["name"] = data["name"] or self.name_of(data)[:NAME_LENGTH]
            if self.row.unscoped.filter(team=self.team, name=data["name"]).exists():
                self.add_error("name", self.taken())
        if not self.errors:
            self.read(data)
        return data

    def name_of(self, data: dict[str, Any]) -> str:
        """What a row without a name is called."""
        raise NotImplementedError

    def read(self, data: dict[str, Any]) -> None:
        """Read the files, or add an error."""
        raise NotImplementedError

    def made(self, name: str) -> Any:
        """The row, of what was read."""
        raise NotImplementedError

    def taken(self) -> str:
        return f"Found ‘{self.cleaned_data['name']}’, which your team has already; expected another name."

    def save(self) -> Any:
        """The saved row; None, with an error at the name, if somebody else was faster with it."""
        try:
            return self.made(self.cleaned_data["name"])
        except IntegrityError:
            self.add_error("name", self.taken())
            return None
