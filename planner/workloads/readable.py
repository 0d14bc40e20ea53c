"""What can be uploaded, in words: the formats, and how large a file may be."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings

from simcore.traces.format import TableFormat
from simcore.traces.mooncake import MOONCAKE
from simcore.traces.read import FORMATS
from simcore.traces.trace import MAX_ARRIVAL_S

TIMES = {
    "phaseplan": "seconds from 0",
    "azure": "date and time, UTC unless it says an offset",
    "burstgpt": "seconds",
    "mooncake": "milliseconds",
    "aiperf": "nanoseconds since 1970",
    "vllm": "seconds, less queue_times",
}


@dataclass(frozen=True)
class Readable:
    """A format, and how it writes when a request came."""

    format: TableFormat
    times: str

    @property
    def if_there(self) -> Sequence[str]:
        """What else is read where a file has it."""
        return [*self.format.optional.values(), *(("hash_ids",) if self.format.id == MOONCAKE.table.id else ())]


def readable() -> Sequence[Readable]:
    """Every format, in the order that it is looked for."""
    return [Readable(format, TIMES[format.id]) for format in FORMATS]


def limits() -> dict[str, str]:
    """How large a file may be."""
    return {
        "bytes": str(settings.TRACE_MAX_BYTES),
        "mb": f"{settings.TRACE_MAX_BYTES // 1_000_000:,}",
        "unpacked_mb": f"{settings.TRACE_MAX_UNPACKED_BYTES // 1_000_000:,}",
        "rows": f"{settings.TRACE_MAX_ROWS:,}",
        "days": f"{MAX_ARRIVAL_S / 86_400:.3g}",
    }
