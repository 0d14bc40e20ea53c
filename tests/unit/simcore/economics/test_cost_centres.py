from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore.economics.cost_centres import ClassTokens, by_centre
from simcore.economics.lines import CostLine
from simcore.economics.unit_cost import unit_cost
from tests.unit.simcore.economics.plans import PHYSICS

D = Decimal
RULES = ("by_use", "evenly", "apart")


def tokens(name: str, centre: str, share: str) -> ClassTokens:
    return ClassTokens(name, centre, dict.fromkeys(("input", "cached_input", "output"), D(share)), D(share))


CLASSES = [tokens("chat", "support", "0.5"), tokens("code", "engineering", "0.25"), tokens("mail", "support", "0.25")]
CAPACITY = replace(PHYSICS, capacity_req_per_s=D(10), rate_req_per_s=D(8))


def line(usd: str) -> CostLine:
    return CostLine("book", "2027-01", "shared", "", "staff", D(1), "months", D(usd), D(usd), "")


RATES_ASKED = (D(5), D(8))


def shared(usd="1000.00", rates=RATES_ASKED, classes=CLASSES, idle="by_use", headroom="by_use"):
    return by_centre(CAPACITY, [line(usd)], 744, rates, classes, "tokens", idle, headroom)


def test_half_serves_three_tenths_idle_and_a_fifth_is_headroom():
    found = shared()
    assert (found.served_usd, found.idle_usd, found.headroom_usd) == (D("500.00"), D("300.00"), D("200.00"))
    support, engineering = found.centres
    assert (support.cost_centre, support.classes, support.usd) == ("support", ("chat", "mail"), D("750.00"))
    assert (engineering.served_usd, engineering.idle_usd, engineering.headroom_usd) == (D(125), D(75), D(50))


def test_idle_in_equal_parts_and_headroom_apart():
    support, engineering, apart = shared(idle="evenly", headroom="apart").centres
    assert (support.idle_usd, engineering.idle_usd) == (D(150), D(150))
    assert (apart.cost_centre, apart.usd, apart.headroom_usd) == ("", D(200), D(200))


def test_what_serves_is_what_the_unit_costs_say():
    for mean in ("0.3", "3.3", "7.7"):
        one = unit_cost(CAPACITY, [line("999.97")], 744, "duty_cycle", D(mean), "tokens")
        found = shared("999.97", (D(mean), D(8)))
        assert found.idle_usd + found.headroom_usd == one.idle_usd
        for kind in one.tokens:
            assert sum(centre.by_kind_usd[kind.kind] for centre in found.centres) == kind.usd


def test_without_classes_there_is_nobody_to_pay():
    with pytest.raises(ValueError, match="classes: found none"):
        shared(classes=[])


SHARES = st.lists(st.decimals("0.001", 1, places=3), min_size=1, max_size=6)
RATES = st.tuples(st.decimals("0.001", 12, places=3), st.decimals("0.001", 12, places=3))


@given(st.decimals(-10_000, 10**7, places=2), RATES, SHARES, st.sampled_from(RULES), st.sampled_from(RULES))
def test_the_parts_are_the_whole_to_the_cent(usd, rates, shares, idle, headroom):
    mean, sized = sorted(rates)
    classes = [tokens(f"class {place}", f"centre {place % 3}", str(share)) for place, share in enumerate(shares)]
    found = shared(f"{usd:f}", (mean, sized), classes, idle, headroom)
    assert sum(centre.usd for centre in found.centres) == found.total_usd == usd
    assert found.served_usd + found.idle_usd + found.headroom_usd == usd
    assert sum(centre.idle_usd for centre in found.centres) == found.idle_usd
