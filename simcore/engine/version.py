"""Which engine made a result: the key of stored evaluations and of numba's cache.

The rule: every ``.py`` and ``.csv`` file under ``simcore`` counts, a new one too, but for ``READERS``: what only
reads, words or prices finished results. numba's and Python's versions count with them.
"""

from __future__ import annotations

import hashlib
import platform
from functools import cache
from importlib.metadata import version
from pathlib import Path

READERS = (
    "__main__.py",
    "analyses",
    "answer",
    "balance.py",
    "calibration",
    "commands",
    "comparing",
    "detail",
    "economics",
    "explain.py",
    "facility.py",
    "flips",
    "frontier.py",
    "hf_config",
    "lab.py",
    "measurements",
    "pilot",
    "residuals.csv",
    "residuals.py",
    "rows.py",
    "serving_power",
    "shortfalls.py",
    "steady_state",
    "trust",
    "validation",
    "what_if",
    "within.py",
)
"""Top-level names in ``simcore`` that no simulated figure depends on."""

SIMCORE = Path(__file__).resolve().parents[1]


@cache
def engine_version() -> str:
    """16 hex digits that change with any file, or version of numba or Python, that can change a result."""
    digest = hashlib.sha256(f"python {platform.python_version()}, numba {version('numba')}\n".encode())
    for path in result_files():
        digest.update(f"{path.relative_to(SIMCORE).as_posix()} {path.stat().st_size}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def result_files() -> list[Path]:
    """The files that count, in an order that does not depend on the file system."""
    found = [path for path in SIMCORE.rglob("*") if path.suffix in (".py", ".csv")]
    counted = [path for path in found if path.relative_to(SIMCORE).parts[0] not in READERS]
    return sorted(counted, key=lambda path: path.relative_to(SIMCORE).as_posix())
