"""Sums of a batch's columns, exact: whole numbers in two halves, TPOTs as whole numbers and 2**-52 parts of one."""

from __future__ import annotations

from simcore.engine.fast.jit import step
from simcore.engine.fast.layout import numbers
from simcore.engine.tally.keys import value_of
from simcore.engine.tally.records import (
    ALONE,
    ARRIVAL,
    BATCH,
    DELAY,
    E2E,
    EARLY_ARRIVALS,
    EARLY_DELAYS,
    LATE_ARRIVALS,
    LATE_DELAYS,
    QUEUE,
    SUM_OF_ALONE,
    SUM_OF_E2E,
    SUM_OF_QUEUE,
    SUM_OF_TTFT,
    TPOT,
    TPOT_FRACTION,
    TPOT_WHOLE,
    TTFT,
    Walk,
    sum_row,
)
from simcore.slo.distribution import HALF_BITS, INT64_SAFE, MANTISSA_BITS

HALF = (1 << HALF_BITS) - 1
FRACTIONS = float(1 << MANTISSA_BITS)
MOST = float(INT64_SAFE)


@step
def add_up(walk: Walk, filled: int, several: int, seen: int) -> None:
    """Add a batch of so many finished requests, before which so many were ``seen``."""
    if walk.means != 0:
        add(walk, SUM_OF_QUEUE, QUEUE, 0, filled)
        add(walk, SUM_OF_TTFT, TTFT, 0, filled)
        add(walk, SUM_OF_E2E, E2E, 0, filled)
        add_tpots(walk, several)
    if walk.delays != 0:
        early, late = min(max(walk.third - seen, 0), filled), min(max(walk.late - seen, 0), filled)
        add(walk, SUM_OF_ALONE, ALONE, 0, filled)
        add(walk, EARLY_ARRIVALS, ARRIVAL, 0, early)
        add(walk, EARLY_DELAYS, DELAY, 0, early)
        add(walk, LATE_ARRIVALS, ARRIVAL, late, filled)
        add(walk, LATE_DELAYS, DELAY, late, filled)


@step
def add(walk: Walk, place: int, column: int, first: int, end: int) -> None:
    """Add entries of a column to a sum."""
    high = low = 0
    for i in range(column * BATCH + first, column * BATCH + end):
        high += numbers(walk.batch)[i] >> HALF_BITS
        low += numbers(walk.batch)[i] & HALF
    add_halves(walk, place, high, low)


@step
def add_tpots(walk: Walk, several: int) -> None:
    """Add the TPOTs; ``inexact`` where one has bits below 2**-52, or leaves int64."""
    high = low = fraction_high = fraction_low = 0
    for i in range(TPOT * BATCH, TPOT * BATCH + several):
        tpot_ps = value_of(numbers(walk.batch)[i])
        if tpot_ps >= MOST:
            walk.inexact = 1
            continue
        whole = int(tpot_ps)
        parts = (tpot_ps - whole) * FRACTIONS
        fraction = int(parts)
        if fraction != parts:
            walk.inexact = 1
        high, low = high + (whole >> HALF_BITS), low + (whole & HALF)
        fraction_high, fraction_low = fraction_high + (fraction >> HALF_BITS), fraction_low + (fraction & HALF)
    add_halves(walk, TPOT_WHOLE, high, low)
    add_halves(walk, TPOT_FRACTION, fraction_high, fraction_low)


@step
def add_halves(walk: Walk, place: int, high: int, low: int) -> None:
    """Add to a sum."""
    total = sum_row(walk.sums, place)
    total.high += high
    total.low += low
