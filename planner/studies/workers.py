"""Which workers are alive: each writes a heartbeat of its own, for /healthz and for what pages say of waiting."""

import os
from datetime import timedelta

from django.conf import settings
from django.db import models
from django.utils import timezone

from planner.env import envint

STALE_S = 30


class Worker(models.Model):
    """A worker process and when it was last seen; rows unseen for a day are removed."""

    name = models.CharField(max_length=200, unique=True)
    started_at = models.DateTimeField(default=timezone.now)
    heartbeat_at = models.DateTimeField(default=timezone.now)
    engine_version = models.CharField(max_length=64, blank=True)
    compiling = models.BooleanField(default=False)
    """Its engine is not ready yet: it takes no work."""

    def __str__(self) -> str:
        return self.name


def alive() -> "models.QuerySet[Worker]":
    """Those seen lately, the ones that still compile among them."""
    return Worker.objects.filter(heartbeat_at__gte=timezone.now() - timedelta(seconds=STALE_S))


def processes() -> int:
    """How many designs are worked on at once, about: by each core where web and worker share a machine, else one by
    each worker that is alive."""
    return envint("PHASEPLAN_PROCESSES", os.cpu_count() or 1) if settings.EMBEDDED else max(1, alive().count())


def compiling() -> bool:
    """Whether a worker is there whose engine is not ready yet."""
    return alive().filter(compiling=True).exists()


def engine_at_work() -> str:
    """The engine that would take a question up now; empty where none would, or where workers differ."""
    versions = set(alive().exclude(engine_version="").values_list("engine_version", flat=True))
    return versions.pop() if len(versions) == 1 else ""
