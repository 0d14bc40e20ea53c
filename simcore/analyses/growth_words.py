"""What ``growth`` found, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from simcore.analyses.kind import Json
from simcore.words import dollars, listed, number, sentences


def growth_sentences(breaks: Sequence[Json], path: Sequence[Json], growth_percent: float, months: int) -> list[str]:
    """What breaks first, what to buy next, when the question's limits are reached, and where it ends."""
    said = [_first(breaks[0], growth_percent)]
    if len(path) > 1:
        said.append(_purchase(path[1]))
    said += _limits_said(breaks[1:], months)
    if path[-1].get("why") and len(path) > 2:
        last = path[-1]
        said.append(f"After that it ends in month {last['month']}, at {number(last['rate_req_per_s'])} requests/s:"
                    f" {last['why']}.")  # fmt: skip
    return said


def _first(broken: Json, growth_percent: float) -> str:
    month, low, high = broken["month"], broken["month_low"], broken["month_high"]
    start = f"At {number(growth_percent)} % a month"
    if month is None:
        return f"{start} nothing can be said: this design holds no rate."
    interval = f" (9 times in 10 between {_month(low)} and {_month(high)})" if high is not None else ""
    return (
        f"{start} the rate passes {number(broken['rate_req_per_s'])} requests/s in {_month(month)}{interval};"
        f" there {broken['name']} break. {sentences([broken['binding']])}"
    )


def _month(month: float) -> str:
    return "this month" if month < 0.5 else f"month {month:.0f}"


def _purchase(step: Json) -> str:
    if step.get("why"):
        return f"There is no next purchase: in month {step['month']} {step['why']}."
    bought = listed([f"{count} {name}" for name, count in step["buy"].items()]) or "no machines, another scheduler"
    return (
        f"Next, by month {step['month']}: {bought}, {dollars(Decimal(step['more_usd_per_month']))} a month more, as"
        f" {step['design']}; that holds {number(step['capacity_req_per_s'])} requests/s, to month"
        f" {step['lasts_to_month']:.0f}."
    )


def _limits_said(breaks: Sequence[Json], months: int) -> list[str]:
    reached = sorted((one for one in breaks if one["month"] is not None), key=lambda one: one["month"])
    said = [
        f"Of the question’s limits {one['name']} is reached {'first' if place == 0 else 'then'}: in"
        f" {_month(one['month'])}, above {number(one['rate_req_per_s'])} requests/s."
        for place, one in enumerate(reached)
        if one["month"] <= months
    ]
    late = [one["name"] for one in reached if one["month"] > months]
    if late:
        said.append(f"Not within {months} months: {listed(late)}.")
    unknown = [one["name"] for one in breaks if one["month"] is None]
    return [*said, f"Not reached by any design that was tried: {listed(unknown)}."] if unknown else said
