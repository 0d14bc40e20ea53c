"""/healthz: is the database reachable, is a worker alive, does the queue move. /readyz: can this server answer."""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
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


@login_not_required
@never_cache
def readyz(request: HttpRequest) -> JsonResponse:
    """200 where this web server can answer: its database is there, with the tables of this version. Whether there is a
    broker is said and decides nothing: without one pages work, and new studies wait."""
    try:
        waiting = waiting_migrations()
    except DatabaseError as error:
        return JsonResponse({"ready": False, "database": type(error).__name__}, status=503)
    ready = {"ready": not waiting, "database": "reachable", "waiting_migrations": waiting}
    return JsonResponse(ready | {"broker": broker_state()}, status=503 if waiting else 200)


def waiting_migrations() -> list[str]:
    """Those that the database has not had yet."""
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [f"{migration.app_label}.{migration.name}" for migration, _ in plan]


def broker_state() -> str:
    """``reachable``, or why not."""
    if settings.EMBEDDED:
        return "reachable"  # files of this folder
    from redis import Redis, RedisError

    try:
        with Redis.from_url(settings.REDIS_URL, socket_connect_timeout=2, socket_timeout=2) as server:
            server.ping()
    except RedisError as error:
        return type(error).__name__
    return "reachable"


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
