"""The web application in this process, with a data folder of its own: SQLite, no broker, no worker but this process."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def application() -> Iterator[None]:
    """Django set up on an empty folder, with the catalogue, the static files and a worker's row in it."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(PHASEPLAN_VAR=folder, PHASEPLAN_LOCAL="1", DJANGO_SETTINGS_MODULE="planner.settings")
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", interactive=False, verbosity=0)
        call_command("load_catalogue", stdout=io.StringIO())
        call_command("collectstatic", interactive=False, verbosity=0)
        _send_nothing()
        yield
        _close()


def answered(inputs: dict[str, Any]) -> Any:
    """The study of a new question, worked on by this process to its end."""
    from planner.accounts.teams import local_user
    from planner.scenarios.services import create_scenario
    from planner.studies.services import start_study

    user = local_user()
    study = start_study(user, create_scenario(user, inputs))
    work()
    study.refresh_from_db()
    return study


def work() -> None:
    """Does what is queued, as a worker would, until nothing is."""
    from planner.studies import tasks, turns

    while (row := turns.next_row(0)) is not None:
        tasks.work_on(row)


def worker_is_alive() -> None:
    """What a worker says of itself every few seconds."""
    from planner import worker
    from simcore.engine.version import engine_version

    worker.seen(engine_version=engine_version())


def _send_nothing() -> None:
    from planner.studies import queue

    queue.send_id = lambda model, row_id: None  # the rows say what is to be done


def _close() -> None:
    from django.db import connections

    connections.close_all()
