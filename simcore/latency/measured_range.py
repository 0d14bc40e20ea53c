"""Whether a case stays within what its calibrations measured: the warnings of the commands, the banner of the pages."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from simcore.catalogue import resolve_machine, resolve_model
from simcore.latency.calibrated import calibration_of, outside
from simcore.spec import Case


def beyond_calibration(cases: Iterable[Case], prompt_tokens: float, output_tokens: float) -> list[str]:
    """A line for each machine and calibration of the cases that mean requests, model or parallelism are outside of."""
    found: dict[str, None] = {}
    for case in cases:
        found |= dict.fromkeys(_lines(case, prompt_tokens, output_tokens))
    return list(found)


def _lines(case: Case, prompt_tokens: float, output_tokens: float) -> list[str]:
    lines = []
    for pool in case.pools:
        latency = pool.latency or case.latency
        if latency.source != "calibrated":
            continue
        machine = resolve_machine(pool.machine)
        beyond = outside(
            calibration_of(latency),
            resolve_model(case.model),
            machine,
            pool.tensor_parallel,
            pool.pipeline_parallel,
            prompt_tokens=prompt_tokens,
            output_tokens=output_tokens,
        )
        if beyond:
            named = f" ({Path(latency.path).name})" if latency.path else ""
            lines.append(f"{machine.id}: its calibration{named} does not cover {', '.join(beyond)}")
    return lines
