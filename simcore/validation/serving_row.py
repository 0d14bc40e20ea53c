"""One row of ``serving_points.csv`` in the catalogue's words: what ran where, how it batched, under which load."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from functools import cached_property

from simcore.catalogue import accelerator
from simcore.latency.curve import IterationCurve
from simcore.memory import kv_capacity
from simcore.spec import Machine, MemorySpec, Model, SpecError
from simcore.steady_state.loops import Serving
from simcore.validation.comparison import Place
from simcore.validation.curves import curve_at
from simcore.validation.files import Row
from simcore.validation.lengths import Workload, workload
from simcore.validation.names import (
    Unknown,
    at_precision,
    gpus_of_name,
    machine_with,
    model_of_name,
    software_of_name,
)

SET = "serving_points"
DEFAULTS = {"vllm": (2048, 256), "sglang": (8192, 4096), "trtllm": (8192, 2048), "nim": (8192, 512)}
"""Token budget and batch size where a row states none, by software: assumed, but for vLLM's."""
LARGE_MEMORY_BYTES = 70 * 2**30
VLLM_LARGE = (8192, 1024)
"""vLLM's own for its server since 0.8.5 (EngineArgs): by the accelerator's memory, A100 apart. ML.ENERGY's
configurations set the same budget (ml-energy/benchmark, configs/vllm)."""
BUDGET = re.compile(r"(?:max_num_tokens|max_num_batched_tokens|budget)\D{0,3}(\d+)")
BATCH = re.compile(r"(?:max_num_seqs|batch)\D{0,3}(\d+)")
EXPERTS = re.compile(r"DP1 EP(\d+)")
SPLIT = re.compile(r"1P1D|disaggregat|mooncake|\bP: |\+\s*\d+D|PD graph", re.IGNORECASE)
NOT_MODELLED = {
    "speculative": "speculative decoding",
    "prefix cache on": "a prefix cache with hits",
}
CAPPED = "served under a power cap: the law of caps (simcore/power/cap.py) is from these rows"


@dataclass(frozen=True)
class ServingRow:
    """A row that can be predicted."""

    row: Row
    tier: str
    model: Model
    machine: Machine
    accelerators: int
    place: Place
    pipeline_parallel: int
    whole_prompts: bool
    token_budget: int
    max_batch_size: int
    lengths: Workload
    assumes: tuple[str, ...]
    """What the row does not state and was taken."""

    @property
    def replicas(self) -> int:
        """Copies of the model over the row's accelerators."""
        return max(self.accelerators // (self.place.tensor_parallel * self.pipeline_parallel), 1)

    @cached_property
    def curve(self) -> IterationCurve:
        """One stage's."""
        place = self.place
        return curve_at(self.model, place.accelerator, place.tensor_parallel, self.pipeline_parallel, place.engine)

    @cached_property
    def kv_tokens(self) -> int:
        """Of a replica; Unknown where the weights do not fit."""
        return kv_tokens_of(self.model, self.machine, self.place.tensor_parallel, self.pipeline_parallel)

    @property
    def origin(self) -> dict[str, str]:
        """What ``fitted.csv`` may tell rows of one place apart by: load, publisher, system."""
        source = self.row.text("source")
        system = source.split("results/")[-1].split("/")[0] if "results/" in source else ""
        return {"load": self.row.text("load"), "source": source.split("/")[0], "system": system}

    def serving(self) -> Serving:
        """How one replica batches, within its KV memory."""
        return replace(self.batching(), kv_tokens=self.kv_tokens * self._kv_kept())

    def batching(self) -> Serving:
        """How one replica batches, KV memory apart: where a row states how many it served at once."""
        return Serving(self.token_budget, self.whole_prompts, self.max_batch_size, stages=self.pipeline_parallel)

    def _kv_kept(self) -> float:
        """How many tokens a token of KV memory holds: windowed layers keep the last ones alone."""
        share = self.model.windowed_layers / self.model.layers
        context = self.lengths.classes().resident
        return 1 / (1 - share + share * min((self.model.window_tokens or 0) / context, 1))


def kv_tokens_of(of: Model, machine: Machine, tensor_parallel: int, pipeline_parallel: int) -> int:
    """KV memory of a replica; Unknown where the weights do not fit, or the parallelism does not suit."""
    try:
        return kv_capacity(of, machine, tensor_parallel, pipeline_parallel, MemorySpec()).tokens
    except SpecError as error:
        raise Unknown(str(error)) from None


def tier_of(row: Row) -> str:
    """The quality tier at the start of the notes: A, A-, B, C, D or nothing."""
    found = re.match(r"\[tier ([A-D]-?)", row.text("notes"))
    return found[1] if found else ""


def understood(row: Row) -> ServingRow:
    """Unknown says why a row cannot be predicted."""
    _refuse_what_is_not_modelled(row)
    software = software_of_name(row.text("engine"))
    of, gpus = model_of_name(row.text("model")), gpus_of_name(row.text("gpu"))
    if not gpus.count:
        raise Unknown("the number of accelerators is not stated")
    precision = row.text("precision")
    tensor_parallel, expert_note = _tensor_parallel(row)
    pipeline_parallel = _pipeline_parallel(row)
    if tensor_parallel * pipeline_parallel > gpus.count:
        raise Unknown("TP x PP needs more accelerators than are stated")
    kv, kv_note = _kv_precision(row, software.family, precision)
    served = at_precision(of, precision, kv)
    budget, batch, batching_notes = _batching(row, _defaults(software.family, gpus.accelerator))
    lengths = workload(row.text("isl"), row.text("osl"), of.id)
    weights = served.expert_precision or served.weight_precision
    weights_note = "" if precision.strip(" ?") else f"{weights} weights"
    variant = f"{software.family} {weights}"
    return ServingRow(
        row=row,
        tier=tier_of(row),
        model=served,
        machine=machine_with(gpus.accelerator),
        accelerators=gpus.count,
        place=Place(of.id, gpus.accelerator, tensor_parallel, software.generation, variant),
        pipeline_parallel=pipeline_parallel,
        whole_prompts="UNCHUNKED" in row.text("scheduler_chunked"),
        token_budget=budget,
        max_batch_size=batch,
        lengths=lengths,
        assumes=tuple(note for note in (lengths.assumes, weights_note, expert_note, kv_note, *batching_notes) if note),
    )


def _refuse_what_is_not_modelled(row: Row) -> None:
    words = f"{row.text('scheduler_chunked')}; {row.text('notes')}"
    if SPLIT.search(row.text("scheduler_chunked")):
        raise Unknown("a phase-split deployment: only co-located replicas are compared")
    for mark, what in NOT_MODELLED.items():
        if mark in words:
            raise Unknown(f"{what} is not modelled")
    if "power cap" in words:
        raise Unknown(CAPPED)


def _tensor_parallel(row: Row) -> tuple[int, str]:
    experts = EXPERTS.search(row.text("scheduler_chunked"))
    stated = row.count("tp")
    if experts and int(experts[1]) > (stated or 1):
        return int(experts[1]), f"expert parallel over {experts[1]}: computed as tensor parallel"
    if stated is None:
        raise Unknown("TP is not stated")
    return stated, ""


def _pipeline_parallel(row: Row) -> int:
    """1 where the row says nothing."""
    stated = row.count("pp")
    if stated is None and row.text("pp"):
        raise Unknown(f"pipeline_parallel: found '{row.text('pp')}', expected a whole number from 1")
    return stated or 1


def _kv_precision(row: Row, family: str, precision: str) -> tuple[str | None, str]:
    """As stated, else fp8 where MLPerf's submitters had fp8 or fp4 weights, else as the model has it."""
    words = f"{row.text('scheduler_chunked')}; {row.text('notes')}".lower()
    if "kv fp8" in words or "kv-cache-dtype=fp8" in words:
        return "fp8", ""
    if "kv auto(bf16)" in words or "kv bf16" in words:
        return "bf16", ""
    if precision.lower() in ("fp8", "fp4") and (row.text("source").startswith("MLPerf") or family in ("trtllm", "nim")):
        return "fp8", "KV fp8"
    return None, ""


def _defaults(family: str, accelerator_id: str) -> tuple[int, int]:
    """Token budget and batch size of software that was not told any."""
    large = accelerator(accelerator_id).memory_bytes >= LARGE_MEMORY_BYTES
    if family == "vllm" and large and not accelerator_id.startswith("a100"):
        return VLLM_LARGE
    return DEFAULTS[family]


def _batching(row: Row, default: tuple[int, int]) -> tuple[int, int, list[str]]:
    words = f"{row.text('scheduler_chunked')}; {row.text('notes')}".replace("-", "_")
    budget, batch = BUDGET.search(words), BATCH.search(words.replace("batched", ""))
    notes = [] if budget else [f"token budget {default[0]}"]
    if row.text("load_kind").startswith("max_num_seqs") and (seats := row.count("load")):
        return int(budget[1]) if budget else default[0], seats, notes
    notes += [] if batch else [f"batch size {default[1]}"]
    return int(budget[1]) if budget else default[0], int(batch[1]) if batch else default[1], notes


def leading_number(text: str) -> float | None:
    """The number that a load begins with: ``1000 prompts``, ``10.3 (overloaded)``."""
    found = re.match(r"\s*(\d+(?:\.\d+)?)", text)
    return float(found[1]) if found and 0 < float(found[1]) < math.inf else None
