"""Rows of any table as lines of JSON and back, through the models of one state of the migrations.

What a line holds does not depend on the database: a backup of SQLite is restored into PostgreSQL and the other way.
"""

import base64
import json
from collections.abc import Generator, Iterable, Iterator
from datetime import date, datetime, time
from decimal import Decimal
from itertools import islice
from typing import Any
from uuid import UUID

from django.apps.registry import Apps
from django.db import models

Model = type[models.Model]
ROWS_AT_ONCE = 200
BYTES_AT_ONCE = 8_000_000


class RowError(ValueError):
    """A line is not what its table expects."""


def tables(apps: Apps, left_out: Iterable[str] = ()) -> dict[str, Model]:
    """``app.model`` → model of every table, those between many and many too, in order of their names."""
    skipped = set(left_out)
    found = {
        model._meta.label_lower: model
        for model in apps.get_models(include_auto_created=True)
        if model._meta.managed and not model._meta.proxy and not model._meta.swapped
    }
    return {name: found[name] for name in sorted(found) if name not in skipped}


def columns(model: Model) -> list[str]:
    return [field.attname for field in model._meta.concrete_fields]


def written(model: Model, using: str) -> Generator[str]:
    """Each row as one line, by primary key."""
    names = columns(model)
    rows: models.QuerySet[models.Model, Any] = models.QuerySet(model, using=using).order_by("pk").values_list(*names)
    for row in rows.iterator(chunk_size=ROWS_AT_ONCE):
        yield json.dumps([_plain(value) for value in row], ensure_ascii=False, separators=(",", ":"))


def load(model: Model, names: list[str], lines: Iterable[str], using: str) -> int:
    """Creates the rows of the lines; how many. RowError where a line does not suit the table."""
    by_name = {field.attname: field for field in model._meta.concrete_fields}
    if set(names) != set(by_name):  # their order is the models', and another after migrations
        raise RowError(f"{model._meta.label_lower}: found columns {names}, expected {columns(model)}")
    fields, total = [by_name[name] for name in names], 0
    rows: models.QuerySet[models.Model] = models.QuerySet(model, using=using)
    for batch in _batches(lines):
        made = [model(**_values(fields, line, model)) for line in batch]
        rows.bulk_create(made)
        total += len(made)
    return total


def _batches(lines: Iterable[str]) -> Iterator[list[str]]:
    """Some rows, fewer of large ones."""
    left = iter(lines)
    while first := list(islice(left, 1)):
        batch, size = first, len(first[0])
        while len(batch) < ROWS_AT_ONCE and size < BYTES_AT_ONCE and (more := list(islice(left, 1))):
            batch += more
            size += len(more[0])
        yield batch


def _values(fields: "list[models.Field[Any, Any]]", line: str, model: Model) -> dict[str, Any]:
    values = json.loads(line)
    if not isinstance(values, list) or len(values) != len(fields):
        raise RowError(f"{model._meta.label_lower}: found {line[:80]!r}, expected a list of {len(fields)} values")
    return {field.attname: _typed(field, value) for field, value in zip(fields, values, strict=True)}


def _typed(field: "models.Field[Any, Any]", value: Any) -> Any:
    if value is None:
        return None
    if isinstance(field, models.BinaryField):
        return base64.b64decode(value, validate=True)
    return value if isinstance(field, models.JSONField) else field.to_python(value)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, Decimal):  # whatever the column's scale is
        return f"{value.normalize():f}"
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(value).decode("ascii")
    return value
