"""Fitting uploaded benchmark files, keeping the result, and offering it to questions."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.utils import timezone

from planner.accounts import audit
from planner.accounts.models import Team, User
from planner.accounts.owned import Visitor
from planner.calibrations.models import Calibration
from simcore.latency.calibrated import FORMAT, parse_calibration
from simcore.latency.calibrated import Calibration as Fitted
from simcore.measurements import Content, Given, Measurements, content_of, read_content
from simcore.spec import LatencySpec, SpecError, encode

MOST_BYTES = 64_000_000
"""Of all files of a form together."""
MOST_RESULTS = 80
"""A fit takes a server's thread some tenths of a second for each."""
FIELDS = {
    "--tensor-parallel N": "it in the field Tensor parallel",
    "--tensor-parallel": "the field Tensor parallel",
    "--weight-precision": "the field Weights",
    "--prompt-tokens": "Prompt tokens",
    "--output-tokens": "Output tokens",
    "--concurrency or --rate": "Requests in flight",
    "--replicas": "Replicas under the load",
}
"""The command line's words → the form's."""
PREFIX = "calibration-"
"""Of a calibration's key among a question's iteration times."""


@dataclass(frozen=True)
class Fit:
    """A calibration, and what was found in its files."""

    fitted: Fitted
    found: dict[str, Any]


def contents(files: Sequence[UploadedFile]) -> list[Content]:
    """The files' texts; SpecError, one line, where one is none."""
    total = sum(file.size or 0 for file in files)
    if total > MOST_BYTES:
        raise SpecError(f"found {total / 1e6:.0f} MB, expected at most {MOST_BYTES / 1e6:.0f} MB together")
    return [content_of(file.name or "file", file.read()) for file in files]


def in_fields(text: str, fields: Mapping[str, str] = FIELDS) -> str:
    """The command line's options as a form's fields."""
    for option, field in fields.items():
        text = text.replace(option, field)
    return text


def as_sentence(complaint: str) -> str:
    """A SpecError's line for a form: a file's name stays as it is written."""
    return f"{complaint[:1].upper()}{complaint[1:]}." if complaint.startswith("found") else f"{complaint}."


def ready_made(texts: Sequence[Content]) -> Fit | None:
    """The calibration where a LATENCY.json was uploaded; None where they are benchmark files."""
    first = texts[0]
    if len(texts) > 1 or f'"{FORMAT}"' not in first.text[:1000]:
        return None
    try:
        return Fit(parse_calibration(first.text.encode()), {"flags": [], "counts": []})
    except SpecError as error:
        raise SpecError(f"{first.name}: {error}") from None


def fit(texts: Sequence[Content], given: Given, **target: Any) -> Fit:
    """The files fitted to a target's model on its machine (see simcore.calibration.Target); SpecError says what
    cannot be."""
    from simcore.calibration import Target, calibrate

    found = Measurements()
    for text in texts:
        read_content(text, given, found)
    fitted = calibrate(found, Target(**target), timezone.now().date(), most=MOST_RESULTS)
    return Fit(fitted, flagged(found))


def flagged(found: Measurements) -> dict[str, Any]:
    """What was flagged in files, as a row keeps it."""
    counts = [[effect, field, count] for (effect, field), count in sorted(found.flags.counts.items())]
    return {"flags": [asdict(flag) for flag in found.flags.listed], "counts": counts}


@transaction.atomic
def save(team: Team, user: User, name: str, done: Fit) -> Calibration:
    """The team's row."""
    measured = done.fitted.validity
    made = Calibration.objects.create(
        team=team,
        created_by=user,
        name=name,
        model=measured.model,
        accelerator=measured.accelerator,
        content=json.dumps(encode(done.fitted), indent=1, ensure_ascii=False),
        found=done.found,
    )
    audit.record(
        team,
        user,
        "uploaded",
        made,
        audit.made(audit.values(made, ("name", "model", "accelerator", "content"))),
        name=name,
    )
    return made


def offered(user: Visitor) -> list[tuple[str, str]]:
    """Key and words of each calibration that the user sees, for a question to choose from."""
    rows = Calibration.objects.visible_to(user).values_list("pk", "name", "model", "accelerator")
    return [(f"{PREFIX}{pk}", f"Calibrated: {name} ({model}, {accelerator})") for pk, name, model, accelerator in rows]


def calibration_for(user: Visitor, key: str) -> Calibration:
    """The calibration of a question's key; SpecError where the user sees none."""
    number = key.removeprefix(PREFIX)
    rows = Calibration.objects.visible_to(user)
    found = rows.filter(pk=number).first() if number.isdecimal() and len(number) < 19 else None
    if found is None:
        raise SpecError(f"found '{key}', expected one of your team's calibrations: it may have been deleted")
    return found


def latency_of(calibration: Calibration) -> LatencySpec:
    """As a study holds it: all that its times depend on, without the residuals."""
    kept = replace(calibration.fitted(), residuals=())
    return LatencySpec(source="calibrated", calibration=json.dumps(encode(kept), ensure_ascii=False))
