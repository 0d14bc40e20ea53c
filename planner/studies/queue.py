"""Messages: one row's id, sent once the row is committed, and again if the broker lost it."""

import logging
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.apps import apps
from django.db import transaction
from django.utils import timezone

from planner.studies.leases import LeasedRow, State, requeue_expired, rows_of

logger = logging.getLogger(__name__)

RESEND_S = 20


def send(row: LeasedRow) -> None:
    """Tells the workers of a row, after the transaction that saves it."""
    transaction.on_commit(lambda: send_id(type(row), row.pk))


def send_id(model: type[LeasedRow], row_id: Any) -> None:
    """Sends a row's id now. A broker that is down costs a delay, not the row: the reaper sends again."""
    from planner.studies import broker

    rows_of(model).filter(pk=row_id).update(sent_at=timezone.now())
    try:
        broker.send(model.task_name, row_id)
    except broker.UNREACHABLE:
        logger.warning("broker not reachable; %s %s waits", model.__name__, row_id, exc_info=True)


def leased_models() -> Iterator[type[LeasedRow]]:
    return (model for model in apps.get_models() if issubclass(model, LeasedRow))


def depth() -> int:
    """How many messages wait at the broker."""
    from planner.studies import broker

    return broker.depth()


def purge() -> int:
    """Throws all messages away: the rows know what is to be done."""
    from planner.studies import broker

    return broker.purge()


def reap() -> None:
    """Queues what a dead worker held, and sends again what the broker has lost."""
    for model in leased_models():
        for row_id in requeue_expired(model):
            send_id(model, row_id)
        model.after_reaping()
    if depth() == 0:
        resend(older_than_s=RESEND_S)


def resend(older_than_s: float) -> None:
    """Sends the id of every queued row whose last message is older than that."""
    before = timezone.now() - timedelta(seconds=older_than_s)
    for model in leased_models():
        lost = rows_of(model).filter(state=State.QUEUED, sent_at__lte=before)
        for row_id in lost.order_by("sent_at").values_list("pk", flat=True):
            send_id(model, row_id)
