"""One pool: the fewest machines that hold the required rate, between a count that fails and one that holds."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

from simcore.families import Line
from simcore.search.counts import Counts
from simcore.search.tried import Proven, Tried, failing, grown, holding


def between(line: Line, tried: Mapping[Counts, Tried], proven: Proven, rate_req_per_s: float) -> list[Counts]:
    """Close the gap between the largest count that fails and the smallest that holds: first where the capacities known
    say, then ever further from there. None where nothing holds yet, or the gap is closed."""
    held = holding(tried)
    if not held:
        return []
    high = held[0][0]
    low = max((counts[0] for counts in failing(tried) if counts[0] < high), default=0)
    while low + 1 < high and (proven.cannot((low + 1,)) or line.whole((low + 1,)) != (low + 1,)):
        low += 1
    while low + 1 < high and proven.beaten((high - 1,)):
        high -= 1
    if high - low <= 1:
        return []
    guess = _interpolated(tried, rate_req_per_s)
    further = 2 * low + 1 - guess if guess <= low else 2 * high - 1 - guess if guess >= high else guess
    return [(min(max(further, low + 1), high - 1),)]


def larger(tried: Mapping[Counts, Tried], rate_req_per_s: float) -> list[Counts]:
    """Where nothing holds yet."""
    if holding(tried):
        return []
    largest = max(tried)
    return [(grown(largest[0], tried[largest].held_req_per_s, rate_req_per_s),)]


def _interpolated(tried: Mapping[Counts, Tried], rate_req_per_s: float) -> int:
    """The count that just holds the rate, by the line between the nearest two of known capacity."""
    known = [(counts[0], found.capacity_req_per_s, found.holds) for counts, found in tried.items()]
    fails = [(count, held) for count, held, holds in known if held is not None and not holds]
    above = [(count, held) for count, held, holds in known if held is not None and holds]
    (high, held_high) = min(above, default=(min(holding(tried))[0], rate_req_per_s))
    (low, held_low) = max((one for one in fails if one[0] < high), default=(0, 0.0))
    share = (rate_req_per_s - held_low) / max(held_high - held_low, 1e-9)
    return ceil(low + share * (high - low))
