"""The frontiers of those compared on the same axes: a colour and symbol each, their own designs with whiskers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any

from planner.comparing.columns import Column
from planner.numerals import short
from planner.studies.axes import Plane
from planner.studies.chart_traces import COLOURS, DASHES, SYMBOLS, Trace, shape_of, stepped, whiskers
from planner.studies.chart_words import hover, summary
from planner.studies.figures import GLYPHS, Figure, across, better, line_ends
from planner.studies.page import hollow_designs
from planner.studies.series import Look, Point, Series, envelope, placed
from simcore.rows import DesignRow


@dataclass(frozen=True)
class FrontierRow:
    """A row of the chart's table."""

    name: str
    design: str
    x: str
    y: str
    is_column: bool
    """It is one of those compared, and not beside one on its frontier."""


@dataclass(frozen=True)
class Frontiers:
    columns: Sequence[Column]
    plane: Plane

    @cached_property
    def series(self) -> list[Series]:
        """Of each study its frontier once, under its first column's name; of each column its own design."""
        return [self._series(column) for column in self.columns]

    def _series(self, column: Column) -> Series:
        points = placed(column.result.rows, self.plane, look_of(column))
        own = [point for point in points if column.row and point.row.design_id == column.row.design_id]
        steps = [] if self._is_repeated(column) else envelope(points, self.plane)
        return Series(column.index, column.name, tuple(own), tuple(steps))

    def _is_repeated(self, column: Column) -> bool:
        """Whether its study's frontier is drawn for a column before it."""
        return any(other.study.pk == column.study.pk for other in self.columns[: column.index])

    @cached_property
    def figure(self) -> Figure:
        shown = [point for series in self.series for point in (*series.points, *series.steps)]
        rates = self._rates if self.plane.holds_rate else {}
        top = 1.12 * max([*rates, *(point.y for point in shown)], default=1.0) or 1.0
        right = 1.04 * max((point.x for point in shown), default=1.0) or 1.0
        x, y = self.plane.x, self.plane.y
        ends = [one if one.steps else Series(one.index, one.name, one.points, one.points) for one in self.series]
        return {
            "data": [trace for series in self.series for trace in _traces(series, self.plane) if trace["x"]],
            "layout": {
                "xaxis": {
                    "title": {"text": x.title},
                    "range": [0, right],
                    "tickprefix": x.prefix,
                    "tickformat": x.ticks,
                },
                "yaxis": {"title": {"text": y.title}, "range": [0, top], "tickformat": y.ticks},
                "shapes": [across("rate", rate) for rate in rates],
                "annotations": [better(self.plane), *_notes(rates), *line_ends(ends, self.plane, top)],
                "hovermode": "closest",
                "showlegend": False,
            },
        }

    @property
    def _rates(self) -> dict[float, list[str]]:
        """Required rate → who requires it."""
        found: dict[float, list[str]] = {}
        for column in self.columns:
            found.setdefault(column.result.spec.rate_req_per_s, []).append(column.name)
        return found

    @property
    def summary(self) -> list[str]:
        """The chart in words, a study each."""
        return [
            f"{column.name}: {summary(column.result.rows, self.plane, look_of(column))}"
            for column in self.columns
            if not self._is_repeated(column)
        ]

    @property
    def rows(self) -> list[FrontierRow]:
        return [
            self._row(series, point)
            for series in self.series
            for point in sorted(
                {point.row.design_id: point for point in (*series.steps, *series.points)}.values(), key=_x
            )
        ]

    def _row(self, series: Series, point: Point) -> FrontierRow:
        own = {one.row.design_id for one in series.points}
        y = f"{self.plane.y.words(point.y)}{_interval(point.row) if self.plane.holds_rate else ''}"
        return FrontierRow(series.name, point.row.label, self.plane.x.words(point.x), y, point.row.design_id in own)


def look_of(column: Column) -> Look:
    winner = column.result.winner
    rate = column.result.spec.rate_req_per_s
    return Look(rate, winner.design_id if winner else None, {}, hollow_designs(column.result))


def _traces(series: Series, plane: Plane) -> Iterator[Trace]:
    index = series.index
    meta = {"role": "compared", "series": index}
    line = {"shape": shape_of(plane), "width": 2.25, "color": COLOURS[index], "dash": DASHES[index]}
    yield stepped(series.name, meta, series.steps, line)
    beside = [point for point in series.steps if point not in series.points]
    yield _points(series, beside, plane, 7) | {"opacity": 0.6}
    yield _points(series, series.points, plane, 15) | whiskers(series.points, plane)


def _points(series: Series, points: Sequence[Point], plane: Plane, size: int) -> Trace:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": series.name,
        "meta": {"role": "compared", "series": series.index},
        "x": [point.x for point in points],
        "y": [point.y for point in points],
        "text": [f"{series.name}: {hover(point, plane)}" for point in points],
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {"symbol": SYMBOLS[series.index], "color": COLOURS[series.index], "size": size},
        "showlegend": False,
        "cliponaxis": False,
    }


def _notes(rates: dict[float, list[str]]) -> Iterator[dict[str, Any]]:
    for rate, names in rates.items():
        who = "required" if len(rates) == 1 else f"required by {', '.join(names)}"
        yield (
            {"name": "rate", "text": escape(f"{who}: {short(rate)} requests/s"), "xref": "paper", "x": 0.005}
            | {"yref": "y", "y": rate, "xanchor": "left", "yanchor": "bottom", "showarrow": False}
        )


def _x(point: Point) -> float:
    return point.x


def _interval(row: DesignRow) -> str:
    low, high = row.capacity_low, row.capacity_high
    if low is None or high is None or low == high:
        return ""
    return f" ({short(low) if low else 'none'} to {short(high)})"


def glyph(index: int) -> str:
    """The symbol that stands for a column."""
    return GLYPHS[index]
