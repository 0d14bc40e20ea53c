"""A trace: when each request arrives, how long its prompt is, how many tokens it generates."""

import hashlib
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simcore.traces.errors import TraceError

IntArray = NDArray[np.int64]

PS_PER_S = 1_000_000_000_000
PS_PER_US = 1_000_000
# Two months. int64 picoseconds end after 106 days: that leaves a run room to drain.
MAX_ARRIVAL_S = 5_400_000
MAX_TOKENS = 10_000_000
# One physical line is one row in every text format, so no text may hold a line end.
CONTROL_CHARACTER = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, eq=False)
class Trace:
    """Requests in order of arrival; arrays are int64, of one length, and read-only.

    arrival_ps: since the trace's own zero. cached_prompt_tokens: the prefill starts there (less
    than prompt_tokens). output_tokens: every generated token, the first one included.
    max_output_tokens: the request's own limit, 0 where none is given. classes and sessions are
    kept as read; nothing uses them yet. Raises TraceError for arrays that break these rules.
    """

    name: str
    arrival_ps: IntArray
    prompt_tokens: IntArray
    output_tokens: IntArray
    cached_prompt_tokens: IntArray
    max_output_tokens: IntArray
    classes: tuple[str, ...] | None = None
    sessions: tuple[str, ...] | None = None

    @classmethod
    def of(
        cls,
        name: str,
        arrival_ps: ArrayLike,
        prompt_tokens: ArrayLike,
        output_tokens: ArrayLike,
        cached_prompt_tokens: ArrayLike | None = None,
        max_output_tokens: ArrayLike | None = None,
        classes: Sequence[str] | None = None,
        sessions: Sequence[str] | None = None,
    ) -> Self:
        """A trace from any integer sequences; the optional columns default to "not given"."""
        prompts = _whole(prompt_tokens)
        return cls(
            name,
            _whole(arrival_ps),
            prompts,
            _whole(output_tokens),
            np.zeros_like(prompts) if cached_prompt_tokens is None else _whole(cached_prompt_tokens),
            np.zeros_like(prompts) if max_output_tokens is None else _whole(max_output_tokens),
            None if classes is None else tuple(classes),
            None if sessions is None else tuple(sessions),
        )

    def __post_init__(self) -> None:
        for field, column in self._columns():
            _check_column(self.name, field, column, len(self.arrival_ps))
        for field, texts in (("class", self.classes), ("session", self.sessions)):
            if texts is not None:
                _check_texts(self.name, field, texts, len(self.arrival_ps))
        self._check_values()

    def _columns(self) -> list[tuple[str, IntArray]]:
        return [
            ("arrival_ps", self.arrival_ps),
            ("prompt_tokens", self.prompt_tokens),
            ("output_tokens", self.output_tokens),
            ("cached_prompt_tokens", self.cached_prompt_tokens),
            ("max_output_tokens", self.max_output_tokens),
        ]

    def _check_values(self) -> None:
        arrivals, limits = self.arrival_ps, self.max_output_tokens
        checks = [
            ("arrival_ps", arrivals, arrivals >= 0, "0 or more"),
            ("arrival_ps", arrivals, arrivals <= MAX_ARRIVAL_S * PS_PER_S, f"at most {MAX_ARRIVAL_S} s"),
            ("arrival_ps", arrivals[1:], np.diff(arrivals) >= 0, "no earlier than the one before"),
            ("prompt_tokens", self.prompt_tokens, _is_count(self.prompt_tokens), f"1 to {MAX_TOKENS}"),
            ("output_tokens", self.output_tokens, _is_count(self.output_tokens), f"1 to {MAX_TOKENS}"),
            (
                "cached_prompt_tokens",
                self.cached_prompt_tokens,
                (self.cached_prompt_tokens >= 0) & (self.cached_prompt_tokens < self.prompt_tokens),
                "0 to prompt_tokens - 1",
            ),
            (
                "max_output_tokens",
                limits,
                (limits == 0) | ((limits >= self.output_tokens) & (limits <= MAX_TOKENS)),
                f"0 (not given) or output_tokens to {MAX_TOKENS}",
            ),
        ]
        for field, column, good, expected in checks:
            if not good.all():
                bad = int(np.argmin(good))
                raise TraceError(
                    f"{self.name}: request {bad + len(arrivals) - len(column)}: {field}: "
                    f"found {column[bad]}, expected {expected}"
                )

    def __len__(self) -> int:
        return len(self.arrival_ps)

    @property
    def duration_s(self) -> float:
        """First to last arrival, in seconds."""
        return int(self.arrival_ps[-1] - self.arrival_ps[0]) / PS_PER_S

    @property
    def rate_per_s(self) -> float:
        """Gaps over duration, (N - 1) / duration_s: infinite where all arrive at one instant."""
        return (len(self) - 1) / self.duration_s if self.duration_s else math.inf

    def first(self, requests: int) -> "Trace":
        """The first requests only, at unchanged times; the whole trace if it has no more."""
        if requests >= len(self):
            return self
        positions = np.arange(requests)
        return self.take(positions, self.arrival_ps[positions])

    def take(self, positions: IntArray, arrival_ps: IntArray) -> "Trace":
        """The requests at these positions, which may repeat, at new arrivals in order."""
        return Trace(
            self.name,
            arrival_ps,
            self.prompt_tokens[positions],
            self.output_tokens[positions],
            self.cached_prompt_tokens[positions],
            self.max_output_tokens[positions],
            None if self.classes is None else tuple(self.classes[i] for i in positions),
            None if self.sessions is None else tuple(self.sessions[i] for i in positions),
        )

    def with_arrivals(self, arrival_ps: IntArray) -> "Trace":
        """The same requests at other arrivals, which are in order."""
        return replace(self, arrival_ps=arrival_ps)

    def content_hash(self) -> str:
        """SHA-256 of everything but the name: equal traces, however they came, hash alike."""
        digest = hashlib.sha256(f"phaseplan trace 1, {len(self)} requests".encode())
        for _, column in self._columns():
            digest.update(column.astype("<i8").tobytes())
        for label, texts in (("class", self.classes), ("session", self.sessions)):
            for text in () if texts is None else (label, *texts):
                encoded = text.encode()
                digest.update(len(encoded).to_bytes(8, "little") + encoded)
        return digest.hexdigest()


def _whole(values: ArrayLike) -> IntArray:
    """A read-only int64 copy; a fraction is an error, never cut."""
    given = np.asarray(values)
    if given.dtype.kind not in "iu":
        numbers = given.astype(np.float64)
        if not np.array_equal(np.trunc(numbers), numbers) or np.isinf(numbers).any():
            raise TraceError("found values that are not whole numbers, expected integers")
    column = given.astype(np.int64)
    column.setflags(write=False)
    return column


def _check_column(name: str, field: str, column: IntArray, requests: int) -> None:
    if column.dtype != np.int64 or column.ndim != 1:
        raise TraceError(f"{name}: {field}: found {column.ndim}-dimensional {column.dtype}, expected one row of int64")
    if len(column) != requests or requests == 0:
        raise TraceError(f"{name}: {field}: found {len(column)} values, expected {requests or 'at least one request'}")
    column.setflags(write=False)


def _check_texts(name: str, field: str, texts: tuple[str, ...], requests: int) -> None:
    if len(texts) != requests:
        raise TraceError(f"{name}: {field}: found {len(texts)} values, expected {requests}")
    for request, text in enumerate(texts):
        if CONTROL_CHARACTER.search(text):
            raise TraceError(
                f"{name}: request {request}: {field}: found a control character in {text!r}, expected none"
            )


def _is_count(column: IntArray) -> NDArray[np.bool_]:
    return (column >= 1) & (column <= MAX_TOKENS)
