"""What a file may not mean though every row of it reads: another unit, a clock that was set back, files joined."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from simcore.traces.format import TableFormat
from simcore.traces.report import ParseReport
from simcore.traces.trace import PS_PER_S, IntArray

FEWEST_ROWS = 20
MOST_REQ_PER_S, LEAST_REQ_PER_S = 1000.0, 1 / 600
"""Beyond these a rate is rather one of another unit."""
COARSER, FINER = {"milliseconds": "seconds"}, {"seconds": "milliseconds"}
LONG_SILENCE_S, SILENCE_SHARE = 600, 0.25
"""Of the span: a gap without any request that is no traffic's."""
BACK_S = 60
HOUR_S, ABOUT_AN_HOUR_S = 3600, 600
NO_OFFSET, UTC, OTHER = range(3)
MOST_STEPS = 10


@dataclass
class Noted:
    """What is noted of rows as they come, in the file's order."""

    back: list[tuple[int, float]] = field(default_factory=list)
    """The first steps back by more than BACK_S: line, seconds."""
    zones: dict[int, int] = field(default_factory=dict)
    """Rows by zone (see ``ArrivalColumn.zones``)."""

    def note_steps(self, lines: IntArray, before: int | None, arrivals: IntArray, unit_ps: int) -> None:
        """Of consecutive rows, the first after one at ``before``."""
        first = arrivals[:1] if before is None else [before]
        steps = np.diff(np.concatenate((first, arrivals)))
        for index in np.flatnonzero(steps < -BACK_S * PS_PER_S // unit_ps)[: MOST_STEPS - len(self.back)].tolist():
            self.back.append((int(lines[index]), -int(steps[index]) * unit_ps / PS_PER_S))

    def note_zones(self, zones: IntArray) -> None:
        for zone, count in enumerate(np.bincount(zones, minlength=OTHER + 1).tolist()):
            self.zones[zone] = self.zones.get(zone, 0) + count


def doubts(
    table: TableFormat, arrival_ps: IntArray, lines: IntArray, noted: Noted, report: ParseReport
) -> Iterator[str]:
    """A sentence each. arrival_ps and lines are in order of arrival."""
    by = report.counted_by
    far = _far(arrival_ps, lines, by)
    yield from _unit(table, arrival_ps[:-1] if far else arrival_ps)
    if far:
        yield far
    else:
        yield from _silence(arrival_ps, lines, by)
    if not far or len(noted.back) > 1:
        yield from _back(table, noted, report)
    if noted.zones.get(OTHER) and noted.zones.get(NO_OFFSET):
        yield (
            f"{noted.zones[NO_OFFSET]:,} times have no offset, others have one that is not UTC's: those without are"
            " read as UTC. If they are local times, the rows are mixed up by hours."
        )


def _unit(table: TableFormat, arrival_ps: IntArray) -> Iterator[str]:
    span_s = int(arrival_ps[-1] - arrival_ps[0]) / PS_PER_S
    if len(arrival_ps) < FEWEST_ROWS or not span_s:
        return
    unit, rate = table.arrival.unit, (len(arrival_ps) - 1) / span_s
    read = f"{table.arrival.header} is read as {unit or 'dates'}: {len(arrival_ps):,} requests in {_said(span_s)} s"
    if rate > MOST_REQ_PER_S:
        other = f" If it counts {COARSER[unit]}, multiply it by 1,000." if unit in COARSER else ""
        yield f"{read}, {_said(rate)} requests/s, which is more than one model is asked.{other}"
    elif rate < LEAST_REQ_PER_S and unit in FINER:
        yield f"{read}, one in {_said(1 / rate)} s. If it counts {FINER[unit]}, divide it by 1,000."


def _far(arrival_ps: IntArray, lines: IntArray, by: str) -> str:
    """One row whose time is far after all others', which go on below it: they are out of order for it alone, and the
    trace is as long as it says. Empty where there is none."""
    if len(arrival_ps) < FEWEST_ROWS:
        return ""
    gap_s, rest_s, span_s = (
        int(ps) / PS_PER_S
        for ps in (arrival_ps[-1] - arrival_ps[-2], arrival_ps[-2] - arrival_ps[0], arrival_ps[-1] - arrival_ps[0])
    )
    below = int((lines > lines[-1]).sum())
    if not below or gap_s < LONG_SILENCE_S or gap_s < SILENCE_SHARE * span_s:
        return ""
    rows = "row below it is" if below == 1 else "rows below it are"
    return (
        f"The time of {by} {lines[-1]} is {_said(gap_s)} s after every other's, though {below:,} {rows} earlier: a"
        f" wrong time? With it the trace is {_said(span_s)} s long, without it {_said(rest_s)} s, and those below it"
        f" count as out of order: mend or cut that {by}."
    )


def _silence(arrival_ps: IntArray, lines: IntArray, by: str) -> Iterator[str]:
    gaps = np.diff(arrival_ps)
    if len(arrival_ps) < FEWEST_ROWS:
        return
    longest = int(gaps.argmax())
    gap_s, span_s = (int(ps) / PS_PER_S for ps in (gaps[longest], arrival_ps[-1] - arrival_ps[0]))
    if gap_s >= LONG_SILENCE_S and gap_s >= SILENCE_SHARE * span_s:
        yield (
            f"Nothing comes for {_said(gap_s)} s, {gap_s / span_s:.0%} of the whole span, between {by} {lines[longest]}"
            f" and {by} {lines[longest + 1]}. Rates and bursts are of the span with it: cut the file there if it is no"
            " lull."
        )


def _back(table: TableFormat, noted: Noted, report: ParseReport) -> Iterator[str]:
    if not noted.back:
        return
    line, step_s = noted.back[0]
    where = f"At {report.counted_by} {line} times go back by {_said(step_s)} s"
    if report.refused.counts["repeated header"]:
        yield f"{where}, after the header has come again: files joined end to end? Sorted, their traffic adds up."
    elif len(noted.back) == 1 and not table.arrival.unit and abs(step_s - HOUR_S) <= ABOUT_AN_HOUR_S:
        yield (
            f"{where}, about an hour, and never else: a clock set back from summer time? Sorted, that hour has twice"
            " its traffic: write times in UTC, or with their offset."
        )
    elif len(noted.back) < MOST_STEPS:
        yield f"{where}: files joined, or several clients' logs? Sorted, their traffic adds up."


def _said(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
