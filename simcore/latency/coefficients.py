"""The roofline's coefficients by accelerator and engine generation (data/coefficients.csv, one row a figure)."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib.resources import files

from simcore.catalogue import departures, fitted_as
from simcore.spec import Accelerator, SpecError

ANY = "*"
"""Rows of all accelerators."""
LISTED_TP = (2, 4, 8)
ON_KERNELS = ("vllm-2026", "trtllm-2025")
"""Engine generations whose device time is that of ``kernel``, but for what they have of their own."""
QUANTISED = ("fp8", "fp4")
"""Precisions of weights whose inputs are quantised too."""
LEAST_TILE_TOKENS = 64
OPERATOR_NORMS = (2, 4)
"""Whose roots are square roots: the same bits on every machine."""
CROWDED_SEQUENCES = 32


@dataclass(frozen=True)
class Coefficients:
    """How close to its peaks an accelerator gets, and what the engine's host side adds."""

    tile_tokens: int
    """Matrix products compute whole tiles of so many tokens, a power of two (fewer tokens: the next smaller tile, from
    ``LEAST_TILE_TOKENS``)."""
    quantised_tile_tokens: int
    """The same with fp8 or fp4 weights."""
    flops_share: float
    """Of the peak FLOP/s, in matrix products with bf16 weights."""
    fp8_flops_share: float
    """Of the peak at fp8, with fp8 weights."""
    fp4_flops_share: float
    bandwidth_share: float
    """Of the memory bandwidth, reading weights."""
    operator_norm: int
    """p of a product's (math^p + read^p)^(1/p): 2, or 4 where computing and reading overlap better."""
    operator_overhead_s: float
    """Launching one matrix product."""
    operator_passes: float
    """Reads and writes of a product's inputs and outputs."""
    quantise_overhead_s: float
    """More for each product with fp8 or fp4 weights: another kernel quantises its inputs."""
    quantise_passes: float
    """More reads and writes of its inputs there."""
    elementwise_passes: float
    """Norms and residuals: reads or writes of one hidden state a token and layer; not sharded by TP."""
    layer_overhead_s: float
    """Launching what is neither a matrix product, attention nor an all-reduce."""
    attention_flops_share: float
    """Of the peak at bf16, in a prefill's attention."""
    prefill_attention_overhead_s: float
    """A layer's attention to a chunk, beside its pairs of tokens."""
    attention_bandwidth_share: float
    """Of the memory bandwidth, reading KV in bf16."""
    fp8_kv_bandwidth_ratio: float
    """Of that, where KV is kept in fp8."""
    decode_attention_overhead_s: float
    """A layer's attention of decodes, beside reading their contexts."""
    decode_more_tokens: float
    """A decode takes the time of so many tokens more than its context has."""
    expert_overhead_s: float
    """A layer's routing, sorting tokens by expert, launching the grouped product."""
    expert_quantise_overhead_s: float
    """More of it with weights below bf16: other kernels quantise the inputs, or unpack the weights."""
    expert_flops_share: float
    """Of the peak FLOP/s, in grouped products with bf16 weights."""
    expert_fp8_flops_share: float
    """Of the peak at fp8, with fp8 weights."""
    expert_fp4_flops_share: float
    expert_mxfp4_flops_share: float
    """Of the peak at bf16, which mxfp4 weights are unpacked to; they may exceed it where they are multiplied as they
    are, with inputs in mxfp8."""
    expert_padding_tokens: float
    """A distinct expert computes so many tokens more than it is given: its last tile is not full."""
    expert_passes: float
    """Gathering, activating, scattering: reads and writes of a token's hidden state for each expert that it takes."""
    allreduce_latency_s: tuple[float, ...]
    """By ``LISTED_TP``."""
    allreduce_ramp_s: tuple[float, ...]
    """At a message of 1 MB; grows with its square root. By ``LISTED_TP``."""
    allreduce_bandwidth_share: tuple[float, ...]
    """Of the scale-up link's bandwidth, by ``LISTED_TP``."""
    host_step_s: float
    """Host time of each iteration."""
    host_step_per_doubling_s: float
    """More of it in decode iterations for each doubling of TP."""
    host_sequence_s: float
    """More of it for each decode."""
    crowded_sequence_s: float
    """And for each beyond ``CROWDED_SEQUENCES``."""
    prefill_launch_s: float
    """What the host takes to launch one layer of a batch with prompts; overlaps with the device: of all layers
    (launch^4 + device^4)^(1/4)."""
    decode_launch_s: float
    """The same of a batch of decodes; nothing where their kernels are recorded in graphs."""
    large_batch_slowdown: float
    """Batches with prompts of over 2048 tokens at TP8 take so many times longer (half of it at TP4, none at TP2)."""
    engine_version: str
    """What was measured: the engine and its version."""
    date: str
    """When it was measured or released, year and month."""
    status: str
    """The weakest status among its rows: ``assumption`` where another accelerator's stand in."""
    stand_in: str | None
    """That accelerator."""

    def __post_init__(self) -> None:
        if self.operator_norm not in OPERATOR_NORMS:
            raise SpecError(f"operator_norm: found {self.operator_norm}, expected 2 or 4")

    def tile(self, precision: str) -> int:
        """Tokens of a tile with weights of a precision."""
        return self.quantised_tile_tokens if precision in QUANTISED else self.tile_tokens

    def computed_tokens(self, tokens: int, precision: str) -> int:
        """Tokens that matrix products compute for so many."""
        tile = self.tile(precision)
        if tokens <= tile:
            return max(LEAST_TILE_TOKENS, 1 << (tokens - 1).bit_length())
        return -(-tokens // tile) * tile


@cache
def coefficients(accelerator_id: str, engine: str) -> Coefficients:
    """The coefficients of an accelerator under an engine generation; those of the accelerator that stands in for it
    where nothing was measured on it (``status`` is then ``assumption``, ``stand_in`` names it).
    """
    rows, stand_in = _rows(accelerator_id, engine), None
    if not _complete(rows):
        stand_in = _stand_in(accelerator_id, engine)
        rows = {**_rows(stand_in, engine), **_measured(accelerator_id, engine)}
    return _built(rows, stand_in)


def coefficients_of(device: Accelerator, engine: str) -> Coefficients:
    """The coefficients of what it is measured as; where its peaks or bandwidths are others, that one stands in."""
    found = coefficients(fitted_as(device), engine)
    if found.stand_in or not departures(device):
        return found
    return replace(found, status="assumption", stand_in=fitted_as(device))


def _built(rows: Mapping[str, dict[str, str]], stand_in: str | None) -> Coefficients:
    plain = {name: float(rows[name]["value"]) for name in _SCALARS}
    version = rows["engine_version"]
    weakest = any(row["status"] == "assumption" for row in rows.values())
    return Coefficients(
        **{**plain, **{name: int(plain[name]) for name in _COUNTS}},  # type: ignore[arg-type]
        **{name: tuple(float(rows[f"{name}_tp{tp}"]["value"]) for tp in LISTED_TP) for name in _BY_TP},  # type: ignore[arg-type]
        engine_version=version["value"],
        date=version["date"],
        status="assumption" if stand_in or weakest else "estimate",
        stand_in=stand_in,
    )


_BY_TP = ("allreduce_latency_s", "allreduce_ramp_s", "allreduce_bandwidth_share")
_COUNTS = ("operator_norm", "tile_tokens", "quantised_tile_tokens")
_SCALARS = tuple(
    field.name
    for field in fields(Coefficients)
    if field.name not in (*_BY_TP, "engine_version", "date", "status", "stand_in")
)


def _rows(accelerator_id: str, engine: str) -> dict[str, dict[str, str]]:
    """An accelerator's figures by field, beside what is the same on all (``*``): what an engine's host adds, and what
    its own kernels reach.
    """
    device = {**_own(ANY, "kernel"), **_own(accelerator_id, "kernel")} if engine in ON_KERNELS else {}
    return {**device, **_own(ANY, engine), **_own(accelerator_id, engine)}


def _measured(accelerator_id: str, engine: str) -> dict[str, dict[str, str]]:
    """Those of its own: what the device takes under an engine of ``ON_KERNELS`` is what its kernels do."""
    device = _own(accelerator_id, "kernel") if engine in ON_KERNELS else {}
    return {**device, **_own(accelerator_id, engine)}


def _own(accelerator_id: str, engine: str) -> dict[str, dict[str, str]]:
    return _table().get((accelerator_id, engine), {})


def _complete(rows: Mapping[str, dict[str, str]]) -> bool:
    return {"engine_version", *_SCALARS} <= set(rows)


def _stand_in(accelerator_id: str, engine: str) -> str:
    """The accelerator whose shares are taken for one without a fit: its like if that was measured under the engine."""
    likes = (_table().get((name, ANY), {}).get("like") for name in (accelerator_id, ANY))
    named = [row["value"] for row in likes if row]
    return next(name for name in named if _complete(_rows(name, engine)))


@cache
def _table() -> dict[tuple[str, str], dict[str, dict[str, str]]]:
    text = files("simcore.latency").joinpath("data/coefficients.csv").read_text(encoding="utf-8")
    table: dict[tuple[str, str], dict[str, dict[str, str]]] = {}
    for row in csv.DictReader(text.splitlines()):
        table.setdefault((row["accelerator"], row["engine"]), {})[row["field"]] = row
    return table
