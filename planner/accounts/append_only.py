"""The database itself refuses to change or remove an entry of the history.

Put in place after every ``migrate``, not by one migration: SQLite makes a table anew when a column is added to it, and
its triggers are gone with the old one.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper

TABLE = "accounts_auditentry"
REFUSED = "entries of the history are neither changed nor removed"
NAME = "history_is_append_only"

SQLITE = tuple(
    f"CREATE TRIGGER IF NOT EXISTS {NAME}_{verb.lower()} BEFORE {verb} ON {TABLE} "
    f"BEGIN SELECT RAISE(ABORT, '{REFUSED}'); END"
    for verb in ("UPDATE", "DELETE")
)
POSTGRESQL = (
    f"CREATE OR REPLACE FUNCTION {NAME}() RETURNS trigger LANGUAGE plpgsql AS "
    f"$$ BEGIN RAISE EXCEPTION '{REFUSED}' USING ERRCODE = 'integrity_constraint_violation'; END $$",
    f"CREATE OR REPLACE TRIGGER {NAME}_row BEFORE UPDATE OR DELETE ON {TABLE} FOR EACH ROW EXECUTE FUNCTION {NAME}()",
    f"CREATE OR REPLACE TRIGGER {NAME}_all BEFORE TRUNCATE ON {TABLE} FOR EACH STATEMENT EXECUTE FUNCTION {NAME}()",
)
MADE = {"sqlite": SQLITE, "postgresql": POSTGRESQL}
REMOVED = {
    "sqlite": tuple(f"DROP TRIGGER IF EXISTS {NAME}_{verb}" for verb in ("update", "delete")),
    "postgresql": tuple(f"DROP TRIGGER IF EXISTS {NAME}_{end} ON {TABLE}" for end in ("row", "all")),
}


def install(connection: BaseDatabaseWrapper) -> None:
    """Where the table is there; again: the same."""
    with connection.cursor() as cursor:
        if TABLE in connection.introspection.table_names(cursor):
            for statement in MADE[connection.vendor]:
                cursor.execute(statement)


def after_migrate(using: str, **_: Any) -> None:
    from django.db import connections

    install(connections[using])


@contextmanager
def lifted(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """For emptying a whole database, as tests do between themselves; nothing in Phaseplan calls it."""
    with connection.cursor() as cursor:
        for statement in REMOVED[connection.vendor]:
            cursor.execute(statement)
    try:
        yield
    finally:
        install(connection)
