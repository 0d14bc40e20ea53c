"""Generated arrivals: on any machine the same, rounded to whole microseconds.

The same seed gives the same sequence at every rate, only its time scaled, so that two rates (or
two designs) are compared on common random numbers.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from simcore.traces.errors import TraceError
from simcore.traces.splitmix import exponentials
from simcore.traces.trace import MAX_ARRIVAL_S, PS_PER_S, PS_PER_US, IntArray

# Gaps are summed in 10^-12 of the mean gap, which keeps a sum of 5 million in int64.
UNITS_PER_GAP = 1_000_000_000_000
MOST_REQUESTS = 5_000_000
FLOAT_ERROR = 2.0**-50
"""Of a product of a whole number and a fraction, both rounded to floating numbers: more than their three roundings."""


def poisson_ps(rate_req_per_s: float, requests: int, seed: int, stream: int) -> IntArray:
    """Arrivals of a Poisson process: independent exponential gaps, the first one before the first."""
    return at_rate_ps(poisson_gaps(requests, seed, stream), rate_req_per_s)


def poisson_gaps(requests: int, seed: int, stream: int) -> IntArray:
    """The same times in 10^-12 mean gaps."""
    gaps: IntArray = np.rint(exponentials(seed, stream, requests) * UNITS_PER_GAP).astype(np.int64)
    return np.cumsum(gaps)


def at_rate_ps(mean_gaps: IntArray, rate_req_per_s: float) -> IntArray:
    """Times in 10^-12 mean gaps, in order, as picoseconds, rounded to the microsecond."""
    rate = exact_rate(rate_req_per_s)
    us_per_unit = 1 / rate * Fraction(PS_PER_S // PS_PER_US, UNITS_PER_GAP)
    return scaled(mean_gaps, us_per_unit, MAX_ARRIVAL_S * PS_PER_US) * PS_PER_US


def scaled(times: IntArray, factor: Fraction, most: int) -> IntArray:
    """times x factor, rounded half up to whole numbers, exactly. Raises TraceError beyond most.

    In floating numbers where those can tell; whatever comes so near to a half that they cannot is rounded exactly.
    """
    if len(times) and (last := _rounded(times[-1:], factor)[0]) > most:
        raise TraceError(
            f"rate: found arrivals up to {float(last * MAX_ARRIVAL_S / most):.3g} s, "
            f"expected at most {MAX_ARRIVAL_S} s: a higher rate or fewer requests"
        )
    product = times * float(factor)
    whole = np.floor(product)
    unsure = np.abs(product - whole - 0.5) <= product * FLOAT_ERROR
    found: IntArray = whole.astype(np.int64) + (product - whole > 0.5)
    found[unsure] = _rounded(times[unsure], factor)
    return found


def _rounded(times: IntArray, factor: Fraction) -> NDArray[np.object_]:
    product = times.astype(object) * (2 * factor.numerator) + factor.denominator
    return np.asarray(product // (2 * factor.denominator))


def exact_rate(rate_req_per_s: float) -> Fraction:
    """A rate as the decimal fraction that it is written as. Raises TraceError unless positive."""
    if not 0 < rate_req_per_s < float("inf"):
        raise TraceError(f"rate: found {rate_req_per_s} requests/s, expected more than 0")
    return Fraction(str(float(rate_req_per_s)))
