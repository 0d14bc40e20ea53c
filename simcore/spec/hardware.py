"""What can be bought and what is served: accelerators, machines, fabrics, models."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
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
    """Scale-up link (NVLink, PCIe), one direction, one accelerator."""
    tdp_w: float = bounded(above=0)
    idle_w: float = bounded(least=0)
    """Drawn with weights loaded and nothing to do."""
    link: str | None = None
    """The scale-up link's name and generation, in words."""
    fp8_flops_per_s: float | None = bounded(None, above=0)
    fp4_flops_per_s: float | None = bounded(None, above=0)
    power_base: float | None = bounded(None, least=0, most=1)
    """Of idle to TDP, drawn while working whatever the work (``simcore.power``); the shipped figure where not given."""
    power_by_mbu: float | None = bounded(None, least=0)
    """More of it at the whole of the memory bandwidth."""
    power_by_mfu: float | None = bounded(None, least=0)
    """More of it at the whole of the FLOP/s."""
    measured_as: str | None = None
    """The shipped accelerator that it is: what was fitted to that one's measurements and compared with them is taken
    for it too, as far as its figures are the same (``simcore.catalogue.likeness``)."""

    def __post_init__(self) -> None:
        if self.idle_w > self.tdp_w:
            raise SpecError(f"idle_w: found {self.idle_w:g}, expected at most tdp_w ({self.tdp_w:g})")


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
    """CPUs, NICs, switches, fans at rest: everything but the accelerators that is drawn all the time."""
    nameplate_w: float = bounded(above=0)
    provisioned_w: float | None = bounded(None, above=0)
    """What the site sets aside; the nameplate where not given."""
    fans_w: float = bounded(0.0, least=0)
    """More that fans and power supplies draw when all accelerators draw their TDP; in proportion below it."""
    power_cap_w: float | None = bounded(None, above=0)
    """A cap on each accelerator, if set; what it costs in time follows a law (``simcore.latency.capped``), unless"""
    prefill_slowdown: float | None = bounded(None, least=1.0)
    """is given: prefill and hybrid time × this (Splitwise's capped H100: 1.3, the paper's assumption), decode
    unchanged."""
    machines_per_rack: int | None = bounded(None, least=1)

    def provisioned(self) -> float:
        """Watts set aside for the machine: ``provisioned_w``, or the nameplate where that is not given."""
        return self.nameplate_w if self.provisioned_w is None else self.provisioned_w


@dataclass(frozen=True)
class Fabric:
    """A network between machines, as one accelerator's port has it. What KV is sent over where a question chooses it:
    its ``achieved_bytes_per_s`` are then the machines' ``nic_bytes_per_s``, its ``setup_s`` that of ``kv_transfer``."""

    id: str
    name: str
    kind: Literal["infiniband", "ethernet", "nvlink"]
    bytes_per_s: float = bounded(above=0)
    """The line's rate, one direction."""
    efficiency: float = bounded(above=0, most=1)
    """Of it that a long transfer gets."""
    setup_s: float = bounded(least=0, most=1)
    """Once for each transfer, whatever its length."""
    usd_per_port: Decimal | None = bounded(None, least=0)
    """One accelerator's share of switches, cables and optics; no price book counts it."""

    def achieved_bytes_per_s(self) -> float:
        """What a long transfer gets, one direction."""
        return self.bytes_per_s * self.efficiency


@dataclass(frozen=True)
class Model:
    """A decoder: its shapes decide FLOPs, weights and KV bytes. Dense, with all of the context kept, by default.

    ``attention`` ``mla`` (multi-head latent attention) keeps one latent of ``kv_lora_rank`` and a rotary key of
    ``qk_rope_head_dim`` a token and layer, whatever the heads. ``windowed_layers`` attend to the last ``window_tokens``
    only. With ``experts`` (mixture of experts) every layer but the first ``dense_layers`` has that many feed-forwards
    of ``expert_intermediate_size``, of which each token takes ``experts_per_token``, and all take ``shared_experts``.
    """

    id: str
    name: str
    parameters: int = bounded(above=0)
    """All of them, embeddings included."""
    layers: int = bounded(least=1)
    hidden_size: int = bounded(least=1)
    heads: int = bounded(least=1)
    kv_heads: int = bounded(least=1)
    head_dim: int = bounded(least=1)
    """Of queries, keys and values; with mla of a query's and key's part without rotation (and of values)."""
    intermediate_size: int = bounded(least=1)
    """Of the feed-forward of a dense layer."""
    vocab_size: int = bounded(least=1)
    max_model_tokens: int = bounded(least=1)
    gated_mlp: bool = True
    tied_embeddings: bool = False
    weight_precision: Literal["bf16", "fp8", "fp4", "mxfp4"] = "bf16"
    kv_precision: Literal["bf16", "fp8"] = "bf16"
    attention: Literal["gqa", "mla"] = "gqa"
    """``gqa``: grouped queries; with kv_heads = heads that is multi-head attention."""
    q_lora_rank: int | None = bounded(None, least=1)
    """mla: of the latent that queries are made from; straight from the hidden state where not given."""
    kv_lora_rank: int | None = bounded(None, least=1)
    qk_rope_head_dim: int | None = bounded(None, least=1)
    v_head_dim: int | None = bounded(None, least=1)
    """mla: of values; ``head_dim`` where not given."""
    windowed_layers: int = bounded(0, least=0)
    window_tokens: int | None = bounded(None, least=1)
    experts: int | None = bounded(None, least=2)
    """Routed experts of a layer."""
    experts_per_token: int | None = bounded(None, least=1)
    expert_intermediate_size: int | None = bounded(None, least=1)
    shared_experts: int = bounded(0, least=0)
    dense_layers: int = bounded(0, least=0)
    """The first layers, which have no experts."""
    expert_precision: Literal["bf16", "fp8", "fp4", "mxfp4"] | None = None
    """Of routed experts' weights; ``weight_precision`` where not given."""

    def __post_init__(self) -> None:
        if self.heads % self.kv_heads:
            raise SpecError(f"kv_heads: found {self.kv_heads}, expected a divisor of heads ({self.heads})")
        self._check_attention()
        self._check_windows()
        self._check_experts()

    def _check_attention(self) -> None:
        needed = ("kv_lora_rank", "qk_rope_head_dim")
        if self.attention == "mla":
            self._expect_given(needed, "a whole number with attention mla")
        else:
            self._expect_absent((*needed, "q_lora_rank", "v_head_dim"), "with attention gqa")

    def _check_windows(self) -> None:
        if self.windowed_layers:
            self._expect_given(("window_tokens",), f"a whole number with {self.windowed_layers} windowed_layers")
        else:
            self._expect_absent(("window_tokens",), "without windowed_layers")
        _expect_at_most("windowed_layers", self.windowed_layers, self.layers, "layers")
        _expect_at_most("window_tokens", self.window_tokens or 0, self.max_model_tokens, "max_model_tokens")

    def _check_experts(self) -> None:
        needed = ("experts_per_token", "expert_intermediate_size")
        if self.experts is None:
            self._expect_absent((*needed, "shared_experts", "dense_layers", "expert_precision"), "without experts")
            return
        self._expect_given(needed, f"a value with {self.experts} experts")
        _expect_at_most("experts_per_token", self.experts_per_token or 0, self.experts, "experts")
        _expect_at_most("dense_layers", self.dense_layers, self.layers - 1, "layers - 1")

    def _expect_given(self, names: tuple[str, ...], expected: str) -> None:
        for name in names:
            if getattr(self, name) is None:
                raise SpecError(f"{name}: found null, expected {expected}")

    def _expect_absent(self, names: tuple[str, ...], when: str) -> None:
        for name in names:
            if getattr(self, name):
                raise SpecError(f"{name}: found {getattr(self, name)}, expected none {when}")


def _expect_at_most(name: str, found: int, most: int, of: str) -> None:
    if found > most:
        raise SpecError(f"{name}: found {found}, expected at most {of} ({most})")


PRECISION_BYTES = {"bf16": 2.0, "fp8": 1.0, "fp4": 0.5625, "mxfp4": 0.53125}
"""Bytes an element takes at each precision; fp4 (NVFP4): 4 bits, and a scale of 8 bits for every 16 elements; mxfp4:
for every 32."""
