"""A study's result under what an address supposes: the same for page, downloads and REST."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from planner.scenarios.errors import FieldErrors
from planner.studies import results
from planner.studies.models import Study
from planner.studies.moves import Moves, read_moves
from simcore import explain
from simcore.answer.result import StudyResult
from simcore.explain import AnswerLine
from simcore.same import Same
from simcore.what_if import words as what_if_words
from simcore.what_if.changes import WhatIf, what_if

KEPT = 32
"""Of what was supposed last: the page, its panel and its sections ask for the same."""


def supposed(study: Study, query: Mapping[str, Any], now: results.Progress | None = None) -> tuple[Moves, WhatIf]:
    """FieldErrors where the query names a value that cannot be: a program is not to take one answer for another.
    ``now``: the study's progress, where that is known."""
    base = results.study_result(study, now)
    moves = read_moves(query, base)
    if moves.errors:
        raise FieldErrors(dict(moves.errors))
    return moves, found_under(base, moves)


def found_under(base: StudyResult, moves: Moves) -> WhatIf:
    """The result under the moves, made once for each that are the same."""
    return _found(Same(base), tuple(moves.query.items()))


@lru_cache(maxsize=KEPT)
def _found(base: Same[StudyResult], query: tuple[tuple[str, str], ...]) -> WhatIf:
    return what_if(base.value, read_moves(dict(query), base.value).changes)


def read(study: Study, query: Mapping[str, Any]) -> tuple[Moves, WhatIf]:
    """What the query supposes, as far as it can be read."""
    base = results.study_result(study)
    moves = read_moves(query, base)
    return moves, found_under(base, moves)


def answer(study: Study, found: WhatIf, now: results.Progress | None = None) -> tuple[AnswerLine, ...]:
    """The answer's lines under what is supposed. ``now``: the study's progress, where that is known."""
    return explain.answer(found.result, results.how_far(study, now), found.rate_is_simulated)


def as_json(moves: Moves, found: WhatIf) -> dict[str, Any]:
    """What is supposed, and what it comes to; nothing where nothing is."""
    if not found.changes:
        return {}
    return {
        "what_if": {
            "query": moves.query,
            "supposed": what_if_words.supposed(found),
            "outcome": what_if_words.outcome(found),
            "to_simulate": [name for name in moves.query if name in ("slo", "rate")],
        }
    }
