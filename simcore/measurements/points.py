"""What a benchmark file says, in one form whatever tool wrote it: serving results, single steps, and what was flagged.

Words and units are Phaseplan's: seconds, tokens, requests/s. TPOT is (E2E - TTFT) / (output tokens - 1), so without the
first token; a file's figure with another meaning is converted, and the point's ``notes`` say so.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Literal

Load = Literal["concurrency", "rate", "burst"]
"""``burst``: every request sent at once (a rate of ``inf`` without a limit on those in flight)."""
Effect = Literal["row left out", "not used", "noted"]
LISTED_FLAGS = 20
"""Of one sort; all are counted."""


@dataclass(frozen=True)
class Setting:
    """Where a thing was measured, as far as its file says."""

    model: str | None = None
    engine: str | None = None
    engine_version: str | None = None
    accelerator: str | None = None
    tensor_parallel: int | None = None
    replicas: int | None = None
    """That served the load together."""
    precision: str | None = None
    """Of weights."""
    date: str | None = None


@dataclass(frozen=True)
class ServingPoint:
    """One load and what came of it. All replicas together; None: the file does not say."""

    file: str
    where: str
    format: str
    load: Load | None
    concurrency: float | None
    """Requests that the client keeps in flight."""
    rate_req_per_s: float | None
    """Offered."""
    prompt_tokens: float | None
    """Of a mean request, as all token counts."""
    output_tokens: float | None
    requests_per_s: float | None
    """Completed."""
    output_tokens_per_s: float | None
    ttft_s: float | None
    """Mean."""
    ttft_median_s: float | None
    tpot_s: float | None
    """Mean, without the first token."""
    itl_s: float | None
    """Mean gap between two pieces of the stream."""
    e2e_s: float | None
    """Mean."""
    completed: int | None
    failed: int | None
    duration_s: float | None
    setting: Setting
    notes: tuple[str, ...] = ()

    @property
    def stays_s(self) -> float | None:
        """How long a mean request stays: its E2E, or what TTFT and TPOT make of it."""
        if self.e2e_s is not None:
            return self.e2e_s
        if self.ttft_s is None or self.tpot_s is None or self.output_tokens is None:
            return None
        return self.ttft_s + self.tpot_s * (self.output_tokens - 1)


@dataclass(frozen=True)
class StepPoint:
    """One iteration's time: a batch of whole prompts, or of decodes."""

    file: str
    where: str
    kind: Literal["prefill", "decode"]
    sequences: int
    context_tokens: float
    """A prompt's tokens; of a decode those cached."""
    time_s: float
    setting: Setting
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Flag:
    """Something in a file that could not be taken as it stands, and what was done about it."""

    file: str
    where: str
    """Line, row or place in the JSON."""
    field: str
    found: str
    reason: str
    effect: Effect

    def __str__(self) -> str:
        field_name = f", {self.field}" if self.field else ""
        found = f": found {self.found}" if self.found else ""
        return f"{self.file}, {self.where}{field_name}{found}: {self.reason} ({self.effect})"


@dataclass
class Flags:
    """All that was flagged: every one counted by effect and field, the first of each kept."""

    listed: list[Flag] = field(default_factory=list)
    counts: Counter[tuple[Effect, str]] = field(default_factory=Counter)

    def add(self, flag: Flag) -> None:
        """Count it, and keep it while there are few of its sort."""
        sort = (flag.effect, flag.field)
        self.counts[sort] += 1
        if self.counts[sort] <= LISTED_FLAGS:
            self.listed.append(flag)

    def total(self, effect: Effect) -> int:
        """How many had this effect."""
        return sum(count for (found, _), count in self.counts.items() if found == effect)


@dataclass(frozen=True)
class Source:
    """A file that was read."""

    file: str
    sha256: str
    format: str
    """The tool's name, and the form."""
    rows: int
    """Results (or measured steps, or requests) that it holds, those left out included."""


@dataclass
class Measurements:
    """What files hold: ``serving`` and ``steps`` can be used, ``flags`` say what could not and why."""

    serving: list[ServingPoint] = field(default_factory=list)
    steps: list[StepPoint] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    flags: Flags = field(default_factory=Flags)


Json = dict[str, Any]
