"""What a whole study costs: CPU seconds, designs, simulations; on this process alone, the engine compiled before."""

from __future__ import annotations

import json
import time

from simcore.engine.fast.warm import warm_up
from simcore.plan import plan
from simcore.spec import StudySpec, decode_study

STUDIES = {
    "coding, Llama-2-70B, 10 requests/s": {
        "model": "llama2-70b",
        "workload": {"synthetic": {"mix": "coding"}},
        "rate_req_per_s": 10,
        "machines": [{"machine": "dgx-h100"}, {"machine": "dgx-a100"}],
        "latency": {"source": "measured"},
        "limits": {"power_limit_kw": 100},
    },
}


def main() -> None:
    """Print one line of JSON a study."""
    warm_up()
    for name, question in STUDIES.items():
        print(json.dumps({"benchmark": "study", "case": name, **measured(decode_study(question))}))


def measured(spec: StudySpec) -> dict[str, float]:
    """CPU seconds of the study and what they bought."""
    start = time.process_time()
    result = plan(spec)
    cpu_s = time.process_time() - start
    evaluations = result.evaluations.values()
    requests = sum(evaluation.requests_simulated for evaluation in evaluations)
    return {
        "cpu_s": round(cpu_s, 2),
        "designs": len(result.rows),
        "cpu_s_per_design": round(cpu_s / len(result.rows), 3),
        "simulations": sum(evaluation.simulations for evaluation in evaluations),
        "requests": requests,
        "requests_per_cpu_s": round(requests / cpu_s),
    }
