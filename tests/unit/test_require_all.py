"""REQUIRE_ALL=1 turns a skip into a failure, in another process too, so that CI cannot pass by testing nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLUGINS = ["-p", "tests.require_all", "-p", "no:django", "-p", "no:cacheprovider", "-rsfE", "-n", "1"]
IN_A_TEST = 'import pytest\n\n\ndef test_it():\n    pytest.skip("no such program")\n'
OF_A_FILE = 'import pytest\n\npytest.skip("no such program", allow_module_level=True)\n'


@pytest.mark.parametrize("text", [IN_A_TEST, OF_A_FILE], ids=["a test", "a file"])
@pytest.mark.parametrize(("require_all", "passes"), [("0", True), ("1", False)])
def test_a_skip_passes_only_where_it_may(tmp_path: Path, text: str, require_all: str, passes: bool) -> None:
    path = tmp_path / "test_something.py"
    path.write_text(text)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *PLUGINS, "-c", tmp_path / "pytest.ini", path],
        cwd=ROOT,
        env={**os.environ, "REQUIRE_ALL": require_all},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode in {0, 5}) is passes, result.stdout
    assert "no such program" in result.stdout
