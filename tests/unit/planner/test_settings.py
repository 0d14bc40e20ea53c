"""The settings as they are deployed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import call_command

from tests.services import ROOT, clean_environment


def run(*arguments: str, var: Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**clean_environment(), "PHASEPLAN_VAR": str(var), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_deployed_settings_pass_djangos_checks(tmp_path: Path) -> None:
    check = ("manage.py", "check", "--deploy", "--fail-level", "WARNING")
    result = run(*check, var=tmp_path, PHASEPLAN_HOSTS="plan.example")
    assert result.returncode == 0, result.stderr


def test_a_setting_that_makes_no_sense_is_an_error(tmp_path: Path) -> None:
    result = run("manage.py", "check", var=tmp_path, PHASEPLAN_TASK_SOFT_S="soon")
    assert result.returncode != 0
    assert "PHASEPLAN_TASK_SOFT_S=soon: expected a whole number" in result.stderr


def test_the_models_have_their_migrations(db: None) -> None:
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


def test_the_web_process_never_imports_the_engine(tmp_path: Path) -> None:
    program = (
        "import sys, planner.wsgi\n"
        "from django.urls import get_resolver\n"
        "get_resolver().url_patterns\n"
        "print(sorted(name for name in sys.modules if name.startswith(('simcore.engine', 'numba', 'plotly'))))"
    )
    result = run("-c", program, var=tmp_path)
    assert result.stdout.strip() == "[]", result.stderr


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_sqlite_is_in_wal_mode(db: None) -> None:
    from django.db import connection

    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            assert cursor.execute("PRAGMA journal_mode").fetchone() == ("wal",)
