"""What starting costs: CPU time of whole processes, children included."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import BEST_OF, report

ROOT = Path(__file__).resolve().parents[1]
SERVING = """
from planner.wsgi import application
from django.urls import get_resolver
get_resolver().url_patterns
"""
"""The web server's process when it answers /healthz: settings, models, middleware, root addresses."""
EVERY_VIEW = f"""{SERVING}
from planner.lazy import lazy_views
[lazy.view for lazy in lazy_views(get_resolver())]
"""
"""The same with every app's views: once a page of each has been shown, or the process has warmed up."""
STARTS = {
    "python": ["-c", ""],
    "python -m simcore --help": ["-m", "simcore", "--help"],
    "Django ready to serve": ["-W", "ignore", "-c", SERVING],
    "Django with every view": ["-W", "ignore", "-c", EVERY_VIEW],
    "manage.py check": ["manage.py", "check"],
}
ENGINE = ["-c", "from simcore.engine.fast.warm import warm_up; warm_up()"]


def main(cold: bool = True) -> None:
    """Print a line a program; of the engine, with an empty cache (once: it takes long) and with a filled one."""
    with tempfile.TemporaryDirectory() as folder:
        for name, command in STARTS.items():
            report("start", case=name, cpu_s=min(cpu_s(command, kept(folder)) for _ in range(BEST_OF)))
        if cold:
            report("engine ready", cache="cold", cpu_s=cpu_s(ENGINE, kept(folder)))
            report("engine ready", cache="filled", cpu_s=min_of_filled(kept(folder)))
        else:
            report("engine ready", cache="filled", cpu_s=min_of_filled({}))


def kept(folder: str) -> dict[str, str]:
    """Data and bytecode in a folder of this run's own."""
    return {
        "PHASEPLAN_VAR": folder,
        "PYTHONPYCACHEPREFIX": f"{folder}/bytecode",
        "DJANGO_SETTINGS_MODULE": "planner.settings",
    }


def min_of_filled(variables: dict[str, str]) -> float:
    """With the cache as the last process left it."""
    return min(cpu_s(ENGINE, variables) for _ in range(BEST_OF))


def cpu_s(arguments: list[str], variables: dict[str, str]) -> float:
    """CPU time of a Python program and its children, from its first to its last; bytecode is kept, as it is where
    nothing forbids it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | variables
    subprocess.run([sys.executable, *arguments], env=environment, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
