"""What can be bought and what is served: accelerators, machines, models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from simcore.spec.decode import SpecError, bounded


@dataclass(frozen=True)
class Accelerator:
    """One GPU or other device. Rates are SI, peaks are dense; ``memory_bytes`` is what the driver reports."""

    id: str
    name: str
    vendor: str
    bf16_flops_per_s: float = bounded(above=0)
    memory_bytes: int = bounded(above=0)
    memory_bandwidth_bytes_per_s: float = bounded(above=0)
    link_bandwidth_bytes_per_s: float = bounded(above=0)
    """Scale-up link (NVLink), one direction, one accelerator."""
    tdp_w: float = bounded(above=0)
    idle_w: float = bounded(least=0)
    """Drawn with weights loaded and nothing to do."""
    fp8_flops_per_s: float | None = bounded(None, above=0)
    fp4_flops_per_s: float | None = bounded(None, above=0)


@dataclass(frozen=True)
class Machine:
    """A purchasable server (SKU): ``accelerators`` of one kind, NICs, host power."""

    id: str
    name: str
    accelerator: str | Accelerator
    """A catalogue id, or the accelerator itself."""
    accelerators: int = bounded(least=1)
    nic_bytes_per_s: float = bounded(above=0)
    """Network bandwidth of one accelerator's share, one direction (DGX H100: 400 Gb/s = 50e9)."""
    host_w: float = bounded(least=0)
    """CPUs, fans, NICs, switches: everything but the accelerators, drawn all the time."""
    nameplate_w: float = bounded(above=0)
    provisioned_w: float | None = bounded(None, above=0)
    """What the site sets aside; the nameplate where not given."""
    power_cap_w: float | None = bounded(None, above=0)
    """A cap on each accelerator, if set."""
    prefill_slowdown: float = bounded(1.0, least=1.0)
    """Prefill and hybrid time × this (Splitwise's capped H100: 1.3, the paper's assumption); decode is unchanged."""
    machines_per_rack: int | None = bounded(None, least=1)

    def provisioned(self) -> float:
        """Watts set aside for the machine: ``provisioned_w``, or the nameplate where that is not given."""
        return self.nameplate_w if self.provisioned_w is None else self.provisioned_w


@dataclass(frozen=True)
class Model:
    """A dense decoder: its shapes decide FLOPs, weights and KV bytes."""

    id: str
    name: str
    parameters: int = bounded(above=0)
    """All of them, embeddings included."""
    layers: int = bounded(least=1)
    hidden_size: int = bounded(least=1)
    heads: int = bounded(least=1)
    kv_heads: int = bounded(least=1)
    head_dim: int = bounded(least=1)
    intermediate_size: int = bounded(least=1)
    vocab_size: int = bounded(least=1)
    max_model_tokens: int = bounded(least=1)
    gated_mlp: bool = True
    tied_embeddings: bool = False
    weight_precision: Literal["bf16", "fp8", "fp4"] = "bf16"
    kv_precision: Literal["bf16", "fp8"] = "bf16"

    def __post_init__(self) -> None:
        if self.heads % self.kv_heads:
            raise SpecError(f"kv_heads: found {self.kv_heads}, expected a divisor of heads ({self.heads})")


PRECISION_BYTES = {"bf16": 2.0, "fp8": 1.0, "fp4": 0.5}
"""Bytes an element takes at each precision."""
