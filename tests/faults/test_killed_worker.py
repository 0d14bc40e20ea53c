"""Two workers on Redis and PostgreSQL, one killed in the middle: the study finishes, nothing is lost or doubled."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.services import ROOT, clean_environment, running_worker, share_engine_cache, until

STUDY_S = 300


@pytest.fixture
def servers(redis_url: str, postgresql_url: str, tmp_path: Path) -> dict[str, str]:
    """A fresh database with the catalogue in it; what a program needs to use it."""
    with psycopg.connect(postgresql_url, autocommit=True) as server:
        server.execute("CREATE DATABASE killed_worker")
    var = tmp_path / "var"
    share_engine_cache(var)
    database = postgresql_url.rpartition("/")[0] + "/killed_worker"
    environment = {
        "REDIS_URL": redis_url.rpartition("/")[0] + "/1",
        "DATABASE_URL": database,
        "PHASEPLAN_VAR": str(var),
    }
    run(environment, "manage.py", "migrate", "--verbosity", "0")
    run(environment, "manage.py", "load_catalogue")
    return environment


def run(environment: dict[str, str], *command: str) -> str:
    variables = {**clean_environment(), **environment, "DJANGO_SETTINGS_MODULE": "planner.settings"}
    result = subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=variables, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


class Rows:
    """The database as anybody sees it."""

    def __init__(self, connection: "psycopg.Connection[tuple[int]]") -> None:
        self.connection = connection

    def count(self, table: str, condition: str = "true") -> int:
        found = self.connection.execute(f"SELECT count(*) FROM studies_{table} WHERE {condition}").fetchone()  # noqa: S608
        assert found is not None
        return found[0]

    def both_busy(self) -> bool:
        return self.count("shard", "state = 'running'") == 2


@pytest.fixture
def rows(servers: dict[str, str]) -> Iterator[Rows]:
    with psycopg.connect(servers["DATABASE_URL"], autocommit=True) as connection:
        yield Rows(connection)


def kill_in_the_middle(rows: Rows, worker: "subprocess.Popen[bytes]") -> None:
    """Kills the worker while it holds a shard: stopped first, so that it cannot end one meanwhile."""
    while True:
        until(rows.both_busy)
        os.killpg(worker.pid, signal.SIGSTOP)
        end = time.monotonic() + 2
        while time.monotonic() < end:
            if rows.both_busy():  # one is the other worker's, so one is this one's
                os.killpg(worker.pid, signal.SIGKILL)
                return
        os.killpg(worker.pid, signal.SIGCONT)


def test_the_other_worker_finishes_the_study(servers: dict[str, str], rows: Rows, tmp_path: Path) -> None:
    with contextlib.ExitStack() as workers:
        logs = [tmp_path / "first.log", tmp_path / "second.log"]
        _, second = [workers.enter_context(running_worker(log, **servers)) for log in logs]
        run(servers, "-m", "tests.faults.small_study")
        kill_in_the_middle(rows, second)
        until(lambda: rows.count("study", "state = 'done'") == 1, said=logs[0].read_text, wait_s=STUDY_S)
    assert rows.count("shard", "attempt > 1") == 1
    assert rows.count("shard", "state <> 'done'") == 0
    tried = rows.count("studydesign")
    assert rows.count("studydesign", "evaluation_id IS NOT NULL AND failure = ''") == tried > 0
    assert rows.count("evaluation") == tried
