"""What designs are asked to serve: uploaded traces and synthetic mixes."""

from typing import TYPE_CHECKING, Any, ClassVar, Self

from django.db import models
from django.db.models import F, Q

from planner.accounts.models import OwnedModel, Team
from planner.accounts.owned import OwnedManager, Visitor, in_teams_of

if TYPE_CHECKING:  # requests bring NumPy in: not before some are asked for
    from simcore.traces import Trace
    from simcore.traces.prefix_cache import PromptBlocks
    from simcore.traces.trace import IntArray

CHUNK_BYTES = 1 << 20


class WorkloadManager(OwnedManager["Workload"]):
    """Shipped workloads belong to no team: everyone who is signed in sees them, nobody changes them. One that is not
    saved yet is its uploader's alone."""

    def visible_to(self, user: Visitor) -> models.QuerySet["Workload"]:
        if not user.is_authenticated:
            return self._unscoped().none()
        lent = getattr(user, "lent", {}).get("workloads.Workload", ())
        return self._unscoped().filter(in_teams_of(user) | Q(team__isnull=True) | Q(pk__in=lent), draft=False)

    def editable_by(self, user: Visitor) -> models.QuerySet["Workload"]:
        return super().editable_by(user).filter(draft=False)

    def drafts_of(self, user: Visitor) -> models.QuerySet["Workload"]:
        """What the user has uploaded and not saved yet, the newest first."""
        if not user.is_authenticated:
            return self._unscoped().none()
        return super().editable_by(user).filter(draft=True, created_by=user.pk).order_by("-created_at", "-pk")


class Workload(OwnedModel):
    """A trace as it was uploaded, or the spec of one that is generated. It never changes once it is saved."""

    class Kind(models.TextChoices):
        UPLOADED = "uploaded", "Uploaded trace"
        SYNTHETIC = "synthetic", "Synthetic mix"

    team = models.ForeignKey(  # type: ignore[assignment]
        "accounts.Team", null=True, on_delete=models.CASCADE, editable=False
    )
    """None: shipped."""
    shipped = models.CharField(max_length=40, unique=True, null=True, editable=False)
    """The mix's name of a shipped workload."""
    name = models.CharField(max_length=100)
    kind = models.CharField(max_length=10, choices=Kind.choices, editable=False)
    draft = models.BooleanField(default=False, editable=False)
    """Uploaded and read, its report looked at, not saved yet. ``name`` may be another's, or empty."""
    content_hash = models.CharField(max_length=64, editable=False)
    requests = models.PositiveIntegerField(editable=False)
    file_name = models.CharField(max_length=255, blank=True, editable=False)
    report: "models.JSONField[dict[str, Any] | None, dict[str, Any] | None]" = models.JSONField(
        null=True, editable=False
    )
    """What reading the file found (simcore's ParseReport); None for a synthetic one."""
    spec: "models.JSONField[dict[str, Any] | None, dict[str, Any] | None]" = models.JSONField(null=True, editable=False)
    """A SyntheticSpec; None for an uploaded one."""
    summary: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(editable=False)
    """Statistics and the series that the page draws (see summary.py)."""

    unscoped: "ClassVar[models.Manager[Any]]" = models.Manager()
    objects: "ClassVar[WorkloadManager]" = WorkloadManager()

    class Meta:
        ordering = [F("shipped").desc(nulls_last=True), "-created_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["team", "name"], condition=Q(draft=False), name="one_workload_a_name")
        ]
        indexes = [models.Index(fields=["created_at"], condition=Q(draft=True), name="workload_drafts")]

    def __str__(self) -> str:
        return self.name

    @classmethod
    def is_taken(cls, team: Team, name: str) -> bool:
        """Whether the team has saved one of this name."""
        return cls.unscoped.filter(team=team, name=name, draft=False).exists()

    @classmethod
    def of_mix(cls, mix: str) -> Self:
        """The shipped workload of a mix."""
        return cls.unscoped.get(shipped=mix)

    def trace(self) -> "Trace":
        """The requests, as uploaded or generated; what is stored is checked against its hash."""
        from planner.workloads import storage
        from simcore.traces import SyntheticSpec, generate

        if self.spec is not None:
            return generate(SyntheticSpec.from_json(self.spec))
        trace = storage.unpacked(self._packed(), self.name)
        if trace.content_hash() != self.content_hash:
            raise storage.StoredTraceError(f"workload {self.pk}: its stored trace is not the one that was uploaded")
        return trace

    def arrival_ps(self) -> "IntArray":
        """When the requests come, without the rest of them: quick, and not checked against the hash."""
        from planner.workloads import storage
        from simcore.traces import SyntheticSpec
        from simcore.traces.synthetic import arrival_times

        if self.spec is not None:
            return arrival_times(SyntheticSpec.from_json(self.spec))
        return storage.arrivals(self._packed(), self.name)

    def blocks(self) -> "PromptBlocks | None":
        """The prompts' blocks of a draft whose file says some."""
        from planner.workloads import storage

        data = self._packed(TraceChunk.Part.BLOCKS)
        return storage.unpacked_blocks(data, self.name) if data else None

    def _packed(self, part: "TraceChunk.Part | None" = None) -> bytes:
        parts = self.chunks.filter(part=part or TraceChunk.Part.TRACE).order_by("number")
        return b"".join(parts.values_list("data", flat=True))

    def store(self, trace: "Trace", blocks: "PromptBlocks | None" = None) -> None:
        """Keeps the requests in the database, where every worker reads them, whatever machine it is on; in place of
        what it kept before."""
        from planner.workloads import storage

        self.chunks.all().delete()
        self._keep(TraceChunk.Part.TRACE, storage.packed(trace))
        if blocks is not None:
            self._keep(TraceChunk.Part.BLOCKS, storage.packed_blocks(blocks))

    def _keep(self, part: "TraceChunk.Part", data: bytes) -> None:
        TraceChunk.objects.bulk_create(
            TraceChunk(workload=self, part=part, number=number, data=data[start : start + CHUNK_BYTES])
            for number, start in enumerate(range(0, len(data), CHUNK_BYTES))
        )


class TraceChunk(models.Model):
    """A part of an uploaded trace's packed bytes; the parts in order are the whole."""

    class Part(models.TextChoices):
        TRACE = "trace", "Requests"
        BLOCKS = "blocks", "Blocks of prompts, of a draft"

    workload = models.ForeignKey(Workload, on_delete=models.CASCADE, related_name="chunks", editable=False)
    part = models.CharField(max_length=6, choices=Part.choices, default=Part.TRACE, editable=False)
    number = models.PositiveIntegerField(editable=False)
    data = models.BinaryField()

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["workload", "part", "number"], name="one_chunk_a_number")]

    def __str__(self) -> str:
        return f"part {self.number} of workload {self.workload_id}"
