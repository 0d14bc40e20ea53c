"""How to serve the part: vLLM's flags (docs.vllm.ai, vllm serve and NixlConnector usage guide, read November 2026)."""

from __future__ import annotations

from dataclasses import dataclass

from simcore.catalogue import resolve_accelerator, resolve_model
from simcore.pilot.part import RUN_BY, Part, PilotPool
from simcore.pilot.prediction import token_budget
from simcore.scheduler_defaults import BATCH_SIZES, BATCH_TOKENS
from simcore.spec import Model

PORTS = {"mixed": 8000, "prefill": 8100, "decode": 8200}
SIDE_CHANNEL_PORTS = {"prefill": 5600, "decode": 5601}
LEAST_SPARE_TOKENS = 16


@dataclass(frozen=True)
class Command:
    """Something to run, and where or why."""

    title: str
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """As a shell takes it."""
        return " \\\n    ".join(self.lines)


def engine_words(part: Part) -> str:
    """Which engine runs the part, and how near its scheduler is to the simulated one."""
    kind = part.case.scheduler.kind
    near = {
        "sarathi": "; it takes running requests in order where Sarathi takes decodes first",
        "vllm": "; set VLLM_USE_V1=0",
        "splitwise": "; a proxy sends each prompt to the first server and its decode to the second",
    }
    return f"{RUN_BY[kind]}{near.get(kind, '')}"


def serve_commands(part: Part, longest_tokens: int) -> list[Command]:
    """One for each server, in the order to start them."""
    model = resolve_model(part.case.model)
    commands = [
        Command(
            f"Say where the weights of {model.name} are: a folder, or their name on Hugging Face",
            (f"export MODEL={model.id}",),
        )
    ]
    for pool in part.pools:
        commands += _caps(pool)
        commands.append(Command(_server_title(part, pool), tuple(_serve(part, pool, model, longest_tokens))))
    return [*commands, *_proxy(part)]


def _server_title(part: Part, pool: PilotPool) -> str:
    device = resolve_accelerator(pool.machine).name
    role = f" for {pool.role}" if part.split else ""
    return f"Serve{role}: {pool.accelerators} × {device} of one {pool.machine.name}"


def _caps(pool: PilotPool) -> list[Command]:
    if pool.machine.power_cap_w is None:
        return []
    cap = f"nvidia-smi --power-limit {pool.machine.power_cap_w:.0f}"
    return [Command(f"Cap the accelerators of the {pool.machine.name}", (cap,))]


def _serve(part: Part, pool: PilotPool, model: Model, longest_tokens: int) -> list[str]:
    case = part.case
    environment = _environment(part, pool)
    lines = [
        f"{environment}vllm serve $MODEL --port {PORTS[pool.role]}",
        f"--tensor-parallel-size {pool.tensor_parallel} --pipeline-parallel-size {pool.pipeline_parallel}",
        f"--max-num-batched-tokens {_batch_tokens(part)}"
        f" --max-num-seqs {case.scheduler.max_batch_size or BATCH_SIZES[case.scheduler.kind]}",
        f"--max-model-len {min(longest_tokens + LEAST_SPARE_TOKENS, model.max_model_tokens)}"
        f" --gpu-memory-utilization {case.memory.usable:g} --block-size {case.memory.block_tokens}",
        "--no-enable-prefix-caching" + (" --no-enable-chunked-prefill" if case.scheduler.kind == "vllm" else ""),
        *_precisions(model),
    ]
    if part.split:
        role = {"prefill": "kv_producer", "decode": "kv_consumer"}[pool.role]
        lines.append(f"""--kv-transfer-config '{{"kv_connector":"NixlConnector","kv_role":"{role}"}}'""")
    return lines


def _batch_tokens(part: Part) -> int:
    scheduler = part.case.scheduler
    return scheduler.max_batch_tokens or BATCH_TOKENS if scheduler.kind == "vllm" else token_budget(part.case)


def _environment(part: Part, pool: PilotPool) -> str:
    if part.split:
        return f"VLLM_NIXL_SIDE_CHANNEL_PORT={SIDE_CHANNEL_PORTS[pool.role]} "
    return "VLLM_USE_V1=0 " if part.case.scheduler.kind == "vllm" else ""


def _precisions(model: Model) -> list[str]:
    flags = []
    if model.weight_precision == "fp8":
        flags.append("--quantization fp8")
    if model.weight_precision == "fp4":
        flags.append("--quantization modelopt_fp4")
    if model.kv_precision == "fp8":
        flags.append("--kv-cache-dtype fp8")
    return [" ".join(flags)] if flags else []


def _proxy(part: Part) -> list[Command]:
    if not part.split:
        return []
    lines = (
        f"python toy_proxy_server.py --port {PORTS['mixed']}",
        f"--prefiller-host PREFILL_HOST --prefiller-port {PORTS['prefill']}",
        f"--decoder-host DECODE_HOST --decoder-port {PORTS['decode']}",
    )
    return [Command("Join them by vLLM's proxy (tests/v1/kv_connector/nixl_integration in its repository)", lines)]
