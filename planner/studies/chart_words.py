"""A frontier chart in words: what is said of it, and of each of its points."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from planner.numerals import short
from planner.studies.axes import Plane
from planner.studies.series import Look, Point, envelope, is_hollow, placed
from simcore.rows import DesignRow


def summary(rows: Sequence[DesignRow], plane: Plane, look: Look) -> str:
    """The chart in words, for those who do not see it."""
    if not rows:
        return "No design has been tried yet."
    simulated = [row for row in rows if row.capacity_req_per_s]
    text = f"{_count(len(simulated), 'design')} in {_count(len({row.family for row in simulated}), 'family')}"
    holding = [row for row in simulated if row.met and plane.x.value(row) is not None and not is_hollow(row, look)]
    if not holding:
        return f"{text}; none holds {short(look.rate_req_per_s)} requests/s within the limits.{_left_out(rows, plane)}"
    return f"{text}. {(_least if plane.holds_rate else _best)(holding, plane, look)}{_left_out(rows, plane)}"


def _least(holding: Sequence[DesignRow], plane: Plane, look: Look) -> str:
    # Of several that need the least, the one that the answer names: sentence and chart say the same.
    best = min(
        holding,
        key=lambda row: (plane.x.value(row), row.design_id != look.answer_id, -(row.capacity_req_per_s or 0)),
    )
    reached = max(best.capacity_req_per_s or 0.0, look.rate_req_per_s)
    return (
        f"Least that holds {short(look.rate_req_per_s)} requests/s within the limits: {best.label},"
        f" {plane.x.words(plane.x.value(best) or 0)}, up to {short(reached)} requests/s."
    )


def _best(holding: Sequence[DesignRow], plane: Plane, look: Look) -> str:
    """Of those that hold the rate, the best of each merit."""
    points = [point for point in placed(holding, plane, look) if not point.is_hollow]
    edge = envelope(points, plane)
    first, last = edge[0], edge[-1]
    words = (
        f"Of the {len(points)} that hold {short(look.rate_req_per_s)} requests/s within the limits, the most requests"
        f" a dollar: {first.row.label}, {plane.y.words(first.y)} and {plane.x.words(first.x)}."
    )
    if last is first:
        return f"{words} It has the most requests/s a kW, too."
    return f"{words} The most requests/s a kW: {last.row.label}, {plane.x.words(last.x)} and {plane.y.words(last.y)}."


def _left_out(rows: Sequence[DesignRow], plane: Plane) -> str:
    if not plane.holds_rate:
        return " Designs that hold less are not on this chart."
    infeasible = sum(row.status in {"infeasible", "failed"} for row in rows)
    screened = sum(row.status == "screened" for row in rows)
    without = sum(row.status == "evaluated" and row.capacity_req_per_s == 0 for row in rows)
    words = f" {_count(without, 'more design')} {_hold(without)} the limits at no rate." if without else ""
    words += f" {_count(infeasible, 'infeasible design')} on the zero line." if infeasible else ""
    return words + (f" {_count(screened, 'screened design')} in the table only." if screened else "")


def _hold(designs: int) -> str:
    return "holds" if designs == 1 else "hold"


def hover(point: Point, plane: Plane) -> str:
    """Lines apart by <br>, and no other tag: Plotly makes bold and spans by inline styles, which the page forbids."""
    row = point.row
    lines = [escape(row.label), escape(f"{plane.x.words(point.x)}{_interval(*plane.x.interval(row))}")]
    if not plane.holds_rate:
        lines.append(escape(f"{plane.y.words(point.y)}{_interval(*plane.y.interval(row))}"))
    if row.capacity_req_per_s:
        interval = _interval(row.capacity_low, row.capacity_high)
        lines.append(f"holds {short(row.capacity_req_per_s)} requests/s{interval}")
    if row.binding_limit and row.capacity_req_per_s:
        pool = f", {row.binding_pool} pool" if row.binding_pool else ""
        lines.append(f"binds first: {escape(row.binding_limit)}{escape(pool)}")
    if row.tied_with_answer:
        lines.append("tied with the answer by what is known")
    if row.reason:
        lines += _wrapped(row.reason)
    return "<br>".join(lines)


def _interval(low: float | None, high: float | None) -> str:
    if low is None or high is None or low == high:
        return ""
    return f" ({short(low) if low else 'none'} to {short(high)}, 9 times in 10)"


def _wrapped(reason: str, width: int = 60) -> list[str]:
    """A reason in lines that fit a hover box, escaped: Plotly reads a little HTML in texts."""
    lines = [""]
    for word in reason.split():
        if lines[-1] and len(lines[-1]) + len(word) >= width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return [escape(line) for line in lines]


def _count(number: int, noun: str) -> str:
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"
