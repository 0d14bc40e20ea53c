"""A workload from a file, and what every form that makes one has."""

from typing import Any

from django import forms
from django.conf import settings
from django.db import IntegrityError

from planner.accounts.models import Team, User
from planner.plain_text import NameField, plain
from planner.workloads import services
from planner.workloads.cached import cache_choices
from planner.workloads.models import Workload
from simcore.traces import TraceError

NAME_LENGTH = 100
PACKED, WRITTEN = (".gz", ".zst", ".zstd"), (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".txt")


class NamedForm(forms.Form):
    """A workload's name: one of its kind in the team."""

    name = NameField(max_length=NAME_LENGTH, required=False)

    def __init__(self, team: Team, user: User, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.label_suffix = ""
        self.team, self.user = team, user

    def default_name(self, data: dict[str, Any]) -> str:
        raise NotImplementedError

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or self.cleaned_data
        if "name" in data:
            data["name"] = data["name"] or self.default_name(data)
            if Workload.is_taken(self.team, data["name"]):
                self.add_error("name", self.taken())
        return data

    def taken(self) -> str:
        return f"Found ‘{self.cleaned_data['name']}’, which your team has already; expected another name."

    def save(self) -> Workload | None:
        """The saved workload; None, with an error at the name, if somebody else was faster with it."""
        try:
            return self.saved()
        except IntegrityError:
            self.add_error("name", self.taken())
            return None

    def saved(self) -> Workload:
        raise NotImplementedError


def named_after(file_name: str) -> str:
    """A file's name without what says how it is written."""
    bare = plain(file_name)
    for endings in (PACKED, WRITTEN):
        bare = next((bare[: -len(end)] for end in endings if bare.lower().endswith(end) and bare.lower() != end), bare)
    return bare[:NAME_LENGTH]


class UploadForm(NamedForm):
    file = forms.FileField(
        label="Trace file",
        allow_empty_file=True,
        error_messages={"required": "Found no file, expected a trace with one request a line."},
    )
    field_order = ("file", "name")

    def __init__(self, *args: Any, too_large: bool = False, **options: Any) -> None:
        super().__init__(*args, **options)
        if too_large:  # the upload was stopped, which leaves a form without a file
            limit_mb = settings.TRACE_MAX_BYTES // 1_000_000
            message = f"Found a file of more than {limit_mb} MB, expected at most {limit_mb} MB."
            self.fields["file"].error_messages["required"] = message

    def default_name(self, data: dict[str, Any]) -> str:
        return named_after(data["file"].name) if data.get("file") else ""

    def clean_file(self) -> Any:
        upload = self.cleaned_data["file"]
        try:
            self.trace, self.report = services.read_upload(upload, upload.name)
        except TraceError as error:
            raise forms.ValidationError(f"{error}.") from None
        return upload

    def saved(self) -> Workload:
        """A draft: its report comes before it is saved."""
        name, file_name = self.cleaned_data["name"], plain(self.cleaned_data["file"].name)
        return services.keep_draft(self.team, self.user, name, file_name, self.trace, self.report)


class SaveForm(NamedForm):
    """A draft's name, which makes it one of the team's workloads, and what is counted as cached of its prompts."""

    prefix_cache = forms.ChoiceField(label="Prefix cache", required=False)

    def __init__(self, team: Team, user: User, draft: Workload, *args: Any) -> None:
        super().__init__(team, user, *args, initial={"name": draft.name})
        self.draft = draft
        choices = cache_choices(draft)
        if choices:
            self.fields["prefix_cache"].choices = choices  # type: ignore[attr-defined]
        else:
            del self.fields["prefix_cache"]

    def default_name(self, data: dict[str, Any]) -> str:
        return named_after(self.draft.file_name)

    def saved(self) -> Workload:
        return services.save_draft(
            self.user, self.draft, self.cleaned_data["name"], self.cleaned_data.get("prefix_cache", "")
        )
