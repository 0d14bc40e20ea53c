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


def test_what_is_not_known_is_told_as_one():
    unknown = replace(FORECAST, cost_usd=D("1500.00"), accelerator_hours=D(150), used_accelerator_hours=None)
    assert _effects(FORECAST, unknown) == {"volume": 0, "token_mix": 0, "use_and_efficiency": D("500.00"), "price": 0}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"cost_usd": D(0)}, "actual: cost_usd is 0, expected more than zero"),
        ({"accelerator_hours": D(0)}, "actual: accelerator_hours is 0"),
        ({"tokens": {"input": D(0)}}, "actual: tokens is 0"),
        ({"tokens": {"cached_input": D(5)}}, "found only kinds without standard hours"),
    ],
)
def test_what_cannot_be_split_is_refused(change, words):
    with pytest.raises(ValueError, match=words):
        variance(FORECAST, replace(FORECAST, **change), HOURS)


CENTS = st.decimals("0.01", 10**7, places=2)
COUNTS = st.decimals("0.001", 10**6, places=3)
MONTHS = st.builds(
    Served, CENTS, COUNTS, st.fixed_dictionaries({"input": COUNTS, "cached_input": COUNTS, "output": COUNTS}),
    st.none() | COUNTS,
)  # fmt: skip


@given(MONTHS, MONTHS)
def test_the_effects_are_the_whole_difference_to_the_cent(forecast, actual):
    found = variance(forecast, actual, HOURS)
    assert sum(effect.usd for effect in found.effects) == found.difference_usd
    assert all(effect.usd == effect.usd.quantize(D("0.01")) for effect in found.effects)


def _effects(forecast: Served, actual: Served) -> dict[str, Decimal]:
    return {effect.cause: effect.usd for effect in variance(forecast, actual, HOURS).effects}
