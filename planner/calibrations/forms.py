"""Benchmark files, and what they do not say."""

from dataclasses import replace
from typing import Any

from django import forms

from planner.accounts.models import Team, User
from planner.calibrations import services
from planner.calibrations.models import Calibration
from planner.calibrations.upload_form import ENGINES, FilesField, UploadForm, count_field
from planner.catalogue.services import model_for, names_of, whole_machines_for
from simcore.measurements import Given
from simcore.spec import SpecError

PRECISIONS = [("", "as the catalogue has the model's"), *((name, name) for name in ("bf16", "fp8", "fp4", "mxfp4"))]


class CalibrationForm(UploadForm):
    uploads = "benchmarks"
    row = Calibration

    benchmarks = FilesField(
        label="Benchmark files",
        allow_empty_file=True,
        error_messages={"required": "Found no file, expected results of a benchmark tool."},
    )
    model = forms.ChoiceField(label="Model")
    machine = forms.ChoiceField(label="Machine")
    tensor_parallel = count_field("Tensor parallel")
    engine = forms.ChoiceField(choices=ENGINES, label="Begin from", required=False)
    weight_precision = forms.ChoiceField(choices=PRECISIONS, label="Weights", required=False)
    replicas = count_field("Replicas under the load")
    prompt_tokens = count_field("Prompt tokens")
    output_tokens = count_field("Output tokens")
    concurrency = count_field("Requests in flight")
    token_budget = count_field("Token budget", 2048)
    max_batch_size = count_field("Batch size at most", 256)

    def __init__(self, team: Team, user: User, *args: Any, **options: Any) -> None:
        super().__init__(team, user, *args, **options)
        self.fields["model"].choices = names_of(user, "models")  # type: ignore[attr-defined]
        self.fields["machine"].choices = names_of(user, "machines")  # type: ignore[attr-defined]

    def name_of(self, data: dict[str, Any]) -> str:
        return f"{data['model']} on {data['machine']}, {data['benchmarks'][0].name}"

    def made(self, name: str) -> Calibration:
        return services.save(self.team, self.user, name, self.done)

    def read(self, data: dict[str, Any]) -> None:
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
