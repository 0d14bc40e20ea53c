"""A new model: a Hugging Face config.json, pasted or as a file."""

from typing import Any

from django import forms
from django.db import IntegrityError

from planner.accounts.models import Team, User
from planner.catalogue.new_model import Report, report_of, save_model, taken
from planner.plain_text import NameField
from simcore.hf_config import MOST_BYTES, MOST_PARAMETERS, Imported, import_model, read_config
from simcore.spec import SpecError

NAME_LENGTH = 100


class ModelForm(forms.Form):
    """Checked and shown first; saved with the second button."""

    file = forms.FileField(label="config.json", required=False, allow_empty_file=True)
    text = forms.CharField(label="or its text", required=False, widget=forms.Textarea(attrs={"spellcheck": "false"}))
    name = NameField(label="Name", max_length=NAME_LENGTH)
    published = forms.IntegerField(
        label="Published parameters", required=False, min_value=1, max_value=MOST_PARAMETERS, localize=False
    )

    def __init__(self, team: Team, user: User, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.label_suffix = ""
        self.team, self.user = team, user

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or self.cleaned_data
        text = self._text(data)
        if "name" not in data or self.errors:
            return data
        try:
            self.imported: Imported = import_model(read_config(text), data["name"])
        except SpecError as error:
            self.add_error("text", f"{error}.")
            return data
        if taken(self.user, self.imported.model.id):
            self.add_error("name", f"Found ‘{self.imported.model.id}’ in the catalogue already; expected another name.")
        return data

    def _text(self, data: dict[str, Any]) -> str | bytes:
        """The file's content where one was chosen, which then stands in the text field too."""
        upload = data.get("file")
        if not upload:
            if not data.get("text"):
                self.add_error("file", "Found neither a file nor a text, expected a model's config.json.")
            return str(data.get("text", ""))
        content: bytes = upload.read(MOST_BYTES + 1)
        if len(content) <= MOST_BYTES:
            self.data = {**self.data.dict(), "text": content.decode("utf-8-sig", "replace")}  # type: ignore[attr-defined]
        return content

    def report(self) -> Report | None:
        """What the configuration means; None until it is right."""
        if not self.is_bound or self.errors or not hasattr(self, "imported"):
            return None
        return report_of(self.imported, self.cleaned_data.get("published"))

    def save(self) -> str | None:
        """The saved row's id; None, with an error at the name, if somebody else was faster with it."""
        try:
            save_model(self.team, self.user, self.imported)
        except IntegrityError:
            self.add_error("name", f"Found ‘{self.imported.model.id}’ in the catalogue already; expected another name.")
            return None
        return self.imported.model.id
