"""Two workers on Redis and PostgreSQL, one killed in the middle: the study finishes, nothing is lost or doubled."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.faults.served import Rows, run, served
from tests.services import running_worker, until

STUDY_S = 300


@pytest.fixture
def servers(redis_url: str, postgresql_url: str, tmp_path: Path) -> dict[str, str]:
    return served(redis_url, postgresql_url, tmp_path, 1)


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
        run(servers, "-m", "tests.faults.small_study", "list")
        kill_in_the_middle(rows, second)
        written = rows.results()
        until(lambda: rows.count("study", "state = 'done'") == 1, said=logs[0].read_text, wait_s=STUDY_S)
    assert rows.count("shard", "attempt > 1") == 1
    assert rows.count("shard", "state <> 'done'") == 0
    tried = rows.count("studydesign", "origin <> 'screened'")
    assert rows.count("studydesign", "result IS NOT NULL AND failure = '' AND origin <> 'screened'") == tried > 0
    due = rows.kinds_due()
    assert rows.count("evaluation", "kind = 'capacity'") == due["capacity"] > 0
    assert rows.count("evaluation", "kind = 'trial'") >= due["trial"], "those that held were searched as well"
    assert written.items() <= rows.results().items(), "what was written before the kill stays as it was"
