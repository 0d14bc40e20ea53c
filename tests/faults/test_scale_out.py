"""One, two and four workers on Redis and PostgreSQL give the same study, bit for bit; other prices, all at once."""

import contextlib
from pathlib import Path

import psycopg

from tests.faults.served import Rows, run, served
from tests.services import running_worker, until

STUDY_S = 300
WORKERS = (1, 2, 4)
MOST_AT_ONCE = 2
"""Shards that are seen at work together: the question's waves are small."""
FIRST_DATABASE = 2


def results_of(workers: int, servers: dict[str, str], folder: Path) -> dict[str, str]:
    """Design → checksum of its result, in the study's order, once so many workers have ended it."""
    with contextlib.ExitStack() as running:
        logs = [folder / f"{workers}-{number}.log" for number in range(workers)]
        for log in logs:
            running.enter_context(running_worker(log, **servers))
        run(servers, "-m", "tests.faults.small_study", "list")
        rows = Rows(running.enter_context(psycopg.connect(servers["DATABASE_URL"], autocommit=True)))
        until(lambda: rows.count("shard", "state = 'running'") >= min(workers, MOST_AT_ONCE), said=logs[0].read_text)
        until(lambda: rows.count("study", "state = 'done'") == 1, said=logs[0].read_text, wait_s=STUDY_S)
        due = rows.kinds_due()
        assert rows.count("evaluation", "kind = 'capacity'") == due["capacity"] > 0
        assert rows.count("evaluation", "kind = 'trial'") >= due["trial"], "those that held were searched as well"
        assert rows.count("shard", "attempt <> 1") == 0
        found = rows.results()
        assert at_other_prices(servers, rows) == found
        return found


def at_other_prices(servers: dict[str, str], rows: Rows) -> dict[str, str]:
    """What the same question by another price book has when the request that asks it ends; no worker was asked."""
    waves = rows.count("wave")
    study = run(servers, "-m", "tests.faults.small_study", "splitwise-2023")
    assert rows.count("study", f"id = {study} AND state = 'done'") == 1
    assert rows.count("wave") == waves
    assert rows.count("studydesign", f"study_id = {study} AND origin IN ('known', 'screened')") == len(
        rows.results(study)
    )
    return rows.results(study)


def test_the_same_bits_whatever_the_workers(redis_url: str, postgresql_url: str, tmp_path: Path) -> None:
    found = [
        results_of(workers, served(redis_url, postgresql_url, tmp_path, number), tmp_path)
        for number, workers in enumerate(WORKERS, FIRST_DATABASE)
    ]
    assert len(found[0]) > 20
    assert list(found[0].items()) == list(found[1].items()) == list(found[2].items())
