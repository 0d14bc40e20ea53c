"""What a study's money rests on, as it was entered."""

from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone

from planner.accounts.models import OwnedModel
from planner.studies.models import Study


class AssumptionSet(OwnedModel):
    """One save of the assumptions of a study's costs, never changed: a change is another row.

    ``values``: what was entered, as ``simcore.economics.assumptions.Assumptions`` reads it; prices that were left empty
    are the study's own.
    """

    of_study = "study"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="assumption_sets", editable=False)
    values: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(editable=False)

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return f"assumptions {self.pk} of {self.study}"


class Actuals(OwnedModel):
    """A file of what was really billed for a study's months. Its report comes before it is saved; no link shows it.

    Of a month that several saved ones have, the one saved last counts, until it is deleted; rows are kept.
    """

    deleted_with = "study__revision__scenario"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="actuals", editable=False)
    design_id = models.CharField(max_length=80, editable=False)
    """Whose forecast it was matched with."""
    file_name = models.CharField(max_length=255, editable=False)
    format = models.CharField(max_length=10, editable=False)
    content_hash = models.CharField(max_length=64, editable=False)
    rules: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(editable=False)
    """By which rows were matched: ``services``, ``cost``, ``hours_of``."""
    report: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(editable=False)
    """What was found: months, services, reasons."""
    saved_at = models.DateTimeField(null=True, editable=False)
    """None: looked at, not saved."""
    deleted_at = models.DateTimeField(null=True, editable=False)
    deleted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, editable=False, related_name="+"
    )

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return f"actuals {self.pk} of {self.study}"


class ActualRow(models.Model):
    """A row of the file, as it was read. ``reason``: why it does not count; empty where it does."""

    actuals = models.ForeignKey(Actuals, on_delete=models.CASCADE, related_name="rows", editable=False)
    line = models.PositiveIntegerField(editable=False)
    period_start = models.DateTimeField(editable=False)
    period_end = models.DateTimeField(editable=False)
    service = models.CharField(max_length=200, blank=True, editable=False)
    pool = models.CharField(max_length=200, blank=True, editable=False)
    design = models.CharField(max_length=200, blank=True, editable=False)
    currency = models.CharField(max_length=200, editable=False)
    category = models.CharField(max_length=200, blank=True, editable=False)
    description = models.CharField(max_length=200, blank=True, editable=False)
    cost = models.CharField(max_length=60, editable=False)
    """Exact, as decimal text."""
    quantities: "models.JSONField[dict[str, str], dict[str, str]]" = models.JSONField(editable=False)
    uncounted = models.CharField(max_length=200, blank=True, editable=False)
    refused = models.CharField(max_length=200, blank=True, editable=False)
    reason = models.CharField(max_length=300, blank=True, editable=False)

    class Meta:
        ordering = ["line"]
        constraints = [models.UniqueConstraint(fields=["actuals", "line"], name="one_row_a_line_of_actuals")]

    def __str__(self) -> str:
        return f"line {self.line}"


class Approval(OwnedModel):
    """That somebody (``created_by``, at ``created_at``) approved a study's costs: one design under one set of
    assumptions. Rows are appended; one that is withdrawn stays, and says by whom.

    ``kept`` and ``lines``: what was approved, as it was then (``approvals.kept``), so that later figures are compared
    with it whatever has become of prices, catalogue and code.
    """

    of_study = "study"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="approvals", editable=False)
    chosen = models.ForeignKey(
        AssumptionSet, null=True, on_delete=models.SET_NULL, related_name="approvals", editable=False
    )
    """None: the study's own assumptions."""
    design_id = models.CharField(max_length=80, blank=True, editable=False)
    """The design that was chosen; empty: the answer."""
    approved_by_name = models.CharField(max_length=200, editable=False)
    """As it was then: accounts are renamed and deleted."""
    note = models.CharField(max_length=500, blank=True, editable=False)
    assumptions_hash = models.CharField(max_length=16, editable=False)
    engine_version = models.CharField(max_length=64, blank=True, editable=False)
    definition_version = models.CharField(max_length=20, editable=False)
    currency = models.CharField(max_length=3, editable=False)
    kept: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(editable=False)
    lines: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(editable=False)
    """Apart, as lists of approvals do without."""
    withdrawn_at = models.DateTimeField(null=True, editable=False)
    withdrawn_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, editable=False, related_name="+"
    )
    withdrawn_by_name = models.CharField(max_length=200, blank=True, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, db_index=True, editable=False)
    """When it was made or withdrawn."""

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return f"approval {self.pk} of {self.study}"


class FileLink(OwnedModel):
    """An address that is one CSV file of a study's costs, for a spreadsheet that fetches it and can send no token.

    All that the file depends on is here, nothing of it in the address. No link to the study shows it (``of_study``).
    """

    deleted_with = "study__revision__scenario"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="file_links", editable=False)
    chosen = models.ForeignKey(AssumptionSet, null=True, on_delete=models.CASCADE, related_name="+", editable=False)
    """The assumptions; None: the study's own, and of the designs' file."""
    file = models.CharField(max_length=40, editable=False)
    design_id = models.CharField(max_length=80, blank=True, editable=False)
    """Empty: the answer's."""
    view = models.CharField(max_length=10, editable=False)
    locale = models.CharField(max_length=10, editable=False)
    bom = models.BooleanField(editable=False)
    label = models.CharField(max_length=100, blank=True, editable=False)
    """What fetches it, in the words of who made it."""
    secret_hash = models.CharField(max_length=64, unique=True, editable=False)
    """The secret itself is shown once and not kept."""
    expires_at = models.DateTimeField(editable=False)
    revoked_at = models.DateTimeField(null=True, editable=False)
    last_used_at = models.DateTimeField(null=True, editable=False)
    uses = models.PositiveBigIntegerField(default=0, editable=False)

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return f"link {self.pk} to {self.file} of {self.study}"

    @property
    def title(self) -> str:
        return self.label or f"Link {self.pk}"

    @property
    def state(self) -> str:
        """In words: ``open``, ``revoked``, ``expired``."""
        if self.revoked_at:
            return "revoked"
        return "expired" if self.expires_at <= timezone.now() else "open"
