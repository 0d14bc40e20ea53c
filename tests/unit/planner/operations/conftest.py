"""Commands of manage.py, as an operator runs them."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.services import ROOT, clean_environment


@pytest.fixture
def manage(tmp_path: Path) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """Runs a command of manage.py on the data folder ``var`` of the test, or on the database of a URL."""

    def run(*arguments: object, var: str = "one", **environment: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "manage.py", *map(str, arguments)],
            cwd=ROOT,
            env=clean_environment() | {"PHASEPLAN_VAR": str(tmp_path / var), "PHASEPLAN_LOCAL": "true", **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    return run
