from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore.economics.variance import Served, standard_hours_of, variance

D = Decimal
TOKENS = {"input": D(1_000_000), "cached_input": D(0), "output": D(200_000)}
FORECAST = Served(D("1000.00"), D(100), TOKENS, used_accelerator_hours=D(60))
HOURS = standard_hours_of({"input": D(30), "cached_input": D(0), "output": D(30)}, TOKENS, D(60))


def test_twice_the_tokens_on_twice_the_hours_is_volume():
    twice = Served(D("2000.00"), D(200), {kind: 2 * count for kind, count in TOKENS.items()}, D(120))
    assert _effects(FORECAST, twice) == {
        "volume": D("1000.00"), "token_mix": 0, "efficiency": 0, "use": 0, "price": 0
    }  # fmt: skip


def test_each_cause_alone():
    assert _effects(FORECAST, replace(FORECAST, cost_usd=D("1100.00")))["price"] == D("100.00")
    idle = _effects(FORECAST, replace(FORECAST, cost_usd=D("1500.00"), accelerator_hours=D(150)))
    assert (idle["use"], idle["price"]) == (D("500.00"), 0)
    slow = replace(FORECAST, cost_usd=D("1500.00"), accelerator_hours=D(150), used_accelerator_hours=D(90))
    assert _effects(FORECAST, slow)["efficiency"] == D("500.00")


def test_longer_outputs_for_as_many_tokens_are_mix():
    mixed = {"input": D(800_000), "cached_input": D(0), "output": D(400_000)}
    # standard hours 24 + 60 = 84 of 60
    actual = Served(D("1400.00"), D(140), mixed, D(84))
    assert _effects(FORECAST, actual) == {"volume": 0, "token_mix": D("400.00"), "efficiency": 0, "use": 0, "price": 0}


ACTUAL = Served(D("1500.00"), D(120), {"input": D(2_000_000), "cached_input": D(0), "output": D(400_000)}, D(90))
"""Twice the tokens of the forecast's mix: 120 standard hours."""


@pytest.mark.parametrize(
    ("unknown", "effects"),
    [
        ([], {"volume": D(1000), "token_mix": D(0), "efficiency": D(-500), "use": D(-300), "price": D(300)}),
        (["used_accelerator_hours"],
         {"volume": D(1000), "token_mix": D(0), "efficiency_and_use": D(-800), "price": D(300)}),
        (["used_accelerator_hours", "accelerator_hours"],
         {"volume": D(1000), "token_mix": D(0), "efficiency_and_use_and_price": D(-500)}),
        (["tokens"], {"volume_and_token_mix_and_efficiency": D(500), "use": D(-300), "price": D(300)}),
        (["tokens", "used_accelerator_hours"],
         {"volume_and_token_mix_and_efficiency_and_use": D(200), "price": D(300)}),
        (["tokens", "used_accelerator_hours", "accelerator_hours"],
         {"volume_and_token_mix_and_efficiency_and_use_and_price": D(500)}),
    ],
)  # fmt: skip
def test_what_is_not_known_is_told_as_one_with_what_follows(unknown, effects):
    actual = replace(ACTUAL, **dict.fromkeys(unknown))
    assert _effects(FORECAST, actual) == effects
    told = variance(FORECAST, actual, HOURS).not_known
    assert all(line.endswith("not known of the actual") for line in told)
    assert bool(told) == bool(unknown)


def test_tokens_of_unknown_kinds_are_volume_and_the_mix_goes_with_what_follows():
    actual = replace(ACTUAL, tokens=None, all_tokens=D(2_400_000))
    assert _effects(FORECAST, actual) == {
        "volume": D(1000), "token_mix_and_efficiency": D(-500), "use": D(-300), "price": D(300)
    }  # fmt: skip


def test_a_month_that_served_nothing_is_all_volume_and_price():
    nothing = Served(D("500.00"), D(100), dict.fromkeys(TOKENS, D(0)), D(0))
    found = _effects(FORECAST, nothing)
    assert found == {"volume": D(-1000), "token_mix": 0, "efficiency": 0, "use": D(1000), "price": D(-500)}


def test_less_than_nothing_is_refused():
    with pytest.raises(ValueError, match="actual: output tokens is -1, expected zero or more"):
        variance(FORECAST, replace(FORECAST, tokens={"output": D(-1)}), HOURS)


def test_each_effect_says_how_with_its_numbers():
    (volume, *_, price) = variance(FORECAST, ACTUAL, HOURS).effects
    assert volume.words == "1,200,000 → 2,400,000 tokens"
    assert volume.formula == "$1,000.00 × 2,400,000 ÷ 1,200,000 tokens − $1,000.00"
    assert price.words == "10 → 12.5 USD a paid hour"


COSTS = st.decimals(-(10**7), 10**7, places=2)
COUNTS = st.decimals(0, 10**6, places=3)
KINDS = st.fixed_dictionaries({"input": COUNTS, "cached_input": COUNTS, "output": COUNTS})
MONTHS = st.builds(Served, COSTS, st.none() | COUNTS, st.none() | KINDS, st.none() | COUNTS, st.none() | COUNTS)


@given(MONTHS, MONTHS)
def test_the_effects_are_the_whole_difference_to_the_cent(forecast, actual):
    found = variance(forecast, actual, HOURS)
    assert sum(effect.usd for effect in found.effects) == found.difference_usd
    assert all(effect.usd == effect.usd.quantize(D("0.01")) for effect in found.effects)
    assert [cause for effect in found.effects for cause in effect.causes] == [
        "volume", "token_mix", "efficiency", "use", "price"
    ]  # fmt: skip


def _effects(forecast: Served, actual: Served) -> dict[str, Decimal]:
    return {effect.cause: effect.usd for effect in variance(forecast, actual, HOURS).effects}
