"""The papers' comparisons on the result page: one thing held equal, bars relative to a baseline, words and table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any, cast, get_args

from planner.numerals import short, usd
from planner.studies.axes import POWER_NAMES
from planner.studies.chart_traces import COLOURS
from planner.studies.series import MAX_FAMILIES, Look
from simcore.answer.hold_equal import Bar, Comparison, HeldEqual, baselines, hold_equal
from simcore.answer.result import StudyResult
from simcore.economics.hourly import HOURS_PER_MONTH
from simcore.rows import DesignRow
from simcore.spec.study import PowerKind

Figure = dict[str, Any]
HELD_EQUAL: dict[HeldEqual, str] = {"rate": "rate", "cost": "cost", "power": "power", "machines": "machines"}
FIRST: HeldEqual = "cost"


@dataclass(frozen=True)
class EqualLine:
    """A row of the table."""

    row: DesignRow
    family: str
    used: str
    figure: str
    ratio: str
    span: str
    is_baseline: bool
    is_least: bool

    @property
    def said(self) -> str:
        """The ratio with what is known of it, and of what, where that is not all that is held equal."""
        return f"{self.ratio}{self.span}{f' with {self.used}' if self.is_least else ''}"


@dataclass(frozen=True)
class HoldEqual:
    """One comparison of a result. ``asked``: the design that the visitor compares with, if any."""

    result: StudyResult
    look: Look
    power: str
    by: HeldEqual
    asked: str

    @cached_property
    def offered(self) -> list[DesignRow]:
        """What may be the baseline; the one that is chosen is among them."""
        found = baselines(self.result, self.by)
        chosen = self.result.row(self.asked) if self.asked else None
        able = chosen is not None and chosen.status == "evaluated" and chosen.capacity_req_per_s
        return [*found, chosen] if chosen is not None and able and chosen not in found else found

    @property
    def baseline(self) -> DesignRow | None:
        return next(
            (row for row in self.offered if row.design_id == self.asked), self.offered[0] if self.offered else None
        )

    @cached_property
    def comparison(self) -> Comparison | None:
        if self.baseline is None:
            return None
        return hold_equal(self.result, self.by, self.baseline, cast(PowerKind, self.power))

    @property
    def choices(self) -> list[tuple[str, str, bool]]:
        return [(by, name, by == self.by) for by, name in HELD_EQUAL.items()]

    @cached_property
    def lines(self) -> list[EqualLine]:
        return [self._line(bar) for bar in self._bars]

    @cached_property
    def summary(self) -> str:
        """The bars in words."""
        found = self.comparison
        if found is None:
            return "No design that was tried holds the required rate, so there is nothing to compare with."
        base = found.baseline
        best = [line for line in self.lines if not line.is_baseline]
        held = f"At equal {self._equal_words(found.equal)}, relative to {base.label}"
        said = (
            f"{held}: {'; '.join(f'{line.family} {line.said}' for line in best)}."
            if best
            else f"{held}: no other family."
        )
        what = "dollars, less is better" if self.by == "rate" else "requests/s held, more is better"
        return f"{said} Of {what}; in brackets 9 times in 10.{self._least(best)}{self._without(found)}"

    @property
    def figure(self) -> Figure:
        """Horizontal bars in their families' colours, with what is known of each, and the baseline's line."""
        bars = list(reversed(self._bars))
        most = max((bar.high for bar in bars), default=1.0)
        title = "$ a month" if self.by == "rate" else "requests/s held under the SLO"
        return {
            "data": [self._trace(bar) for bar in bars],
            "layout": {
                "xaxis": {
                    "title": {"text": f"{title}, of the baseline's"},
                    "range": [0, 1.06 * most],
                    "tickformat": "~g",
                },
                "yaxis": {"automargin": True, "fixedrange": True, "type": "category"},
                "shapes": [_baseline_line()],
                "annotations": [],
                "bargap": 0.45,
                "showlegend": False,
                "hovermode": "closest",
            },
        }

    @property
    def _bars(self) -> tuple[Bar, ...]:
        return self.comparison.bars if self.comparison else ()

    def _trace(self, bar: Bar) -> Figure:
        index = self.look.places.get(bar.row.family, MAX_FAMILIES - 1)
        line = self._line(bar)
        return {
            "type": "bar",
            "orientation": "h",
            "name": escape(line.family),
            "meta": {"role": "bar", "series": index},
            "x": [bar.ratio],
            "y": [escape(line.family)],
            "customdata": [bar.row.design_id],
            "text": [f"{line.ratio}{' (baseline)' if line.is_baseline else ''}"],
            "textposition": "inside",
            "insidetextanchor": "start",
            "hovertext": [f"{escape(bar.row.label)}<br>{line.figure}<br>{line.ratio}{line.span} of the baseline"],
            "hovertemplate": "%{hovertext}<extra></extra>",
            "error_x": {
                "type": "data",
                "symmetric": False,
                "array": [bar.high - bar.ratio],
                "arrayminus": [bar.ratio - bar.low],
            },
            "marker": {"color": COLOURS[index]},
        }

    def _line(self, bar: Bar) -> EqualLine:
        is_baseline = bar.row is (self.comparison and self.comparison.baseline)
        span = "" if bar.low == bar.high else f" ({short(bar.low)} to {short(bar.high)})"
        figure = (
            f"{usd(bar.figure * HOURS_PER_MONTH)} a month" if self.by == "rate" else f"{short(bar.figure)} requests/s"
        )
        return EqualLine(
            bar.row,
            self._family(bar.row.family),
            self._used(bar.used),
            figure,
            f"{'at least ' if bar.is_least else ''}{short(bar.ratio)}×",
            span,
            is_baseline,
            bar.is_least,
        )

    def _least(self, lines: Sequence[EqualLine]) -> str:
        if not any(line.is_least for line in lines):
            return ""
        return " At least: larger designs of the kind fit, too, and were not tried."

    def _without(self, found: Comparison) -> str:
        if not found.without:
            return ""
        does = "holds the rate" if self.by == "rate" else "uses so little"
        return f" No design that was tried of these {does}: {'; '.join(map(self._family, found.without))}."

    def _family(self, name: str) -> str:
        return self.look.family_names.get(name, name)

    def _used(self, used: float) -> str:
        words: Mapping[HeldEqual, Callable[[float], str]] = {
            "rate": lambda value: f"{short(value)} requests/s",
            "cost": lambda value: f"{usd(value * HOURS_PER_MONTH)} a month",
            "power": lambda value: f"{short(value / 1000)} {POWER_NAMES[self.power]}",
            "machines": lambda value: f"{value:,.0f} machine{'' if value == 1 else 's'}",
        }
        return words[self.by](used)

    def _equal_words(self, equal: float) -> str:
        return f"{HELD_EQUAL[self.by]} ({self._used(equal)})"


def held_equal(asked: str, of_question: str | None) -> HeldEqual:
    """What an address asks to hold equal, else the question, else cost."""
    return next((cast(HeldEqual, one) for one in (asked, of_question) if one in get_args(HeldEqual)), FIRST)


def _baseline_line() -> Figure:
    line = {"width": 1.5, "dash": "dash", "color": "#000000"}
    return {"type": "line", "name": "baseline", "yref": "paper", "y0": 0, "y1": 1, "x0": 1, "x1": 1, "line": line}
