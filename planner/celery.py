"""The Celery app. A message is one row's id; what it means is in the row (see studies/leases.py)."""

import os
import warnings
from typing import Any

from celery import Celery
from celery.exceptions import SecurityWarning
from celery.signals import celeryd_init, worker_init, worker_process_init, worker_ready, worker_shutdown

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "planner.settings")
app = Celery("planner")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@celeryd_init.connect
def _quiet(**_: Any) -> None:
    # It warns that root unpickles messages; ours are JSON, and the worker may well be root in a container.
    warnings.filterwarnings("ignore", category=SecurityWarning)


@worker_init.connect
def _before_fork(**_: Any) -> None:
    from planner import worker

    worker.before_fork()


@worker_process_init.connect
def _in_child(**_: Any) -> None:
    from planner import worker

    worker.in_child(os.getppid())


@worker_ready.connect
def _watch(**_: Any) -> None:
    from planner import worker

    watch = worker.Watch()
    watch.start()
    worker_shutdown.connect(lambda **_: watch.stop(), weak=False)
