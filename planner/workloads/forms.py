"""Two ways to a workload: a file, or a mix."""

from typing import Any

from django import forms
from django.conf import settings
from django.db import IntegrityError

from planner.accounts.models import Team, User
from planner.workloads import services
from planner.workloads.models import Workload
from simcore.spec import SpecError
from simcore.traces import SyntheticSpec, TraceError
from simcore.traces.synthetic import DEFAULT_REQUESTS

NAME_LENGTH = 100
ARRIVALS = [("poisson", "Poisson"), ("constant", "evenly spaced")]
PACKED, WRITTEN = (".gz", ".zst", ".zstd"), (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".txt")
MIXES = [("conversation", "Conversation"), ("coding", "Coding")]


class NamedForm(forms.Form):
    """A workload's name: one of its kind in the team."""

    name = forms.CharField(max_length=NAME_LENGTH, required=False)

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
            if Workload.unscoped.filter(team=self.team, name=data["name"]).exists():
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
    bare = file_name
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
        data = self.cleaned_data
        return services.save_upload(self.team, self.user, data["name"], data["file"].name, self.trace, self.report)


class MixForm(NamedForm):
    mix = forms.ChoiceField(choices=MIXES, label="Lengths of")
    rate_req_per_s = forms.FloatField(label="Requests/s", initial=10.0)
    requests = forms.IntegerField(label="Requests", initial=DEFAULT_REQUESTS)
    arrivals = forms.ChoiceField(choices=ARRIVALS, label="Arrivals")
    seed = forms.IntegerField(label="Seed", initial=0)

    def default_name(self, data: dict[str, Any]) -> str:
        return f"{data.get('mix', '').capitalize()} mix, seed {data.get('seed')}"

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        if self.errors:
            return data
        try:
            self.spec = SyntheticSpec.from_json({name: data[name] for name in data if name != "name"}, "")
            self._check_size()
        except SpecError as error:
            field, _, problem = str(error).partition(": ")
            self.add_error(field if field in self.fields else None, f"{problem[:1].upper()}{problem[1:]}.")
        return data

    def _check_size(self) -> None:
        if (self.spec.requests or 0) > settings.TRACE_MAX_ROWS:
            raise SpecError(f"requests: found {self.spec.requests:,}, expected at most {settings.TRACE_MAX_ROWS:,}")
        if (self.spec.requests or 0) / self.spec.rate_req_per_s > services.LONGEST_MIX_S:
            raise SpecError(
                f"rate_req_per_s: found {self.spec.requests:,} requests at {self.spec.rate_req_per_s:g} requests/s, "
                f"expected a trace of at most {services.LONGEST_MIX_S:,} s"
            )

    def saved(self) -> Workload:
        return services.save_mix(self.team, self.user, self.cleaned_data["name"], self.spec)
