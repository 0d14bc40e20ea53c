"""How the engine keeps its records: a class names and describes the fields, a table is a NumPy array of them.

A class of this package's tables is never made: numba sees a record of int64 fields, mypy sees the class.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]
Record = TypeVar("Record")

if TYPE_CHECKING:
    class Table(Generic[Record]):
        """An array of records: a row has the class's fields, a column is an int64 array."""

        def __getitem__(self, row: int | tuple[int, int]) -> Record: ...
        def __len__(self) -> int: ...
else:
    class Table(Generic[Record]):
        """Only a name at run time."""


def table(record: type[Record], rows: int | tuple[int, int], /, **columns: Sequence[int] | Int64 | int) -> Table[Record]:
    """A table of ``rows`` records: zeros but for the given columns."""
    made: Any = np.zeros(rows, dtype=np.dtype([(name, np.int64) for name in get_type_hints(record)]))
    for name, values in columns.items():
        made[name] = values
    result: Table[Record] = made
    return result


def longer(rows: Table[Record], length: int) -> Table[Record]:
    """A copy with room for more records, zeros so far."""
    old: Any = rows
    made: Any = np.zeros(length, dtype=old.dtype)
    made[: len(old)] = old
    result: Table[Record] = made
    return result


def column(rows: Table[Record], name: str) -> Int64:
    """A copy of one field of all rows."""
    records: Any = rows
    return np.ascontiguousarray(records[name])
