"""A week of traffic: seven days of 24 relative rates, Monday first."""

from simcore.spec.decode import SpecError

DAYS, HOURS = 7, 24
MOST_WEIGHT = 1_000_000

Week = tuple[tuple[float, ...], ...]


def check_week(week: Week) -> None:
    """SpecError unless it is seven days of 24 rates, some of them above zero."""
    if len(week) != DAYS:
        raise SpecError(f"week: found {len(week)} days, expected {DAYS}, Monday first")
    for day, hours in enumerate(week):
        if len(hours) != HOURS:
            raise SpecError(f"week[{day}]: found {len(hours)} hours, expected {HOURS}")
        for hour, weight in enumerate(hours):
            if not 0 <= weight <= MOST_WEIGHT:
                raise SpecError(f"week[{day}][{hour}]: found {weight:g}, expected 0 to {MOST_WEIGHT}")
    if not any(map(any, week)):
        raise SpecError("week: found no hour with any traffic, expected some")
