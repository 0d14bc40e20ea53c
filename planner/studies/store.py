"""The store of simulated results: shared by all studies and users, each entry under the hash of what determines it.

An entry may be lost: an evicted one is simulated again where it is wanted, and so is one whose checksum does not hold.
What a study was told stays with it (StudyDesign.result).
"""

import logging
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, TypeVar

from django.conf import settings
from django.db.models import F, Min, Sum
from django.utils import timezone

from planner.studies.leases import State
from planner.studies.models import Evaluation, Study
from planner.studies.packed import DamagedError, pack, unpack
from simcore.evaluation import Evaluation as Capacity
from simcore.evaluation import RateRun, Trial
from simcore.search.parts import Outcome

logger = logging.getLogger(__name__)

ROW_BYTES = 400
"""What an entry takes beside its payload: key, checksum, indexes."""
KEPT_SHARE = 0.9
"""Of the limit: eviction makes some room at once."""
USED_AGAIN_S = 60
"""Use is noted no more often than this."""
MOST_KEYS = 500
KINDS: dict[str, type[Any]] = {
    Evaluation.Kind.CAPACITY: Capacity,
    Evaluation.Kind.RATE: RateRun,
    Evaluation.Kind.TRIAL: Trial,
}
T = TypeVar("T")


@dataclass(frozen=True)
class Entry:
    """A result to be kept, under its key."""

    key: str
    value: Outcome
    engine_version: str

    @property
    def kind(self) -> str:
        return next(kind for kind, type_ in KINDS.items() if isinstance(self.value, type_))


def look_up(keys: Collection[str], study: Study) -> dict[str, Outcome]:
    """Key → result, of those that are stored and whole. Damaged ones are thrown away, logged and counted on the study:
    it computes them again."""
    rows = [row for some in _batches(keys) for row in Evaluation.objects.filter(key__in=some)]
    found: dict[str, Outcome] = {}
    for row in rows:
        try:
            found[row.key] = unpack(KINDS[row.kind], row.payload, row.checksum)
        except (DamagedError, KeyError) as error:
            _throw_away(row, study, error)
    _note_use(list(found))
    return found


def keep(entries: Iterable[Entry]) -> None:
    """Stores results. One that another worker has stored meanwhile stays: it is the same."""
    Evaluation.objects.bulk_create([_row(entry) for entry in entries], ignore_conflicts=True)


def evict() -> int:
    """Removes the entries used longest ago once the store is larger than its limit, and says how many. What was used
    since the oldest unfinished study was asked stays."""
    total = Evaluation.objects.aggregate(bytes=Sum("size_bytes"))["bytes"] or 0
    if total <= settings.EVALUATIONS_MAX_BYTES:
        return 0
    oldest = Study.unscoped.filter(state__in=[State.QUEUED, State.RUNNING]).aggregate(at=Min("created_at"))["at"]
    rows = Evaluation.objects.filter(used_at__lt=oldest or timezone.now())
    gone = []
    for pk, size_bytes in rows.order_by("used_at").values_list("pk", "size_bytes").iterator():
        if total <= settings.EVALUATIONS_MAX_BYTES * KEPT_SHARE:
            break
        total -= size_bytes
        gone.append(pk)
    for some in _batches(gone):
        Evaluation.objects.filter(pk__in=some).delete()
    logger.info("%d evaluations evicted, %d bytes are left", len(gone), total)
    return len(gone)


def _throw_away(row: Evaluation, study: Study, error: Exception) -> None:
    logger.error("evaluation %s is damaged: %s; it will be computed again", row.key, error)
    deleted, _ = Evaluation.objects.filter(pk=row.pk, checksum=row.checksum).delete()
    if deleted:  # whoever comes first counts it
        Study.unscoped.filter(pk=study.pk).update(damaged=F("damaged") + 1)


def _note_use(keys: list[str]) -> None:
    now = timezone.now()
    before = now - timedelta(seconds=USED_AGAIN_S)
    for some in _batches(keys):
        Evaluation.objects.filter(key__in=some, used_at__lt=before).update(used_at=now)


def _row(entry: Entry) -> Evaluation:
    packed = pack(replace(entry.value, cpu_s=0.0))  # equal results are equal bytes
    return Evaluation(
        key=entry.key,
        kind=entry.kind,
        payload=packed.data,
        checksum=packed.checksum,
        size_bytes=len(packed.data) + ROW_BYTES,
        engine_version=entry.engine_version,
        cpu_s=entry.value.cpu_s,
    )


def _batches(items: Collection[T]) -> Iterator[list[T]]:
    """Parts that fit into one query."""
    every = list(items)
    return (every[start : start + MOST_KEYS] for start in range(0, len(every), MOST_KEYS))
