"""What a format of comma-separated requests is; a new one is one file that makes such an object."""

from collections.abc import Callable
from dataclasses import dataclass

from simcore.traces.fields import Bytes, Mask
from simcore.traces.trace import IntArray

CACHED, LIMIT, CLASS, SESSION = "cached_prompt_tokens", "max_output_tokens", "class", "session"


@dataclass(frozen=True)
class ArrivalColumn:
    """How a format writes arrivals.

    many and one read the same values, as whole multiples of unit_ps: many from plain fields at
    once (values, which are good), one from any text, raising RefusalError. relative: the earliest
    row's arrival is the trace's zero.
    """

    header: str
    unit_ps: int
    relative: bool
    many: Callable[[Bytes, IntArray, IntArray], tuple[IntArray, Mask]]
    one: Callable[[str], int]


@dataclass(frozen=True)
class TableFormat:
    """Columns by name, in any order; optional ones are of CACHED, LIMIT, CLASS, SESSION."""

    id: str
    label: str
    arrival: ArrivalColumn
    prompt: str
    output: str
    optional: tuple[str, ...] = ()

    @property
    def required(self) -> tuple[str, str, str]:
        return (self.arrival.header, self.prompt, self.output)

    def missing(self, header: list[str]) -> list[str]:
        return [column for column in self.required if column not in header]
