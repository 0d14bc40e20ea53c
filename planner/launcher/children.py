"""The launcher's children: each leads a process group of its own, ends with its parent, and is ended with its group."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable

from planner.launcher.parent_death import signal_on_parent_death

GRACE_S = 10
POLL_S = 0.1
RESTART_DELAYS_S = (1, 2, 5, 10, 30)


class Child:
    """A program that is started, watched and stopped."""

    def __init__(self, name: str, arguments: list[str], environment: dict[str, str], keep_open: Iterable[int]) -> None:
        self.name = name
        self._command = [sys.executable, "-m", *arguments]
        self._environment = environment
        self._keep_open = tuple(keep_open)
        self._process: subprocess.Popen[bytes] | None = None
        self._restarts = 0
        self._restart_at = 0.0

    def start(self) -> None:
        self._process = subprocess.Popen(
            self._command,
            env=self._environment,
            pass_fds=self._keep_open,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=signal_on_parent_death(signal.SIGTERM),  # the launcher has one thread
        )

    @property
    def process_group(self) -> int | None:
        return self._process.pid if self._process else None

    def ended(self) -> int | None:
        """The exit status (negative: a signal's number) once the program has ended."""
        return self._process.poll() if self._process else None

    def restart_when_due(self) -> bool:
        """Starts an ended program again after a pause that grows with each try; True when it did."""
        now = time.monotonic()
        if not self._restart_at:
            pause_s = RESTART_DELAYS_S[min(self._restarts, len(RESTART_DELAYS_S) - 1)]
            self._restart_at, self._restarts = now + pause_s, self._restarts + 1
            print(f"phaseplan: the {self.name} ended ({self.ended()}); starting it again in {pause_s} s", flush=True)
        if now < self._restart_at:
            return False
        self._restart_at = 0.0
        self.signal_group(signal.SIGKILL)  # what it left behind
        self.start()
        return True

    def signal_group(self, number: signal.Signals) -> None:
        if self._process:
            signal_group(self._process.pid, number)

    def kill_group(self) -> None:
        if self._process:
            self.signal_group(signal.SIGKILL)
            self._process.wait()

    def ask_to_stop(self) -> None:
        if self._process and self.ended() is None:
            self._process.terminate()


def stop_all(children: Iterable[Child]) -> None:
    """SIGTERM to each program, and SIGKILL to what is left of its group when it has ended or after 10 s."""
    children = list(children)
    for child in children:
        child.ask_to_stop()
    end = time.monotonic() + GRACE_S
    while any(child.process_group and child.ended() is None for child in children) and time.monotonic() < end:
        time.sleep(POLL_S)
    for child in children:
        child.kill_group()


def signal_group(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
