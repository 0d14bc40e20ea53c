"""``simulate --engine oracle`` and ``--engine fast`` write the same files: every kind, on the start of real traces."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from simcore.__main__ import main

ROWS = 250
CO_LOCATED: dict[str, Any] = {"role": "mixed", "machine": "dgx-h100", "machines": 2, "tensor_parallel": 4}
SPLIT: list[dict[str, Any]] = [
    {"role": "prefill", "machine": "dgx-h100", "machines": 1, "tensor_parallel": 4},
    {"role": "decode", "machine": "dgx-a100", "machines": 1, "tensor_parallel": 2, "pipeline_parallel": 2},
]
FAILING = [{"replica": 0, "at_s": 20, "state": "failed"}, {"replica": 0, "at_s": 60, "state": "up"}]
CASES: dict[str, dict[str, Any]] = {
    "sarathi": {"pools": [{**CO_LOCATED, "pipeline_parallel": 2}], "scheduler": {"kind": "sarathi"}},
    "sarathi, auto": {"pools": [CO_LOCATED], "scheduler": {"kind": "sarathi", "token_budget": "auto"}},
    "vllm": {"pools": [CO_LOCATED], "scheduler": {"kind": "vllm"}},
    "vllm_v1": {"pools": [{**CO_LOCATED, "availability": FAILING}], "scheduler": {"kind": "vllm_v1"}},
    "orca": {"pools": [CO_LOCATED], "scheduler": {"kind": "orca"}},
    "request_level": {"pools": [CO_LOCATED], "scheduler": {"kind": "request_level"}},
    "splitwise_baseline": {"pools": [CO_LOCATED], "scheduler": {"kind": "splitwise_baseline"}},
    "splitwise": {"pools": SPLIT, "scheduler": {"kind": "splitwise"}, "kv_transfer": {"mode": "layerwise"}},
    "splitwise, chunked": {
        "pools": SPLIT,
        "scheduler": {"kind": "splitwise", "chunked": True, "token_budget": 512},
        "kv_transfer": {"mode": "chunkwise", "block_tokens": 64, "setup_s": 1e-5},
    },
}


@pytest.mark.parametrize("traffic", ["conv", "code"])
@pytest.mark.parametrize("name", CASES)
def test_both_engines_write_the_same_files(name: str, traffic: str, shared_data: Path, tmp_path: Path) -> None:
    lines = (shared_data / "traces" / f"azure_{traffic}_2023.csv").read_text().splitlines(keepends=True)
    (tmp_path / "trace.csv").write_text("".join(lines[: ROWS + 1]))
    case = {"model": "llama2-70b", "memory": {"kv_tokens": 20_000, "max_model_tokens": 16_384}, **CASES[name]}
    case["slo"] = {"kind": "absolute", "limits": [{"metric": "tbt_s", "percentile": 99, "limit": 0.1}]}
    (tmp_path / "case.json").write_text(json.dumps(case))
    for engine in ("oracle", "fast"):
        given = ["simulate", str(tmp_path / "case.json"), "--trace", str(tmp_path / "trace.csv"), "--engine", engine]
        written = ["--requests", str(tmp_path / f"{engine}.csv"), "--summary", str(tmp_path / f"{engine}.json")]
        assert main([*given, *written]) == 0
    assert (tmp_path / "oracle.csv").read_bytes() == (tmp_path / "fast.csv").read_bytes()
    oracle, fast = (json.loads((tmp_path / f"{engine}.json").read_text()) for engine in ("oracle", "fast"))
    assert oracle.pop("wall_s") >= 0 <= fast.pop("wall_s")  # a measurement of each run
    assert oracle == fast
