"""How to load the part: vLLM's own benchmark (docs.vllm.ai, vllm bench serve, read November 2026)."""

from __future__ import annotations

from simcore.catalogue import resolve_accelerator
from simcore.pilot.part import Part
from simcore.pilot.serving import PORTS, Command


def bench_command(
    part: Part, name: str, prompt_tokens: int, output_tokens: int, req_per_s: float, requests: int
) -> Command:
    """Poisson arrivals of alike random prompts, each answered to its full length."""
    accelerators = "+".join(resolve_accelerator(pool.machine).id for pool in part.pools)
    degrees = "+".join(str(pool.tensor_parallel) for pool in part.pools)
    lines = (
        f"vllm bench serve --backend vllm --base-url http://HOST:{PORTS['mixed']} --model $MODEL",
        f"--dataset-name random --random-input-len {prompt_tokens} --random-output-len {output_tokens}"
        " --random-range-ratio 0 --ignore-eos",
        f"--request-rate {req_per_s:.6g} --burstiness 1.0 --num-prompts {requests} --seed 0",
        "--percentile-metrics ttft,tpot,itl,e2el --metric-percentiles 50,90,99",
        f"--save-result --save-detailed --result-filename {name}.json --metadata gpu={accelerators} tp={degrees}",
    )
    return Command(f"Load it for about {requests / req_per_s / 60:.0f} minutes", lines)
