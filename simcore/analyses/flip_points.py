"""At which price, tariff, rate or SLO the order of the first four kinds of design changes (``simcore.flips``).

Told at once, from stored evaluations.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any

from simcore.analyses.at_once import told_at_once
from simcore.analyses.kind import Json, Subject
from simcore.answer.result import StudyResult
from simcore.flips import Flip, Flips, Swap, flips
from simcore.flips.asked import WIDEST, WIDEST_SLO, slo_is_told
from simcore.flips.sentences import kind_words, line, untried_words, what, when
from simcore.spec import SpecError


@dataclass(frozen=True)
class Parameters:
    """None: the answer is what it is."""


def _check(subject: Subject, parameters: Parameters) -> None:
    """Of a study that has an answer."""
    if subject.result.winner is None:
        raise SpecError("no design of this study meets the question, so there is no order to change")


def told(subject: Subject, parameters: Parameters) -> Json:
    """The flips of the answer, and where the first four families change places."""
    result = subject.result
    points = flips(result, subject.context() if subject.context else None)
    return {
        "families": [{"family": name, "words": kind_words(result, name)} for name in points.families],
        "followed": [_followed(asked) for asked in points.asked],
        "answer": [_flip(flip, result) for flip in points.answer],
        "swaps": [_swap(swap, result) for swap in points.swaps],
        "sentences": [line(points, result), *_closeness(points, result), *_untried(points)],
        "assumptions": _assumptions(result),
    }


def _followed(asked: Any) -> Json:
    return {"quantity": asked.kind, "machine": asked.machine, "what": what(asked), "now": asked.now,
            "least": asked.least, "most": asked.most}  # fmt: skip


def _flip(flip: Flip, result: StudyResult) -> Json:
    row = result.row(flip.design_id)
    return {
        **_place(flip),
        "words": when(flip.asked, flip.is_above, flip.value),
        "then": row.label if row else "nothing that was tried",
        "design_id": flip.design_id,
        "untried": flip.untried,
    }


def _swap(swap: Swap, result: StudyResult) -> Json:
    behind = kind_words(result, swap.behind) if swap.behind else ""
    return {
        **_place(swap),
        "words": when(swap.asked, swap.is_above, swap.value),
        "family": swap.family,
        "passed_by": swap.behind,
        "told": f"{kind_words(result, swap.family)} falls behind {behind}"
        if behind
        else f"{kind_words(result, swap.family)} meets the question no more",
    }


def _place(flip: Flip | Swap) -> Json:
    return {"quantity": flip.asked.kind, "machine": flip.asked.machine, "now": flip.asked.now,
            "side": "above" if flip.is_above else "below",
            "value": flip.value if isfinite(flip.value) else None}  # fmt: skip


def _closeness(points: Flips, result: StudyResult) -> list[str]:
    """What comes first beyond the nearest of them."""
    if not points.answer:
        return []
    nearest = points.answer[0]
    row = result.row(nearest.design_id)
    then = f"the best of those tried is {row.label}" if row else "nothing that was tried meets the question"
    return [f"Nearest: beyond {what(nearest.asked)} of that, {then}."] if nearest.asked.machine else [
        f"Nearest is that of {what(nearest.asked)}; beyond it {then}."
    ]  # fmt: skip


def _untried(points: Flips) -> list[str]:
    return [words] if (words := untried_words(points)) else []


def _assumptions(result: StudyResult) -> list[Json]:
    found = [
        f"Prices and the rate are followed from 1/{WIDEST:g} to {WIDEST:g} times, the SLO from 1/{WIDEST_SLO:g} to"
        f" {WIDEST_SLO:g} times its limits, one at a time; of each family its best design at each value.",
        "Prices and tariff apply exactly to what was simulated. The rate goes by the designs' capacities: what they"
        " draw at other rates was not simulated.",
    ]
    if not slo_is_told(result):
        found.append(
            "The SLO is not followed: neither a share of requests within limits nor an interval's lower bound says how"
            " it would come out under other limits."
        )
    else:
        found.append(
            "The SLO goes by the share of each limit that a design used when run at the rate, else by lines between the"
            " rates that it was run at; a token budget that follows the SLO stays as it is."
        )
    return [{"text": text, "source": "docs/flips.md"} for text in found]


KIND = told_at_once(
    name="flip_points",
    title="When the order changes",
    about="The nearest price of each machine, tariff, rate and SLO at which another kind of design comes first.",
    parameters=Parameters,
    told=told,
    check=_check,
)
