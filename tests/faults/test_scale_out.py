"""One, two and four workers on Redis and PostgreSQL give the same study, bit for bit."""

import contextlib
from pathlib import Path

import psycopg

from tests.faults.served import Rows, run, served
from tests.services import running_worker, until

STUDY_S = 300
WORKERS = (1, 2, 4)
FIRST_DATABASE = 2


def results_of(workers: int, servers: dict[str, str], folder: Path) -> dict[str, str]:
    """Design → checksum of its result, once so many workers have ended the study; each had a part in it."""
    with contextlib.ExitStack() as running:
        logs = [folder / f"{workers}-{number}.log" for number in range(workers)]
        for log in logs:
            running.enter_context(running_worker(log, **servers))
        run(servers, "-m", "tests.faults.small_study")
        rows = Rows(running.enter_context(psycopg.connect(servers["DATABASE_URL"], autocommit=True)))
        until(lambda: rows.count("study", "state = 'done'") == 1, said=logs[0].read_text, wait_s=STUDY_S)
        due = rows.kinds_due()
        assert rows.count("evaluation", "kind = 'capacity'") == due["capacity"] > 0
        assert rows.count("evaluation", "kind = 'trial'") >= due["trial"], "those that held were searched as well"
        assert rows.count("shard", "attempt <> 1") == 0
        return rows.results()


def test_the_same_bits_whatever_the_workers(redis_url: str, postgresql_url: str, tmp_path: Path) -> None:
    found = [
        results_of(workers, served(redis_url, postgresql_url, tmp_path, number), tmp_path)
        for number, workers in enumerate(WORKERS, FIRST_DATABASE)
    ]
    assert len(found[0]) > 20
    assert found[0] == found[1] == found[2]
