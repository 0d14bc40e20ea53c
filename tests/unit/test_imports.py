"""What a start brings in: a program that shows help, or a web server, loads no engine and no library that it may never
need. ``make bench`` measures what the starts cost; here it is what they load."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("numba", "llvmlite", "scipy", "plotly", "simcore.engine")
SERVER = (
    "from planner.wsgi import application; from django.urls import get_resolver; urls = get_resolver().url_patterns"
)
EVERY_VIEW = f"""{SERVER}
from django.core.checks.urls import check_url_config
assert not check_url_config(None)
"""


@pytest.mark.parametrize(
    ("program", "never"),
    [
        ("import simcore.__main__", ("django", "celery", *HEAVY)),
        ("from simcore.__main__ import parser; parser()", ("django", "celery", *HEAVY)),
        (SERVER, ("celery", "kombu", "rest_framework.views", "numpy", *HEAVY)),
        (EVERY_VIEW, ("celery", "kombu", *HEAVY)),
    ],
    ids=["command-line", "its-help", "server", "every-view"],
)
def test_start_loads_nothing_that_it_may_never_need(program: str, never: tuple[str, ...], tmp_path: Path) -> None:
    assert not loaded(program, tmp_path) & set(never)


def test_the_check_sees_what_a_program_loads(tmp_path: Path) -> None:
    assert loaded("import simcore.engine.fast.cluster", tmp_path) >= {"numba", "simcore.engine"}


def loaded(program: str, var: Path) -> set[str]:
    """The modules of a process of its own that has run the program."""
    code = f"import sys, warnings; warnings.simplefilter('ignore')\n{program}\nprint(*sys.modules, sep='\\n')"
    environment = {**os.environ, "PHASEPLAN_VAR": str(var), "DJANGO_SETTINGS_MODULE": "planner.settings"}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, check=True)
    return set(done.stdout.decode().split())
