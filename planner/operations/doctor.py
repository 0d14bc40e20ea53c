"""What ``manage.py doctor`` looks at: whether this installation can do its work, and what to do where it cannot."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from django.conf import settings
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core import checks
from django.db import DatabaseError, connection
from django.utils import timezone

from planner.operations.health import broker_state, waiting_migrations
from planner.studies.leases import LEASE_S, State
from planner.studies.queue import leased_models
from planner.studies.workers import STALE_S, alive

LEAST_FREE_BYTES = 1_000_000_000
WAITS_TOO_LONG = timedelta(minutes=10)
DAMAGED_SHOWN = 5
PINNED = re.compile(r"([\w.-]+)(?:\[[^\]]*\])?==(\S+)", re.ASCII)
Level = Literal["ok", "note", "problem"]


@dataclass(frozen=True)
class Finding:
    """``note``: works, but somebody should know. ``problem``: something does not work."""

    level: Level
    about: str
    words: str


def examine(*, deep: bool = False) -> Iterator[Finding]:
    """All that is looked at, the first things first. ``deep``: every stored answer is compared with its sum."""
    for look in (_python, _folder, _key, _deploy, _database, _static, _broker, _workers, _rows):
        yield from _kept_going(look)
    if deep:
        yield from _kept_going(_answers)


def _kept_going(look: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    """What one look runs into keeps no other from being told."""
    try:
        yield from look()
    except (DatabaseError, OSError) as error:
        yield Finding("problem", look.__name__.strip("_"), f"{type(error).__name__}: {error}")


def _python() -> Iterator[Finding]:
    locked = _locked(Path(settings.BASE_DIR) / "requirements" / "runtime.txt")
    differing = [
        f"{name} {found} (locked {wanted})" for name, wanted in locked if (found := _installed(name)) != wanted
    ]
    yield Finding("ok", "python", f"{sys.version.split()[0]}, {len(locked)} packages locked")
    if differing:
        yield Finding("note", "packages", f"other than the lock: {', '.join(differing)}; run make setup")


def _locked(path: Path) -> list[tuple[str, str]]:
    """Names and versions of what is locked for every platform and Python."""
    lines = path.read_text().splitlines() if path.exists() else []
    return [(found[1], found[2]) for line in lines if (found := PINNED.match(line)) and ";" not in line]


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "missing"


def _folder() -> Iterator[Finding]:
    folder = Path(settings.VAR)
    if not os.access(folder, os.W_OK | os.X_OK):
        yield Finding("problem", "data folder", f"{folder} cannot be written to")
    free = shutil.disk_usage(folder).free
    level: Level = "ok" if free >= LEAST_FREE_BYTES else "problem"
    yield Finding(level, "data folder", f"{folder}, {free / 1e9:,.1f} GB free")


def _key() -> Iterator[Finding]:
    if settings.EMBEDDED and not os.environ.get("SECRET_KEY") and not os.environ.get("SECRET_KEY_FILE"):
        mode = (Path(settings.VAR) / "secret_key").stat().st_mode & 0o077
        level: Level = "problem" if mode else "ok"
        words = "others may read it: chmod 600" if mode else "of the data folder, readable by its owner alone"
        yield Finding(level, "secret key", words)


def _deploy() -> Iterator[Finding]:
    found = checks.run_checks(include_deployment_checks=not settings.LOCAL)
    for one in found:
        level: Level = "problem" if one.is_serious() else "note"
        yield Finding(level, "settings", f"{one.id}: {' '.join(one.msg.split())}")
    if not found:
        yield Finding("ok", "settings", "one person's machine" if settings.LOCAL else "as a server's should be")


def _database() -> Iterator[Finding]:
    waiting = waiting_migrations()
    if waiting:
        yield Finding("problem", "database", f"waits for {', '.join(waiting)}: run python -m planner.launcher.prepare")
        return
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA quick_check")
            said = [str(row[0]) for row in cursor.fetchall()]
            if said != ["ok"]:
                yield Finding("problem", "database", f"is damaged: {said[0]}; restore the last backup")
                return
    yield Finding("ok", "database", f"{connection.vendor}, all migrations")


def _static() -> Iterator[Finding]:
    try:
        staticfiles_storage.url("css/site.css")
    except ValueError as error:
        yield Finding("problem", "static files", f"{error}: run manage.py collectstatic")
    else:
        yield Finding("ok", "static files", "collected")


def _broker() -> Iterator[Finding]:
    state = broker_state()
    where = "files of the data folder" if settings.EMBEDDED else "Redis"
    level: Level = "ok" if state == "reachable" else "problem"
    yield Finding(level, "queue", where if level == "ok" else f"{where}: {state}; new studies wait until it is back")
    if settings.EMBEDDED and settings.DATABASE_URL:
        yield Finding("problem", "queue", "DATABASE_URL is set without REDIS_URL: set both or neither")


def _workers() -> Iterator[Finding]:
    found = list(alive())
    if not found:
        yield Finding("problem", "workers", f"none was seen in the last {STALE_S} s: studies wait")
        return
    versions = {worker.engine_version for worker in found if worker.engine_version}
    yield Finding("ok", "workers", ", ".join(worker.name for worker in found))
    if len(versions) > 1:
        yield Finding("problem", "workers", f"of {len(versions)} versions of the engine: upgrade all of them")


def _rows() -> Iterator[Finding]:
    now = timezone.now()
    for model in leased_models():
        rows = model._base_manager
        orphans = rows.filter(state=State.RUNNING, heartbeat_at__lt=now - timedelta(seconds=2 * LEASE_S)).count()
        waiting = rows.filter(state=State.QUEUED, queued_at__lt=now - WAITS_TOO_LONG).count()
        name = str(model._meta.verbose_name_plural)
        if orphans:
            yield Finding("problem", name, f"{orphans} run without a heartbeat: no worker's reaper is alive")
        if waiting:
            yield Finding("note", name, f"{waiting} have waited for more than {WAITS_TOO_LONG.seconds // 60} minutes")


def _answers() -> Iterator[Finding]:
    """Each design of each study, as its page would read it."""
    from planner.studies.models import StudyDesign
    from planner.studies.packed import DamagedError, unpack_json

    total, damaged = 0, []
    for row in StudyDesign._base_manager.iterator(chunk_size=200):
        total += 1
        try:
            unpack_json(row.design, row.design_checksum)
            if row.result is not None:
                unpack_json(row.result, row.result_checksum)
        except DamagedError:
            damaged.append(f"study {row.study_id} design {row.design_id}")
    if damaged:
        shown = ", ".join(damaged[:DAMAGED_SHOWN])
        yield Finding("problem", "answers", f"{len(damaged)} of {total:,} designs are damaged ({shown}): ask anew")
    else:
        yield Finding("ok", "answers", f"{total:,} designs, each as it was stored")
