"""The logarithmic scale in whose bins token gaps are counted: 512 bins an octave, each 0.2 % of its gap or less.

An octave [2**k, 2**(k + 1)) has 512 equal bins, and below 1024 each picosecond its own.
"""

from __future__ import annotations

from simcore.engine.fast.jit import step
from simcore.engine.fast.layout import leading_zeros

OCTAVE_BITS = 9
HIGHEST_BIT = 63
BINS = 2**OCTAVE_BITS * (HIGHEST_BIT + 1 - OCTAVE_BITS)
"""Up to 2**63, where time ends."""
END_OF_TIME = (1 << HIGHEST_BIT) - 1
UNMARKED = -(1 << 62)
"""Where the count of a bin begins if its runs are not kept: it is below 0 then, however many there are."""


@step
def bin_of(gap_ps: int) -> int:
    """The bin of a gap."""
    octave = max(HIGHEST_BIT - OCTAVE_BITS - leading_zeros(gap_ps), 0)
    return (octave << OCTAVE_BITS) + (gap_ps >> octave)


def start_of_bin(place: int) -> int:
    """The least gap of a bin; of the one after the last: the end of time."""
    octave = max((place >> OCTAVE_BITS) - 1, 0)
    return min((place - (octave << OCTAVE_BITS)) << octave, END_OF_TIME)


start_of = step(start_of_bin)
"""The same for compiled code."""
