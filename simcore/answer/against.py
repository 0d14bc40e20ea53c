"""Line B of the answer: against what it is the best, by how much, and how surely."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from math import exp

from simcore.answer.measure import difference, measure_of, more
from simcore.answer.result import StudyResult, is_split
from simcore.rows import DesignRow
from simcore.shortfalls import machines
from simcore.trust.sentences import tie_words
from simcore.trust.ties import apart, are_tied
from simcore.words import counted, number

PLACES = ("Second", "Third")


def against(result: StudyResult, winner: DesignRow, rate_was_run: bool) -> str:
    """The best design of the other kind of serving, then the next family, and what is tied with the answer; empty where
    there is nothing to compare with."""
    others = [row for row in result.best_by_family if row.family != winner.family]
    other_kind = next((row for row in others if is_split(row) != is_split(winner)), None)
    rest = [row for row in others if row is not other_kind]
    said = {row.family for row in (winner, other_kind) if row is not None}
    tied = [row for row in others if row.tied_with_answer]
    found = [
        _other_kind(result, winner, other_kind, rate_was_run),
        _next(result, winner, rest[0], said, others, rate_was_run) if rest else "",
        tie_words(
            result.spec.goal,
            [row.label for row in tied],
            len(others),
            _needs_as_little(result, winner, tied),
            any(result.cannot_turn(winner, row) for row in others),
        ),
    ]
    return " ".join(filter(None, found))


def _needs_as_little(result: StudyResult, winner: DesignRow, tied: Iterable[DesignRow]) -> bool:
    """Whether one of those tied needs no more than the answer, so that something else puts it second."""
    figure = measure_of(result).figure
    return any(figure(row) <= figure(winner) for row in tied)


def _other_kind(result: StudyResult, winner: DesignRow, best: DesignRow | None, rate_was_run: bool) -> str:
    """What is known of the best design that serves the other way; empty where none was tried."""
    kind = "co-located" if is_split(winner) else "phase-split"
    tried = [row for row in result.rows if is_split(row) != is_split(winner)]
    unasked = len(_unasked(result, tried, best))
    if best is not None:
        known = "run at that rate" if rate_was_run else "of known capacity"
        limited = f" {known}" if unasked else "" if _is_fewest(result, best) else " tried"
        words = f"the best {kind} design{limited}"
        least = difference(measure_of(result), winner, best, _span(result, winner, best))
        return f"{least} {words}, {best.label}."
    if unasked:
        run = "run at that rate" if rate_was_run else "of known capacity"
        return (
            f"No {kind} design {run} holds it within the limits; {counted(unasked, 'screened design')} that may"
            f" {'was' if unasked == 1 else 'were'} not {'run at it' if rate_was_run else 'searched'}."
        )
    return f"No {kind} design tried holds the rate within the limits." if tried else ""


def _span(result: StudyResult, winner: DesignRow, other: DesignRow) -> tuple[float, float] | None:
    """The least and the most of the share by which the answer needs less, within what is known of both capacities: one
    that turns out to hold less needs as many more machines."""
    mine, theirs = result.margins.get(winner.design_id), result.margins.get(other.design_id)
    if mine is None or theirs is None or result.cannot_turn(winner, other):
        return None
    measure = measure_of(result)
    ratio = measure.figure(winner) / measure.figure(other)
    down, up = apart(mine, theirs)
    return 1 - ratio * exp(down), 1 - ratio * exp(-up)


def _next(
    result: StudyResult,
    winner: DesignRow,
    row: DesignRow,
    said: Collection[str],
    others: list[DesignRow],
    rate_was_run: bool,
) -> str:
    """The best of the families not yet ``said``, whether it is told from the one before it, and what is known of those
    that may come before it and were not run at the rate."""
    place = others.index(row)
    words = f"{row.label}, {more(measure_of(result), winner, row)}"
    if place and _within_noise(result, others[place - 1], row):
        words += f": within the noise of the {PLACES[place - 1].lower()}"
    unasked = _unasked(result, [one for one in result.rows if one.family not in said], row)
    if not unasked:
        limited = "" if _is_fewest(result, row) else " of those tried"
        return f"{PLACES[place]}{limited}: {words}."
    most = max(one.capacity_high or 0.0 for one in unasked)
    holds = "holds" if len(unasked) == 1 else "hold"
    known = "run at that rate" if rate_was_run else "of known capacity"
    return (
        f"{PLACES[place]} of those {known}: {words}; {counted(len(unasked), 'screened design')} that may come before it"
        f" {holds} at most {number(most)} requests/s."
    )


def _within_noise(result: StudyResult, first: DesignRow, second: DesignRow) -> bool:
    mine, theirs = result.margins.get(first.design_id), result.margins.get(second.design_id)
    if mine is None or theirs is None or result.cannot_turn(first, second):
        return False
    return are_tied(first, second, mine, theirs, result.spec.goal, result.watts(first, second))


def _is_fewest(result: StudyResult, row: DesignRow) -> bool:
    """Whether nothing smaller of its kind would do: one machine less of what it runs is known not to hold
    the rate (the most that is held is of the largest that the limits allow). A split family other than the answer's is
    not followed to its own cheapest pair: all that is certain of it is that none comes before the answer."""
    if measure_of(result).is_held or machines(row) == (2 if is_split(row) else 1):
        return True
    if is_split(row):
        return False
    count, rate = machines(row), result.spec.rate_req_per_s
    alike = [one for one in result.rows if _runs(one) == _runs(row)]
    return any(
        machines(one) >= count - 1
        and one.status in ("evaluated", "screened")
        and not result.holds(one.design_id, rate)
        and (one.status == "evaluated" or (one.capacity_high or 0.0) < rate)
        for one in alike
    )


def _runs(row: DesignRow) -> tuple[object, ...]:
    """What its replicas are, however many."""
    return row.family, row.tensor_parallel, row.pipeline_parallel, row.token_budget


def _unasked(result: StudyResult, rows: Iterable[DesignRow], best: DesignRow | None) -> list[DesignRow]:
    """Those of ``rows`` that were not run at the rate, for a better one uses no more, and that may hold it for less
    than the best that was run."""
    figure, rate = measure_of(result).figure, result.spec.rate_req_per_s
    return [
        row
        for row in rows
        if row.status == "screened"
        and not result.evaluations[row.design_id].rate_only
        and (row.capacity_high or 0.0) >= rate
        and (best is None or figure(row) < figure(best))
    ]
