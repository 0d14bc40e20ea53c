"""What numba knows of the engine's tables: the types of a row and of an array, each a pointer, and how they are read.

Compiled code has addresses only, and for all that LLVM knows a store through one may change what is at any other: it
would look up every table's address again after every store. So each load and store says what kind of memory it is of:
a field of a record by the names of both, an array of numbers as such. No two kinds overlap (LLVM calls this type-based
alias analysis). Whoever looks at records as if they were arrays uses ``ANY``, which may be memory of every kind.

A field or a number is an int64 to compiled code whatever its width in memory: no function is compiled for two widths.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.imputils import lower_getattr_generic, lower_setattr_generic
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global, signature
from numba.extending import lower_builtin, models, register_model

ROOT = "memory of the engine"
NUMBERS_KIND, SMALLS_KIND = "numbers", "small numbers"
ANY = ""


class RowType(types.Type):
    """A row of a table of records: at which byte each field is, and of how many bits."""

    def __init__(self, record: str, fields: np.dtype[Any]) -> None:
        super().__init__(name=f"row of {record}")
        self.record = record
        self.fields = {name: (int(field[1]), 8 * field[0].itemsize) for name, field in (fields.fields or {}).items()}


class NumbersType(types.Type):
    """An array of numbers of so many bits of which nothing is known but where it begins."""

    def __init__(self, kind: str, bits: int = 64) -> None:
        super().__init__(name=kind or "any numbers")
        self.kind = kind
        self.bits = bits


@register_model(RowType)
class RowModel(models.OpaqueModel):
    """A pointer to bytes."""


@register_model(NumbersType)
class NumbersModel(models.PrimitiveModel):
    """A pointer to numbers."""

    def __init__(self, manager: Any, kind: NumbersType) -> None:
        super().__init__(manager, kind, ir.IntType(kind.bits).as_pointer())


@infer_getattr
class Fields(AttributeTemplate):
    """What a row has."""

    key = RowType

    def generic_resolve(self, row: RowType, name: str) -> Any:  # type: ignore[override]
        """An int64 for each field."""
        return types.int64 if name in row.fields else None


@infer_global(operator.getitem)
class ReadNumber(AbstractTemplate):
    """``numbers[i]``."""

    def generic(self, arguments: Any, _: Any) -> Any:
        """An int64."""
        array, place = arguments
        if isinstance(array, NumbersType) and isinstance(place, types.Integer):
            return signature(types.int64, array, types.int64)
        return None


@infer_global(operator.setitem)
class WriteNumber(AbstractTemplate):
    """``numbers[i] = number``."""

    def generic(self, arguments: Any, _: Any) -> Any:
        """Of any whole number."""
        array, place, number = arguments
        if isinstance(array, NumbersType) and isinstance(place, types.Integer) and isinstance(number, types.Integer):
            return signature(types.none, array, types.int64, types.int64)
        return None


def of_kind(builder: Any, access: Any, kind: str) -> Any:
    """A load or store, said to be of this kind of memory."""
    if kind != ANY:
        module = builder.module
        node = module.add_metadata([kind, module.add_metadata([ROOT]), ir.Constant(ir.IntType(64), 0)])
        access.set_metadata("tbaa", module.add_metadata([node, node, ir.Constant(ir.IntType(64), 0)]))
    return access


def field_pointer(builder: Any, row: RowType, pointer: Any, name: str) -> Any:
    """Where in memory a field of a row is."""
    offset, bits = row.fields[name]
    place = builder.gep(pointer, [ir.Constant(ir.IntType(64), offset)], inbounds=True)
    return builder.bitcast(place, ir.IntType(bits).as_pointer())


@lower_getattr_generic(RowType)
def read_field(context: Any, builder: Any, row: RowType, pointer: Any, name: str) -> Any:
    """``row.name``."""
    loaded = builder.load(field_pointer(builder, row, pointer, name))
    return builder.sext(of_kind(builder, loaded, f"{row.record}.{name}"), ir.IntType(64))


@lower_setattr_generic(RowType)
def write_field(context: Any, builder: Any, sig: Any, arguments: Any, name: str) -> None:
    """``row.name = number``."""
    row, kind = sig.args
    pointer, number = arguments
    place = field_pointer(builder, row, pointer, name)
    whole = context.cast(builder, number, kind, types.int64)
    stored = builder.store(builder.trunc(whole, place.type.pointee), place)
    of_kind(builder, stored, f"{row.record}.{name}")


@lower_builtin(operator.getitem, NumbersType, types.Integer)
def read_number(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
    """``numbers[i]``."""
    array, place = arguments
    loaded = builder.load(builder.gep(array, [place]))
    return builder.sext(of_kind(builder, loaded, sig.args[0].kind), ir.IntType(64))


@lower_builtin(operator.setitem, NumbersType, types.Integer, types.Integer)
def write_number(context: Any, builder: Any, sig: Any, arguments: Any) -> None:
    """``numbers[i] = number``."""
    array, place, number = arguments
    stored = builder.store(builder.trunc(number, array.type.pointee), builder.gep(array, [place]))
    of_kind(builder, stored, sig.args[0].kind)
