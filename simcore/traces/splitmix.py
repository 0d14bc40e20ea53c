"""Random numbers that are the same on every machine: SplitMix64, by position.

Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014. The
n-th number of a stream depends on seed, stream and n alone, so a longer sequence begins as the
shorter one does. Only integer operations and IEEE +, -, *, / are used.
"""

import numpy as np
from numpy.typing import NDArray

from simcore.traces.trace import IntArray

GOLDEN_GAMMA = 0x9E3779B97F4A7C15
MASK_64 = (1 << 64) - 1
MANTISSA_BITS = 53

Words = NDArray[np.uint64]


def mixed(words: Words) -> Words:
    """SplitMix64's finaliser: a bijection of 64-bit words."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def words(seed: int, stream: int, count: int) -> Words:
    """The first count 64-bit words of a stream of a seed."""
    start = _word(_word(seed & MASK_64) + stream * GOLDEN_GAMMA)
    positions = np.arange(1, count + 1, dtype=np.uint64)
    return mixed(np.uint64(start) + positions * np.uint64(GOLDEN_GAMMA))


def below(seed: int, stream: int, count: int, limit: int | IntArray) -> IntArray:
    """Whole numbers from 0 to limit - 1, limit up to 2^31: the high half of a product.

    limit may be one for all or one a number.
    """
    high = words(seed, stream, count) >> np.uint64(32)
    return ((high * np.asarray(limit, dtype=np.uint64)) >> np.uint64(32)).astype(np.int64)


def exponentials(seed: int, stream: int, count: int) -> NDArray[np.float64]:
    """Exponential variates of mean 1: -ln((k + 1) / 2^53), k the word's high 53 bits."""
    whole = (words(seed, stream, count) >> np.uint64(64 - MANTISSA_BITS)) + np.uint64(1)
    return -natural_log(whole.astype(np.float64) / float(1 << MANTISSA_BITS))


def natural_log(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """ln of positive numbers within 1e-15, by basic operations alone.

    libm's log differs in the last bit from machine to machine. ln(m 2^e) = e ln 2 + 2 artanh(s),
    s = (m - 1) / (m + 1), m from sqrt(1/2) to sqrt(2), so that s^2 < 0.0295 and 11 terms do.
    """
    mantissa, exponent = np.frexp(values)
    low = mantissa < SQRT_HALF
    mantissa = np.where(low, mantissa * 2, mantissa)
    exponent = exponent - low
    ratio = (mantissa - 1) / (mantissa + 1)
    square = ratio * ratio
    total = np.zeros_like(ratio)
    for term in range(TERMS - 1, -1, -1):
        total = total * square + 1 / (2 * term + 1)
    logarithm: NDArray[np.float64] = exponent * LN_2 + 2 * ratio * total
    return logarithm


SQRT_HALF = 0.7071067811865476
LN_2 = 0.6931471805599453
TERMS = 11


def _word(value: int) -> int:
    return int(mixed(np.array([value & MASK_64], dtype=np.uint64))[0])
