"""What reading a trace found: rows read, accepted, repaired and refused, with line numbers."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simcore.traces.prefix_cache import PromptBlocks

LISTED_ISSUES = 100
NO_REQUESTS = ("empty line", "repeated header", "warm-up")
"""Kinds of refused rows that were no request: the traffic lacks nothing for them."""
SHOWN_CHARACTERS = 60


@dataclass(frozen=True)
class Issue:
    """One thing found in one line: what it was, what is expected, what was done about it.

    kind is a short phrase that issues are counted by; line counts from 1, the header included.
    """

    kind: str
    line: int
    field: str
    found: str
    expected: str
    action: str

    def __str__(self) -> str:
        where = f"line {self.line}" + (f", {self.field}" if self.field else "")
        return f"{where}: found {self.found}, expected {self.expected}: {self.action}"


@dataclass
class Findings:
    """Issues of one sort, every one counted, the first LISTED_ISSUES of them listed."""

    listed: list[Issue] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, issue: Issue) -> None:
        self.counts[issue.kind] += 1
        if len(self.listed) < LISTED_ISSUES:
            self.listed.append(issue)

    def add_unlisted(self, kind: str, more: int) -> None:
        """Counts more issues of a kind without building them, for when the list is full."""
        if more:
            self.counts[kind] += more

    @property
    def total(self) -> int:
        return self.counts.total()

    def to_json(self) -> dict[str, Any]:
        return {
            "total": self.total,
            "counts": dict(sorted(self.counts.items())),
            "listed": [asdict(issue) for issue in self.listed],
        }


@dataclass
class ParseReport:
    """Rows read = accepted + refused; a repaired row is an accepted one that was changed.

    repaired_rows counts rows once, however many repairs each needed; repaired.total counts the
    repairs, those of the whole file (a byte order mark, an unused column) included.
    """

    format: str
    rows_read: int = 0
    accepted: int = 0
    repaired_rows: int = 0
    repaired: Findings = field(default_factory=Findings)
    refused: Findings = field(default_factory=Findings)
    counted_by: str = "line"
    """What an issue's number counts: lines of the file, or the entries of a run's lists."""
    doubts: list[str] = field(default_factory=list)
    """What the whole may not mean as it was read: a sentence each."""
    prefix_cache: dict[str, Any] | None = None
    """What a prefix cache was asked to hold of the prompts (see ``prefix_cache.py``)."""
    blocks: PromptBlocks | None = field(default=None, repr=False, compare=False)
    """What the file says of the prompts' beginnings, where that was asked for: no part of the report's JSON."""

    @property
    def refused_rows(self) -> int:
        return self.rows_read - self.accepted

    @property
    def refused_requests(self) -> int:
        """Refused rows that stand for a request."""
        return self.refused_rows - sum(self.refused.counts[kind] for kind in NO_REQUESTS)

    def to_json(self) -> dict[str, Any]:
        """A dictionary of plain JSON values, the form kept beside a stored workload."""
        return {
            "format": self.format,
            "counted_by": self.counted_by,
            "rows_read": self.rows_read,
            "accepted": self.accepted,
            "repaired_rows": self.repaired_rows,
            "refused_rows": self.refused_rows,
            "refused_requests": self.refused_requests,
            "doubts": list(self.doubts),
            "prefix_cache": self.prefix_cache,
            "repaired": self.repaired.to_json(),
            "refused": self.refused.to_json(),
        }


def shown(text: str) -> str:
    """Text as a message shows it: quoted, control characters escaped, long text cut."""
    cut = text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "…"
    return repr(cut)
