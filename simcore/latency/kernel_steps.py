"""Steps of NVIDIA's kernel tables: device times of whole batches and of their terms (data/kernel_steps.csv).

Written by ``benchmarks.kernel_steps`` from aiconfigurator-core 0.12.0 (Apache-2.0), vLLM's tables.
"""

from __future__ import annotations

import csv
import dataclasses
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from simcore.catalogue import model as model_of
from simcore.latency.curve import IterationCurve
from simcore.spec import Model

PS_PER_MS = 1e9
SOURCE = "aiconfigurator-core 0.12.0 kernel tables (Apache-2.0)"
DATE = "2026-09"
TERMS = ("linear_ms", "attention_ms", "elementwise_ms", "allreduce_ms", "experts_ms")


@dataclass(frozen=True)
class KernelGroup:
    """What the steps of one table have in common."""

    hardware: str
    engine_version: str
    model_id: str
    weight_precision: str
    kv_precision: str
    tensor_parallel: int

    @property
    def model(self) -> Model:
        """The catalogue's model at the table's precisions (gpt-oss's own mxfp4 experts are in its row)."""
        return dataclasses.replace(
            model_of(self.model_id),
            weight_precision=self.weight_precision,  # type: ignore[arg-type]
            kv_precision=self.kv_precision,  # type: ignore[arg-type]
        )


@dataclass(frozen=True)
class KernelStep:
    """One batch: a chunk of ``tokens`` over ``context`` cached ones (none: 0 tokens), and decodes at one context."""

    group: KernelGroup
    kind: str
    tokens: int
    context: int
    decodes: int
    decode_context: int
    measured_ms: float
    terms_ms: tuple[float, ...] | None
    """Of ``TERMS``; None where they were not timed apart."""

    def predicted_ms(self, curve: IterationCurve) -> float:
        """The same batch by a curve."""
        chunks = [(self.tokens, self.context)] if self.tokens else []
        return curve.iteration_ps(chunks, [self.decode_context] * self.decodes) / PS_PER_MS


@cache
def kernel_steps() -> tuple[KernelStep, ...]:
    """All of them, in the order of the file: group by group."""
    text = files("simcore.latency").joinpath("data/kernel_steps.csv").read_text(encoding="utf-8")
    return tuple(_step(row) for row in csv.DictReader(text.splitlines()))


def _step(row: dict[str, str]) -> KernelStep:
    return KernelStep(
        group=KernelGroup(
            hardware=row["hardware"],
            engine_version=row["engine_version"],
            model_id=row["model"],
            weight_precision=row["weight_precision"],
            kv_precision=row["kv_precision"],
            tensor_parallel=int(row["tensor_parallel"]),
        ),
        kind=row["kind"],
        tokens=int(row["tokens"]),
        context=int(row["context"]),
        decodes=int(row["decodes"]),
        decode_context=int(row["decode_context"]),
        measured_ms=float(row["measured_ms"]),
        terms_ms=tuple(float(row[term]) for term in TERMS) if row[TERMS[0]] else None,
    )
