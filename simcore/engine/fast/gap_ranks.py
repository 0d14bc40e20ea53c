"""Order statistics of token gaps, exact and without writing the runs out.

All runs are counted once into the bins of a logarithmic scale, 64 an octave. The bin in which a rank falls is known
then, and only what the runs have there is looked at: clipped to a bin, a run is a run again. That part is counted into
256 equal bins, clipped to one of them, and so on until a bin is one picosecond wide: some four rounds, each over a
small part of the one before. Counts are whole numbers, so the gap found is the one that sorting all would give.
"""

from __future__ import annotations

from simcore.engine.fast.jit import entry, step
from simcore.engine.fast.layout import BYTES, leading_zeros, numbers

OCTAVE_BITS = 6
BINS = 2**OCTAVE_BITS * 60
"""Up to beyond 2**63."""
HIGHEST_BIT = 63
FINE_BITS = 8
ROOM = BINS + 2**FINE_BITS
"""For the counts of both kinds of bins."""
LOGARITHMIC = -1
"""In place of the width of equal bins, as a power of two."""
FIRST, GROWTH, TERMS, COUNT = range(4)
COLUMNS = 4
"""Of a run."""


@entry
def find_ranks(
    first: int, growth: int, terms: int, count: int, part: int, bins: int, ranks: int, runs: int, wanted: int
) -> None:
    """Put in place of each of the wanted ranks the gap that has it. Addresses: of the runs' four columns, of room for
    as many runs again, of ``ROOM`` zeros, of the ranks."""
    for i in range(runs):
        add_run(bins, 0, LOGARITHMIC, numbers(first)[i], numbers(growth)[i], numbers(terms)[i], numbers(count)[i])
    for i in range(wanted):
        rank = numbers(ranks)[i]
        found = bin_of_rank(bins, rank)
        for earlier in range(found):
            rank -= numbers(bins)[earlier]
        low, high = start_of(found, 0, LOGARITHMIC), start_of(found + 1, 0, LOGARITHMIC)
        kept = 0
        for j in range(runs):
            kept = keep(
                part, kept, low, high, numbers(first)[j], numbers(growth)[j], numbers(terms)[j], numbers(count)[j]
            )
        numbers(ranks)[i] = gap_within(part, kept, bins + BYTES * BINS, low, high, rank)


@step
def gap_within(part: int, runs: int, bins: int, low: int, high: int, rank: int) -> int:
    """The gap of a rank among the runs of ``part``, all within [low, high), which is a power of two long."""
    shift = 0
    while high - low > 1 << shift:
        shift += 1
    while shift > 0:
        shift = max(shift - FINE_BITS, 0)
        for i in range(1 << FINE_BITS):
            numbers(bins)[i] = 0
        for i in range(runs):
            run = run_of(part, i)
            add_run(bins, low, shift, run[FIRST], run[GROWTH], run[TERMS], run[COUNT])
        found = bin_of_rank(bins, rank)
        for i in range(found):
            rank -= numbers(bins)[i]
        low += found << shift
        runs = clip(part, runs, low, low + (1 << shift))
    return low


@step
def bin_of_rank(bins: int, rank: int) -> int:
    """The bin in which it falls."""
    found, counted = 0, numbers(bins)[0]
    while counted < rank:
        found += 1
        counted += numbers(bins)[found]
    return found


@step
def clip(part: int, runs: int, low: int, high: int) -> int:
    """What the runs have in [low, high), in place of them. Returns how many runs are left."""
    kept = 0
    for i in range(runs):
        run = run_of(part, i)
        kept = keep(part, kept, low, high, run[FIRST], run[GROWTH], run[TERMS], run[COUNT])
    return kept


@step
def keep(part: int, kept: int, low: int, high: int, first: int, growth: int, terms: int, count: int) -> int:
    """Put what a run has in [low, high) behind the runs that were kept. Returns how many there are then."""
    if first >= high or first + growth * (terms - 1) < low:
        return kept
    skipped, until = terms_below(first, growth, terms, low), terms_below(first, growth, terms, high)
    if skipped == until:
        return kept
    run = run_of(part, kept)
    run[FIRST], run[GROWTH], run[TERMS], run[COUNT] = first + skipped * growth, growth, until - skipped, count
    return kept + 1


@step
def run_of(part: int, place: int) -> list[int]:
    """The four numbers of a run."""
    return numbers(part + BYTES * COLUMNS * place)


@step
def add_run(bins: int, origin: int, shift: int, first: int, growth: int, terms: int, count: int) -> None:
    """Count the gaps of a run into the bins that it passes through."""
    current, last = bin_of(first, origin, shift), bin_of(first + growth * (terms - 1), origin, shift)
    counted = 0
    while current < last:
        below = terms_below(first, growth, terms, start_of(current + 1, origin, shift))
        numbers(bins)[current] += (below - counted) * count
        counted, current = below, current + 1
    numbers(bins)[last] += (terms - counted) * count


@step
def terms_below(first: int, growth: int, terms: int, bound: int) -> int:
    """How many gaps of a run are shorter than that."""
    if bound <= first:
        return 0
    if first + growth * (terms - 1) < bound:
        return terms
    return (bound - first - 1) // growth + 1


@step
def bin_of(gap_ps: int, origin: int, shift: int) -> int:
    """The bin of a gap: of equal ones from the origin on, or of the logarithmic scale.

    There an octave [2**k, 2**(k + 1)) has 64 equal bins, and below 128 each picosecond its own.
    """
    if shift != LOGARITHMIC:
        return (gap_ps - origin) >> shift
    octave = max(HIGHEST_BIT - OCTAVE_BITS - leading_zeros(gap_ps), 0)
    return (octave << OCTAVE_BITS) + (gap_ps >> octave)


@step
def start_of(place: int, origin: int, shift: int) -> int:
    """The least gap of a bin."""
    if shift != LOGARITHMIC:
        return origin + (place << shift)
    octave = max((place >> OCTAVE_BITS) - 1, 0)
    return (place - (octave << OCTAVE_BITS)) << octave
