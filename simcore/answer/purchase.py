"""What a design is, as a sentence to a buyer."""

from __future__ import annotations

from simcore.catalogue import resolve_machine
from simcore.families import SPLIT
from simcore.fleet import pool_machines
from simcore.rows import DesignRow
from simcore.spec import Case
from simcore.trust.ties import kind_of
from simcore.words import listed


def purchase(case: Case, row: DesignRow) -> str:
    """``Buy 11 DGX H100 for prefill and 9 DGX A100 for decode.``"""
    if row.scheduler == SPLIT:
        parts = [f"{pool.machines} {resolve_machine(pool.machine).name} for {pool.role}" for pool in case.pools]
        return f"Buy {listed(parts)}{_chunks(case, row)}{_parallel(row)}."
    machine = resolve_machine(case.pools[0].machine).name
    serving = "serving" if row.mixed_machines == 1 else "each serving"
    return f"Buy {row.mixed_machines} {machine}, {serving} whole requests under {_scheduler(row)}{_parallel(row)}."


def added(first: DesignRow, second: DesignRow, case: Case, other: Case) -> str:
    """What the second has beside the first: ``3 DGX H100``, ``1 DGX A100 for decode``; empty where it is no larger
    design of the same kind."""
    if kind_of(first) != kind_of(second):
        return ""
    parts = []
    for before, after in zip(case.pools, other.pools, strict=True):
        more = pool_machines(after) - pool_machines(before)
        if more < 0:
            return ""
        if more:
            role = "" if len(case.pools) == 1 else f" for {after.role}"
            parts.append(f"{more} {resolve_machine(after.machine).name}{role}")
    return listed(parts)


def _chunks(case: Case, row: DesignRow) -> str:
    """How Splitwise's machines take prompts, where not whole."""
    return f", prompts in chunks beside decodes{_budget(row)}" if case.scheduler.chunked else ""


def _parallel(row: DesignRow) -> str:
    sizes = _each(row.tensor_parallel, row.decode_tensor_parallel)
    stages = _each(row.pipeline_parallel, row.decode_pipeline_parallel)
    return f" (tensor parallel {sizes}{'' if stages == '1' else f', pipeline parallel {stages}'})"


def _each(first: int, decode: int | None) -> str:
    """``8``, or ``8 and 4`` where the decode pool's differs."""
    return " and ".join(map(str, dict.fromkeys([first, decode or first])))


def _scheduler(row: DesignRow) -> str:
    names = {
        "sarathi": "Sarathi",
        "vllm": "vLLM V0 (2023)",
        "vllm_v1": "vLLM V1 (2025)",
        "orca": "Orca",
        "request_level": "FasterTransformer",
        "splitwise_baseline": "Splitwise's baseline",
        SPLIT: "Splitwise",
    }
    return names[row.scheduler] + _budget(row)


def _budget(row: DesignRow) -> str:
    return f" with a budget of {row.token_budget} tokens" if row.token_budget else ""
