"""What was already done for an Idempotency-Key."""

from django.db import models
from django.utils import timezone


class KeptAnswer(models.Model):
    """A POST that came with a key: under way, or done, with what it was answered."""

    caller = models.CharField(max_length=40, editable=False)
    """The token or the user who sent it: a key is the asker's own."""
    key = models.CharField(max_length=255, editable=False)
    request_hash = models.CharField(max_length=64, editable=False)
    """Of method, address and body."""
    status = models.PositiveSmallIntegerField(null=True, editable=False)
    """Null while it is under way."""
    headers: "models.JSONField[dict[str, str], dict[str, str]]" = models.JSONField(default=dict, editable=False)
    content = models.BinaryField(default=b"")
    created_at = models.DateTimeField(default=timezone.now, db_index=True, editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["caller", "key"], name="one_answer_a_key")]

    def __str__(self) -> str:
        return f"{self.caller}: {self.key}"
