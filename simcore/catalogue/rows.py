"""Rows of the tables as the dataclasses of ``simcore.spec``."""

from __future__ import annotations

import typing
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

from simcore.catalogue.figures import fields_by_id
from simcore.spec import Accelerator, Fabric, Machine, Model, SpecError, decode, nearest

T = TypeVar("T", Accelerator, Fabric, Machine, Model)

CLASSES: Mapping[str, type[Accelerator | Fabric | Machine | Model]] = {
    "accelerators": Accelerator,
    "machines": Machine,
    "fabrics": Fabric,
    "models": Model,
}
"""What a row of each table is."""


def accelerator(accelerator_id: str) -> Accelerator:
    """The accelerator with this catalogue id; SpecError names the nearest."""
    return _row("accelerator", _accelerators(), accelerator_id)


def machine(machine_id: str) -> Machine:
    """The machine with this catalogue id; SpecError names the nearest."""
    return _row("machine", _machines(), machine_id)


def fabric(fabric_id: str) -> Fabric:
    """The fabric with this catalogue id; SpecError names the nearest."""
    return _row("fabric", _fabrics(), fabric_id)


def model(model_id: str) -> Model:
    """The model with this catalogue id; SpecError names the nearest."""
    return _row("model", _models(), model_id)


def accelerator_ids() -> tuple[str, ...]:
    """Ids of all accelerators, in the order of the file."""
    return tuple(_accelerators())


def machine_ids() -> tuple[str, ...]:
    """Ids of all machines, in the order of the file."""
    return tuple(_machines())


def fabric_ids() -> tuple[str, ...]:
    """Ids of all fabrics, in the order of the file."""
    return tuple(_fabrics())


def model_ids() -> tuple[str, ...]:
    """Ids of all models, in the order of the file."""
    return tuple(_models())


def resolve_accelerator(of: Machine | Accelerator | str) -> Accelerator:
    """The accelerator of a machine (or of an id), inline or from the catalogue; SpecError where it is ``measured_as``
    none of the catalogue's."""
    named = of.accelerator if isinstance(of, Machine) else of
    if isinstance(named, str):
        return accelerator(named)
    if named.measured_as is not None:
        _row(f"measured_as of {named.id}", _accelerators(), named.measured_as)
    return named


def resolve_machine(named: str | Machine) -> Machine:
    """A machine from its catalogue id, or itself."""
    return machine(named) if isinstance(named, str) else named


def resolve_model(named: str | Model) -> Model:
    """A model from its catalogue id, or itself."""
    return model(named) if isinstance(named, str) else named


@cache
def _accelerators() -> dict[str, Accelerator]:
    return _read("accelerators", Accelerator)


@cache
def _machines() -> dict[str, Machine]:
    return _read("machines", Machine)


@cache
def _fabrics() -> dict[str, Fabric]:
    return _read("fabrics", Fabric)


@cache
def _models() -> dict[str, Model]:
    return _read("models", Model)


def _row(kind: str, rows: dict[str, T], row_id: str) -> T:
    if row_id not in rows:
        raise SpecError(f"{kind}: found '{row_id}', expected one of {', '.join(rows)}{nearest(row_id, rows)}")
    return rows[row_id]


def build(cls: type[T], row_id: str, fields: Mapping[str, str]) -> T:
    """A row from its figures as text (as the CSVs write them); SpecError names the figure that is missing or wrong."""
    hints = typing.get_type_hints(cls)
    return decode(cls, {"id": row_id, **{name: _value(hints.get(name), text) for name, text in fields.items()}}, row_id)


def _read(table: str, cls: type[T]) -> dict[str, T]:
    return {row_id: build(cls, row_id, fields) for row_id, fields in fields_by_id(table).items()}


def _value(hint: Any, text: str) -> Any:
    """The text as the field's type; as it is where it does not read so: ``decode`` then says what is expected."""
    options = typing.get_args(hint) or (hint,)
    if bool in options:
        return {"true": True, "false": False}.get(text, text)
    number = float if float in options else int if int in options else None
    try:
        return number(text) if number else text
    except ValueError:
        return text
