"""``manage.py restore``: an archive of ``backup`` becomes the database, whatever it was made on.

The archive is read to its end and its sums are compared before anything is touched. Rows are loaded into the tables as
they were when the archive was made; then the migrations since bring them up to this version. With SQLite all that
happens in a new file, which takes the old one's place at the end; the old one stays beside it.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.color import no_style
from django.db import IntegrityError, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.models import QuerySet
from django.utils import timezone

from planner.launcher.locks import FileLock
from planner.operations import archive, rows
from planner.operations.backup import files_folder

PEOPLE = {
    "accounts_user": "SELECT 1 FROM accounts_user LIMIT 1",
    "studies_study": "SELECT 1 FROM studies_study LIMIT 1",
}
"""Asked without models: the tables may be of any version."""
LOCKS = ("launcher.lock", "worker.lock")


class RestoreError(RuntimeError):
    """Nothing was restored; the message says why and what to do."""


@dataclass(frozen=True)
class Done:
    manifest: archive.Manifest
    kept: str
    """The database that was there before; empty where there was none, or it could not be kept."""


def restore(source: Path, *, replace: bool = False) -> Done:
    """Loads the archive. ``replace``: what the database holds now is given up for it. RestoreError, ArchiveError."""
    if not source.is_file():
        raise RestoreError(f"{source}: there is no such file")
    with archive.opened(source) as found, _nobody_else(), _target(replace) as target:
        loaded = _loaded(found, target.connection)
        if loaded:
            raise RestoreError(loaded)
        _upgraded(target.connection)
        _files_restored(found)
        return Done(found.manifest, target.take_place())


@dataclass
class _Target:
    """Where rows go, and how it becomes the database."""

    connection: BaseDatabaseWrapper
    own: Path | None = None
    """SQLite's new file."""
    place: Path | None = None

    def take_place(self) -> str:
        """The new file takes the old one's place; where that went."""
        if self.own is None or self.place is None:
            return ""
        with self.connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.connection.close()
        kept = ""
        if self.place.exists():
            stamp = timezone.now().strftime("%Y%m%dT%H%M%SZ")
            before = self.place.with_name(f"{self.place.name}.before-{stamp}")
            for end in ("-wal", "-shm", ""):
                if (part := Path(f"{self.place}{end}")).exists():
                    part.replace(f"{before}{end}")
            kept = str(before)
        self.own.replace(self.place)
        return kept


@contextmanager
def _nobody_else() -> Iterator[None]:
    """In an embedded installation: with no server and no worker at the data folder."""
    held = []
    try:
        for name in LOCKS if settings.EMBEDDED else ():
            lock = FileLock(Path(settings.VAR) / name)
            if not lock.take():
                raise RestoreError(f"process {lock.read() or '?'} uses {settings.VAR}: stop Phaseplan first")
            held.append(lock)
        yield
    finally:
        for lock in held:
            lock.release()


@contextmanager
def _target(replace: bool) -> Iterator[_Target]:
    if settings.DATABASE_URL:
        connection = connections["default"]
        _emptied(connection, replace)
        yield _Target(connection)
        return
    place = Path(settings.DATABASES["default"]["NAME"])
    if not replace and place.exists() and _has_people(connections["default"]):
        raise RestoreError(f"{place}: holds an installation; --replace gives it up (the file stays beside the new one)")
    own = place.with_name(f".{place.name}.restoring.{os.getpid()}")
    before = connections.settings["default"]
    try:
        # As the default: migrations that move rows ask for no other.
        yield _Target(_default_is({**before, "NAME": own}), own, place)
    finally:
        _default_is(before)
        for end in ("", "-wal", "-shm"):
            Path(f"{own}{end}").unlink(missing_ok=True)


def _default_is(settings_of: dict[str, Any]) -> BaseDatabaseWrapper:
    connections["default"].close()
    del connections["default"]
    connections.settings["default"] = settings_of
    return connections["default"]


def _emptied(connection: BaseDatabaseWrapper, replace: bool) -> None:
    if not replace and _has_people(connection):
        raise RestoreError("the database holds an installation; --replace gives it up: make a backup of it first")
    with connection.cursor() as cursor:
        for name in connection.introspection.table_names(cursor):
            cursor.execute(f"DROP TABLE {connection.ops.quote_name(name)} CASCADE")


def _has_people(connection: BaseDatabaseWrapper) -> bool:
    """Whether somebody, or a study, is in it."""
    tables = connection.introspection.table_names()
    with connection.cursor() as cursor:
        for name, asked in PEOPLE.items():
            if name in tables:
                cursor.execute(asked)
                if cursor.fetchone():
                    return True
    return False


def _loaded(found: archive.Archive, connection: BaseDatabaseWrapper) -> str:
    """Brings the tables to the archive's migrations and loads its rows; what is wrong with them, if anything."""
    targets = list(found.manifest.migrations.items())
    executor = MigrationExecutor(connection)
    unknown = [f"{app}.{name}" for app, name in targets if (app, name) not in executor.loader.disk_migrations]
    if unknown:
        return (
            f"the archive is of another version, with migrations unknown here ({', '.join(unknown)}):"
            " restore it with the version that made it, or a later one"
        )
    executor.migrate(targets)
    executor.loader.build_graph()
    models = rows.tables(executor.loader.project_state(targets).apps)
    missing = [name for name in found.manifest.tables if name not in models]
    if missing:
        return f"the archive has tables that its own migrations do not make: {', '.join(missing)}"
    try:
        with transaction.atomic(using=connection.alias):
            _load_rows(found, models, connection)
            connection.check_constraints()
    except (rows.RowError, IntegrityError, ValueError) as error:
        return f"the archive's rows do not fit together: {error}"
    return ""


def _load_rows(found: archive.Archive, models: dict[str, rows.Model], connection: BaseDatabaseWrapper) -> None:
    """Into empty tables: what migrations themselves put there is in the archive, too."""
    for model in models.values():
        QuerySet(model).using(connection.alias)._raw_delete(connection.alias)
    for name, table in found.manifest.tables.items():
        made = rows.load(models[name], table.columns, found.lines(name), connection.alias)
        if made != table.rows:
            raise rows.RowError(f"{name}: found {made} rows, expected {table.rows}")
    with connection.cursor() as cursor:
        reset: Any = connection.ops.sequence_reset_sql(no_style(), list(models.values()))
        for statement in reset:
            cursor.execute(statement)


def _upgraded(connection: BaseDatabaseWrapper) -> None:
    """The migrations since the archive was made, and what Django keeps of each model."""
    call_command("migrate", database=connection.alias, interactive=False, verbosity=0)


def _files_restored(found: archive.Archive) -> None:
    for name in found.manifest.files:
        target = files_folder() / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(found.file(name), target)
        target.chmod(0o600)
