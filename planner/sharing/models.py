"""Links by which anybody may read one answer."""

from typing import ClassVar

from django.db import models
from django.utils import timezone
from django.utils.functional import cached_property

from planner.accounts.models import OwnedModel
from planner.studies.leases import State
from planner.studies.models import Study


class ShareLink(OwnedModel):
    """An address that shows one study, and with it one revision, to whoever has it, until it is revoked.

    A study's inputs, prices and figures are copied in when it starts: what the link shows stays as it was, unless it
    ``follows`` the question: then it shows the answer to the latest revision that is answered.
    """

    deleted_with: ClassVar[str] = "study__revision__scenario"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="links", editable=False)
    label = models.CharField(max_length=100, blank=True)
    """For whom it is, in the words of who made it."""
    token_hash = models.CharField(max_length=64, unique=True, editable=False)
    """The token itself is shown once and not kept (see tokens.py)."""
    may_clone = models.BooleanField(default=True, editable=False)
    """Whoever opens it signed in may ask the question again in a team of their own, with the workload."""
    follows = models.BooleanField(default=False, editable=False)
    expires_at = models.DateTimeField(null=True, editable=False)
    revoked_at = models.DateTimeField(null=True, editable=False)
    last_opened_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return f"link {self.pk} to {self.study}"

    @cached_property
    def shown(self) -> Study:
        """The study that it shows now."""
        if not self.follows:
            return self.study
        of_question = Study.unscoped.filter(revision__scenario=self.study.revision.scenario_id, state=State.DONE)
        latest = of_question.select_related("revision__scenario", "workload").order_by("-revision__number", "-pk")
        return latest.first() or self.study

    @property
    def state(self) -> str:
        """In words: ``open``, ``revoked``, ``expired``."""
        if self.revoked_at:
            return "revoked"
        return "expired" if self.expires_at and self.expires_at <= timezone.now() else "open"

    @property
    def title(self) -> str:
        return self.label or f"Link {self.pk}"
