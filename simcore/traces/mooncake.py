"""Mooncake's traces: a JSON object a request, with timestamp in milliseconds, input_length and output_length.

hash_ids, the blocks of the prompt that others may share, are read where that is asked for (``prefix_cache.py``): what a
prefix cache would hold depends on its size and on the routing, so that no cached tokens are taken from them unasked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from simcore.traces.digits import MOST_NS_SECONDS, NS_DIGITS, scaled_decimals
from simcore.traces.format import ArrivalColumn, TableFormat
from simcore.traces.json_lines import JsonFormat
from simcore.traces.numbers import milliseconds_as_ns
from simcore.traces.prefix_cache import BlockReader

TABLE = TableFormat(
    id="mooncake",
    label="Mooncake trace (JSON lines)",
    arrival=ArrivalColumn(
        "timestamp",
        1_000,
        True,
        partial(scaled_decimals, decimals=NS_DIGITS - 3, most_whole=MOST_NS_SECONDS * 1000 - 1),
        milliseconds_as_ns,
        "milliseconds",
    ),
    prompt="input_length",
    output="output_length",
    unused=("hash_ids",),
    layout="lines",
)


def is_ours(value: Mapping[str, Any]) -> bool:
    """Whether a JSON object is such a request."""
    return set(TABLE.required) <= set(value)


class PlainRecords:
    """Reads lines that are such objects."""

    def __init__(self) -> None:
        import msgspec

        fields = [(name, msgspec.Raw, msgspec.Raw(b"")) for name in TABLE.required]
        self.decode: Callable[[bytes], Any] = msgspec.json.Decoder(msgspec.defstruct("Request", fields)).decode

    def __call__(self, line: bytes) -> tuple[bytes, ...]:
        """The texts of a line's three numbers; ValueError for a line that is no such object."""
        found = self.decode(line)
        return bytes(found.timestamp), bytes(found.input_length), bytes(found.output_length)

    def refusal(self) -> str | None:
        """Why the whole cannot drive arrivals: nothing."""
        return None


MOONCAKE = JsonFormat(TABLE, is_ours, PlainRecords, blocks=BlockReader)
