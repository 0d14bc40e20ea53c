"""/healthz: is the database reachable, is a worker alive, does the queue move."""

from datetime import datetime
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.db.models import Max, Min
from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache

from planner.studies.leases import State
from planner.studies.queue import leased_models
from planner.studies.workers import STALE_S, Worker, compiling


@login_not_required
@never_cache
def healthz(request: HttpRequest) -> JsonResponse:
    """503 when the database cannot be asked; without a live worker 200 and "degraded": pages still answer."""
    try:
        report = _report(timezone.now())
    except DatabaseError as error:
        detail = {"status": "down", "database": {"reachable": False, "error": type(error).__name__}}
        return JsonResponse(detail, status=503)
    return JsonResponse(report)


def _report(now: datetime) -> dict[str, Any]:
    waiting = [model._base_manager.filter(state=State.QUEUED) for model in leased_models()]
    since = [oldest for rows in waiting if (oldest := rows.aggregate(oldest=Min("queued_at"))["oldest"])]
    last = Worker.objects.filter(compiling=False).aggregate(last=Max("heartbeat_at"))["last"]
    age_s = _age_s(now, last) if last else None
    alive = age_s is not None and age_s < STALE_S
    return {
        "status": "ok" if alive else "degraded",
        "database": {"reachable": True, "vendor": connection.vendor},
        "worker": {
            "alive": alive,
            "heartbeat_age_s": age_s,
            "compiling": compiling(),
        },
        "queue": {
            "queued": sum(rows.count() for rows in waiting),
            "oldest_s": _age_s(now, min(since)) if since else None,
        },
    }


def _age_s(now: datetime, then: datetime) -> float:
    return round((now - then).total_seconds(), 1)
