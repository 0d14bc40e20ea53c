"""Shapes of a week that a question may have of its workload: assumptions, each with its figures in its label."""

from dataclasses import dataclass

from simcore.spec.week import DAYS, HOURS, Week

EVEN = "even"


@dataclass(frozen=True)
class Shape:
    """One wave a day: the busiest hour, nights and weekends as shares of it."""

    name: str
    busiest_hour: int
    nights: float
    weekends: float

    @property
    def label(self) -> str:
        return (
            f"{self.name}: most at {self.busiest_hour}:00, nights {100 * self.nights:.0f} %, weekends"
            f" {100 * self.weekends:.0f} %"
        )

    @property
    def week(self) -> Week:
        from simcore.traces.week import day_and_night  # brings NumPy in

        return day_and_night(self.busiest_hour, self.nights, self.weekends)


SHAPES = {
    "office": Shape("office hours", 14, 0.1, 0.2),
    "evenings": Shape("evenings at home", 20, 0.25, 1.1),
    "mixed": Shape("days of one region", 14, 0.3, 0.6),
    "global": Shape("the whole world", 15, 0.65, 0.8),
}
CHOICES = [
    ("", "the workload's own, if it has one"),
    *((key, shape.label) for key, shape in SHAPES.items()),
    (EVEN, "every hour alike"),
]


def week_of(key: str) -> Week | None:
    """None: the workload's own."""
    if key == EVEN:
        return ((1.0,) * HOURS,) * DAYS
    return SHAPES[key].week if key else None
