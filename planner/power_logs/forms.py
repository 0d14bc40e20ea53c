"""Power logs, how they are to be read, and what ran while they were written."""

from typing import Any

from django import forms
from django.db import IntegrityError

from planner.accounts.models import Team, User
from planner.calibrations.forms import ENGINES, NAME_LENGTH, FilesField
from planner.calibrations.services import MOST_BYTES, as_sentence, contents, in_fields
from planner.catalogue.services import model_for, names_of, whole_machines_for
from planner.power_logs import services
from planner.power_logs.models import PowerLog
from simcore.measurements.power_logs.read import MAX_GAP_S
from simcore.measurements.power_logs.times import utc_offset_s
from simcore.power_report import LoggedRun
from simcore.spec import LatencySpec, Machine, SpecError

MOST = 10_000_000
MOST_S = 86_400.0
RUN = ("model", "tensor_parallel", "concurrency", "prompt_tokens", "output_tokens")
"""All of them or none: without the run a log says what was drawn, not what for."""
OF_OPTIONS = {"--from": "start", "--to": "end", "--tensor-parallel": "tensor_parallel", "--utc-offset": "utc_offset"}


def _count(label: str) -> forms.IntegerField:
    return forms.IntegerField(label=label, required=False, min_value=1, max_value=MOST)


class PowerLogForm(forms.Form):
    logs = FilesField(
        label="Power logs",
        allow_empty_file=True,
        error_messages={"required": "Found no file, expected power logs of nvidia-smi, dcgmi or DCGM exporter."},
    )
    machine = forms.ChoiceField(label="Machine")
    name = forms.CharField(max_length=NAME_LENGTH, required=False)
    model = forms.ChoiceField(label="Model", required=False)
    tensor_parallel = _count("Tensor parallel")
    concurrency = forms.FloatField(label="Requests in flight", required=False, min_value=1, max_value=MOST)
    prompt_tokens = _count("Prompt tokens")
    output_tokens = _count("Output tokens")
    engine = forms.ChoiceField(choices=ENGINES, label="Engine", required=False)
    start = forms.CharField(max_length=40, required=False)
    end = forms.CharField(max_length=40, required=False)
    utc_offset = forms.CharField(label="UTC offset", max_length=10, required=False)
    interval = forms.FloatField(label="Seconds between rows", required=False, min_value=0.001, max_value=MOST_S)
    max_gap = forms.FloatField(label="Longest gap", required=False, min_value=0.001, max_value=MOST_S)

    def __init__(self, team: Team, user: User, *args: Any, too_large: bool = False, **options: Any) -> None:
        super().__init__(*args, **options)
        self.label_suffix = ""
        self.team, self.user = team, user
        self.fields["machine"].choices = names_of(user, "machines")  # type: ignore[attr-defined]
        self.fields["model"].choices = [("", "not said"), *names_of(user, "models")]  # type: ignore[attr-defined]
        if too_large:
            limit = MOST_BYTES // 1_000_000
            self.fields["logs"].error_messages["required"] = f"Found a file of more than {limit} MB."

    def clean_utc_offset(self) -> float | None:
        text = self.cleaned_data["utc_offset"].strip()
        try:
            return utc_offset_s(text) if text else None
        except SpecError:
            raise forms.ValidationError(f"Found ‘{text}’, expected something like +02:00 or -05:30.") from None

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or self.cleaned_data
        given = [name for name in RUN if data.get(name)]
        if 0 < len(given) < len(RUN):
            for name in RUN:
                if name not in given and name not in self.errors:
                    self.add_error(name, "Found nothing, expected all of the run's model and load, or none of them.")
        if not self.errors:
            data["name"] = data["name"] or f"{data['machine']}, {data['logs'][0].name}"[:NAME_LENGTH]
            if PowerLog.unscoped.filter(team=self.team, name=data["name"]).exists():
                self.add_error("name", self.taken())
        if not self.errors:
            self._read(data, bool(given))
        return data

    def taken(self) -> str:
        return f"Found ‘{self.cleaned_data['name']}’, which your team has already; expected another name."

    def save(self) -> PowerLog | None:
        """The saved log; None, with an error at the name, if somebody else was faster with it."""
        try:
            return services.save(self.team, self.user, self.cleaned_data["name"], self.done)
        except IntegrityError:
            self.add_error("name", self.taken())
            return None

    def _read(self, data: dict[str, Any], run: bool) -> None:
        (machine,) = whole_machines_for(self.user, [data["machine"]])
        asked = services.Asked(
            data["utc_offset"],
            data["interval"],
            data["max_gap"] or MAX_GAP_S,
            data["start"].strip() or None,
            data["end"].strip() or None,
        )
        try:
            self.done = services.read(contents(data["logs"]), asked, machine, self._run(data, machine) if run else None)
        except SpecError as error:
            text = str(error)
            option = text.partition(":")[0]
            words = in_fields(text.partition(": ")[2] if option in OF_OPTIONS else text, services.FIELDS)
            self.add_error(OF_OPTIONS.get(option, "logs"), as_sentence(words))

    def _run(self, data: dict[str, Any], machine: Machine) -> LoggedRun:
        return LoggedRun(
            model=model_for(self.user, data["model"]),
            machine=machine,
            tensor_parallel=data["tensor_parallel"],
            concurrency=data["concurrency"],
            prompt_tokens=data["prompt_tokens"],
            output_tokens=data["output_tokens"],
            latency=LatencySpec(engine=data["engine"] or "vllm-2026"),
        )
