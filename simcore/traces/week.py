"""Traffic that follows the hours of a week: seven days of 24 relative rates, Monday first."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from simcore.spec.week import DAYS, HOURS, Week
from simcore.traces.arrivals import UNITS_PER_GAP, exact_rate, scaled
from simcore.traces.errors import TraceError
from simcore.traces.trace import MAX_ARRIVAL_S, PS_PER_US, IntArray

HOUR_S = 3600
US_PER_S = 1_000_000


def relative_rates(week: Week) -> list[float]:
    """By hour of the week, Monday 0:00 first, with a mean of 1."""
    weights = [weight for hours in week for weight in hours]
    mean = sum(weights) / len(weights)
    return [weight / mean for weight in weights]


def busiest_hour(week: Week) -> int:
    """The first hour of the week with the most traffic."""
    rates = relative_rates(week)
    return rates.index(max(rates))


def day_and_night(busiest_hour: int, quietest_share: float, weekend_share: float, working_days: int = 5) -> Week:
    """A week of one wave a day: a cosine from the busiest hour down to quietest_share of it twelve hours later, and at
    weekends weekend_share of that."""
    day = []
    for hour in range(HOURS):
        away = min((hour - busiest_hour) % HOURS, (busiest_hour - hour) % HOURS) / (HOURS / 2)
        wave = (1 + float(np.cos(np.pi * away))) / 2
        day.append(round(quietest_share + (1 - quietest_share) * wave, 4))
    weekend = [round(weight * weekend_share, 4) for weight in day]
    return tuple(tuple(day) if n < working_days else tuple(weekend) for n in range(DAYS))


def through_the_week(mean_gaps: IntArray, rate_req_per_s: float, week: Week, start_hour: int) -> IntArray:
    """Times in 10^-12 mean gaps of an even rate, in order, as picoseconds of a week that has this rate on average:
    each hour takes up as much of them as its share, from start_hour on. Rounded to the microsecond."""
    hourly = [exact_rate(rate_req_per_s) * weight for weight in relative_weights(week)]
    found = np.zeros_like(mean_gaps)
    begun, hour = Fraction(0), 0
    first = 0
    while first < len(mean_gaps):
        if (hour + 1) * HOUR_S > MAX_ARRIVAL_S:
            raise TraceError(
                f"rate: found arrivals beyond {MAX_ARRIVAL_S} s, expected at most that: a higher rate or fewer requests"
            )
        rate = hourly[(start_hour + hour) % len(hourly)]
        ended = begun + rate * HOUR_S * UNITS_PER_GAP
        last = int(np.searchsorted(mean_gaps, min(int(ended), 2**63 - 1), side="right"))
        if rate and last > first:
            within = mean_gaps[first:last] - int(begun)
            us = scaled(within, Fraction(US_PER_S, UNITS_PER_GAP) / rate, 2 * HOUR_S * US_PER_S)
            found[first:last] = np.minimum(us, HOUR_S * US_PER_S) + hour * HOUR_S * US_PER_S
        begun, hour, first = ended, hour + 1, max(first, last)
    return found * PS_PER_US


def weighted_s(week: Week, start_hour: int, duration_s: float) -> float:
    """Seconds from the start of an hour on, each counted by its relative rate."""
    rates = relative_rates(week)
    hours, rest_s = divmod(duration_s, HOUR_S)
    weeks, left = divmod(int(hours), len(rates))
    turned = rates[start_hour:] + rates[:start_hour]
    return HOUR_S * (weeks * len(rates) + sum(turned[:left])) + rest_s * turned[left]


def relative_weights(week: Week) -> list[Fraction]:
    """relative_rates, exactly."""
    weights = [Fraction(str(weight)) for hours in week for weight in hours]
    mean = sum(weights, Fraction(0)) / len(weights)
    return [weight / mean for weight in weights]
