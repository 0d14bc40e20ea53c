"""A power log of a run, and what the run was."""

from tests.unit.simcore.measurements.smi_logs import smi

RUN = {
    "model": "llama-3.1-8b",
    "tensor_parallel": "1",
    "concurrency": "128",
    "prompt_tokens": "1000",
    "output_tokens": "200",
}


def a_run(watts: float = 520.0, gpus: int = 2, missing: str = "[N/A]") -> str:
    """Ten seconds idle, thirty at work with one reading missing, ten idle."""
    rows = []
    for second in range(51):
        works = 10 <= second <= 40
        for gpu in range(gpus):
            text = missing if (second, gpu) == (20, 1) else f"{watts if works else 70:.2f} W"
            rows.append((float(second), gpu, text, "97 %" if works else "0 %"))
    return smi(rows)
