"""What a walk over requests is given, and what it leaves: records as the engine's (``engine/fast/layout.py``)."""

from __future__ import annotations

from simcore.engine.fast.layout import row_of

QUEUE, TTFT, E2E, TPOT, TTFT_SLOWDOWN, E2E_SLOWDOWN, TBT_SLOWDOWN, ARRIVAL, DELAY, ALONE, MARKS, PLACES = range(12)
"""Columns of a batch, one entry a finished request: times in ps; TPOT and slowdowns as keys (``keys.py``), those per
token of the requests with a second token only. MARKS and PLACES are for ``brackets.py``."""
COLUMNS = 12
BATCH = 256
"""Requests whose columns are in the caches at once: 24 KiB."""

SUM_OF_QUEUE, SUM_OF_TTFT, SUM_OF_E2E, SUM_OF_ALONE = range(4)
EARLY_ARRIVALS, LATE_ARRIVALS, EARLY_DELAYS, LATE_DELAYS = range(4, 8)
TPOT_WHOLE, TPOT_FRACTION = 8, 9
SUMS = 10
NO_REFERENCE = -1


class Requests:
    """Addresses of the columns of the requests, in order of arrival; those walked over."""

    arrival_ps: int
    prompt_tokens: int
    cached_prompt_tokens: int
    output_tokens: int
    first_scheduled_ps: int
    first_token_ps: int
    finish_ps: int
    status: int
    prefill_replica: int
    decode_replica: int
    preemptions: int
    first: int
    end: int
    stride: int
    """1: each of them; else every so many."""


class Counts:
    """How many requests there are of a sort, and tokens."""

    finished: int
    refused: int
    unfinished: int
    several: int
    """With a second token to give,"""
    several_finished: int
    """and those of them that finished."""
    output_tokens: int
    finished_prompt_tokens: int
    finished_output_tokens: int
    preemptions: int
    preempted: int
    longest_prompt: int
    longest_output: int


class Alone:
    """A replica with one request on it (``lone.py``)."""

    curve: int
    """Address of its record."""
    stages: int
    decode_ps: int
    """A decode iteration but for its context."""
    known_base: int
    """Address of the time of so many prompt tokens but for their attention, up to ``known_tokens``."""
    known_tokens: int


class Walk:
    """What is asked of a walk, and where it puts it."""

    alone: int
    """``Alone`` of each pool, then of the reference."""
    knots: int
    pool_of: int
    """Of each replica, where that matters: its place in ``alone``."""
    pools: int
    reference: int
    """Its place, or ``NO_REFERENCE``."""
    delays: int
    """Whether requests' times alone on their own replicas are asked for."""
    means: int
    """Whether sums of waits are."""
    third: int
    """A third of the finished requests,"""
    late: int
    """and where among them the last third begins."""
    ttft_limit: int
    """Keys of limits (``keys.py``): how many requests keep both is counted."""
    tpot_limit: int
    in_time: int
    batch: int
    sums: int
    brackets: int
    bracket_count: int
    inexact: int
    """Whether a TPOT has bits that its sum lacks."""


class Sum:
    """A sum of whole numbers beyond 64 bits: high * 2**32 + low."""

    high: int
    low: int


class Bracket:
    """Values of a column between two bounds; every value if these are one and the same. Those as large as a bound are
    only counted: it may be a time that many requests have."""

    column: int
    low: int
    high: int
    below: int
    """How many values are below the lower bound,"""
    at_low: int
    """as large as it,"""
    between: int
    """between the two, of which the first ``room`` are kept,"""
    at_high: int
    """as large as the upper one."""
    kept: int
    """Address."""
    room: int


requests_row, counts_row, walk_row = row_of(Requests), row_of(Counts), row_of(Walk)
alone_row, sum_row, bracket_row = row_of(Alone), row_of(Sum), row_of(Bracket)
