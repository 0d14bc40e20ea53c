"""What a Celery worker does besides tasks: warms the engine before it forks, and watches over the leased rows."""

import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from socket import gethostname
from typing import Any

import django
from django.conf import settings
from django.db import connections
from django.utils import timezone

from planner.launcher.locks import FileLock
from planner.launcher.parent_death import signal_on_parent_death

logger = logging.getLogger(__name__)

REAP_S = 5
OLD_WORKER_S = 15
SAY_S = 5
FORGET_WORKER = timedelta(days=1)


def before_fork() -> None:
    """Takes the embedded folder, queues what a dead worker left, compiles the engine for all children at once."""
    django.setup()
    if settings.EMBEDDED:
        take_folder()
        queue_what_ran()
    with Compiling():
        warm_engine()
    connections.close_all()


def take_folder() -> None:
    """Holds var/worker.lock to the end of this worker and its children; a second embedded worker ends here."""
    lock = FileLock(Path(settings.VAR) / "worker.lock")
    if not lock.take(OLD_WORKER_S):
        sys.exit(f"phaseplan: worker {lock.read()} already uses {settings.VAR}; set REDIS_URL to run several")
    lock.write(str(os.getpid()))
    global _folder
    _folder = lock  # never released: the kernel does that


_folder: FileLock | None = None


def queue_what_ran() -> None:
    """No other worker is alive: every running row is an orphan, every message may be torn, the rows say what to do."""
    from planner.studies import leases, queue

    queue.purge()
    for model in queue.leased_models():
        leases.requeue_running(model, forget_attempts=False)


def warm_engine() -> None:
    from simcore.engine.fast.warm import compiling_watched, warm_up

    start, done, far = time.monotonic(), threading.Event(), HowFar()
    patience = threading.Thread(target=_say_how_far, args=(start, done, far), daemon=True)
    patience.start()
    try:
        with compiling_watched(far.note):
            warm_up()
    finally:
        done.set()
        patience.join()  # before the fork
    print(f"      engine ready in {time.monotonic() - start:.1f} s", flush=True)


class HowFar:
    """What the compiler has done so far; nothing at all where the cache has the engine."""

    def __init__(self) -> None:
        self.functions = (0, 0)

    def note(self, done: int, of: int) -> None:
        if self.functions == (0, 0):
            print(f"      compiling the engine: {of} functions, once for each version of it …", flush=True)
        self.functions = (done, of)


def _say_how_far(start: float, done: threading.Event, far: HowFar) -> None:
    while not done.wait(SAY_S):
        compiled, of = far.functions
        if of:
            print(f"      compiled {compiled} of {of} functions after {time.monotonic() - start:.0f} s …", flush=True)


class Compiling:
    """Says in the database, while the block runs, that a worker is there whose engine is not ready yet."""

    def __init__(self) -> None:
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._say, name="compiling", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *exc: object) -> None:
        self._done.set()
        self._thread.join()  # before the fork

    def _say(self) -> None:
        while True:
            attempt(lambda: seen(compiling=True))
            if self._done.wait(REAP_S):
                break
        connections.close_all()


def seen(**fields: Any) -> None:
    """This worker's heartbeat."""
    from planner.studies.workers import Worker

    name = worker_name()
    Worker.objects.update_or_create(name=name, defaults={"heartbeat_at": timezone.now(), **fields})


def worker_name() -> str:
    return f"{gethostname()}:{os.getpid()}"


def attempt(step: Callable[[], None]) -> None:
    try:
        step()
    except Exception:  # whatever a database or a broker raises: a worker without its watch looks dead
        logger.warning("the worker's watch will try again", exc_info=True)
        connections.close_all()


def in_child(parent: int) -> None:
    """A pool process ends with its worker even when that is killed; its row's lease then runs out."""
    signal_on_parent_death(signal.SIGKILL, parent)()


class Watch(threading.Thread):
    """This worker's heartbeat and its reaper."""

    def __init__(self) -> None:
        super().__init__(name="watch", daemon=True)
        self._stop_asked = threading.Event()

    def run(self) -> None:
        if settings.EMBEDDED:
            attempt(self._send_all)
        while True:
            attempt(self._look)
            if self._stop_asked.wait(REAP_S):
                break
        attempt(self._sign_off)
        connections.close_all()

    def stop(self) -> None:
        self._stop_asked.set()
        self.join(timeout=5)

    def _send_all(self) -> None:
        from planner.studies import queue

        queue.resend(older_than_s=0)

    def _look(self) -> None:
        from planner.studies import queue
        from planner.studies.workers import Worker
        from planner.workloads.services import forget_drafts
        from simcore.engine.version import engine_version

        seen(compiling=False, engine_version=engine_version())
        Worker.objects.filter(heartbeat_at__lt=timezone.now() - FORGET_WORKER).delete()
        queue.reap()
        forget_drafts()

    def _sign_off(self) -> None:
        from planner.studies.workers import Worker

        Worker.objects.filter(name=worker_name()).delete()
