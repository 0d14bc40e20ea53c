"""The compiled engine is found again only while nothing that can change a result has changed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from simcore.engine import cache, version

PROBE = """
import numpy as np

from simcore.engine.fast import curve
from simcore.engine.fast.jit import entry, step


@entry
def ask(knots, tokens):
    return curve.interpolate(knots, 0, 2, 1, tokens)
"""
ASK = """
import numpy as np
from simcore.engine.fast.probe import ask
knots = np.array([0, 0, 0, 0, 10, 100, 200, 300])
value = ask(knots.ctypes.data, 5)
hits = sum(ask.stats.cache_hits.values())
print(value, hits)
"""


def copied_package(folder: Path) -> Path:
    copy = folder / "simcore"
    shutil.copytree(version.SIMCORE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "engine" / "fast" / "probe.py").write_text(PROBE)
    return copy


def ask_in_new_process(folder: Path) -> tuple[int, int]:
    environment = {**os.environ, "PHASEPLAN_VAR": str(folder / "var"), "PYTHONDONTWRITEBYTECODE": "1"}
    output = subprocess.run(
        [sys.executable, "-c", ASK], cwd=folder, env=environment, text=True, capture_output=True, check=True
    ).stdout
    value, hits = map(int, output.split())
    return value, hits


def test_an_edited_helper_gives_the_new_result_in_a_new_process(tmp_path: Path) -> None:
    helper = copied_package(tmp_path) / "engine" / "fast" / "curve.py"
    assert ask_in_new_process(tmp_path) == (100, 0)
    assert ask_in_new_process(tmp_path) == (100, 1)
    before = helper.read_text()
    edited = before.replace("// run\n", "// run + 7\n")
    assert edited != before
    helper.write_text(edited)
    assert ask_in_new_process(tmp_path) == (107, 0)


def version_of(copy: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(version, "SIMCORE", copy)
    version.engine_version.cache_clear()
    try:
        return version.engine_version()
    finally:
        version.engine_version.cache_clear()


@pytest.mark.parametrize(
    "name", ["latency/curve.py", "traces/trace.py", "engine/inputs.py", "new_rule.py", "catalogue/new.csv"]
)
def test_any_file_that_can_change_a_result_changes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    copy = copied_package(tmp_path)
    before = version_of(copy, monkeypatch)
    (copy / name).parent.mkdir(exist_ok=True)
    with (copy / name).open("a") as file:
        file.write("\n")
    assert version_of(copy, monkeypatch) != before


@pytest.mark.parametrize("name", ["frontier.py", "explain.py", "economics/prices.py", "engine/notes.txt"])
def test_what_only_reads_results_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    copy = copied_package(tmp_path)
    before = version_of(copy, monkeypatch)
    (copy / name).parent.mkdir(exist_ok=True)
    with (copy / name).open("a") as file:
        file.write("\n")
    assert version_of(copy, monkeypatch) == before


@pytest.mark.parametrize("package", ["numba", "python"])
def test_the_versions_of_numba_and_python_count(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    before = version_of(version.SIMCORE, monkeypatch)
    if package == "numba":
        monkeypatch.setattr(version, "version", lambda name: "0.1")
    else:
        monkeypatch.setattr(version.platform, "python_version", lambda: "3.99.0")
    assert version_of(version.SIMCORE, monkeypatch) != before


def test_the_cache_is_in_the_data_folder_under_the_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PHASEPLAN_VAR", str(tmp_path))
    assert cache.cache_folder() == tmp_path / "engine-cache" / version.engine_version()


def test_without_a_data_folder_it_is_in_the_users_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PHASEPLAN_VAR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache.cache_folder() == tmp_path / ".cache" / "phaseplan" / "engine-cache" / version.engine_version()


def test_a_filled_cache_that_can_only_be_read_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PHASEPLAN_VAR", str(tmp_path / "shipped"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    shipped = cache.cache_folder()
    assert not any(shipped.iterdir())
    (shipped / "fast").mkdir()
    for name in ("a.nbi", "a.1.nbc"):
        (shipped / "fast" / name).write_text(name)
    monkeypatch.setattr(cache, "_writable", lambda folder, before=cache._writable: folder != shipped and before(folder))
    mine = cache.cache_folder()
    assert mine == tmp_path / ".cache" / "phaseplan" / "engine-cache" / version.engine_version()
    assert sorted(path.name for path in (mine / "fast").iterdir()) == ["a.1.nbc", "a.nbi"]
    (mine / "fast" / "a.nbi").write_text("its own by now")
    assert (cache.cache_folder() / "fast" / "a.nbi").read_text() == "its own by now"


def test_where_nothing_is_writable_it_is_temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    for name in ("PHASEPLAN_VAR", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.setenv(name, str(blocked))
    folder = cache.cache_folder()
    assert folder.is_dir()
    assert blocked not in folder.parents
