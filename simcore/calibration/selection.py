"""Which results are of the model and the machine that are calibrated: the others are flagged with what they are of.

A file may call the model as it likes where it has one: its name is noted. A name that is another catalogue model's, or
a file with several models, is taken at its word. An accelerator is recognised by its short name (``h100`` in "NVIDIA
H100 80GB HBM3"); another one's results are left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from simcore.calibration.target import Target, precision_of
from simcore.catalogue import known_as, model_ids
from simcore.measurements import Flag, Flags, Measurements, ServingPoint, Setting, StepPoint
from simcore.spec import SpecError
from simcore.stages import check_parallelism

Point = TypeVar("Point", ServingPoint, StepPoint)
PRECISIONS = {
    **dict.fromkeys(("bf16", "bfloat16", "fp16", "float16", "half"), "bf16"),
    "fp8": "fp8", "fp4": "fp4", "nvfp4": "fp4", "mxfp4": "mxfp4",
}  # fmt: skip
"""Words of a file, and of the names that weights are published under, → ours; 16-bit formats take the same time."""
OTHER_FORMATS = ("awq", "gptq", "int4", "int8", "w4a16", "w8a8", "w8a16", "w4a8", "gguf", "bnb", "bitsandbytes")
"""Of weights that no precision here stands for."""


def select(found: Measurements, target: Target) -> tuple[list[ServingPoint], list[StepPoint]]:
    """The points of the target, each with its tensor parallel degree; SpecError where none is left, or a degree is
    not known."""
    settings = [point.setting for point in found.serving] + [point.setting for point in found.steps]
    several = len({_plain(setting.model or "") for setting in settings}) > 1
    serving = [p for p in (_of_target(p, target, several, found.flags) for p in found.serving) if p is not None]
    steps = [p for p in (_of_target(p, target, several, found.flags) for p in found.steps) if p is not None]
    if not serving and not steps:
        raise nothing_left(found, target)
    _note_precision([*serving, *steps], target, found.flags)
    return serving, steps


def _note_precision(points: Sequence[ServingPoint | StepPoint], target: Target, flags: Flags) -> None:
    """Once a file that says none that is known: whoever compares fp8 with bf16 unawares blames the coefficients."""
    if target.precision_given:
        return
    silent = {point.file: point for point in reversed(points) if _weights(point.setting) is None}
    taken = f"taken as {precision_of(target.model)} weights, {target.model.id}'s (--weight-precision)"
    for point in reversed(silent.values()):
        word = point.setting.precision or ""
        said = "no precision of weights that is known" if word else "the file names none"
        flags.add(Flag(point.file, point.where, "precision", word, f"{said}: {taken}", "noted"))


def nothing_left(found: Measurements, target: Target) -> SpecError:
    """Why no result can be used: the first that was left out says it."""
    first = next(iter(flag for flag in found.flags.listed if flag.effect == "row left out"), None)
    why = f"; the first that was left out: {first}" if first else ""
    files = ", ".join(source.file for source in found.sources)
    return SpecError(
        f"{files}: found no result of {target.model.id} on {target.accelerator.id} that can be used, expected at least"
        f" one{why}"
    )


def _of_target(point: Point, target: Target, several: bool, flags: Flags) -> Point | None:
    for check in (_other_model, _other_accelerator, _other_precision, _other_degree):
        reason = check(point.setting, target, several)
        if reason is not None:
            flags.add(Flag(point.file, point.where, *reason, "row left out"))
            return None
    degree = point.setting.tensor_parallel or target.tensor_parallel
    if degree is None:
        raise SpecError(
            f"{point.file}, {point.where}: tensor parallel degree: found none in the file, expected --tensor-parallel N"
            " (how many accelerators one replica ran on)"
        )
    try:
        check_parallelism(target.model, degree, 1)
        machines = _spanned(target, degree)
    except SpecError as error:
        raise SpecError(f"{point.file}, {point.where}: {error}") from None
    if machines > 1:
        spans = f"a replica spans {machines} machines of {target.machine.accelerators}: all-reduces go over their NICs"
        flags.add(Flag(point.file, point.where, "tensor parallel degree", str(degree), spans, "noted"))
    return replace(point, setting=replace(point.setting, tensor_parallel=degree))


def _spanned(target: Target, degree: int) -> int:
    """Machines of one replica; SpecError where its accelerators do not fill whole ones."""
    each = target.machine.accelerators
    if degree > each and degree % each:
        raise SpecError(
            f"tensor_parallel: found {degree}, expected at most the {each} accelerators of {target.machine.id}, or a"
            " multiple of them (a replica over several machines)"
        )
    return max(degree // each, 1)


Reason = tuple[str, str, str] | None
"""The field, what was found, what is expected."""


def of_another(setting: Setting, target: Target) -> Reason:
    """Why a single result cannot be the target's; None where it is, or where its file does not say."""
    checks = (_other_model, _other_accelerator, _other_precision, _other_degree)
    reasons = (check(setting, target, False) for check in checks)
    return next((reason for reason in reasons if reason is not None), None)


def _other_model(setting: Setting, target: Target, several: bool) -> Reason:
    name = setting.model
    if not name or _names(name, target.model.id) or _names(name, target.model.name):
        return None
    other = next((known for known in model_ids() if known != target.model.id and _names(name, known)), None)
    if other is None and not several:
        return None
    return "model", name, f"expected {target.model.id}"


def _other_accelerator(setting: Setting, target: Target, several: bool) -> Reason:
    name, wanted = setting.accelerator, known_as(target.accelerator)
    if not name or name.lower() in (target.machine.id.lower(), *(known.lower() for known in wanted)):
        return None
    words = re.split(r"[^a-z0-9]+", name.lower())
    if "pcap" not in words and any(_is_short_for(known, words) for known in wanted):
        return None
    return "accelerator", name, f"expected {target.accelerator.id}"


def _is_short_for(accelerator_id: str, words: Sequence[str]) -> bool:
    """``H100``, ``8xH100`` or ``h100x8`` of ``h100-80gb``."""
    short = re.escape(accelerator_id.lower().split("-")[0])
    return any(re.fullmatch(rf"{short}|{short}x\d+|\d+x{short}", word) for word in words)


def _other_precision(setting: Setting, target: Target, several: bool) -> Reason:
    precision = _weights(setting)
    known = {target.model.weight_precision, target.model.expert_precision or target.model.weight_precision}
    if precision is None or precision in known or (precision == "fp4" and "mxfp4" in known):
        return None
    if precision in OTHER_FORMATS and target.precision_given:
        return None  # the user says what stands for it
    found = setting.precision if _word(setting.precision) else setting.model
    named = f"expected {' or '.join(sorted(known))} (--weight-precision gives the model another)"
    return "precision", found or "", named


def _weights(setting: Setting) -> str | None:
    """The precision that a file gives, else the one in the model's name (``Llama-3.1-8B-Instruct-FP8``); a format that
    is none of ours in its own word."""
    return _word(setting.precision) or _word((setting.model or "").rstrip("/").split("/")[-1])


def _word(text: str | None) -> str | None:
    words = re.split(r"[^a-z0-9]+", (text or "").lower())
    ours = (PRECISIONS[word] for word in words if word in PRECISIONS)
    return next(ours, None) or next((word for word in words if word in OTHER_FORMATS), None)


def _other_degree(setting: Setting, target: Target, several: bool) -> Reason:
    found, wanted = setting.tensor_parallel, target.tensor_parallel
    if found is None or wanted is None or found == wanted:
        return None
    return "tensor parallel degree", str(found), f"expected {wanted}, as --tensor-parallel says"


def _names(name: str, known: str) -> bool:
    """Whether a file's name means a known one: ``meta-llama/Llama-3.1-8B-Instruct`` means ``llama-3.1-8b``."""
    plain, wanted = _plain(name), _plain(known)
    at = plain.find(wanted)
    if not wanted or at < 0:
        return False
    after = plain[at + len(wanted) :]
    return not re.match(r"a?\d", after)  # qwen3-30b is not qwen3-30b-a3b


def _plain(name: str) -> str:
    text = re.sub(r"[^a-z0-9]+", "", name.lower().rstrip("/").split("/")[-1])
    return re.sub(r"meta(?=llama)|hf(?=$|chat)", "", text)
