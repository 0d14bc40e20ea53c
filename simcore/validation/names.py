"""What the names in measured files are in the catalogue: models, accelerators, precisions, software.

Models are told by family and size, whoever published them; versions of one family that have the same shapes are one
(Llama 3, 3.1 and 3.3 of a size; DeepSeek R1 and V3.1). Accelerators are told by the parts of their catalogue ids:
``h200-nvl-141gb`` is ``NVIDIA H200-NVL-141GB``, and a form (NVL, PCIe) that the id does not name is another
accelerator. What is not told apart is unknown, with the reason; nothing is guessed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache

from simcore.catalogue import accelerator_ids, machine, machine_ids, model, model_ids, resolve_accelerator
from simcore.spec import Machine, Model

Engine = str
SAME_SHAPES = {
    "llama-3-8b": "llama-3.1-8b",
    "llama-3-70b": "llama-3.1-70b",
    "llama-3.3-70b": "llama-3.1-70b",
    "llama-2-7b": "llama2-7b",
    "llama-2-70b": "llama2-70b",
    "deepseek-r1": "deepseek-v3",
    "deepseek-v3.1": "deepseek-v3",
    "deepseek-r1/v3": "deepseek-v3",
    "bloom": "bloom-176b",
    "yi-34b-200k": "yi-34b",
}
DROPPED = re.compile(
    r"^(nvidia |amd |meta-|[\w.-]+/(?=.{4}))|\(.*\)"
    r"|[-_ ](instruct|chat|thinking|base|hf|fp8|fp4|nvfp4|mxfp4|bf16|kv|dynamic|w8a8|\d{4}|v0\.\d)(?=$|[-_ ])"
)
FORMS = {"nvl", "pcie", "pcap"}
"""Parts of a name that make it another accelerator; SXM is what an id without one of them means."""
MEMORY = re.compile(r"^(\d+)gb$")
ALIKE_MEMORY = 1.1
"""One accelerator's memory is published as what is built in or as what is left: 192 and 180 GB."""
PRECISIONS = {
    "bf16": "bf16", "bfloat16": "bf16", "fp16": "bf16", "float16": "bf16",
    "fp8": "fp8", "fp4": "fp4", "nvfp4": "fp4", "mxfp4": "mxfp4",
}  # fmt: skip
GENERATIONS = {"sglang": "vllm-2026", "trtllm": "trtllm-2025", "nim": "trtllm-2025"}
"""NIM serves these models by TensorRT-LLM; SGLang's steps are nearer to vLLM's."""
OWN_PRECISION = ("native", "")


class Unknown(Exception):  # noqa: N818 - reads as the finding that it is
    """Why a name cannot be told."""


@dataclass(frozen=True)
class Software:
    """What ran, and which engine generation stands for it."""

    family: str
    generation: str


@dataclass(frozen=True)
class Gpus:
    """So many of one accelerator; ``count`` None: not stated."""

    accelerator: str
    count: int | None


def model_of_name(name: str) -> Model:
    """The catalogue's model of a published name."""
    plain = _plain(name)
    known = SAME_SHAPES.get(plain, plain)
    if known not in model_ids():
        raise Unknown(f"model '{name}' is not in the catalogue")
    return model(known)


def _plain(name: str) -> str:
    text, before = name.strip().lower().replace("_", "-"), ""
    while text != before:
        before, text = text, DROPPED.sub("", text).strip()
    text = re.sub(r"[\s-]+", "-", text).strip("-")
    return re.sub(r"^llama-?(\d)", r"llama-\1", text)


def gpus_of_name(text: str) -> Gpus:
    """Which accelerator, and how many, a text such as ``8x NVIDIA H200-SXM-141GB`` says."""
    spaced = re.sub(r"\b(\d+)\s*x\s*(?=[a-z(])", r"\1 x ", text.lower())
    words = re.findall(r"[a-z0-9]+", re.sub(r"(\d+)\s*gb(?:x\d+)?\b", r"\1gb", spaced))
    families = {word for word in words if word in _families()}
    if not families:
        raise Unknown(f"accelerator '{text}' is not in the catalogue")
    if len(families) > 1:
        raise Unknown(f"'{text}' names {len(families)} kinds of accelerators")
    found = [known for known in accelerator_ids() if _is(known, words)]
    return Gpus(_one(found, text), _count(text))


@cache
def _families() -> frozenset[str]:
    return frozenset(known.split("-")[0] for known in accelerator_ids())


def _is(known: str, words: list[str]) -> bool:
    parts = known.split("-")
    named = {part for part in parts if part not in FORMS and not MEMORY.match(part)}
    if not named <= set(words) or (FORMS & set(words)) != (FORMS & set(parts)):
        return False
    told, has = _sizes_gb(words), _sizes_gb(parts)
    return not told or not has or any(max(a, b) <= ALIKE_MEMORY * min(a, b) for a in told for b in has)


def _sizes_gb(words: list[str]) -> list[int]:
    return [int(size[1]) for size in map(MEMORY.match, words) if size]


def _one(found: list[str], text: str) -> str:
    if len(found) != 1:
        several = f" (it could be {', '.join(found)})" if found else ""
        raise Unknown(f"accelerator '{text}' is not in the catalogue{several}")
    return found[0]


def _count(text: str) -> int | None:
    nested = re.match(r"\s*(\d+)\s*x\s*\(\s*(\d+)\s*x", text)
    if nested:
        return int(nested[1]) * int(nested[2])
    single = re.match(r"\s*(\d+)\s*x", text, re.IGNORECASE) or re.search(r"gbx(\d+)", text, re.IGNORECASE)
    return int(single[1]) if single else None


@cache
def machine_with(accelerator_id: str) -> Machine:
    """The catalogue's first machine that has an accelerator, uncapped."""
    for machine_id in machine_ids():
        one = machine(machine_id)
        if resolve_accelerator(one).id == accelerator_id and one.power_cap_w is None:
            return one
    raise Unknown(f"no machine of the catalogue has '{accelerator_id}'")


def at_precision(of: Model, text: str, kv_precision: str | None = None) -> Model:
    """The model with weights as a row says, and KV as given (default: as the catalogue has it)."""
    name = text.strip().rstrip("?").lower()
    kv = kv_precision or of.kv_precision
    if name in OWN_PRECISION or name == of.expert_precision:
        return replace(of, kv_precision=kv)  # type: ignore[arg-type]
    if name not in PRECISIONS:
        raise Unknown(f"precision '{text}' is not modelled")
    weights = PRECISIONS[name]
    return replace(of, weight_precision=weights, expert_precision=None, kv_precision=kv)  # type: ignore[arg-type]


def software_of_name(text: str) -> Software:
    """Which engine generation stands for a server's name and version."""
    name = text.lower()
    if "disagg" in name:
        raise Unknown("a phase-split deployment")
    if "vllm" in name:
        version = re.search(r"(\d+)\.(\d+)", name)
        old = version is not None and (int(version[1]), int(version[2])) < (0, 6)
        return Software("vllm", "vllm-2023" if old else "vllm-2026")
    for mark, family in (("sglang", "sglang"), ("tensorrt", "trtllm"), ("trtllm", "trtllm"), ("nim", "nim")):
        if mark in name:
            return Software(family, GENERATIONS[family])
    raise Unknown(f"software '{text}' is not modelled" if text else "software is not stated")
