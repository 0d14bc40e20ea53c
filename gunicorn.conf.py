"""gunicorn reads this by its name, however it is started: each worker process loads its pages before anyone asks."""

from typing import Any


def post_worker_init(worker: Any) -> None:
    from planner import warm

    warm.start()
