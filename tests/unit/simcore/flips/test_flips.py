"""Every flip point is checked against the answer that the changed question itself gives."""

import re
from dataclasses import replace
from decimal import Decimal
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simcore.answer.result import study_result
from simcore.catalogue import price_book
from simcore.evaluation import LimitResult
from simcore.flips import flips
from simcore.flips.find import changes_of
from simcore.flips.sentences import clause, kind_words, line, outward, untried_words
from simcore.what_if.changes import Changes, what_if
from tests.unit.simcore.questions import asked, explored

EACH = {"sarathi:dgx-h100": (2.0,), "splitwise:dgx-h100+dgx-a100": (6.0, 4.0)}
BOOK = price_book("splitwise-2023")
SPLIT, SARATHI = "splitwise:dgx-h100+dgx-a100", "sarathi:dgx-h100"


def explored_question(each=None, book=BOOK, **changes):
    context = asked(**changes)
    designs, done = explored(context, each or EACH)
    return context, study_result(context.spec, designs, done, book)


def answered(each=None, book=BOOK, **changes):
    return explored_question(each, book, **changes)[1]


def by_quantity(result):
    return {(flip.asked.kind, flip.asked.machine, flip.is_above): flip for flip in flips(result).answer}


def missed(result, **changes):
    """With what came out otherwise for the designs that missed the rate."""
    other = {
        name: replace(found, at_required=replace(found.at_required, **changes))
        for name, found in result.evaluations.items()
        if found.at_required and not found.at_required.met
    }
    return study_result(result.spec, list(result.designs.values()), {**result.evaluations, **other}, BOOK)


def first_family(result, asked_, value):
    winner = what_if(result, changes_of(asked_, value)).result.winner
    return winner and winner.family


def test_a_price_flips_where_the_two_best_cost_the_same():
    flip = by_quantity(answered())["usd_per_hour", "dgx-a100", True]
    # 12 H100 + 18 A100 against 35 H100: 18 p = 23 * 38.08
    assert flip.value == pytest.approx(23 * 38.08 / 18)
    assert clause(flip) == "a DGX A100 costs over $48.66 an hour (17.68)"


@settings(max_examples=25, deadline=None)
@given(st.tuples(*[st.floats(1.0, 9.0)] * 3), st.sampled_from(["cost", "power", "machines"]))
def test_the_question_asked_anew_agrees_on_both_sides_of_every_flip(each, goal):
    result = answered({SARATHI: each[:1], SPLIT: each[1:]}, goal=goal)
    for flip in flips(result).answer:
        if flip.asked.kind == "slo_multiplier":
            continue
        beyond, inside = (flip.value * (1 + step * (1 if flip.is_above else -1)) for step in (1e-7, -1e-7))
        row = result.row(flip.design_id)
        assert first_family(result, flip.asked, inside) == result.winner.family
        assert first_family(result, flip.asked, beyond) == (row.family if row else None)


@settings(max_examples=25, deadline=None)
@given(st.tuples(*[st.floats(1.0, 9.0)] * 3), st.floats(0.25, 4.0), st.booleans())
def test_where_no_flip_is_told_the_answer_stays(each, times, is_h100):
    result = answered({SARATHI: each[:1], SPLIT: each[1:]})
    if result.winner is None:
        return
    machine = "dgx-h100" if is_h100 else "dgx-a100"
    flip = by_quantity(result).get(("usd_per_hour", machine, times > 1))
    now = float(BOOK.price(machine).usd_per_hour)
    reached = flip is not None and (now * times >= flip.value if times > 1 else now * times <= flip.value)
    if not reached:
        changed = Changes(usd_per_hour={machine: Decimal(repr(now * times))})
        assert what_if(result, changed).result.winner.family == result.winner.family


def test_a_tariff_flips_where_what_is_drawn_costs_what_the_machines_save():
    result = answered()
    drawn = {name: replace(found, at_required=replace(found.at_required, mean_w=found_w))
             for name, found in result.evaluations.items() if found.at_required
             for found_w in [100_000.0 if result.designs[name].family == SARATHI else 900_000.0]}  # fmt: skip
    result = study_result(result.spec, list(result.designs.values()), {**result.evaluations, **drawn}, BOOK)
    flip = by_quantity(result)["usd_per_kwh", "", True]
    sarathi, split = 35 * 38.08, 12 * 38.08 + 18 * 17.68
    assert flip.value == pytest.approx((sarathi - split) / (800 * result.spec.pue))
    assert "electricity costs over $" in clause(flip)
    assert "(not paid apart)" in clause(flip)


def test_above_its_capacity_an_answer_holds_no_more():
    result = answered()
    flip = by_quantity(result)["rate_req_per_s", "", True]
    most = max(row.capacity_req_per_s for row in result.rows if row.family == SPLIT and row.met)
    assert flip.value == most
    said = float(re.match(r"the rate rises above ([\d.]+) requests/s", clause(flip)).group(1))
    beyond = result.evaluations[result.winner.design_id]
    met = replace(beyond, capacity_req_per_s=most, at_required=replace(beyond.at_required, rate_req_per_s=said))
    assert not met.holds(said)  # even by a run at that rate that meets the limits


def test_an_slo_flips_by_what_the_run_at_the_rate_used_of_its_limits():
    result = answered()
    tighter = by_quantity(result)["slo_multiplier", "", False]
    assert tighter.value == pytest.approx(2.5 / 3.0)  # of every design that holds the rate
    assert tighter.design_id == ""
    relaxed = by_quantity(result)["slo_multiplier", "", True]
    assert relaxed.value == pytest.approx(3.6 / 3.0)  # of every design that does not
    assert result.row(relaxed.design_id).family == SARATHI


def test_an_unstable_run_is_mended_by_no_slo():
    result = answered()
    result = missed(result, stable=False)
    assert ("slo_multiplier", "", True) not in by_quantity(result)


def test_a_limit_without_a_value_is_met_by_no_multiple():
    result = answered()
    result = missed(result, limits=(LimitResult("ttft_slowdown", 90, 3.0, None, False),))
    assert ("slo_multiplier", "", True) not in by_quantity(result)


def test_a_share_of_requests_says_nothing_of_other_limits():
    slo = {"kind": "attainment", "ttft_s": 2.0, "tpot_s": 0.2, "share": 0.99}
    kinds = {asked_.kind for asked_ in flips(answered(slo=slo)).asked}
    assert kinds == {"usd_per_hour", "usd_per_kwh", "rate_req_per_s"}


def test_a_budget_ends_an_answer():
    month = 566_000.0
    result = answered(limits={"power_limit_kw": 408, "usd_per_month": month})
    flip = by_quantity(result)["usd_per_hour", "dgx-h100", True]
    assert flip.value == pytest.approx((month / 730 - 18 * 17.68) / 12, rel=1e-3)


def test_the_first_kinds_swap_where_their_best_cost_the_same():
    points = flips(answered())
    assert points.families == (SPLIT, SARATHI)
    swap = next(s for s in points.swaps if s.asked.machine == "dgx-a100" and s.is_above)
    assert (swap.family, swap.behind) == (SPLIT, SARATHI)
    assert swap.value == pytest.approx(23 * 38.08 / 18)


def test_a_question_without_an_answer_has_no_flips():
    result = answered(limits={"power_limit_kw": 20})
    assert result.winner is None
    assert flips(result).asked == ()
    assert line(flips(result), result) == ""


def test_designs_never_tried_that_may_come_first_sooner_are_counted():
    context, result = explored_question()
    found = {(flip.asked.kind, flip.is_above): flip for flip in flips(result, context).answer}
    above = found["rate_req_per_s", True]
    assert above.untried > 0
    assert f"{above.untried:,} designs before the rate rises above" in untried_words(flips(result, context))


def test_the_line_names_the_nearest_first():
    result = answered()
    text = line(flips(result), result)
    assert text.startswith(
        "Split, DGX H100 + DGX A100 stops being best if: the limits are relaxed beyond 1.2× | the limits are tightened"
    )
    assert text.count("|") == 3


def test_kinds_are_named_by_their_machines():
    result = answered()
    assert kind_words(result, SPLIT) == "Split, DGX H100 + DGX A100"
    assert kind_words(result, SARATHI) == "Sarathi on DGX H100"


@pytest.mark.parametrize(
    ("value", "up", "cents", "said"),
    [(0.12341, True, False, 0.124), (0.12341, False, False, 0.123), (48.657, True, True, 48.66),
     (48.657, False, True, 48.65), (1234.5, True, False, 1240.0), (0.5, True, True, 0.5), (70.0, False, False, 70.0)],
)  # fmt: skip
def test_values_are_rounded_away_from_today(value, up, cents, said):
    assert outward(value, up, cents) == said


def test_nothing_is_followed_beyond_its_range():
    for flip in flips(answered()).answer:
        assert flip.asked.least <= flip.value <= flip.asked.most < inf
