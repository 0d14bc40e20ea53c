"""Power logs, how they are to be read, and what ran while they were written."""

from typing import Any

from django import forms

from planner.accounts.models import Team, User
from planner.calibrations.services import as_sentence, contents, in_fields
from planner.calibrations.upload_form import ENGINES, MOST, FilesField, UploadForm, count_field
from planner.catalogue.services import model_for, names_of, whole_machines_for
from planner.plain_text import plain
from planner.power_logs import services
from planner.power_logs.models import PowerLog
from simcore.measurements.power_logs.read import MAX_GAP_S
from simcore.measurements.power_logs.times import utc_offset_s
from simcore.serving_power.report import LoggedRun
from simcore.spec import LatencySpec, Machine, SpecError

MOST_S = 86_400.0
RUN = ("model", "tensor_parallel", "concurrency", "prompt_tokens", "output_tokens")
"""All of them or none: without the run a log says what was drawn, not what for."""
OF_OPTIONS = {"--from": "start", "--to": "end", "--tensor-parallel": "tensor_parallel", "--utc-offset": "utc_offset"}


class PowerLogForm(UploadForm):
    uploads = "logs"
    row = PowerLog

    logs = FilesField(
        label="Power logs",
        allow_empty_file=True,
        error_messages={"required": "Found no file, expected power logs of nvidia-smi, dcgmi or DCGM exporter."},
    )
    machine = forms.ChoiceField(label="Machine")
    model = forms.ChoiceField(label="Model", required=False)
    tensor_parallel = count_field("Tensor parallel")
    concurrency = forms.FloatField(label="Requests in flight", required=False, min_value=1, max_value=MOST)
    prompt_tokens = count_field("Prompt tokens")
    output_tokens = count_field("Output tokens")
    engine = forms.ChoiceField(choices=ENGINES, label="Engine", required=False)
    start = forms.CharField(max_length=40, required=False)
    end = forms.CharField(max_length=40, required=False)
    utc_offset = forms.CharField(label="UTC offset", max_length=10, required=False)
    interval = forms.FloatField(label="Seconds between rows", required=False, min_value=0.001, max_value=MOST_S)
    max_gap = forms.FloatField(label="Longest gap", required=False, min_value=0.001, max_value=MOST_S)

    def __init__(self, team: Team, user: User, *args: Any, **options: Any) -> None:
        super().__init__(team, user, *args, **options)
        self.fields["machine"].choices = names_of(user, "machines")  # type: ignore[attr-defined]
        self.fields["model"].choices = [("", "not said"), *names_of(user, "models")]  # type: ignore[attr-defined]

    def clean_utc_offset(self) -> float | None:
        text = self.cleaned_data["utc_offset"].strip()
        try:
            return utc_offset_s(text) if text else None
        except SpecError:
            raise forms.ValidationError(f"Found ‘{text}’, expected something like +02:00 or -05:30.") from None

    def clean(self) -> dict[str, Any]:
        given = [name for name in RUN if self.cleaned_data.get(name)]
        if given and len(given) < len(RUN):
            for name in RUN:
                if name not in given and name not in self.errors:
                    self.add_error(name, "Found nothing, expected all of the run's model and load, or none of them.")
        return super().clean()

    def name_of(self, data: dict[str, Any]) -> str:
        return f"{data['machine']}, {plain(data['logs'][0].name)}"

    def made(self, name: str) -> PowerLog:
        return services.save(self.team, self.user, name, self.done)

    def read(self, data: dict[str, Any]) -> None:
        (machine,) = whole_machines_for(self.user, [data["machine"]])
        asked = services.Asked(
            data["utc_offset"],
            data["interval"],
            data["max_gap"] or MAX_GAP_S,
            data["start"].strip() or None,
            data["end"].strip() or None,
        )
        try:
            run = self._run(data, machine) if data["model"] else None
            self.done = services.read(contents(data["logs"]), asked, machine, run)
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
