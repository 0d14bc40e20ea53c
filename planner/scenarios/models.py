"""The question: a scenario and its revisions."""

from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone

from planner.accounts.owned import DeletableModel, OwnedModel


class Scenario(DeletableModel):
    """A question that a team keeps; what it asks is in its latest revision."""

    name = models.CharField(max_length=200)
    of_scenario: ClassVar[str] = "pk"

    shipped_id = models.CharField(max_length=50, null=True, editable=False)
    """Which of the shipped examples it is; null for a question that a user asked."""

    note = models.TextField(blank=True)
    """What a reader must know about it: the facts it rests on."""

    origin = models.CharField(max_length=300, blank=True, editable=False)
    """Which question it is a copy of, in words; empty where it is none."""

    updated_at = models.DateTimeField(default=timezone.now, db_index=True, editable=False)
    """When it was last given another name, note or revision."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "shipped_id"], name="one_copy_of_a_shipped_scenario")]

    def __str__(self) -> str:
        return self.name

    @property
    def latest(self) -> "Revision":
        return self.revisions.latest("number")


class Grant(OwnedModel):
    """A scenario shared with one person of another team, who sees it with its revisions and studies and nothing else
    (accounts.owned); with ``may_write`` they save revisions and start studies, too."""

    deleted_with: ClassVar[str] = "scenario"

    scenario = models.ForeignKey(Scenario, on_delete=models.CASCADE, related_name="grants", editable=False)
    name = models.CharField(max_length=150, editable=False)
    """As it was typed: whether anybody has it is not told."""
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="grants", editable=False
    )
    may_write = models.BooleanField(default=False, editable=False)

    class Meta:
        ordering = ["name", "pk"]
        constraints = [models.UniqueConstraint(fields=["scenario", "name"], name="one_grant_a_name")]

    def __str__(self) -> str:
        return f"{self.scenario} for {self.name}"


class Revision(models.Model):
    """One save of a scenario's inputs, never changed. ``inputs``: the cleaned fields of forms.QuestionForm."""

    scenario = models.ForeignKey(Scenario, on_delete=models.CASCADE, related_name="revisions", editable=False)
    number = models.PositiveIntegerField(editable=False)
    name = models.CharField(max_length=200, blank=True, editable=False)
    """What it asks, in a line; empty where the scenario has a name that was given to it."""

    inputs: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(editable=False)
    rows: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(default=dict, editable=False)
    """The catalogue's rows that it asks for, as they were when it was saved (see catalogue.kept)."""
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, editable=False, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["scenario", "number"], name="one_revision_a_number")]

    def __str__(self) -> str:
        return f"{self.title}, revision {self.number}"

    @property
    def title(self) -> str:
        """What pages, files and REST call it: never by figures of another revision."""
        return self.name or self.scenario.name
