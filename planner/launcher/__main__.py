"""One parent for the web server and the worker. Ctrl-C or SIGTERM stops both."""

import argparse
import json
import os
import signal
import sys
import time
from pathlib import Path
from types import FrameType

from planner.env import EnvError, envbool, envint, envlist, envstr
from planner.launcher.address import Address, AddressError
from planner.launcher.children import POLL_S, Child, signal_group, stop_all
from planner.launcher.locks import FileLock
from planner.launcher.parent_death import signal_on_parent_death

ROOT = Path(__file__).resolve().parents[2]
OLD_RUN_S = 12


class StartError(RuntimeError):
    """Phaseplan cannot start; the message says why and what to do."""


class Launcher:
    """The order of a start, the watch while it runs, and the stop."""

    def __init__(self, address: Address, var: Path) -> None:
        self.address = address
        self.var = var
        self.stopping = False
        self.lock = FileLock(var / "launcher.lock")
        self.children_lock = FileLock(var / "children.lock")
        self.running: list[Child] = []

    def run(self) -> int:
        self._take_folder()
        try:
            self.address.check_free()
            self._start()
            if not self.stopping:
                self._watch()
        finally:
            stop_all(self.running)
        print("phaseplan: stopped.", flush=True)
        return 0

    def stop(self, number: int, frame: FrameType | None) -> None:
        if not self.stopping:
            print("\nphaseplan: stopping (up to 10 s) …", flush=True)
        self.stopping = True

    def _take_folder(self) -> None:
        """This data folder is ours once no other launcher lives and the children of a killed one are gone."""
        if not self.lock.take():
            raise StartError(
                f"Phaseplan already runs with the data folder {self.var}: {_described(self.lock.read())}. "
                "Stop it, or start another with PHASEPLAN_VAR=<folder> make run PORT=<port>."
            )
        if not self.children_lock.take():
            print("phaseplan: the last run was killed; waiting for what is left of it to end …", flush=True)
            if not self.children_lock.take(OLD_RUN_S):
                self._kill_old_children()
        self._say_who_runs()

    def _kill_old_children(self) -> None:
        # Whoever holds children.lock was started by the run that wrote these group numbers, so they are still its own.
        for group in json.loads(self.lock.read() or "{}").get("groups", []):
            signal_group(group, signal.SIGKILL)
        if not self.children_lock.take(OLD_RUN_S):
            raise StartError(f"processes of an earlier run still use {self.var}; end them and start again")

    def _say_who_runs(self) -> None:
        groups = [child.process_group for child in self.running]
        self.lock.write(json.dumps({"pid": os.getpid(), "url": self.address.url, "groups": groups}))

    def _start(self) -> None:
        self._prepare()
        if self.stopping:
            return
        print("[5/5] starting the web server and the worker …", flush=True)
        self._add(self._child("web server", [*WEB, "--bind", self.address.bind]))
        self._add(self._child("worker", [*WORKER, f"--concurrency={_processes()}"]))
        web = self.running[0]
        while not self.stopping and not self.address.answers():
            if web.ended() is not None:
                raise StartError("the web server ended while starting; its message is above")
            time.sleep(POLL_S)
        if not self.stopping:
            print(f"\nPhaseplan is ready: {self.address.url}   (Ctrl-C stops it)\n", flush=True)

    def _prepare(self) -> None:
        step = self._child("preparation", ["planner.launcher.prepare"])
        self._add(step)
        while not self.stopping and step.ended() is None:
            time.sleep(POLL_S / 5)
        if self.stopping:
            return
        if step.ended():
            raise StartError("preparing the data failed; the message is above")
        self.running.remove(step)

    def _watch(self) -> None:
        web, worker = self.running
        while not self.stopping:
            if web.ended() is not None:
                raise StartError(f"the web server ended ({web.ended()})")
            if worker.ended() is not None and worker.restart_when_due():
                self._say_who_runs()
            time.sleep(POLL_S)

    def _add(self, child: Child) -> None:
        child.start()
        self.running.append(child)
        self._say_who_runs()

    def _child(self, name: str, arguments: list[str]) -> Child:
        return Child(name, arguments, environment_of(self.address, self.var), [self.children_lock.handle])


def environment_of(address: Address, var: Path) -> dict[str, str]:
    """What the children know: whose folder it is, and whether it is one person's, who does not sign in."""
    return {
        **os.environ,
        "PHASEPLAN_VAR": str(var),
        "PHASEPLAN_LOCAL": "0" if envbool("PHASEPLAN_SIGN_IN", False) else "1",
        "PHASEPLAN_HOSTS": ",".join([*envlist("PHASEPLAN_HOSTS"), address.host_name]),
        "PHASEPLAN_SITE": envstr("PHASEPLAN_SITE", address.url),
        "PYTHONUNBUFFERED": "1",
    }


def refuse_single_user(address: Address) -> None:
    """AddressError where other machines reach the address and nobody would be asked to sign in."""
    if not address.is_loopback and not envbool("PHASEPLAN_SIGN_IN", False):
        raise AddressError(
            f"PHASEPLAN_BIND={address.host}: other machines reach this address, and a single user is not asked to sign"
            " in; expected a loopback address such as 127.0.0.1, or PHASEPLAN_SIGN_IN=true: everybody signs in"
        )


WEB = [
    *(
        "gunicorn",
        "planner.wsgi",
        "--worker-class",
        "gthread",
        "--threads",
        "8",
        "--no-control-socket",
        "--limit-request-line",
        "8190",
    ),
    *("--log-level", "warning", "--graceful-timeout", "5"),
]
WORKER = [
    *("celery", "--quiet", "-A", "planner", "worker", "--pool", "prefork", "--loglevel", "WARNING"),
    *("--without-gossip", "--without-mingle", "--without-heartbeat"),
]


def _processes() -> int:
    return envint("PHASEPLAN_PROCESSES", len(os.sched_getaffinity(0)) if sys.platform == "linux" else 2, minimum=1)


def _described(holder: str) -> str:
    try:
        facts = json.loads(holder)
    except ValueError:
        return "another process"
    return f"{facts['url']} (process {facts['pid']})"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m planner.launcher", description=__doc__)
    parser.add_argument("--port", default=envstr("PORT", "8000"))
    parser.add_argument("--stop-with-parent", action="store_true", help="stop when the process that started this ends")
    parser.add_argument("--this-python", action="store_true", help=argparse.SUPPRESS)  # for bootstrap.py
    options = parser.parse_args()
    if options.stop_with_parent:
        signal_on_parent_death(signal.SIGTERM, os.getppid())()
    try:
        return _launch(options.port)
    except (StartError, AddressError, EnvError) as error:
        print(f"phaseplan: {error}", file=sys.stderr)
        return 1


def _launch(port: str) -> int:
    os.chdir(ROOT)
    var = Path(envstr("PHASEPLAN_VAR", "var")).resolve()
    var.mkdir(parents=True, exist_ok=True)
    address = Address.parse(envstr("PHASEPLAN_BIND", "127.0.0.1"), port)
    refuse_single_user(address)
    launcher = Launcher(address, var)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, launcher.stop)
    return launcher.run()


if __name__ == "__main__":
    sys.exit(main())
