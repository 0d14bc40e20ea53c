"""What a format of requests is; a new one is one file that makes such an object."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from simcore.traces.fields import Bytes, Mask
from simcore.traces.trace import IntArray

CACHED, LIMIT, CLASS, SESSION = "cached_prompt_tokens", "max_output_tokens", "class", "session"


@dataclass(frozen=True)
class ArrivalColumn:
    """How a format writes arrivals.

    many and one read the same values, as whole multiples of unit_ps: many from plain fields at
    once (values, which are good), one from any text, raising RefusalError. relative: the earliest
    row's arrival is the trace's zero. unit: what a number counts, empty for dates. zones: of dates, which have no
    offset (0), that of UTC (1) or another one (2).
    """

    header: str
    unit_ps: int
    relative: bool
    many: Callable[[Bytes, IntArray, IntArray], tuple[IntArray, Mask]]
    one: Callable[[str], int]
    unit: str = ""
    zones: Callable[[Bytes, IntArray, IntArray], IntArray] | None = None


@dataclass(frozen=True)
class TableFormat:
    """Columns by name (of JSON: keys, one in another joined by a point), in any order.

    optional: the format's own names for CACHED, LIMIT, CLASS, SESSION. unused: what it is known to have besides.
    failed: what a count of 0 output tokens means, where the format marks a failed request so.
    """

    id: str
    label: str
    arrival: ArrivalColumn
    prompt: str
    output: str
    optional: Mapping[str, str] = field(default_factory=dict)
    unused: tuple[str, ...] = ()
    failed: str = ""
    layout: str = "table"
    """Of a file: ``table`` (a header, then a row a request), ``lines`` (a JSON object a request), ``document`` (one
    JSON object)."""

    @property
    def required(self) -> tuple[str, str, str]:
        return (self.arrival.header, self.prompt, self.output)

    @property
    def names(self) -> tuple[str, ...]:
        """Every column that is read."""
        return (*self.required, *self.optional.values())

    def missing(self, header: list[str]) -> list[str]:
        return [column for column in self.required if column not in header]

    def reads(self, header: list[str]) -> dict[str, str]:
        """The optional columns that a header has: by what they are to us."""
        return {ours: theirs for ours, theirs in self.optional.items() if theirs in header}
