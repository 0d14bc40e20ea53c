"""Links by which anybody may read one answer."""

from django.db import models

from planner.accounts.models import OwnedModel
from planner.studies.models import Study


class ShareLink(OwnedModel):
    """An address that shows one study, and with it one revision, to whoever has it, until it is revoked.

    A study's inputs, prices and figures are copied in when it starts: what the link shows stays as it was.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="links", editable=False)
    label = models.CharField(max_length=100, blank=True)
    """For whom it is, in the words of who made it."""
    token_hash = models.CharField(max_length=64, unique=True, editable=False)
    """The token itself is shown once and not kept (see tokens.py)."""
    may_clone = models.BooleanField(default=True, editable=False)
    """Whoever opens it signed in may ask the question again in a team of their own, with the workload."""
    revoked_at = models.DateTimeField(null=True, editable=False)
    last_opened_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return f"link {self.pk} to {self.study}"

    @property
    def title(self) -> str:
        return self.label or f"Link {self.pk}"
