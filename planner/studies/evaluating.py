"""A shard's designs, simulated one after another. What the store has of them is taken from it."""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from celery.exceptions import SoftTimeLimitExceeded
from django.utils import timezone

from planner.studies import planning, store, stored
from planner.studies.contexts import context_of
from planner.studies.leases import MAX_ATTEMPTS, Claim, LostClaimError
from planner.studies.models import Study, StudyDesign
from planner.studies.packed import pack
from planner.studies.planning import Keys, stored_parts
from planner.studies.store import Entry
from planner.studies.under_lease import reason_of
from simcore.evaluate import simulated
from simcore.evaluation import Design, Evaluation, RateRun
from simcore.search.parts import Outcome, next_part, told
from simcore.study import Context

logger = logging.getLogger(__name__)

WRITE_EVERY_S = 0.25
"""Results are written together where designs take less than this: a killed worker loses no more."""
WRITTEN = ("result", "result_checksum", "origin", "failure")
TOO_LONG = "It took longer to simulate than a task may take."
Origin = StudyDesign.Origin


def evaluate_shard(held: Claim, study: Study, engine_version: str, check: Callable[[], None]) -> bool:
    """Evaluates what the shard has not tried; ``check`` is called before each design, and may raise to stop it. False
    where the task's time has run out before the end."""
    # Where a design has killed two workers, the last one tries the others first.
    order = "-order" if held.attempt == MAX_ATTEMPTS else "order"
    rows = list(StudyDesign.objects.filter(shard_id=held.row_id, origin=Origin.UNTRIED, failure="").order_by(order))
    shard = _Shard.of(rows, context_of(study), engine_version, study)
    results = Results(held)
    for row in rows:
        check()
        try:
            shard.evaluate(row, results)
            results.write_if_due()
        except SoftTimeLimitExceeded:
            if row.origin == Origin.UNTRIED:
                results.fail(row, TOO_LONG)
            results.write()
            return False
    results.write()
    return True


class Results:
    """What a shard has found and not written yet."""

    def __init__(self, held: Claim) -> None:
        self._held = held
        self._rows: list[StudyDesign] = []
        self._entries: list[Entry] = []
        self._written_at = time.monotonic()

    def add(self, row: StudyDesign, evaluation: Evaluation, origin: StudyDesign.Origin, entries: list[Entry]) -> None:
        packed = pack(replace(evaluation, cpu_s=0.0))  # equal results are equal bytes
        row.result, row.result_checksum, row.origin = packed.data, packed.checksum, origin
        self._rows.append(row)
        self._entries += entries

    def fail(self, row: StudyDesign, reason: str) -> None:
        row.failure = reason or "It failed without saying why."
        self._rows.append(row)

    def write(self) -> None:
        """One transaction. LostClaimError where the shard is another's by now: what was found stays in the store."""
        rows, entries = self._rows, self._entries
        self._rows, self._entries, self._written_at = [], [], time.monotonic()
        if not rows:
            return
        try:
            with self._held.writing():
                store.keep(entries)
                for row in rows:  # a third of what bulk_update takes for a few
                    StudyDesign.objects.filter(pk=row.pk).update(**{name: getattr(row, name) for name in WRITTEN})
        except LostClaimError:
            store.keep(entries)
            raise
        # After the transaction: who cancels locks the study first, then its shards.
        Study.unscoped.filter(pk=rows[0].study_id).update(updated_at=timezone.now())

    def write_if_due(self) -> None:
        if time.monotonic() - self._written_at >= WRITE_EVERY_S:
            self.write()


@dataclass(frozen=True)
class _Shard:
    """The designs of a shard, and what the store has of them."""

    context: Context
    engine_version: str
    designs: Mapping[int, Design]
    """By the row's id, as ``keys``."""
    keys: Mapping[int, Keys]
    found: dict[str, Outcome]

    @classmethod
    def of(cls, rows: list[StudyDesign], context: Context, engine_version: str, study: Study) -> "_Shard":
        designs = {row.pk: stored.design_of(row) for row in rows}
        keys = {pk: planning.keys_of(design, context, engine_version) for pk, design in designs.items()}
        found = store.look_up([key for one in keys.values() for key in one.values()], study)
        return cls(context, engine_version, designs, keys, found)

    def evaluate(self, row: StudyDesign, results: Results) -> None:
        try:
            evaluation, entries = self._simulated(self.designs[row.pk], self.keys[row.pk])
        except SoftTimeLimitExceeded:
            raise
        except Exception as error:  # one design's trouble is not the study's
            logger.exception("design %s cannot be evaluated", row.design_id)
            results.fail(row, reason_of(error))
        else:
            results.add(row, evaluation, _origin(entries), entries)

    def _simulated(self, design: Design, keys: Keys) -> tuple[Evaluation, list[Entry]]:
        """The design's evaluation, and the parts of it that the store lacked, simulated one after the other."""
        has, entries = stored_parts(keys, self.found), []
        while (part := next_part(design, self.context, has)) is not None:
            outcome = simulated(part, design, self.context)
            has[part] = self.found[keys[part]] = outcome  # what is left of one design may be another of the shard
            entries.append(Entry(keys[part], outcome, self.engine_version))
        return told(design, self.context, has), entries


def _origin(entries: list[Entry]) -> StudyDesign.Origin:
    if not entries:
        return Origin.KNOWN
    return Origin.AT_RATE if all(isinstance(entry.value, RateRun) for entry in entries) else Origin.SIMULATED
