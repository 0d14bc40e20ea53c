"""Why not mine: one sentence a design, with the limit, the rate and the pool."""

from dataclasses import replace

import pytest

from simcore.answer.result import StudyResult, study_result
from simcore.answer.why_not import why_not
from simcore.catalogue import price_book
from simcore.evaluation import LimitResult, PoolResult, RateResult
from simcore.rows import DesignRow
from tests.unit.simcore.questions import asked, explored

EACH = {"sarathi:dgx-h100": (2.0,), "splitwise:dgx-h100+dgx-a100": (6.0, 4.0)}
LIMITS = (
    LimitResult("ttft_slowdown", 99, 6.0, 7.2, False),
    LimitResult("ttft_slowdown", 50, 2.0, 2.1, False),
    LimitResult("tbt_slowdown", 99, 5.0, 1.0, True),
)


def pool(role: str, busy: float) -> PoolResult:
    return PoolResult(role, "dgx-h100", 3, 3, busy, busy, 0.0, 0.0, 1 - busy, 0.0, 0.3, 0.4, 0.7, 0.0)


POOLS = (pool("prefill", 0.98), pool("decode", 0.99))


@pytest.fixture
def result() -> StudyResult:
    context = asked()
    designs, done = explored(context, EACH)
    return study_result(context.spec, designs, done, price_book("splitwise-2023"))


def loser_of(result: StudyResult) -> DesignRow:
    return next(row for row in result.rows if row.met is False and row.capacity_req_per_s)


def said(result: StudyResult, **changes: object) -> str:
    """Of a design that misses the rate, whose evaluation is changed."""
    row = loser_of(result)
    changed = replace(result.evaluations[row.design_id], **changes)
    return why_not(replace(result, evaluations={**result.evaluations, row.design_id: changed}), row)


def at_required(met: bool = False, stable: bool = True, limits=LIMITS, pools=POOLS) -> RateResult:
    return RateResult(70, met, stable, limits, pools, 1.0, 1.0, 1.0, 1.0)


def test_every_design_has_one_sentence(result: StudyResult) -> None:
    sentences = {row.design_id: why_not(result, row) for row in result.rows}
    assert result.winner is not None
    assert sentences[result.winner.design_id] == "This is the answer."
    assert all(sentence.endswith(".") for sentence in sentences.values())
    runner_up = next(row for row in result.rows if row.met and row.usd_per_hour > result.winner.usd_per_hour)
    assert "more cost than the answer" in sentences[runner_up.design_id]


def test_a_miss_names_the_limit_missed_most_the_rate_and_the_pool_that_makes_it(result: StudyResult) -> None:
    assert said(result, at_required=at_required(), capacity_req_per_s=66.9) == (
        "Not the answer: misses P99 TTFT slowdown, 7.2× of 6×, at 70 requests/s with its prefill pool 98 % busy"
        " (it holds 66.9)."
    )


def test_a_queue_that_grows_names_the_most_loaded_pool(result: StudyResult) -> None:
    assert said(result, at_required=at_required(stable=False), capacity_req_per_s=60.0) == (
        "Not the answer: queues without end at 70 requests/s with its decode pool 99 % busy (it holds 60)."
    )


def test_where_no_rate_holds_that_is_said(result: StudyResult) -> None:
    assert said(result, at_required=at_required(), capacity_req_per_s=0.0).endswith("(it holds them at no rate).")


@pytest.mark.parametrize(
    ("binding", "words"),
    [
        ("kv", "KV memory is full"),
        ("unstable", "the queue grows without end"),
        ("ttft_slowdown_p90", "P90 TTFT slowdown is missed"),
        ("tbt_p99", "P99 TBT is missed"),
        ("attainment", "attainment is missed"),
    ],
)
def test_far_below_the_rate_it_is_what_fails_first_above_the_capacity(
    result: StudyResult, binding: str, words: str
) -> None:
    text = said(result, at_required=None, capacity_req_per_s=30.0, binding_limit=binding, binding_pool="decode")
    assert text == f"Not the answer: holds 30 requests/s of 70: above that {words} first in its decode pool."


def test_a_tie_is_said(result: StudyResult) -> None:
    runner_up = next(row for row in result.rows if row.met and row is not result.winner)
    assert why_not(result, replace(runner_up, tied_with_answer=True)).endswith(
        ": what is known does not tell them apart."
    )
