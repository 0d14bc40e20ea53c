"""The worker's watch: its heartbeat, its reaper, and that nothing ends it."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings

from planner import worker
from planner.launcher.locks import FileLock
from planner.studies import queue
from planner.studies.workers import Worker
from simcore.engine.version import engine_version
from tests.services import until


@pytest.fixture
def reaped(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    calls: list[str] = []
    monkeypatch.setattr(queue, "reap", lambda: calls.append("reap"))
    return calls


@pytest.mark.django_db
def test_a_look_beats_reaps_and_forgets_workers_of_yesterday(reaped: list[str]) -> None:
    Worker.objects.create(name="old", heartbeat_at=timezone.now() - worker.FORGET_WORKER - timedelta(seconds=1))
    worker.Watch()._look()
    (row,) = Worker.objects.all()
    assert str(os.getpid()) in row.name
    assert reaped == ["reap"]


@pytest.mark.django_db(transaction=True)
def test_a_broker_that_is_down_does_not_end_the_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    class BrokerDownError(Exception):
        """As redis-py's: no OSError."""

    calls: list[int] = []

    def down() -> None:
        calls.append(1)
        if len(calls) > 2:
            watch._stop_asked.set()
        raise BrokerDownError

    monkeypatch.setattr(queue, "reap", down)
    monkeypatch.setattr(worker, "REAP_S", 0)
    watch = worker.Watch()
    watch.start()
    watch.join(timeout=20)
    assert len(calls) == 3
    assert not Worker.objects.exists()  # it signed off


def test_a_second_embedded_worker_is_refused(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.VAR = tmp_path
    monkeypatch.setattr(worker, "OLD_WORKER_S", 0)
    held = FileLock(tmp_path / "worker.lock")
    assert held.take()
    held.write("4711")
    with pytest.raises(SystemExit, match=r"worker 4711 already uses .*set REDIS_URL"):
        worker.take_folder()
    held.release()


def test_a_long_compile_is_no_silent_wait(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    compile_with(monkeypatch, [(0, 290), (120, 290)])
    monkeypatch.setattr(worker, "SAY_S", 0.05)
    threads = threading.active_count()
    worker.warm_engine()
    said = capsys.readouterr().out
    assert said.count("compiling the engine: 290 functions") == 1
    assert "compiled 120 of 290 functions after" in said
    assert "engine ready in" in said
    assert threading.active_count() == threads


def test_a_cached_engine_is_not_said_to_be_compiled(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    compile_with(monkeypatch, [])
    worker.warm_engine()
    assert "compil" not in capsys.readouterr().out


def compile_with(monkeypatch: pytest.MonkeyPatch, steps: list[tuple[int, int]]) -> None:
    """Stands in for a compiler that takes these steps, and 0.3 s if there are any."""
    compiler: Any = ModuleType("simcore.engine.fast.warm")
    watching = []

    @contextmanager
    def watched(progress: Callable[[int, int], None]) -> Iterator[None]:
        watching.append(progress)
        yield

    def warm_up() -> None:
        for step in steps:
            watching[0](*step)
        time.sleep(0.3 if steps else 0)

    compiler.compiling_watched, compiler.warm_up = watched, warm_up
    monkeypatch.setitem(sys.modules, "simcore.engine.fast.warm", compiler)


@pytest.mark.django_db(transaction=True)
def test_a_worker_is_there_while_it_compiles_and_ready_at_its_first_look(reaped: list[str]) -> None:
    before = timezone.now()
    with worker.Compiling():
        until(Worker.objects.exists)
        row = Worker.objects.get()
        assert (row.name, row.compiling, row.engine_version) == (worker.worker_name(), True, "")
    worker.Watch()._look()
    row = Worker.objects.get()
    assert (row.compiling, row.engine_version) == (False, engine_version())
    assert row.heartbeat_at > before


def test_a_lock_is_free_once_its_holder_lets_go(tmp_path: Path) -> None:
    first, second = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    assert first.take()
    assert not second.take()
    first.release()
    assert second.take(wait_s=1)
    second.release()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child of its parent's death")
def test_a_child_ends_with_its_parent(tmp_path: Path) -> None:
    child = (
        "import os, signal, sys, time\n"
        "from planner.launcher.parent_death import signal_on_parent_death\n"
        "signal_on_parent_death(signal.SIGKILL, os.getppid())()\n"
        "print(os.getpid(), flush=True); time.sleep(60)"
    )
    parent = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]])"
    process = subprocess.Popen([sys.executable, "-c", parent, child], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    pid = int(process.stdout.readline())
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    status = Path(f"/proc/{pid}/stat")
    until(lambda: not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z", wait_s=20)
