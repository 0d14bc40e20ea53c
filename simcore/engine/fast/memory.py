"""The ``Cluster`` record, and the tables that its fields hold the addresses of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simcore.engine.fast.gap_record import GapRecord
from simcore.engine.fast.layout import address_of

Rows = NDArray[Any]


@dataclass
class Memory:
    """What compiled code works on. It serves one run after another of a design (``design.py``)."""

    cluster: Rows
    """The record."""
    begun: Rows
    """The record before the first event."""
    tables: dict[str, Rows] = field(default_factory=dict)
    """By field."""
    changed: list[tuple[Rows, Rows]] = field(default_factory=list)
    """Bytes of tables that are set back before a run, and what to."""
    held: list[Rows] = field(default_factory=list)
    """What tables of this run point to."""
    record: GapRecord = field(default_factory=GapRecord)
    """Which token gaps this run keeps."""

    def __post_init__(self) -> None:
        self.changed.append((self.cluster.view(np.uint8), self.begun.view(np.uint8)))  # not field by field: 30 us

    @property
    def address(self) -> int:
        """What compiled code is given."""
        return address_of(self.cluster)

    def put(self, name: str, rows: Rows) -> None:
        """Have the record point to this table from now on."""
        self.tables[name] = rows
        self.fix(name, address_of(rows))

    def put_changing(self, name: str, rows: Rows) -> None:
        """The same with a copy of the table, which is set back before each run."""
        self.put(name, rows.copy())
        self.changed.append((self.tables[name].view(np.uint8), rows.view(np.uint8)))

    def fix(self, name: str, number: int) -> None:
        """A field of the record that stays as it is when it is set back."""
        self.cluster[name] = self.begun[name] = number

    def get(self, name: str) -> int:
        """A field of the record."""
        return int(self.cluster[name][0])

    def lengthen(self, name: str, length: int) -> None:
        """Room for more rows, zeros so far."""
        rows = np.zeros(length, self.tables[name].dtype)
        rows[: len(self.tables[name])] = self.tables[name]
        self.put(name, rows)

    def set_back(self) -> None:
        """As before the first event."""
        for rows, first in self.changed:
            rows[:] = first
