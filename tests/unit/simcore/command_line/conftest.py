"""The case and its trace where a command is run."""

import json

import pytest

from tests.unit.simcore.command_line.cases import CASE, TRACE


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "case.json").write_text(json.dumps(CASE))
    (tmp_path / "trace.csv").write_text(TRACE)
    return tmp_path
