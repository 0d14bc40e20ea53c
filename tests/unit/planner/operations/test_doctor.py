"""``manage.py doctor`` on installations that are well and that are not."""

import json
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.planner.operations.test_backup import OLDER

Manage = Callable[..., "subprocess.CompletedProcess[str]"]
Found = dict[str, list[tuple[str, str]]]


@pytest.fixture
def var(tmp_path: Path, manage: Manage) -> Path:
    """A data folder with a small installation."""
    assert manage("restore", OLDER).returncode == 0
    return tmp_path / "one"


def found(run: "subprocess.CompletedProcess[str]") -> Found:
    assert "Traceback" not in run.stderr, run.stderr
    listed: Found = {}
    for one in json.loads(run.stdout):
        listed.setdefault(one["about"], []).append((one["level"], one["words"]))
    return listed


def test_what_works_and_what_does_not_is_told_apart(var: Path, manage: Manage) -> None:
    run = manage("doctor", "--deep", "--json")
    told = found(run)
    assert run.returncode == 1  # nobody has started a worker
    assert told["workers"] == [("problem", "none was seen in the last 30 s: studies wait")]
    assert told["database"] == [("ok", "sqlite, all migrations")]
    assert told["python"][0][0] == "ok"
    assert told["answers"][0][0] == "ok"
    assert told["secret key"][0][0] == "ok"


def test_damage_is_found_and_named(var: Path, manage: Manage) -> None:
    with sqlite3.connect(var / "phaseplan.sqlite3") as database:
        (study, design) = database.execute(
            "SELECT study_id, design_id FROM studies_studydesign WHERE result IS NOT NULL LIMIT 1"
        ).fetchone()
        database.execute("UPDATE studies_studydesign SET result = X'00' WHERE design_id = ?", (design,))
    (var / "secret_key").chmod(0o644)
    told = found(manage("doctor", "--deep", "--json"))
    level, words = told["answers"][0]
    assert level == "problem"
    assert f"study {study} design {design}" in words
    assert told["secret key"] == [("problem", "others may read it: chmod 600")]


def test_a_file_that_is_no_database_is_said(var: Path, manage: Manage) -> None:
    data = bytearray((var / "phaseplan.sqlite3").read_bytes())
    data[4096:20_000] = b"\xff" * (20_000 - 4096)
    (var / "phaseplan.sqlite3").write_bytes(data)
    told = found(manage("doctor", "--json"))
    assert told["database"][0][0] == "problem"


def test_a_server_that_is_half_set_up_is_told_what_lacks(tmp_path: Path, manage: Manage) -> None:
    served = {
        "PHASEPLAN_LOCAL": "false",
        "REDIS_URL": "redis://127.0.0.1:1/0",
        "SECRET_KEY": "ab" + "c" * 48 + "def",
        "PHASEPLAN_HSTS_S": "0",
    }
    told = found(manage("doctor", "--json", **served))
    assert "security.W004" in " ".join(words for _, words in told["settings"])
    assert told["queue"][0][0] == "problem"
    assert "waits for" in told["database"][0][1]
