"""simcore/latency/data/coefficients.csv as rows: what is fitted, what is set, which accelerator stands in for which."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from simcore.latency.coefficients import ANY, LISTED_TP, Coefficients

OUT = Path(__file__).resolve().parent.parent / "simcore" / "latency" / "data" / "coefficients.csv"
COLUMNS = ("accelerator", "engine", "field", "value", "unit", "source", "date", "status")
DIGITS = 4
TOLERANCE = 0.01
"""Of a figure's value: a fit on another machine may end a little elsewhere."""


@dataclass(frozen=True)
class Row:
    """One figure."""

    accelerator: str
    engine: str
    field: str
    value: str
    source: str
    date: str
    status: str

    @property
    def unit(self) -> str:
        """By the field's name."""
        if self.field.endswith("_tokens"):
            return "tokens"
        return "s" if "_s_" in f"{self.field}_" else ""


def rows_of(
    accelerator: str, engine: str, fitted: Coefficients, names: Iterable[str], source: str, date: str
) -> list[Row]:
    """Rows of the named fields of fitted coefficients, those by TP one a TP; the engine's version first."""
    found = [Row(accelerator, engine, "engine_version", fitted.engine_version, source, fitted.date, "verified")]
    for name in names:
        value = getattr(fitted, name)
        each = (
            zip((f"{name}_tp{tp}" for tp in LISTED_TP), value, strict=True)
            if isinstance(value, tuple)
            else [(name, value)]
        )
        found += [Row(accelerator, engine, field, written(one), source, date, "estimate") for field, one in each]
    return found


def written(value: float) -> str:
    """Four digits, without trailing zeros."""
    return f"{value:.{DIGITS}g}"


def names_but(*left_out: str) -> tuple[str, ...]:
    """The figures of ``Coefficients``, without some."""
    words = ("engine_version", "date", "status", "stand_in", *left_out)
    return tuple(field.name for field in fields(Coefficients) if field.name not in words)


def write_rows(rows: Iterable[Row]) -> None:
    """The whole table."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow((row.accelerator, row.engine, row.field, row.value, row.unit, row.source, row.date, row.status))
    OUT.write_text(text.getvalue(), encoding="utf-8")


def differing(rows: Iterable[Row]) -> list[str]:
    """What is committed and is not what was fitted, in words."""
    committed = {
        (r["accelerator"], r["engine"], r["field"]): r["value"] for r in csv.DictReader(OUT.open(encoding="utf-8"))
    }
    fitted = {(row.accelerator, row.engine, row.field): row.value for row in rows}
    return [
        f"{' '.join(key)}: committed {committed.get(key)}, fitted {fitted.get(key)}"
        for key in sorted({*committed, *fitted})
        if not _alike(committed.get(key), fitted.get(key))
    ]


def _alike(one: str | None, other: str | None) -> bool:
    if one is None or other is None:
        return False
    try:
        return abs(float(one) - float(other)) <= TOLERANCE * max(abs(float(one)), abs(float(other)))
    except ValueError:
        return one == other


HOST = (
    *("host_step_s", "host_step_per_doubling_s", "host_sequence_s", "crowded_sequence_s"),
    *("prefill_launch_s", "decode_launch_s", "large_batch_slowdown"),
)
QUANTISED = (
    *("fp8_flops_share", "quantise_overhead_s", "quantise_passes", "quantised_tile_tokens"),
    *("fp8_kv_bandwidth_ratio", "expert_quantise_overhead_s", "expert_fp8_flops_share", "expert_mxfp4_flops_share"),
)
FP4 = ("fp4_flops_share", "expert_fp4_flops_share")
LEFT_OUT = {"a100-80gb": (*QUANTISED, *FP4)}
LEFT_OUT |= dict.fromkeys(("h100-80gb", "h200-141gb", "l40s-48gb"), FP4)
"""What was not measured on an accelerator: the rows of ``*`` are taken."""
DEVICE_SOURCE = (
    "fit of benchmarks/fit_device.py to NVIDIA's kernel tables of Llama-3.1-8B and 70B, Qwen3-30B-A3B and gpt-oss-20b,"
    " TP1, TP2, TP8 (aiconfigurator-core 0.12.0; Apache-2.0)"
)
SPLITWISE_SOURCE = (
    "fit of benchmarks/fit_splitwise.py to Splitwise's step times of BLOOM-176B TP8 and Llama-2-70B TP2, TP8,"
    " every second size of a batch's prompts (splitwise-sim 8f99e7d; MIT), all-reduces from Vidur's profiles"
    " (microsoft/vidur 7d47513; MIT)"
)
FITTED_ON = "2026-11"


def device_rows(accelerator: str, fitted: Coefficients) -> list[Row]:
    """What was fitted to the accelerator's kernel tables."""
    names = names_but(*HOST, *LEFT_OUT.get(accelerator, ()))
    return rows_of(accelerator, "kernel", fitted, names, DEVICE_SOURCE, FITTED_ON)


def splitwise_rows(accelerator: str, fitted: Coefficients) -> list[Row]:
    """What was fitted to the accelerator's step times."""
    return rows_of(accelerator, "vllm-2023", fitted, names_but(), SPLITWISE_SOURCE, FITTED_ON)


def serving_rows(engine: str, fitted: Mapping[str, float]) -> list[Row]:
    """What was fitted to served requests: the same on all accelerators."""
    source = SERVING_SOURCES[engine]
    return [Row(ANY, engine, name, written(value), source, FITTED_ON, "estimate") for name, value in fitted.items()]


def _but(values: Mapping[str, str], *left_out: str) -> dict[str, str]:
    return {name: value for name, value in values.items() if name not in left_out}


def _of_any(engine: str, source: str, status: str, values: Mapping[str, str]) -> list[Row]:
    return [Row(ANY, engine, name, value, source, "2026-11", status) for name, value in values.items()]


QUANTISED_VALUES = ("0.7", "3e-6", "5", "256", "0.9", "10e-6", "0.3", "0.5", "0.5", "0.3")
NOTHING = {name: "1" if name == "large_batch_slowdown" else "0" for name in HOST}
ML_ENERGY = (
    "fit of benchmarks/fit_serving.py to ML.ENERGY's mean gaps of Llama-3.1-8B and 70B and Qwen3-32B on H100, at 8 to"
    " 1,024 sequences (vLLM 0.11.1, leaderboard v3; bf16)"
)
MLPERF = (
    "fit of benchmarks/fit_serving.py to TPOT in MLPerf Inference v5.1 of Llama-2-70B fp8 on 8 H200 (C885_H200x8_TRT)"
    " and Llama-3.1-8B fp4 on 8 B200 (XE9680L_B200_SXM_180GBx8_TRT), Server and Interactive"
)
SERVING_SOURCES = {"vllm-2026": ML_ENERGY, "trtllm-2025": MLPERF}
UNUSED = (
    "between what others reach; used only where an accelerator has a peak at the precision and no figure of its own"
)
_ALIKE: Mapping[str, tuple[str, str]] = {
    ANY: ("h100-80gb", "another accelerator without a fit"),
    "a40-48gb": ("a100-80gb", "the same generation"),
    "l4-24gb": ("l40s-48gb", "the same generation"),
    "h100-pcie-80gb": ("h100-80gb", "the same chip"),
    "h100-nvl-94gb": ("h100-80gb", "the same chip"),
    "h200-nvl-141gb": ("h200-141gb", "the same chip"),
    "b300-288gb": ("b200-180gb", "the same generation"),
    "mi355x-288gb": ("b200-180gb", "accelerators of one year, with fp4"),
}
PAIRS_SOURCE = "Vidur's all-reduce profiles of pairs with NVLink, over PCIe beyond (microsoft/vidur 7d47513; MIT)"
PAIRS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "a40-48gb": (("35e-6", "0.64"), ("58e-6", "0.42"), ("58e-6", "0.42")),
    "h100-nvl-94gb": (("16e-6", "0.66"), ("28e-6", "0.16"), ("28e-6", "0.16")),
    "h100-pcie-80gb": (("28e-6", "0.75"), ("28e-6", "0.75"), ("28e-6", "0.75")),
}
"""Latency and share of the link's bandwidth by TP, of A100's pairs and H100's."""
AMD_SOURCE = (
    "{} of the share of H100: in MLPerf v5.1, Llama-2-70B fp8 offline, MI300X reaches 0.61 and MI325X 0.75 of the"
    " tokens/s for each FLOP/s of its peak that H200 does"
)
AMD_SHARES = {"mi250-128gb": 0.65, "mi300x-192gb": 0.65, "mi325x-256gb": 0.75, "mi355x-288gb": 0.65}
AMD_FIELDS = {
    "flops_share": 0.85,
    "fp8_flops_share": 0.82,
    "attention_flops_share": 0.71,
    "expert_flops_share": 0.71,
    "expert_fp8_flops_share": 0.36,
    "expert_mxfp4_flops_share": 0.57,
}
"""H100's, rounded."""


def _amd_rows() -> list[Row]:
    return [
        Row(name, "kernel", field, f"{share * of:.2f}", AMD_SOURCE.format(share), "2026-11", "estimate")
        for name, share in AMD_SHARES.items()
        for field, of in AMD_FIELDS.items()
    ]


SET_ROWS: tuple[Row, ...] = (
    *_of_any("kernel", "device time alone: by definition", "verified", NOTHING),
    *_of_any("kernel", UNUSED, "estimate", dict(zip((*QUANTISED, *FP4), QUANTISED_VALUES, strict=True))),
    *_of_any("vllm-2026", ML_ENERGY, "estimate", _but(NOTHING, "host_step_s", "host_sequence_s")),
    *_of_any("trtllm-2025", MLPERF, "estimate", _but(NOTHING, "host_step_s", "host_sequence_s")),
    Row(
        ANY, "trtllm-2025", "engine_version", "TensorRT-LLM of TensorRT 10.10 and 10.11", MLPERF, "2025-09", "verified"
    ),
    *(
        Row(name, ANY, "like", other, f"nothing measured: {why}", "2026-11", "assumption")
        for name, (other, why) in _ALIKE.items()
    ),
    *(
        Row(name, "kernel", f"{field}_tp{tp}", value, PAIRS_SOURCE, "2024-05", "estimate")
        for name, each in PAIRS.items()
        for tp, (latency, share) in zip(LISTED_TP, each, strict=True)
        for field, value in (
            ("allreduce_latency_s", latency),
            ("allreduce_ramp_s", "0"),
            ("allreduce_bandwidth_share", share),
        )
    ),
    *_amd_rows(),
)
"""What is set, not fitted: what an engine's host adds on any accelerator, and whose shares are taken where nothing was
measured."""
