"""The broker's side of messages. It brings Celery in: imported where something is sent, not where a page is shown."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kombu.exceptions import OperationalError

from planner.celery import app

UNREACHABLE = (OperationalError, OSError)


def send(task_name: str, row_id: Any) -> None:
    """One row's id; one of ``UNREACHABLE`` where the broker is down."""
    app.send_task(task_name, args=[str(row_id)])


def depth() -> int:
    """How many messages wait."""
    with _channel() as channel:
        return int(channel.queue_declare(queue=app.conf.task_default_queue, durable=True).message_count)


def purge() -> int:
    """Throws all messages away, torn ones too."""
    with _channel() as channel:
        channel.queue_declare(queue=app.conf.task_default_queue, durable=True)
        return int(channel.queue_purge(queue=app.conf.task_default_queue) or 0)


@contextmanager
def _channel() -> Iterator[Any]:
    with app.connection_for_write() as connection, connection.channel() as channel:
        yield channel
