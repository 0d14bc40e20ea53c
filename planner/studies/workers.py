"""Which workers are alive: each writes a heartbeat of its own, for /healthz."""

from django.db import models
from django.utils import timezone


class Worker(models.Model):
    """A worker process and when it was last seen; rows unseen for a day are removed."""

    name = models.CharField(max_length=200, unique=True)
    started_at = models.DateTimeField(default=timezone.now)
    heartbeat_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.name
