"""One measured figure and what is predicted for it, or why nothing is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Phase = Literal["prefill", "decode", "hybrid", "linear", "tpot", "ttft", "throughput", "capacity", "power", "energy"]
POOR_TIERS = ("C", "D")
"""Of ``serving_points.csv``: burst or another definition, fails Little's law."""


@dataclass(frozen=True)
class Place:
    """Where something was measured, in the catalogue's words."""

    model: str
    accelerator: str
    tensor_parallel: int
    engine: str
    """The engine generation of the prediction: ``kernel``, ``vllm-2023``, ``vllm-2026``."""
    variant: str
    """Software and precision as measured, ``vllm bf16``."""


@dataclass(frozen=True)
class Comparison:
    """A measured figure and its prediction, in the same unit."""

    set: str
    row: str
    """File and line."""
    phase: Phase
    place: Place
    what: str
    """The load: tokens, sequences, context, rate."""
    measured: float
    predicted: float
    unit: str
    fitted: bool
    """Whether the row was used to find coefficients."""
    tier: str = ""
    assumes: str = ""
    """What the row does not state and was taken."""
    repeats: tuple[str, ...] = ()
    """Other rows of the same configuration, whose median with ``row`` was measured."""

    @property
    def error(self) -> float:
        """Predicted over measured, less 1."""
        return self.predicted / self.measured - 1

    @property
    def poor(self) -> bool:
        """Of a tier that is left out of fits and goals, but shown."""
        return self.tier in POOR_TIERS


@dataclass(frozen=True)
class NotCompared:
    """A row, or a file, for which nothing is predicted."""

    set: str
    row: str
    reason: str
    what: str = ""


@dataclass(frozen=True)
class RowCount:
    """What became of the rows of one file. ``rows`` is ``compared`` and ``left_out``, or a reader has lost some."""

    file: str
    rows: int
    compared: int
    """With a prediction for at least one of their figures."""
    left_out: int


@dataclass
class Findings:
    """What the readers found."""

    compared: list[Comparison] = field(default_factory=list)
    left_out: list[NotCompared] = field(default_factory=list)
    counts: list[RowCount] = field(default_factory=list)

    def extend(self, others: Findings) -> None:
        """Add another reader's."""
        self.compared += others.compared
        self.left_out += others.left_out
