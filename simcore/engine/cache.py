"""Where numba keeps the compiled engine: one folder an ``engine_version``.

numba looks only at the file of the compiled function, not at the modules that it calls: without the key, an edited
helper would go on giving the old result.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from simcore.engine.version import engine_version


def cache_folder() -> Path:
    """The folder of this engine version, made where need be: in ``PHASEPLAN_VAR``, else in the user's cache folder,
    else (nothing is writable) a new temporary folder."""
    for base in _bases():
        folder = base / "engine-cache" / engine_version()
        if _writable(folder):
            return folder
    return Path(tempfile.mkdtemp(prefix="phaseplan-engine-"))


def _bases() -> list[Path]:
    bases = []
    if os.environ.get("PHASEPLAN_VAR"):
        bases.append(Path(os.environ["PHASEPLAN_VAR"]).absolute())
    if os.environ.get("XDG_CACHE_HOME"):
        bases.append(Path(os.environ["XDG_CACHE_HOME"]) / "phaseplan")
    if os.environ.get("HOME"):
        bases.append(Path(os.environ["HOME"]) / ".cache" / "phaseplan")
    return bases


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
