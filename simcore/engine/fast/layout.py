"""How the engine keeps its records: a class names and describes the fields, a table is a NumPy array of them.

Compiled code is handed one number, the address of the ``Cluster`` record, and finds everything from there: the record's
fields hold the addresses of the tables. To numba a row is a pointer and an array is a pointer, so that a call hands on
one word whatever the callee works on (with the forty arrays as arguments the engine took minutes to compile); to mypy a
row is an object of its class, which is never made. Whoever calls compiled code keeps the arrays alive meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from simcore.engine.fast.row_types import ANY, NUMBERS_KIND, SMALLS_KIND, NumbersType, RowType

Int64 = NDArray[np.int64]
BYTES = 8
"""Of a number."""
Record = TypeVar("Record")
Small = int
"""To mypy a number like another; in a table 32 bits, for what is certain to stay below 2**31."""
NUMBERS = {"int": np.int64, "Small": np.int32}
"""By the annotation's text."""
Columns = Sequence[int] | Int64 | int


_FIELDS: dict[type[Any], np.dtype[Any]] = {}


def fields_of(record: type[Any]) -> np.dtype[Any]:
    """A number for each field that the class names, in its order: an int64, or an int32 where it is ``Small``."""
    if record not in _FIELDS:
        kinds = [(name, NUMBERS[kind]) for name, kind in record.__annotations__.items()]
        _FIELDS[record] = np.dtype(kinds, align=True)
    return _FIELDS[record]


def table(record: type[Any], rows: int, **columns: Columns) -> NDArray[Any]:
    """A table of records: zeros but for the given columns."""
    made = np.zeros(rows, dtype=fields_of(record))
    for name, values in columns.items():
        made[name] = values
    return made


def address_of(rows: NDArray[Any]) -> int:
    """Where a table lies. Whoever hands it to compiled code keeps the table alive."""
    return int(rows.ctypes.data)  # __array_interface__ would describe every field of a record


def row_of(record: type[Record]) -> Callable[[int, int], Record]:
    """A function for compiled code: the row of a table of such records, of which the address is given."""
    fields = fields_of(record)
    kind, size = RowType(record.__name__, fields), fields.itemsize

    def row(typing_context: Any, address: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            offset = builder.mul(arguments[1], context.get_constant(types.int64, size))
            return builder.inttoptr(builder.add(arguments[0], offset), context.get_value_type(kind))

        return kind(types.int64, types.int64), generate

    compiled: Any = intrinsic(row)
    made: Callable[[int, int], Record] = compiled
    return made


def _array_of(kind: NumbersType) -> Callable[[int], list[int]]:
    def numbers(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], context.get_value_type(kind))

        return kind(types.int64), generate

    compiled: Any = intrinsic(numbers)
    made: Callable[[int], list[int]] = compiled
    return made


def _leading_zeros(typing_context: Any, number: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], context.get_constant(types.boolean, False))

    return types.int64(types.int64), generate


def _unsigned(divide: str) -> Callable[[int, int], int]:
    def unsigned(typing_context: Any, number: Any, divisor: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return getattr(builder, divide)(*arguments)

        return types.int64(types.int64, types.int64), generate

    compiled: Any = intrinsic(unsigned)
    made: Callable[[int, int], int] = compiled
    return made


quotient = _unsigned("udiv")
"""For compiled code: ``//`` of numbers that are not negative, without a look at their signs."""
remainder = _unsigned("urem")
"""The same of ``%``."""

_counted: Any = intrinsic(_leading_zeros)
leading_zeros: Callable[[int], int] = _counted
"""For compiled code: the zero bits in front of a number; 64 for 0."""


def _close_up(typing_context: Any, array: Any, place: Any, behind: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        column, first, count = arguments
        to = builder.gep(column, [first])
        cgutils.raw_memmove(builder, to, builder.gep(to, [context.get_constant(types.int64, 1)]), count, BYTES)
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64), generate


_closed_up: Any = intrinsic(_close_up)
close_up: Callable[[list[int], int, int], None] = _closed_up
"""For compiled code: so many numbers of an array, those behind a place, each take the place before. A loop would be
guessed wrong at its end, three times."""

numbers = _array_of(NumbersType(NUMBERS_KIND))
"""For compiled code: the array of int64 of which the address is given."""
words = _array_of(NumbersType(ANY))
"""The same of what may be records too."""
smalls = _array_of(NumbersType(SMALLS_KIND, 32))
"""The array of int32."""
