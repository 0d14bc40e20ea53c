"""Simulates for an analysis in a worker: what the store has is taken from it, what is found is kept there."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.db.models import F
from django.db.models.functions import Greatest

from planner.studies import store
from planner.studies.leases import Claim
from planner.studies.models import Study
from planner.studies.store import Entry
from simcore.analyses.kind import Json, Run
from simcore.engine.version import engine_version
from simcore.evaluation import Evaluation
from simcore.keys import capacity_key
from simcore.lab import EngineLab
from simcore.spec import Case
from simcore.traces import Trace
from simcore.traces.stretch import stretched

SAY_EVERY_S = 1.0


@dataclass
class Progress:
    """Steps done, and when that was last said."""

    done: int = 0
    said_at: float = 0.0


class StoredLab(EngineLab):
    """With the store of studies behind it: an analysis that is tried again goes on where it stopped."""

    def __init__(self, trace: Trace, study: Study, held: Claim, check: Callable[[], None]) -> None:
        super().__init__(trace, check)
        self._study, self._held = study, held
        self._trace_hash = trace.content_hash()
        self._progress = Progress()

    def with_lengths(self, prompts: float, outputs: float) -> "StoredLab":
        """It goes on counting the same steps."""
        other = StoredLab(stretched(self.trace, prompts, outputs), self._study, self._held, self.check)
        other._progress = self._progress
        return other

    def holds(self, case: Case, rate_req_per_s: float) -> bool:
        found = super().holds(case, rate_req_per_s)
        self._step()
        return found

    def capacity(self, case: Case) -> Evaluation:
        key = capacity_key(case, self._trace_hash, case.seed, engine_version())
        found = store.look_up([key], self._study).get(key)
        if not isinstance(found, Evaluation):
            found = super().capacity(case)
            store.keep([Entry(key, found, engine_version())])
        self._step()
        return found

    def run(self, case: Case, rate_req_per_s: float) -> Run:
        found = super().run(case, rate_req_per_s)
        self._step()
        return found

    def detail(self, case: Case, rate_req_per_s: float, longer_than_s: float | None) -> Json:
        found = super().detail(case, rate_req_per_s, longer_than_s)
        self._step()
        return found

    def costing(self, case: Case, rate_req_per_s: float, capacity_req_per_s: float) -> Json:
        found = super().costing(case, rate_req_per_s, capacity_req_per_s)
        self._step()
        return found

    def failure(self, case: Case, rate_req_per_s: float, pool: int, machines: int) -> Json:
        found = super().failure(case, rate_req_per_s, pool, machines)
        self._step()
        return found

    def rack_watts(self, case: Case, rate_req_per_s: float, most: Sequence[int]) -> list[Json]:
        found = super().rack_watts(case, rate_req_per_s, most)
        self._step()
        return found

    def _step(self) -> None:
        self._progress.done += 1
        if time.monotonic() - self._progress.said_at >= SAY_EVERY_S:
            # How many there would be was an estimate: a total that was passed is none.
            done = self._progress.done
            self._held.update(steps_done=done, steps=Greatest(F("steps"), done))
            self._progress.said_at = time.monotonic()
