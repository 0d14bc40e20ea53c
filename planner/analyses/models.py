"""What was worked out about studies' answers when somebody asked: shared by all whose question is the same."""

from django.db import models
from django.utils import timezone

from planner.studies.leases import LeasedRow
from planner.studies.models import Study


class Analysis(LeasedRow):
    """An analysis, kept under the hash of all that its figures depend on (simcore/analyses/key.py).

    Like an evaluation it belongs to nobody: whoever may read a study finds it by the key that the study gives, and no
    page shows one by its own number.
    """

    task_name = "planner.analyses.tasks.run_analysis"
    study_path, turn_order, turn_place = "study", ("queued_at", "pk"), 1

    key = models.CharField(max_length=64, unique=True, editable=False)
    kind = models.CharField(max_length=40, editable=False)
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="analyses", editable=False)
    """Who asked last: its workload has the requests, and its turn is taken (see studies/turns.py)."""
    task = models.BinaryField(editable=False)
    """The kind's task, packed."""
    task_checksum = models.CharField(max_length=64, editable=False)
    code_version = models.CharField(max_length=64, editable=False)
    found = models.BinaryField(null=True, editable=False)
    """What the kind found, packed; None until it is done."""
    found_checksum = models.CharField(max_length=64, blank=True, editable=False)
    engine_version = models.CharField(max_length=64, blank=True, editable=False)
    predicted_s = models.FloatField(default=0.0, editable=False)
    steps = models.PositiveIntegerField(default=0, editable=False)
    steps_done = models.PositiveIntegerField(default=0, editable=False)
    cpu_s = models.FloatField(default=0.0, editable=False)
    """What it took to find."""
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name_plural = "analyses"

    def __str__(self) -> str:
        return f"{self.kind} {self.key[:12]}"
