"""What make says on a machine that cannot run Phaseplan."""

import sys
from pathlib import Path

import pytest

from planner.launcher import bootstrap


def test_an_old_python_is_named_with_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        bootstrap.check_python((3, 9, 2), "/usr/bin/python3")
    said = capsys.readouterr().err
    assert "/usr/bin/python3 is 3.9" in said
    assert "make run PYTHON=" in said


def test_a_missing_venv_module_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(bootstrap, "VENV", str(tmp_path / ".venv"))
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    with pytest.raises(SystemExit):
        bootstrap.make_venv()
    assert "apt install python3-venv" in capsys.readouterr().err
    assert not (tmp_path / ".venv").exists()


def test_a_venv_without_pip_is_not_usable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(bootstrap, "VENV_PYTHON", str(broken))
    assert not bootstrap.usable_venv(replace=False)


def test_an_unchanged_lock_is_not_installed_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    installed: list[str] = []
    (tmp_path / "requirements").mkdir()
    (tmp_path / ".venv").mkdir()
    lock = tmp_path / "requirements" / "runtime.txt"
    lock.write_text("a==1\n")
    monkeypatch.setattr(bootstrap, "ROOT", str(tmp_path))
    monkeypatch.setattr(bootstrap, "VENV", str(tmp_path / ".venv"))
    monkeypatch.setattr(bootstrap, "run_pip", installed.append)
    bootstrap.install("runtime", announce=False)
    bootstrap.install("runtime", announce=False)
    assert installed == [str(lock)]
    lock.write_text("a==2\n")
    bootstrap.install("runtime", announce=False)
    assert len(installed) == 2


def test_the_locks_hold_hashes_and_no_address() -> None:
    for name in ("runtime", "dev"):
        text = Path(bootstrap.ROOT, "requirements", f"{name}.txt").read_text()
        assert "://" not in text
        assert "--index" not in text
        assert text.count("==") <= text.count("--hash=sha256:")
