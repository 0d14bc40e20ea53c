"""The real programs that some tests need: started on a free port with a folder of their own, or skipped by name."""

import contextlib
import functools
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
START_S = 120


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of an installed Chromium."""
    return program("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Redis server of this test run, empty."""
    folder, port = tmp_path_factory.mktemp("redis"), free_port()
    command = [program("redis-server"), "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    with ended(subprocess.Popen(command, stdout=subprocess.DEVNULL)) as server:
        until(lambda: listens(port), server)
        yield f"redis://127.0.0.1:{port}/0"


@pytest.fixture(scope="session")
def postgresql_url() -> Iterator[str]:
    """A PostgreSQL server of this test run with an empty database."""
    binaries = Path(postgresql_program("initdb")).parent
    # pytest's own temporary folders are closed to the postgres user that the server must run as.
    folder = Path(tempfile.mkdtemp(prefix="phaseplan-postgresql-"))
    try:
        with ended(start_postgresql(binaries, folder, port := free_port())) as server:
            until(lambda: answers(port), server)
            yield f"postgresql://phaseplan@127.0.0.1:{port}/postgres"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def start_postgresql(binaries: Path, folder: Path, port: int) -> "subprocess.Popen[bytes]":
    rights = unprivileged(folder)
    environment = {"LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]}
    data = folder / "data"
    subprocess.run(
        [binaries / "initdb", "--pgdata", data, "--username", "phaseplan", "--auth", "trust", "--no-sync"],
        **rights,
        cwd="/",
        env=environment,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    options = ["-c", "fsync=off", "-c", "listen_addresses=127.0.0.1"]
    command = [str(binaries / "postgres"), "-D", str(data), "-p", str(port), "-k", str(folder), *options]
    return subprocess.Popen(command, **rights, cwd="/", env=environment, stderr=subprocess.DEVNULL)


def unprivileged(folder: Path) -> dict[str, Any]:
    """How to run as another user, who then owns the folder: PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    shutil.chown(folder, "postgres", "postgres")
    return {"user": "postgres", "group": "postgres", "extra_groups": []}


def postgresql_program(name: str) -> str:
    """A server program, which Debian keeps off the PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(found[-1]) if found else program(name)


@dataclass
class Planner:
    """A running `make run`: its address, its data folder, what it printed."""

    url: str
    port: int
    var: Path
    process: "subprocess.Popen[bytes]"
    log: Path

    @property
    def output(self) -> str:
        return self.log.read_text(encoding="utf-8")

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(timeout=30)


@pytest.fixture(scope="session")
def planner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Planner]:
    """Phaseplan as `make run` starts it (embedded), shared by the browser tests."""
    with running_planner(tmp_path_factory.mktemp("planner")) as started:
        yield started


@contextlib.contextmanager
def running_planner(folder: Path, port: int | None = None, **environment: str) -> Iterator[Planner]:
    """The real launcher with folder/var as its data folder; ready when the block starts, stopped when it ends."""
    started = start_planner(folder, port, **environment)
    with ended(started.process):
        until(lambda: "Phaseplan is ready" in started.output, started.process, lambda: started.output)
        yield started


def start_planner(folder: Path, port: int | None = None, **environment: str) -> Planner:
    port = port or free_port()
    var, log = folder / "var", folder / f"planner-{port}-{time.monotonic_ns()}.log"
    share_engine_cache(var)
    process = spawn(["planner.launcher", "--port", str(port)], log, {"PHASEPLAN_VAR": str(var), **environment})
    return Planner(f"http://127.0.0.1:{port}/", port, var, process, log)


@contextlib.contextmanager
def running_worker(log: Path, **environment: str) -> Iterator["subprocess.Popen[bytes]"]:
    """One more worker, as a user with Redis and PostgreSQL starts it; in a process group of its own."""
    command = ["celery", "-A", "planner", "worker", "--loglevel", "INFO", "--concurrency", "1", "--without-heartbeat"]
    process = spawn([*command, "--without-gossip", "--without-mingle"], log, environment, start_new_session=True)
    try:
        until(lambda: " ready." in log.read_text(encoding="utf-8"), process, lambda: log.read_text(encoding="utf-8"))
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def spawn(
    arguments: list[str], log: Path, environment: dict[str, str], start_new_session: bool = False
) -> "subprocess.Popen[bytes]":
    """A Python module of this project as a program, with none of the test run's settings."""
    with log.open("wb") as output:
        return subprocess.Popen(
            [sys.executable, "-m", *arguments],
            cwd=ROOT,
            env={**clean_environment(), **environment},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=start_new_session,
        )


def share_engine_cache(var: Path) -> None:
    """Spares each data folder the compiling of an engine whose key says that it is the same."""
    var.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        (var / "engine-cache").symlink_to(compiled_engine())


@functools.cache
def compiled_engine() -> Path:
    """The cache with the engine in it: on two cores compiling takes longer than any test should wait for a worker."""
    program = "from simcore.engine.fast.warm import warm_up; warm_up()"
    environment = {**clean_environment(), "PHASEPLAN_VAR": str(ROOT / "var")}
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=environment, check=True)
    return ROOT / "var" / "engine-cache"


def clean_environment() -> dict[str, str]:
    ours = ("PHASEPLAN_", "DJANGO_", "SECRET_KEY", "DATABASE_URL", "REDIS_URL", "PORT")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {**kept, "PYTHONUNBUFFERED": "1"}


@contextlib.contextmanager
def ended(process: "subprocess.Popen[bytes]") -> Iterator["subprocess.Popen[bytes]"]:
    """Ends the process with the block, kindly first."""
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def until(
    ready: Callable[[], bool],
    process: "subprocess.Popen[bytes] | None" = None,
    said: Callable[[], str] = str,
    wait_s: float = START_S,
) -> None:
    """Waits for a condition; fails with what was said when the process ends first or the wait is over."""
    end = time.monotonic() + wait_s
    while not ready():
        if process is not None and process.poll() is not None:
            pytest.fail(f"{process.args!r} ended with {process.returncode}: {said()}")
        if time.monotonic() > end:
            pytest.fail(f"not ready after {wait_s} s: {said()}")
        time.sleep(0.05)


def program(*names: str) -> str:
    """The first of these programs that is installed; the test is skipped where none is."""
    for name in names:
        if path := shutil.which(name):
            return path
    pytest.skip(f"{names[0]} is not installed")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def listens(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def answers(port: int) -> bool:
    import psycopg

    address = f"host=127.0.0.1 port={port} user=phaseplan dbname=postgres"
    with contextlib.suppress(psycopg.OperationalError), psycopg.connect(address, connect_timeout=1):
        return True
    return False
