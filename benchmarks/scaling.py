"""The example study by 1, 2 and 4 workers on Redis and PostgreSQL, and by one worker with two processes.

Efficiency is the wall time of one worker over workers × theirs. No more than the machine's cores can work at once: with
more workers than cores it is bounded by cores / workers, and by what else the machine does. ``cores_got`` is the CPU
seconds of the workers over wall seconds.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.measure import report

ROOT = Path(__file__).resolve().parents[1]
RUNS = ((1, 1), (2, 1), (4, 1), (1, 2))
"""Workers, and processes of each."""
TICKS = os.sysconf("SC_CLK_TCK")
WAIT_S = 900
ASK = (
    "from planner.accounts.teams import local_user; from planner.scenarios.services import create_scenario;"
    " from planner.studies import example, services; from planner.workloads.models import Workload;"
    " asked = example.inputs(str(Workload.of_mix(example.MIX).pk));"
    " services.start_study(local_user(), create_scenario(local_user(), asked))"
)
"""A program of one line: the example's question."""
LAST = (
    "from planner.studies.models import Study; s = Study.unscoped.latest('pk');"
    " print(s.state, (s.finished_at - s.created_at).total_seconds() if s.finished_at else 0, s.designs.count())"
)


def main() -> None:
    """A line for each number of workers; the first is what the others are compared with."""
    if shutil.which("redis-server") is None:
        report("scaling", skipped="redis-server is not installed")
        return
    from tests.services import ended, free_port, listens, start_postgresql, until
    from tests.services import postgresql_program as program

    with tempfile.TemporaryDirectory() as folder:
        data, redis, postgresql = Path(tempfile.mkdtemp(prefix="phaseplan-scaling-")), free_port(), free_port()
        with contextlib.ExitStack() as servers:
            servers.callback(shutil.rmtree, data, ignore_errors=True)
            command = ["redis-server", "--port", str(redis), "--save", "", "--dir", folder]
            server = servers.enter_context(ended(subprocess.Popen(command, stdout=subprocess.DEVNULL)))
            until(lambda: listens(redis), server)
            server = servers.enter_context(ended(start_postgresql(Path(program("initdb")).parent, data, postgresql)))
            until(lambda: listens(postgresql), server)
            addresses = f"redis://127.0.0.1:{redis}", f"postgresql://phaseplan@127.0.0.1:{postgresql}"
            _all(addresses, Path(folder))


def _all(addresses: tuple[str, str], folder: Path) -> None:
    from tests.faults.served import served

    alone_s = 0.0
    for number, (workers, processes) in enumerate(RUNS, 1):
        environment = served(f"{addresses[0]}/0", f"{addresses[1]}/postgres", folder, number)
        figures = _measured(environment, workers, processes)
        alone_s = alone_s or figures["wall_s"]
        efficiency = alone_s / (workers * processes * figures["wall_s"])
        report("scaling", workers=workers, processes=processes, cores=os.cpu_count(), **figures, efficiency=efficiency)


def _measured(environment: dict[str, str], workers: int, processes: int) -> dict[str, Any]:
    with contextlib.ExitStack() as running:
        groups = [running.enter_context(_worker(environment, processes)) for _ in range(workers)]
        before = sum(map(_cpu_s, groups))
        _shell(environment, ASK)
        end = time.monotonic() + WAIT_S
        state, wall_s, designs = "", "0", "0"
        while state != "done" and time.monotonic() < end:
            time.sleep(1)
            state, wall_s, designs = _shell(environment, LAST).split()
        cpu_s = sum(map(_cpu_s, groups)) - before
    figures = {"wall_s": float(wall_s), "cpu_s": cpu_s, "cores_got": cpu_s / max(float(wall_s), 1e-9)}
    return {"state": state, "designs": int(designs), **figures}


@contextlib.contextmanager
def _worker(environment: dict[str, str], processes: int) -> Iterator[int]:
    """A worker that is ready, as its process group."""
    from tests.services import ended, until

    log = Path(environment["PHASEPLAN_VAR"]) / f"worker-{time.monotonic_ns()}.log"
    command = ["-m", "celery", "-A", "planner", "worker", "--loglevel", "INFO", "--concurrency", str(processes)]
    quiet = ["--without-heartbeat", "--without-gossip", "--without-mingle"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, *command, *quiet],
            cwd=ROOT,
            env={**os.environ, **environment, "PYTHONUNBUFFERED": "1"},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    with ended(process):
        until(lambda: " ready." in log.read_text(), process, log.read_text, WAIT_S)
        yield process.pid


def _cpu_s(group: int) -> float:
    """CPU seconds of all processes of a group so far."""
    total = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[2]) == group:
                total += int(fields[11]) + int(fields[12])
    return total / TICKS


def _shell(environment: dict[str, str], program: str) -> str:
    from tests.faults.served import run

    return run(environment, "manage.py", "shell", "--no-imports", "-c", program)


if __name__ == "__main__":
    main()
