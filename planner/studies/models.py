"""The answer: studies, their waves and shards, and what was found about each design."""

from typing import Any, ClassVar

from django.db import models
from django.utils import timezone

from planner.accounts.models import OwnedModel
from planner.scenarios.models import Revision
from planner.studies.leases import LeasedRow, State
from planner.studies.workers import Worker
from planner.workloads.models import Workload

__all__ = ["Evaluation", "Shard", "Study", "StudyDesign", "Wave", "Worker"]


class Study(OwnedModel):
    """One answer to one revision. Its inputs are copied in when it starts and never change afterwards.

        start ──► queued ──a worker takes it──► running ──last wave finds nothing to add──► done
                    │ ▲                          │ │ └──a wave cannot be planned──► failed ──┐
                    │ └──another engine version──┘ │                                         │
                    └──────────cancel──────────────┴──► cancelled ───────────retry───────────┴──► queued or running

    Who moves it: services.start_study, cancel and retry in the web process; a wave's task (planned, done, failed);
    waves.settle where a reaper has given a wave up. A design that cannot be evaluated does not fail its study.
    """

    of_study: ClassVar[str] = "pk"
    of_scenario: ClassVar[str] = "revision__scenario"

    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="studies", editable=False)
    workload = models.ForeignKey(Workload, on_delete=models.PROTECT, related_name="studies", editable=False)
    spec: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(editable=False)
    """A StudySpec, with the model and the machines as they were."""
    prices: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(editable=False)
    """The PriceBook as it was."""
    trace_hash = models.CharField(max_length=64, editable=False)
    question_key = models.CharField(max_length=64, blank=True, db_index=True, editable=False)
    """Of all but money: studies of one key and one engine have the same designs and results (see twins.py)."""
    engine_version = models.CharField(max_length=64, blank=True, editable=False)
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED, db_index=True, editable=False)
    error = models.TextField(blank=True, editable=False)
    damaged = models.PositiveIntegerField(default=0, editable=False)
    """Stored results that it wanted, found damaged and had computed again."""
    started_at = models.DateTimeField(null=True, editable=False)
    """When it was taken up, the last time if it was gone on with."""
    worked_s = models.FloatField(default=0.0, editable=False)
    """How long it had run before that."""
    finished_at = models.DateTimeField(null=True, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, db_index=True, editable=False)
    """When anything that is told of it was last another: its state, or what it has found."""

    class Meta:
        verbose_name_plural = "studies"
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return f"study {self.pk} of {self.revision}"

    @property
    def is_active(self) -> bool:
        return self.state in {State.QUEUED, State.RUNNING}

    @property
    def elapsed_s(self) -> float:
        """How long it has run, or ran; the pause before it was gone on with is not counted."""
        now = self.finished_at or timezone.now()
        return self.worked_s + (now - (self.started_at or self.created_at)).total_seconds()

    @property
    def is_partial(self) -> bool:
        """Some of what it set out to try was not tried, or not yet."""
        return self.state != State.DONE


class Wave(LeasedRow):
    """A step of the search: its task asks simcore.study which designs are worth trying next, and makes shards of them.

    Wave 0 comes with the study, wave n + 1 when the last shard of wave n has ended. One without designs ends the study.
    """

    task_name = "planner.studies.tasks.plan_wave"
    study_path, turn_order, turn_place = "study", ("number",), 0

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="waves", editable=False)
    number = models.PositiveIntegerField(editable=False)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["study", "number"], name="one_wave_a_number")]

    def __str__(self) -> str:
        return f"wave {self.number} of study {self.study_id}"


class Shard(LeasedRow):
    """A few designs of a wave, evaluated by one task."""

    task_name = "planner.studies.tasks.run_shard"
    study_path, turn_order, turn_place = "wave__study", ("wave__number", "number"), 2

    wave = models.ForeignKey(Wave, on_delete=models.CASCADE, related_name="shards", editable=False)
    number = models.PositiveIntegerField(editable=False)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["wave", "number"], name="one_shard_a_number")]

    def __str__(self) -> str:
        return f"shard {self.number} of {self.wave}"

    @classmethod
    def after_reaping(cls) -> None:
        from planner.studies import waves

        waves.settle()


class Evaluation(models.Model):
    """An entry of the store of simulated results (see store.py), shared by all studies.

    ``key`` hashes all that determines it, engine included. Nothing refers to an entry: each study keeps its own copies,
    so entries may be evicted, and its answer stays.
    """

    class Kind(models.TextChoices):
        CAPACITY = "capacity", "Capacity"
        RATE = "rate", "At one rate"
        TRIAL = "trial", "Whether a rate is held"

    key = models.CharField(max_length=64, unique=True, editable=False)
    kind = models.CharField(max_length=10, choices=Kind.choices, editable=False)
    payload = models.BinaryField()
    """A simcore Evaluation, RateRun or Trial, packed (see packed.py)."""
    checksum = models.CharField(max_length=64, editable=False)
    size_bytes = models.PositiveIntegerField(editable=False)
    engine_version = models.CharField(max_length=64, editable=False)
    cpu_s = models.FloatField(default=0.0, editable=False)
    """What it took to find."""
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    used_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        indexes = [models.Index(fields=["used_at", "size_bytes"], name="least_used_first")]

    def __str__(self) -> str:
        return self.key


class StudyDesign(models.Model):
    """A design of a study: to be tried until it has a result, or the reason why there is none."""

    class Origin(models.TextChoices):
        """Where the result comes from."""

        UNTRIED = "", "Not tried yet"
        SIMULATED = "simulated", "Simulated for this study"
        AT_RATE = "at_rate", "Capacity known before, simulated at this study's rate"
        KNOWN = "known", "Known before"
        SCREENED = "screened", "Not simulated: bounds rule it out"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="designs", editable=False)
    shard = models.ForeignKey(Shard, null=True, on_delete=models.CASCADE, related_name="designs", editable=False)
    """Whose task evaluates it; None where nothing was left to simulate."""
    design_id = models.CharField(max_length=64, editable=False)
    order = models.PositiveIntegerField(editable=False)
    design = models.BinaryField()
    """A simcore Design, packed."""
    design_checksum = models.CharField(max_length=64, editable=False)
    result = models.BinaryField(null=True)
    """The study's own copy of the simcore Evaluation, packed."""
    result_checksum = models.CharField(max_length=64, blank=True, editable=False)
    origin = models.CharField(max_length=10, choices=Origin.choices, blank=True, editable=False)
    failure = models.TextField(blank=True, editable=False)

    class Meta:
        ordering = ["order"]
        constraints = [models.UniqueConstraint(fields=["study", "design_id"], name="a_design_once_a_study")]

    def __str__(self) -> str:
        return f"design {self.design_id} of study {self.study_id}"
