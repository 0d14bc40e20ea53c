"""Where numba keeps the compiled engine: one folder an ``engine_version``.

numba looks only at the file of the compiled function, not at the modules that it calls: without the key, an edited
helper would go on giving the old result.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from simcore.engine.version import engine_version


def cache_folder() -> Path:
    """The folder of this engine version, made where need be: in ``PHASEPLAN_VAR``, else in the user's cache folder,
    else (nothing is writable) a new temporary folder. An empty one is filled from one that can only be read, as numba
    uses none that it may not write."""
    folders = [base / "engine-cache" / engine_version() for base in _bases()]
    chosen = next(filter(_writable, folders), None) or Path(tempfile.mkdtemp(prefix="phaseplan-engine-"))
    filled = next((folder for folder in folders if folder != chosen and _is_filled(folder)), None)
    if filled is not None and not _is_filled(chosen):
        shutil.copytree(filled, chosen, copy_function=_copy_whole, dirs_exist_ok=True)
    return chosen


def _is_filled(folder: Path) -> bool:
    """Whether an index of numba's is there."""
    try:
        return any(folder.rglob("*.nbi"))
    except OSError:
        return False


def _copy_whole(source: str, target: str) -> None:
    """Never half a file under its name: another process may be reading."""
    with tempfile.NamedTemporaryFile(dir=Path(target).parent, delete=False) as copy:
        copy.write(Path(source).read_bytes())
    os.replace(copy.name, target)


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
