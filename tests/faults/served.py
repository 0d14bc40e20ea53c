"""A database and a queue of one's own on the test run's servers, and what anybody sees in them."""

import subprocess
import sys
from pathlib import Path

import psycopg
from psycopg.rows import tuple_row

from planner.studies.packed import unpack
from simcore.evaluation import Evaluation
from tests.services import ROOT, clean_environment, share_engine_cache


def served(redis_url: str, postgresql_url: str, folder: Path, number: int) -> dict[str, str]:
    """A fresh database with the catalogue in it; what a program needs to use it. ``number``: of the Redis database."""
    name = f"study_{number}"
    with psycopg.connect(postgresql_url, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}")
    var = folder / f"var-{number}"
    share_engine_cache(var)
    environment = {
        "REDIS_URL": f"{redis_url.rpartition('/')[0]}/{number}",
        "DATABASE_URL": f"{postgresql_url.rpartition('/')[0]}/{name}",
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

    def results(self, study: str = "1") -> dict[str, str]:
        """Design → checksum of its result, of those of a study written so far, in the study's order."""
        query = (
            "SELECT design_id, result_checksum FROM studies_studydesign WHERE result IS NOT NULL AND study_id = %s"
            ' ORDER BY "order"'
        )
        return dict(self.connection.execute(query, [study]).fetchall())

    def kinds_due(self) -> dict[str, int]:
        """Of each kind, evaluations that must be there once: a capacity of each evaluated design, a trial of each that
        was beaten by one run."""
        query = (
            "SELECT result, result_checksum FROM studies_studydesign WHERE result IS NOT NULL AND origin <> 'screened'"
            " AND study_id = 1"
        )
        found: list[tuple[bytes, str]] = self.connection.cursor(row_factory=tuple_row).execute(query).fetchall()
        results = [unpack(Evaluation, data, checksum) for data, checksum in found]
        evaluated = sum(result.status == "evaluated" for result in results)
        return {"capacity": evaluated, "trial": len(results) - evaluated}

    def both_busy(self) -> bool:
        return self.count("shard", "state = 'running'") == 2
