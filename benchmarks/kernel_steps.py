"""Step times of NVIDIA's kernel tables, by term: simcore/latency/data/kernel_steps.csv.

    python -m benchmarks.kernel_steps        (needs aiconfigurator-core==0.12.0, Apache-2.0; not installed by make)

A row is one step of one model on one accelerator at one TP under vLLM: ``measured_ms`` and, where the tables time them
apart, what of it matrix products, attention, elementwise kernels, all-reduces and routed experts take. Device time
alone. fp8 has a scale a tensor in products, and the block scales of published models in experts: the tables' dense
products with block scales take 30 to 150 us of launching each, which an engine's graphs hide. DeepSeek's KV is in fp8:
the tables have no decode kernel of its engine for bf16. gpt-oss on B200 and GB200 has the experts of SGLang's tables:
mxfp4 weights times mxfp8 inputs (the kernel that vLLM runs there too, with VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8, as its
recipe for gpt-oss and ML.ENERGY's runs have it), which vLLM's tables lack.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from aiconfigurator_core.sdk.engine import EngineHandle

OUT = Path(__file__).resolve().parent.parent / "simcore" / "latency" / "data" / "kernel_steps.csv"
COLUMNS = (
    *("hardware", "engine_version", "model", "weight_precision", "kv_precision", "tensor_parallel"),
    *("kind", "tokens", "context", "decodes", "decode_context"),
    *("measured_ms", "linear_ms", "attention_ms", "elementwise_ms", "allreduce_ms", "experts_ms"),
)
SYSTEMS = {
    "a100-80gb": ("a100_sxm", "vLLM 0.14.0"),
    "h100-80gb": ("h100_sxm", "vLLM 0.24.0"),
    "h200-141gb": ("h200_sxm", "vLLM 0.24.0"),
    "b200-180gb": ("b200_sxm", "vLLM 0.24.0"),
    "gb200-192gb": ("gb200", "vLLM 0.24.0"),
    "l40s-48gb": ("l40s", "vLLM 0.24.0"),
    "rtx-pro-6000-96gb": ("rtx_pro_6000_server", "vLLM 0.24.0"),
}
BLACKWELL = ("b200-180gb", "gb200-192gb", "rtx-pro-6000-96gb")
MODELS = {
    "llama-3.1-8b": "meta-llama/Meta-Llama-3.1-8B",
    "llama-3.1-70b": "meta-llama/Meta-Llama-3.1-70B",
    "llama-3.1-405b": "meta-llama/Meta-Llama-3.1-405B",
    "qwen3-32b": "Qwen/Qwen3-32B",
    "qwen3-30b-a3b": "Qwen/Qwen3-30B-A3B",
    "qwen3-235b-a22b": "Qwen/Qwen3-235B-A22B",
    "gpt-oss-20b": "openai/gpt-oss-20b",
    "gpt-oss-120b": "openai/gpt-oss-120b",
    "deepseek-v3": "deepseek-ai/DeepSeek-V3",
}
WITH_EXPERTS = tuple(MODELS)[4:]
PRECISIONS = {"bf16": ("bfloat16", "bfloat16"), "fp8": ("fp8", "fp8_block"), "fp4": ("nvfp4", "nvfp4")}
"""Of weights: the tables' names for it, in matrix products and in experts."""
NATIVE_MXFP4 = ("b200-180gb", "gb200-192gb")
NATIVE_MXFP4_TABLES = ("sglang", "w4a8_mxfp4_mxfp8")
LEAST_TP = {("llama-3.1-405b", "bf16"): 8, ("llama-3.1-405b", "fp8"): 4, ("llama-3.1-405b", "fp4"): 4}
LEAST_TP |= {("llama-3.1-70b", "bf16"): 2, ("qwen3-235b-a22b", "bf16"): 8, ("qwen3-235b-a22b", "fp8"): 4}
LEAST_TP |= {("qwen3-235b-a22b", "fp4"): 2, ("deepseek-v3", "fp8"): 8, ("deepseek-v3", "fp4"): 4}
PREFILLS = ((128, 0), (320, 0), (512, 0), (1088, 0), (2048, 0), (8192, 0), (512, 8192))
DECODES = ((1, 2048), (8, 512), (32, 2048), (64, 8192), (128, 512), (256, 2048))
MIXED = ((256, 32), (512, 128), (2048, 32))
MIXED_PROMPT, MIXED_OUTPUT = 2048, 256
TERMS = {
    "linear_ms": ("qkv_gemm", "proj_gemm", "gate_ffn1_gemm", "ffn2_gemm", "router_gemm"),
    "attention_ms": ("attention",),
    "elementwise_ms": ("add_norm_1", "add_norm_2", "act_gate"),
    "allreduce_ms": ("ar_1", "ar_2", "moe_pre_dispatch", "moe_post_dispatch"),
    "experts_ms": ("moe",),
}


@dataclass(frozen=True)
class Group:
    """What the steps of one table have in common."""

    hardware: str
    model: str
    weights: str
    kv: str
    tensor_parallel: int

    def engine(self, backend: str = "vllm", experts_in: str | None = None) -> EngineHandle:
        """The tables of this group; an error where they have none. ``experts_in``: the tables' name of a precision."""
        system, _ = SYSTEMS[self.hardware]
        settings: dict[str, object] = {"kvcache_quant_mode": "fp8" if self.kv == "fp8" else "bfloat16"}
        dense, experts = PRECISIONS[self.weights]
        if self.weights != "bf16":
            settings |= {"gemm_quant_mode": dense, "moe_quant_mode": experts}
        if self.kv == "bf16":
            settings["fmha_quant_mode"] = "bfloat16"
        if self.model in WITH_EXPERTS:
            settings |= {"moe_tp_size": self.tensor_parallel, "moe_ep_size": 1}
        if experts_in:
            settings["moe_quant_mode"] = experts_in
        return EngineHandle.compile(MODELS[self.model], system, backend, tp_size=self.tensor_parallel, **settings)

    def native(self) -> EngineHandle | None:
        """Where its experts are multiplied as they are stored."""
        if not self.model.startswith("gpt-oss") or self.hardware not in NATIVE_MXFP4:
            return None
        return self.engine(*NATIVE_MXFP4_TABLES)


def main() -> int:
    """Writes the table, says which groups the source has not."""
    with OUT.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for group in groups():
            try:
                writer.writerows(list(steps(group)))
            except Exception as error:  # the source raises several kinds where it has no table
                print(f"{group}: {str(error)[:120]}", file=sys.stderr)
    return 0


def groups() -> Iterator[Group]:
    """Every model at the precisions that it is served in, at the TP that hold it."""
    for hardware in SYSTEMS:
        for model in MODELS:
            for weights in PRECISIONS:
                if suits(hardware, model, weights):
                    least = LEAST_TP.get((model, weights), 1)
                    kv = "fp8" if model == "deepseek-v3" else "bf16"
                    yield from (Group(hardware, model, weights, kv, tp) for tp in (1, 2, 4, 8) if tp >= least)
        if hardware != "a100-80gb":
            yield from (Group(hardware, "llama-3.1-70b", "fp8", "fp8", tp) for tp in (2, 4, 8))


def suits(hardware: str, model: str, weights: str) -> bool:
    """Whether the accelerator has the precision and the model is published in it."""
    if model.startswith("gpt-oss"):
        return weights == "bf16"
    if weights == "bf16" and model == "deepseek-v3":
        return False
    return weights == "bf16" or (weights == "fp8" and hardware != "a100-80gb") or hardware in BLACKWELL


def steps(group: Group) -> Iterator[dict[str, object]]:
    """The rows of one group."""
    engine = group.engine()
    named = {
        "hardware": group.hardware,
        "engine_version": SYSTEMS[group.hardware][1],
        "model": group.model,
        "weight_precision": group.weights,
        "kv_precision": group.kv,
        "tensor_parallel": group.tensor_parallel,
    }
    native = group.native()
    for row in (*prefills(engine), *decodes(engine), *hybrids(engine)):
        yield {**named, **row, **(exchanged(row, engine, native) if native else {})}


def exchanged(row: Mapping[str, object], engine: EngineHandle, native: EngineHandle) -> dict[str, object]:
    """A step's time with its experts' own exchanged for those of other tables, at as many tokens."""
    tokens = int(str(row["tokens"])) + int(str(row["decodes"]))
    theirs, ours = experts_ms(native, tokens), experts_ms(engine, tokens)
    found: dict[str, object] = {"measured_ms": rounded(float(str(row["measured_ms"])) + theirs - ours)}
    return {**found, "experts_ms": rounded(theirs)} if "experts_ms" in row else found


def experts_ms(engine: EngineHandle, tokens: int) -> float:
    """Of all layers: grouped products know tokens, not what they are of."""
    ops = engine.decode_step_per_op(gen_tokens=tokens, isl=512, osl=2)
    return float(terms(ops)["experts_ms"])  # type: ignore[arg-type]


def prefills(engine: EngineHandle) -> Iterator[dict[str, object]]:
    """One chunk of new tokens over cached ones."""
    for tokens, cached in PREFILLS:
        measured = engine.predict_prefill_latency(1, tokens + cached, prefix=cached)
        ops = engine.run_static_per_op(batch_size=1, isl=tokens + cached, osl=2, prefix=cached)[0]
        step = {"kind": "prefill", "tokens": tokens, "context": cached, "decodes": 0, "decode_context": 0}
        yield {**step, "measured_ms": rounded(measured), **terms(ops)}


def decodes(engine: EngineHandle) -> Iterator[dict[str, object]]:
    """A batch of decodes at one context."""
    for batch, context in DECODES:
        measured = engine.decode_step_latency(gen_tokens=batch, isl=context, osl=2)
        ops = engine.decode_step_per_op(gen_tokens=batch, isl=context, osl=2)
        step = {"kind": "decode", "tokens": 0, "context": 0, "decodes": batch, "decode_context": context}
        yield {**step, "measured_ms": rounded(measured), **terms(ops)}


def hybrids(engine: EngineHandle) -> Iterator[dict[str, object]]:
    """The mean chunk of a prompt beside decodes half way through their outputs: the source's mixed step."""
    for chunk, batch in MIXED:
        step = {"kind": "hybrid", "tokens": chunk, "context": (MIXED_PROMPT - chunk) // 2}
        step |= {"decodes": batch, "decode_context": MIXED_PROMPT + MIXED_OUTPUT // 2}
        yield {**step, "measured_ms": rounded(engine.mixed_step_latency(chunk, batch, MIXED_PROMPT, MIXED_OUTPUT))}


def terms(ops: list[tuple[str, float, float, str]]) -> Mapping[str, object]:
    """What each term takes of a step; none where the tables time parts of it together (latent attention)."""
    found = {name.split("_", 1)[1]: ms for name, ms, _, _ in ops}
    if "mla_block" in found or "moe_overlap" in found:
        return {}
    return {term: rounded(sum(found.get(name, 0.0) for name in names)) for term, names in TERMS.items()}


def rounded(ms: float) -> float:
    """Five digits."""
    return float(f"{ms:.5g}")


if __name__ == "__main__":
    sys.exit(main())
