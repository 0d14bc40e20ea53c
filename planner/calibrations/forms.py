"""Benchmark files, and what they do not say."""

from dataclasses import replace
from typing import Any

from django import forms
from django.db import IntegrityError

from planner.accounts.models import Team, User
from planner.calibrations import services
from planner.calibrations.models import Calibration
from planner.catalogue.services import model_for, names_of, whole_machines_for
from simcore.measurements import Given
from simcore.spec import SpecError

NAME_LENGTH = 100
MOST_FILES = 50
ENGINES = [
    ("vllm-2026", "engines of 2026"),
    ("trtllm-2025", "TensorRT-LLM of 2025"),
    ("vllm-2023", "engines of 2023"),
    ("kernel", "device time alone"),
]
PRECISIONS = [("", "as the catalogue has the model's"), *((name, name) for name in ("bf16", "fp8", "fp4", "mxfp4"))]
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


def _count(label: str, initial: int | None = None) -> forms.IntegerField:
    return forms.IntegerField(label=label, required=False, initial=initial, min_value=1, max_value=MOST)


class CalibrationForm(forms.Form):
    benchmarks = FilesField(
        label="Benchmark files",
        allow_empty_file=True,
        error_messages={"required": "Found no file, expected results of a benchmark tool."},
    )
    model = forms.ChoiceField(label="Model")
    machine = forms.ChoiceField(label="Machine")
    tensor_parallel = _count("Tensor parallel")
    name = forms.CharField(max_length=NAME_LENGTH, required=False)
    engine = forms.ChoiceField(choices=ENGINES, label="Begin from", required=False)
    weight_precision = forms.ChoiceField(choices=PRECISIONS, label="Weights", required=False)
    replicas = _count("Replicas under the load")
    prompt_tokens = _count("Prompt tokens")
    output_tokens = _count("Output tokens")
    concurrency = _count("Requests in flight")
    token_budget = _count("Token budget", 2048)
    max_batch_size = _count("Batch size at most", 256)

    def __init__(self, team: Team, user: User, *args: Any, too_large: bool = False, **options: Any) -> None:
        super().__init__(*args, **options)
        self.label_suffix = ""
        self.team, self.user = team, user
        self.fields["model"].choices = names_of(user, "models")  # type: ignore[attr-defined]
        self.fields["machine"].choices = names_of(user, "machines")  # type: ignore[attr-defined]
        if too_large:
            limit = services.MOST_BYTES // 1_000_000
            self.fields["benchmarks"].error_messages["required"] = f"Found a file of more than {limit} MB."

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors:
            data["name"] = data["name"] or self._name(data)
            if Calibration.unscoped.filter(team=self.team, name=data["name"]).exists():
                self.add_error("name", self.taken())
        if not self.errors:
            self._fit(data)
        return data

    def taken(self) -> str:
        return f"Found ‘{self.cleaned_data['name']}’, which your team has already; expected another name."

    def save(self) -> Calibration | None:
        """The saved calibration; None, with an error at the name, if somebody else was faster with it."""
        try:
            return services.save(self.team, self.user, self.cleaned_data["name"], self.done)
        except IntegrityError:
            self.add_error("name", self.taken())
            return None

    def _name(self, data: dict[str, Any]) -> str:
        return f"{data['model']} on {data['machine']}, {data['benchmarks'][0].name}"[:NAME_LENGTH]

    def _fit(self, data: dict[str, Any]) -> None:
        try:
            texts = services.contents(data["benchmarks"])
            self.done = services.ready_made(texts) or self._fitted(texts, data)
        except SpecError as error:
            text = services.in_fields(str(error))
            field = "tensor_parallel" if "tensor parallel degree: found none" in text else "benchmarks"
            self.add_error(field, services.as_sentence(text))

    def _fitted(self, texts: Any, data: dict[str, Any]) -> services.Fit:
        (machine,) = whole_machines_for(self.user, [data["machine"]])
        precision, model = data["weight_precision"], model_for(self.user, data["model"])
        return services.fit(
            texts,
            Given(data["prompt_tokens"], data["output_tokens"], data["concurrency"]),
            model=replace(model, weight_precision=precision, expert_precision=None) if precision else model,
            precision_given=bool(precision),
            machine=machine,
            engine=data["engine"] or "vllm-2026",
            tensor_parallel=data["tensor_parallel"],
            replicas=data["replicas"],
            token_budget=data["token_budget"] or 2048,
            max_batch_size=data["max_batch_size"] or 256,
        )
