"""The lease: how one worker, and only one, works on a row that any number of workers may be told about."""

import logging
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar

from django.db import DatabaseError, connection, models, transaction
from django.db.models import Case, F, Q, Value, When
from django.db.models.functions import Concat
from django.utils import timezone

logger = logging.getLogger(__name__)

HEARTBEAT_S = 5
LEASE_S = 30
MAX_ATTEMPTS = 3


class State(models.TextChoices):
    QUEUED = "queued", "Queued"
    RUNNING = "running", "Running"
    DONE = "done", "Done"
    FAILED = "failed", "Failed"
    CANCELLED = "cancelled", "Cancelled"


class LeasedRow(models.Model):
    """A row that is the truth about one Celery task; the message is its id and may be lost or doubled.

        created ──► queued ──claim──► running ──finish──► done
                    ▲    │            │  │  └────fail───► failed
                    │    └─cancel─┐   │  └─cancel───┐        ▲
                    │             ▼   │             ▼        │
                    │          cancelled        cancelled    │
                    └─── requeue: heartbeat expired ┘ (from running; after 3 attempts) ┘

    Who moves it:
      claim             a worker's task: from queued, or from running when the heartbeat has expired; a new claim id
      beat              a thread beside the task, every 5 s
      finish, fail      the task that holds the claim id; another's write changes nothing and returns False
      cancel            the web process: it takes the claim away, so the task's next beat or write fails and it stops
      requeue           a reaper (a thread in each worker) when a heartbeat is 30 s old; the start of the embedded mode,
                        for every running row, once no old worker is alive
      queued → queued   a reaper sends the message again when the broker has lost it
    """

    task_name: ClassVar[str]  # the Celery task that takes the row's id
    study_path: ClassVar[str]  # from the row to the study that wants it (see turns)
    turn_order: ClassVar[tuple[str, ...]]  # which of a study's queued rows of this model comes first
    turn_place: ClassVar[int]  # whether those come before the study's rows of other models: lowest first

    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED, db_index=True)
    claim_id = models.UUIDField(null=True, editable=False)
    heartbeat_at = models.DateTimeField(null=True, editable=False)
    attempt = models.PositiveSmallIntegerField(default=0, editable=False)
    queued_at = models.DateTimeField(default=timezone.now, editable=False)
    sent_at = models.DateTimeField(default=timezone.now, editable=False)
    started_at = models.DateTimeField(null=True, editable=False)
    finished_at = models.DateTimeField(null=True, editable=False)
    error = models.TextField(blank=True, editable=False)

    class Meta:
        abstract = True

    @property
    def is_active(self) -> bool:
        return self.state in {State.QUEUED, State.RUNNING}

    @classmethod
    def after_reaping(cls) -> None:
        """What follows once a reaper has failed rows that ran out of attempts."""


class LostClaimError(RuntimeError):
    """The row was cancelled or taken over: whoever sees this stops and writes nothing more."""


@dataclass(frozen=True)
class Claim:
    """One worker's right to write about one row."""

    model: type[LeasedRow]
    row_id: Any
    claim_id: uuid.UUID
    attempt: int

    @property
    def name(self) -> str:
        return f"{self.model.__name__} {self.row_id}"

    def beat(self) -> bool:
        """Says that the work goes on; False when the claim is lost."""
        return self.update(heartbeat_at=timezone.now())

    def update(self, **fields: Any) -> bool:
        """Writes the row's fields if the claim still holds, and says whether it did."""
        return self._rows().update(**fields) == 1

    def finish(self, **fields: Any) -> bool:
        return self._end(State.DONE, error="", **fields)

    def fail(self, error: str, **fields: Any) -> bool:
        return self._end(State.FAILED, error=error, **fields)

    def leave(self, reason: str) -> None:
        """Notes why the work stops here, for when its attempts are used up; as far as that can be written."""
        try:
            self.update(error=reason)
        except DatabaseError:
            logger.warning("no reason could be noted for %s", self.name, exc_info=True)
            connection.close()

    def give_back(self) -> bool:
        """Queues the row again at once, for a task that is told to stop; its attempt does not count."""
        return self.update(**_queued(), attempt=F("attempt") - 1)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A transaction for other rows that holds only while the claim does; raises LostClaimError otherwise."""
        with transaction.atomic():
            if not self.beat():
                raise LostClaimError(f"{self.name}: taken over or cancelled")
            yield

    def _end(self, state: State, **fields: Any) -> bool:
        return self.update(state=state, claim_id=None, finished_at=timezone.now(), **fields)

    def _rows(self) -> models.QuerySet[Any]:
        return rows_of(self.model).filter(pk=self.row_id, state=State.RUNNING, claim_id=self.claim_id)


def claim(model: type[LeasedRow], row_id: Any) -> Claim | None:
    """Takes the row by one conditional UPDATE; None when it is another's, ended, or out of attempts."""
    now, claim_id = timezone.now(), uuid.uuid4()
    free = Q(state=State.QUEUED) | expired(now)
    taken = rows_of(model).filter(free, pk=row_id, attempt__lt=MAX_ATTEMPTS)
    if not taken.update(
        state=State.RUNNING,
        claim_id=claim_id,
        heartbeat_at=now,
        started_at=now,
        attempt=F("attempt") + 1,
        error="",
    ):
        return None
    attempt = rows_of(model).filter(pk=row_id).values_list("attempt", flat=True).get()
    return Claim(model, row_id, claim_id, attempt)


def cancel(rows: models.QuerySet[Any]) -> int:
    """Cancels those of the rows that are queued or running, and says how many were."""
    active = rows.filter(state__in=[State.QUEUED, State.RUNNING])
    return active.update(state=State.CANCELLED, claim_id=None, finished_at=timezone.now())


def requeue(row: LeasedRow) -> None:
    """Queues a row that has ended, its attempts forgotten."""
    fresh = {"attempt": 0, "finished_at": None, "error": ""}
    rows_of(type(row)).filter(pk=row.pk).update(**_queued(), **fresh)


def requeue_expired(model: type[LeasedRow]) -> list[Any]:
    """Queues rows whose worker is gone; after MAX_ATTEMPTS fails them. Returns the queued ids."""
    gone = rows_of(model).filter(expired(timezone.now()))
    _fail_spent(gone)
    return [pk for pk in gone.values_list("pk", flat=True) if gone.filter(pk=pk).update(**_queued())]


def requeue_running(model: type[LeasedRow], *, forget_attempts: bool) -> int:
    """Queues every running row. Only for when no other worker can be alive: the embedded mode's start."""
    running = rows_of(model).filter(state=State.RUNNING)
    if forget_attempts:
        return running.update(**_queued(), attempt=0)
    _fail_spent(running)
    return running.update(**_queued())


def _fail_spent(orphans: models.QuerySet[Any]) -> None:
    """Says what the last attempt has left as its error; where it left nothing, what mostly ends a worker."""
    stopped = f"The worker stopped in the middle of this {MAX_ATTEMPTS} times"
    text, usual = models.TextField(), "too little memory is the usual cause."
    why = Case(When(error="", then=Value(usual)), default=F("error"), output_field=text)
    orphans.filter(attempt__gte=MAX_ATTEMPTS).update(
        state=State.FAILED,
        claim_id=None,
        finished_at=timezone.now(),
        error=Concat(Value(f"{stopped}: "), why, output_field=text),
    )


def expired(now: Any) -> Q:
    return Q(state=State.RUNNING, heartbeat_at__lt=now - timedelta(seconds=LEASE_S))


def rows_of(model: type[LeasedRow]) -> models.QuerySet[Any]:
    """Every team's rows: leases are moved for no particular user."""
    return model._base_manager.all()


def _queued() -> dict[str, Any]:
    now = timezone.now()
    return {"state": State.QUEUED, "claim_id": None, "heartbeat_at": None, "queued_at": now, "sent_at": now}


class Heartbeat:
    """Beats for a claim from a thread of its own while the block runs; `lost` is set once the claim is."""

    def __init__(self, held: Claim) -> None:
        self.claim = held
        self.lost = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def __enter__(self) -> "Heartbeat":
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._stop.set()
        self._thread.join()

    def check(self) -> None:
        """For the task's loop: raises LostClaimError once the row was cancelled or taken over."""
        if self.lost.is_set():
            raise LostClaimError(f"{self.claim.name}: taken over or cancelled")

    def _run(self) -> None:
        try:
            while not self._stop.wait(HEARTBEAT_S) and not self.lost.is_set():
                self._beat()
        finally:
            connection.close()

    def _beat(self) -> None:
        try:
            if not self.claim.beat():
                self.lost.set()
        except DatabaseError:  # the next beat may do; the lease is six beats long
            logger.warning("no heartbeat for %s", self.claim.name, exc_info=True)
            connection.close()
