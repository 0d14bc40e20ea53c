"""Whether a benchmark kept a fixed number of requests in flight: its starts then follow from its ends."""

import numpy as np

from simcore.traces.trace import IntArray

FEWEST_REQUESTS = 20
LEAST_SHARE = 0.9
"""Of the starts in the middle eight tenths that find the same number in flight."""
SOON_NS, SOON_SHARE = 5_000_000, 0.1
"""A start follows an end within this time, or this share of the mean gap."""


def closed_loop(start_ns: IntArray, end_ns: IntArray) -> int | None:
    """How many requests a client kept in flight, each sent when one ended; None where it did not.

    Evenly spaced requests of equal length are in flight in equal numbers too, but none begins just when another ends.
    """
    if len(start_ns) < FEWEST_REQUESTS:
        return None
    starts, ends = np.sort(start_ns), np.sort(end_ns)
    ended = np.searchsorted(ends, starts, side="right")
    middle = slice(len(starts) // 10, len(starts) - len(starts) // 10)
    counts = np.bincount((np.arange(len(starts)) + 1 - ended)[middle].clip(0))
    most = int(counts.argmax())
    if most < 2 or counts[most] < LEAST_SHARE * counts.sum():
        return None
    since_ns = (starts - ends[np.maximum(ended - 1, 0)])[middle]
    soon_ns = max(SOON_NS, SOON_SHARE * float(np.diff(starts).mean()))
    return most if float(np.median(since_ns)) <= soon_ns else None
