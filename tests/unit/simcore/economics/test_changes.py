"""What a plan costs more than an approved one, by input: by the pocket calculator, and adding up for any two plans."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simcore.economics.assumptions import Assumptions, Facility, MachineCost, Overheads, Terms, TokenPrice
from simcore.economics.changes import Changes, Plan, Stage, changes, moved_fields
from simcore.economics.lines import View
from simcore.economics.physics import Physics
from simcore.spec import SpecError
from tests.unit.simcore.economics.plans import A100, H100, LARGER, PHYSICS, D, assumed, over, owned

MORE = replace(
    PHYSICS, label="one prefill machine more", pools=(replace(PHYSICS.pools[0], machines=2), PHYSICS.pools[1])
)


def told(found: Changes) -> list[tuple[str, object]]:
    assert found.before_usd + sum(effect.usd for effect in found.effects) == found.after_usd
    return [(" and ".join(effect.kinds), effect.usd) for effect in found.effects]


def test_four_inputs_by_the_pocket_calculator() -> None:
    before = Plan((PHYSICS,), assumed(demand=over(1)))
    dearer = replace(before.assumptions.machine(H100.machine), on_demand_usd_per_hour=D(38))
    then = Plan(
        (MORE,),
        assumed(
            machines=(dearer, before.assumptions.machine(A100.machine)),
            demand=replace(over(1), start="2027-02"),
            overheads=Overheads(staff_usd_per_month=D(1000)),
        ),
    )
    found = changes(before, then, [Stage("rate", ("rate 10 → 12 requests/s",), (MORE,))], "cash")
    assert found.before_usd == D("89280.00")  # 744 × (36 + 3 × 28)
    assert told(found) == [
        ("months", D("-8640.00")),  # 72 h fewer × 120
        ("rate", D("24192.00")),  # 672 × 36
        ("prices", D("2688.00")),  # 672 × 2 × 2
        ("overheads", D("1000.00")),
    ]
    assert found.after_usd == D("108520.00")
    rate, prices = found.effects[1], found.effects[2]
    assert (rate.asked, rate.design) == (("rate 10 → 12 requests/s",), "one prefill machine more")
    assert [(one.path, one.before, one.after) for one in prices.moved] == [
        (f"machines.{H100.machine}.on_demand_usd_per_hour", "36", "38")
    ]


def test_what_a_question_and_its_costs_both_have_is_one_effect() -> None:
    """The book's price made another design the answer, and is what costs are made of."""
    before = Plan((PHYSICS,), assumed(demand=over(1)))
    cheaper = replace(before.assumptions.machine(H100.machine), on_demand_usd_per_hour=D(30))
    then = Plan((MORE,), replace(before.assumptions, machines=(cheaper, before.assumptions.machine(A100.machine))))
    words = ("DGX H100 $36 → $30 an hour",)
    found = changes(before, then, [Stage("prices", words, (MORE,))], "book")
    assert told(found) == [("prices", D("17856.00"))]  # 744 × (2 × 30 - 36)
    assert found.effects[0].asked == words
    assert len(found.effects[0].moved) == 1


def test_nothing_changed() -> None:
    plan = Plan((PHYSICS,), owned())
    found = changes(plan, Plan((PHYSICS,), owned()), [], "book")
    assert (found.effects, found.beside, found.difference_usd) == ((), (), 0)


def test_what_moves_no_amount_is_told_beside() -> None:
    before, after = assumed(), assumed(allocation="tokens", api=TokenPrice(D("0.5"), D("1.5")))
    found = changes(Plan((PHYSICS,), before), Plan((PHYSICS,), after), [], "cash")
    assert found.effects == ()
    assert [one.path for one in found.beside][:1] == ["allocation"]


def test_growth_that_the_first_design_does_not_hold_is_told_with_the_designs_that_do() -> None:
    before = Plan((PHYSICS,), assumed(demand=over(2)))
    grown = assumed(demand=over(2, growth_per_month=PHYSICS.capacity_req_per_s / PHYSICS.rate_req_per_s))
    found = changes(before, Plan((PHYSICS, LARGER), grown), [], "cash")
    assert [effect.kinds for effect in found.effects] == [("growth", "physics")]
    assert told(found)


def test_terms_without_a_price_are_told_with_the_prices_that_follow() -> None:
    """Bought: the price comes with it, as prices come first; without one nothing can be told."""
    unpriced = tuple(replace(one, capex_usd=None) for one in (H100, A100))
    before = Plan((PHYSICS,), assumed(machines=unpriced, demand=over(1)))
    bought = replace(owned(), demand=over(1))
    kinds = [kind for kind, _ in told(changes(before, Plan((PHYSICS,), bought), [], "book"))]
    assert kinds.index("prices") < kinds.index("terms")
    with pytest.raises(SpecError, match="has no capex_usd"):
        changes(before, Plan((PHYSICS,), assumed(machines=unpriced, terms=Terms(base="owned"))), [], "book")


def test_0_10_is_0_1() -> None:
    one, two = (assumed(facility=Facility(usd_per_kwh=D(text))) for text in ("0.10", "0.1"))
    assert moved_fields(one, two) == []


PRICES = st.decimals(1, 100, places=2)
SHARES = st.decimals(0, 1, places=2)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    def machine(name: str) -> MachineCost:
        return MachineCost(name, draw(PRICES), draw(PRICES), draw(PRICES), draw(PRICES) * 1000)

    steps: tuple[Physics, ...] = draw(st.sampled_from([(PHYSICS,), (PHYSICS, LARGER), (MORE,)]))
    assumptions: Assumptions = assumed(
        machines=(machine(H100.machine), machine(A100.machine)),
        demand=over(draw(st.integers(1, 4)), growth_per_month=draw(st.sampled_from([D(0), D("0.2"), D(1)]))),
        terms=Terms(draw(st.sampled_from(["on_demand", "reserved_1y", "owned"])), draw(SHARES)),
        facility=Facility("all", D("1.1"), draw(SHARES)),
        overheads=Overheads(draw(PRICES), draw(PRICES)),
    )
    return Plan(steps, assumptions)


@given(plans(), plans(), st.sampled_from(["cash", "book", "economic"]))
@settings(max_examples=60)
def test_effects_add_up_to_the_difference_to_the_cent(before: Plan, after: Plan, view: View) -> None:
    stages = [Stage("rate", ("more",), (MORE,)), Stage("model", ("another",), after.steps)]
    for way in ([], stages):
        found = changes(before, after, way, view)
        told(found)
        assert (found.before_usd, found.after_usd) == (before.total(view), after.total(view))
        assert all(effect.usd == effect.usd.quantize(D("0.01")) for effect in found.effects)
