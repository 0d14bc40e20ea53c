"""Which is cheaper, in words that claim nothing within the noise."""

from dataclasses import replace

import pytest

from simcore.comparing.verdict import Choice, Noise, noise, verdict
from simcore.trust.margins import Margin
from tests.unit.simcore.comparing.test_drivers import DEAR, priced, side


def choice(name, one):
    return Choice(name, one, one.result.winner)


def uncertain(one, noise_of):
    """With the winner's capacity as uncertain as that, by chance alone."""
    row = one.result.winner
    margin = Margin(row.capacity_req_per_s, noise_of, noise_of, ())
    return replace(one, result=replace(one.result, margins={**one.result.margins, row.design_id: margin}))


def test_prices_alone_differ_for_certain():
    first, second = choice("A", side()), choice("B", side(priced({name: 2 * usd for name, usd in DEAR.items()})))
    (said,) = verdict([first, second])
    assert said.startswith("A costs $")
    assert "a month less than B: " in said
    assert "9 times in 10" not in said


@pytest.mark.parametrize(("noise_of", "tied"), [(0.001, False), (0.6, True)])
def test_a_difference_within_the_noise_is_not_claimed(noise_of, tied):
    one = uncertain(side(), noise_of)
    other = uncertain(
        side(each={"sarathi:dgx-h100": (3.0,), "splitwise:dgx-h100+dgx-a100": (1.0, 1.0)}, engine="f"), noise_of
    )
    said = verdict([choice("A", one), choice("B", other)])[0]
    assert ("tied in cost" in said and "within the noise" in said) == tied
    assert ("a month less than" in said) != tied
    assert ("9 times in 10" in said) or not tied


def test_the_same_cost_is_said():
    assert verdict([choice("A", side()), choice("B", side())])[0].startswith("A and B cost the same: $")


def test_different_rates_are_compared_by_what_a_request_costs():
    said = verdict([choice("A", side()), choice("B", side(rate_req_per_s=140))])
    assert said[1].startswith("They serve different rates. 1,000 requests cost ")
    assert "for 140 requests/s" in said[1]


def test_what_does_not_hold_its_question_is_not_ranked():
    none = side(limits={"machines": 1})
    said = verdict([choice("A", side()), choice("B", none)])
    assert said == ["B has no answer: no design that was tried holds its question."]
    one = side()
    missing = next(row for row in one.result.rows if row.status == "evaluated" and not row.met)
    said = verdict([choice("A", one), Choice("B", one, missing, is_answer=False)])
    assert said == [f"B does not do what its question asks: {missing.reason}."]


def test_noise_is_of_the_ratio():
    unsure = Noise(0.1, 0.1)
    assert unsure.hides(0.95)
    assert not unsure.hides(0.8)
    low, high = unsure.span(0.95)
    assert low < 0 < high
    assert noise(choice("A", side()), choice("B", side(rate_req_per_s=140))) == Noise()
