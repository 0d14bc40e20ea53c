"""The same rows and messages on Redis and PostgreSQL as in the embedded mode."""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path

from tests.services import ROOT, clean_environment, running_planner, running_worker, until


def health(url: str) -> dict:
    with urllib.request.urlopen(f"{url}healthz", timeout=5) as answer:
        return json.load(answer)


def test_the_planner_runs_on_redis_and_postgresql(redis_url: str, postgresql_url: str, tmp_path: Path) -> None:
    servers = {"REDIS_URL": redis_url, "DATABASE_URL": postgresql_url}
    with running_planner(tmp_path, **servers) as planner:
        until(lambda: health(planner.url)["worker"]["alive"], said=lambda: planner.output)
        assert health(planner.url)["database"] == {"reachable": True, "vendor": "postgresql"}
        assert not (planner.var / "phaseplan.sqlite3").exists()
        log = tmp_path / "second-worker.log"
        with running_worker(log, PHASEPLAN_VAR=str(planner.var), **servers):
            workers = ask(
                "from planner.studies.workers import Worker; print(Worker.objects.count())", servers, planner.var
            )
        assert workers == "2"


def ask(program: str, servers: dict[str, str], var: Path) -> str:
    environment = {**clean_environment(), **servers, "PHASEPLAN_VAR": str(var)}
    command = [sys.executable, "manage.py", "shell", "--no-imports", "-c", program]
    return subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True).stdout.strip()
