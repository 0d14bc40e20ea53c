"""Under which key an analysis is kept: the hash of all that its figures depend on, and of nothing else.

Cases count by their physics (``simcore.keys``): prices, PUE, names and ratings are applied when it is read. Any file of
simcore counts, not the engine's alone: an analysis may read, and put together, by all of them.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import platform
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from simcore.keys import physics
from simcore.spec import Case, encode

SIMCORE = Path(__file__).resolve().parents[1]


def analysis_key(kind: str, task: Any, trace_hash: str, code: str) -> str:
    """The key of a kind's task over a workload's requests, by the code of that version."""
    parts = [kind, _plain(task), trace_hash, code]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


@cache
def code_version() -> str:
    """16 hex digits that change with any file of simcore, and with numba's and Python's versions."""
    digest = hashlib.sha256(f"python {platform.python_version()}, numba {version('numba')}\n".encode())
    for path in sorted(path for path in SIMCORE.rglob("*") if path.suffix in (".py", ".csv")):
        digest.update(f"{path.relative_to(SIMCORE).as_posix()} {path.stat().st_size}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _plain(value: Any) -> Any:
    if isinstance(value, Case):
        return physics(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return [_plain(item) for item in value] if isinstance(value, tuple | list) else encode(value)
