"""``manage.py backup``: all rows and uploaded files, of one moment, in one file, while people work on."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import DatabaseError, connections, transaction
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from planner.operations import archive, rows
from simcore.engine.version import engine_version

SNAPSHOT = "snapshot"
OF_THE_MOMENT = ("sessions.session", "studies.worker")
"""Who is signed in, and which workers are alive: true of this installation now, of no other."""
STORE = "studies.evaluation"
"""Simulated results that studies share; each study has its own copies, and what is missing is simulated again."""


class BackupError(RuntimeError):
    """There is no backup; the message says why."""


@dataclass(frozen=True)
class Done:
    manifest: archive.Manifest
    size_bytes: int


def backup(target: Path, *, with_store: bool = True) -> Done:
    """Writes the archive; BackupError where one is there already or the database is not of this version."""
    if target.exists():
        raise BackupError(f"{target}: is there already; expected the name of a new file")
    if not target.parent.is_dir():
        raise BackupError(f"{target.parent}: there is no such folder")
    left_out = [*OF_THE_MOMENT, *([] if with_store else [STORE])]
    try:
        with TemporaryDirectory(prefix="phaseplan-backup-", dir=target.parent) as folder, _one_moment() as using:
            migrations = _migrations(using)
            written = {
                name: archive.write_lines(Path(folder), name, rows.columns(model), rows.written(model, using))
                for name, model in rows.tables(apps, left_out).items()
            }
            files = uploaded_files()
            manifest = archive.Manifest(
                created_at=timezone.now().isoformat(),
                engine_version=engine_version(),
                database=connections[using].vendor,
                migrations=migrations,
                tables={name: one.table for name, one in written.items()},
                left_out=left_out,
                files={name: archive.sum_of(files_folder() / name) for name in files},
            )
            archive.write(target, manifest, written, files_folder())
    except (OSError, DatabaseError) as error:
        raise BackupError(f"{target}: {error}; nothing was kept of it") from error
    return Done(manifest, target.stat().st_size)


def files_folder() -> Path:
    stores: dict[str, Any] = settings.STORAGES
    return Path(stores["default"]["OPTIONS"]["location"])


def uploaded_files() -> list[str]:
    """Below the folder of uploaded files, in order."""
    folder = files_folder()
    found = [path for path in folder.rglob("*") if path.is_file()] if folder.is_dir() else []
    return sorted(path.relative_to(folder).as_posix() for path in found)


@contextmanager
def _one_moment() -> Iterator[str]:
    """A connection of its own whose every read is of one moment, and which keeps nobody from writing."""
    own: dict[str, Any] = dict(connections.settings["default"])
    is_sqlite = own["ENGINE"].endswith("sqlite3")
    if is_sqlite:
        own["OPTIONS"] = {**own["OPTIONS"], "transaction_mode": "DEFERRED"}
    connections.settings[SNAPSHOT] = own
    connection = connections[SNAPSHOT]
    try:
        with transaction.atomic(using=SNAPSHOT):
            if not is_sqlite:
                with connection.cursor() as cursor:
                    cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield SNAPSHOT
    finally:
        connection.close()
        del connections.settings[SNAPSHOT]
        del connections[SNAPSHOT]


def _migrations(using: str) -> dict[str, str]:
    """App → its last migration; BackupError where some wait."""
    executor = MigrationExecutor(connections[using])
    leaves = executor.loader.graph.leaf_nodes()
    waiting = [f"{app}.{name}" for app, name in leaves if (app, name) not in executor.loader.applied_migrations]
    if waiting:
        raise BackupError(f"the database waits for migrations ({', '.join(waiting)}): run manage.py migrate first")
    return dict(leaves)
