"""Files measured on a machine whose coefficients are known."""

import json
from dataclasses import replace

from simcore.catalogue import machine, model
from simcore.latency.coefficients import Coefficients, coefficients
from simcore.latency.curve import PS_PER_S, IterationCurve
from simcore.latency.roofline import roofline_curve
from simcore.steady_state.loops import Lengths, Serving, closed_loop
from tests.unit.simcore.measurements.bench_files import Run, vllm

MODEL, MACHINE, ENGINE = model("llama-3.1-8b"), machine("dgx-h100"), "vllm-2026"
SHIPPED = coefficients("h100-80gb", ENGINE)
SLOWER = replace(SHIPPED, flops_share=0.6, bandwidth_share=0.65, host_step_s=4e-3, host_sequence_s=55e-6)
HEADER = "model,hardware,tensor_parallel,prompt_size,batch_size,token_size,prompt_time,token_time"


def curve(fitted: Coefficients, tensor_parallel: int = 1) -> IterationCurve:
    return roofline_curve(MODEL, MACHINE, tensor_parallel, 1, ENGINE, fitted)


def steps(fitted: Coefficients, degrees: tuple[int, ...] = (1, 2)) -> str:
    """A CSV of step times: a sweep over prompts and over batch sizes."""
    rows = [HEADER]
    for degree in degrees:
        measured = curve(fitted, degree)
        for prompt, batch in ((128, 1), (512, 1), (2048, 1), (8000, 1), (1024, 8), (1024, 32), (1024, 128)):
            prefill = measured.iteration_ps([(prompt, 0)] * batch, []) / PS_PER_S * 1e3
            decode = measured.iteration_ps([], [prompt + 32] * batch) / PS_PER_S * 1e3
            rows.append(f"llama-3.1-8b,h100-80gb,{degree},{prompt},{batch},64,{prefill!r},{decode!r}")
    return "\n".join(rows)


def run(fitted: Coefficients, load: int, prompt: int, output: int, places: float = 256) -> Run:
    """A closed loop in its steady state."""
    found = closed_loop(curve(fitted), Lengths.of(prompt, output), Serving(max_batch_size=places), load)
    return Run(load, prompt, output, found.ttft_s, found.tpot_s, 20 * load)


def serving(fitted: Coefficients, loads: tuple[int, ...] = (1, 8, 64), **changes: object) -> str:
    """Runs of vllm bench serve, one a line."""
    lines = []
    for prompt, output in ((1000, 200), (3000, 100)):
        for load in loads:
            done = run(fitted, load, prompt, output)
            own = {"tp": "1", "gpu": "NVIDIA H100 80GB HBM3", "median_ttft_ms": done.ttft_s * 1e3}
            lines.append(json.dumps(vllm(done, **{**own, **changes})))
    return "\n".join(lines)
