"""What was never tried and may come first, against trying every count."""

from dataclasses import replace
from decimal import Decimal
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simcore.answer.measure import measure_of
from simcore.answer.result import study_result
from simcore.catalogue import price_book
from simcore.evaluation import Evaluation
from simcore.spec import SpecError
from simcore.study import next_designs
from simcore.what_if.changes import Changes, what_if
from simcore.what_if.untried import untried
from tests.unit.simcore.questions import asked, bounded, evaluation, explored, linear, told

SPLIT = "splitwise:dgx-h100+dgx-a100"
EACH = {"sarathi:dgx-h100": (2.0,), SPLIT: (6.0, 4.0)}
BOOK = price_book("splitwise-2023")
MOST = 80
"""Machines of a pool, in trying every count."""


def answered(**changes):
    context = asked(**changes)
    designs, done = explored(context, EACH)
    return context, study_result(context.spec, designs, done, BOOK)


CONTEXT, RESULT = answered()


def every_one(context, result):
    """All counts of all lines, by what a machine holds: as if all had been simulated."""
    members = [
        context.member(place, counts)
        for place, line in enumerate(context.lines)
        for counts in ([(n,) for n in range(1, MOST)] if len(line.pools) == 1 else
                       [(p, d) for p in range(1, MOST // 2) for d in range(1, MOST)])
    ]  # fmt: skip
    rate = result.spec.rate_req_per_s
    done = {design.design_id: linear(design, EACH[design.family], rate) for design in members}
    return study_result(result.spec, members, done, result.book, margins={})


@settings(max_examples=12, deadline=None)
@given(
    prices=st.fixed_dictionaries({"dgx-h100": st.integers(5, 80), "dgx-a100": st.integers(5, 80)}),
    rate=st.sampled_from([None, 40.0, 65.0, 90.0]),
)
def test_the_cheapest_of_all_counts_was_tried_or_is_named(prices, rate):
    changes = Changes(rate_req_per_s=rate, usd_per_hour={name: Decimal(usd) for name, usd in prices.items()})
    found = what_if(RESULT, changes)
    named = untried(CONTEXT, found)
    best = every_one(CONTEXT, found.result).winner
    figure = measure_of(found.result).figure
    if figure(best) < figure(found.result.winner):
        assert best.design_id in {design.design_id for design in named.designs}


def test_what_is_named_costs_less_than_the_answer_and_was_not_tried():
    found = what_if(RESULT, Changes(rate_req_per_s=55.0))
    named = untried(CONTEXT, found)
    assert named.count == len(named.designs) > 0
    assert named.cpu_s > 0
    hourly = {price.machine: float(price.usd_per_hour) for price in BOOK.prices}
    for design in named.designs:
        cost = sum(hourly[pool.machine.id] * pool.machines for pool in design.case.pools)
        assert cost < float(found.result.winner.usd_per_hour)
        known = found.result.evaluations.get(design.design_id)
        assert known is None or known.status == "screened"


def test_what_fails_by_its_bound_is_not_named():
    context = bounded()
    designs, done = explored(context, EACH)
    found = what_if(study_result(context.spec, designs, done, BOOK), Changes(rate_req_per_s=55.0))
    named = {design.design_id for design in untried(context, found).designs}
    loose = {design.design_id for design in untried(CONTEXT, what_if(RESULT, Changes(rate_req_per_s=55.0))).designs}
    assert named < loose


@pytest.mark.parametrize(
    ("limits", "broken"),
    [
        ({"power_limit_kw": 250}, lambda row: row.nameplate_w > 250_000),
        ({"machines": 40}, lambda row: (row.prefill_machines or 0) + (row.decode_machines or 0) > 40),
        ({"usd_per_month": 500_000}, lambda row: float(row.usd_per_hour) * 730 > 500_000),
    ],
)
def test_what_breaks_a_limit_is_not_named(limits, broken):
    within = replace(RESULT, spec=replace(RESULT.spec, limits=replace(RESULT.spec.limits, **limits)))
    found = what_if(within, Changes(rate_req_per_s=55.0))
    named = untried(CONTEXT, found)
    assert named.count
    done = {design.design_id: linear(design, EACH[design.family], 55.0) for design in named.designs}
    assert not any(map(broken, study_result(found.result.spec, named.designs, done, BOOK, margins={}).rows))


def test_machines_on_hand_are_not_exceeded_by_both_pools_together():
    machines = [{"machine": "dgx-h100", "on_hand": 30}]
    family = "splitwise:dgx-h100+dgx-h100"
    context = asked(machines=machines, families=[family])
    designs, done = explored(context, {family: (6.0, 4.0)})
    found = what_if(study_result(context.spec, designs, done, BOOK), Changes(rate_req_per_s=50.0))
    named = untried(context, found).designs
    assert named
    assert all(sum(pool.machines for pool in design.case.pools) <= 30 for design in named)


def test_a_rate_that_nothing_tried_holds_is_said_to_be_open():
    assert untried(CONTEXT, what_if(RESULT, Changes(rate_req_per_s=1000.0))).nothing_holds
    assert not untried(CONTEXT, what_if(RESULT, Changes(usd_per_month=10.0))).nothing_holds


def test_of_another_slo_nothing_is_said():
    assert not untried(CONTEXT, what_if(RESULT, Changes(slo_multiplier=2.0)))


def test_the_most_held_is_not_closed_in_on():
    context, result = answered(goal="throughput")
    assert not untried(context, what_if(result, Changes(usd_per_hour={"dgx-a100": Decimal(1)})))


def test_with_a_tariff_what_was_screened_may_come_first_as_no_proof_bounds_what_it_draws():
    cheapest = RESULT.winner
    screened = Evaluation(cheapest.design_id, "screened", "beaten", capacity_high=100.0)
    evaluations = {**RESULT.evaluations, cheapest.design_id: screened}
    known = study_result(RESULT.spec, tuple(RESULT.designs.values()), evaluations, BOOK)

    def named(**changes):
        return {design.design_id for design in untried(CONTEXT, what_if(known, Changes(**changes))).designs}

    assert cheapest.design_id not in named()
    assert cheapest.design_id in named(usd_per_kwh=Decimal("0.1"))


def shared(context):
    """Every design of a study whose pools' machines add up: on either side of what keeps its limits some hold the
    rate."""
    designs, done = [], {}
    while wave := next_designs(context, done):
        for design in wave:
            counts = [pool.machines for pool in design.case.pools]
            held = counts[0] * 2.0 if len(counts) == 1 else counts[0] * 1.5 + counts[1] * 0.9
            done[design.design_id] = told(design, context, evaluation(design, held, "decode"))
        designs += wave
    return study_result(context.spec, designs, done, BOOK)


def test_once_what_was_named_is_tried_too_nothing_is_left_that_may_come_first():
    changes = Changes(usd_per_hour={"dgx-h100": Decimal(60), "dgx-a100": Decimal(20)}, power_limit_kw=600)
    within = {"power_limit_kw": 480}
    context = asked(limits=within)
    found = what_if(shared(context), changes)
    named = untried(context, found)
    assert named.count
    also = [
        {"family": design.family, "counts": [pool.machines for pool in design.case.pools]} for design in named.designs
    ]
    context = asked(limits=within, also=also)
    again = what_if(shared(context), changes)
    assert not untried(context, again).count
    pairs = product(range(1, 60), range(1, 93))
    able = [(p, d) for p, d in pairs if p * 1.5 + d * 0.9 >= 70 and p * 10.2 + d * 6.5 <= 600]
    assert again.result.winner.usd_per_hour == min(p * 60 + d * 20 for p, d in able) < found.result.winner.usd_per_hour


def test_what_holds_the_rate_by_one_run_alone_is_named_where_it_costs_less():
    cheapest = RESULT.winner
    by_run = Evaluation(
        cheapest.design_id, "screened", "holds", capacity_high=100.0, rate_only=True, held_required=True
    )
    known = study_result(
        RESULT.spec, tuple(RESULT.designs.values()), {**RESULT.evaluations, cheapest.design_id: by_run}, BOOK
    )
    named = untried(CONTEXT, what_if(known, Changes()))
    assert known.winner.usd_per_hour > cheapest.usd_per_hour
    assert [design.design_id for design in named.designs] == [cheapest.design_id]


@pytest.mark.parametrize(
    ("also", "said"),
    [
        ({"family": "sarathi:dgx-h200", "counts": [1]}, r"also\[0\].family: found 'sarathi:dgx-h200'"),
        ({"family": SPLIT, "counts": [1]}, r"also\[0\].counts: found 1, expected 2"),
    ],
)
def test_what_is_to_be_tried_too_must_be_of_the_studys_families(also, said):
    with pytest.raises(SpecError, match=said):
        asked(also=[also])


def test_where_the_user_gave_counts_no_others_are_named():
    context = asked(counts={"mixed": [40], "prefill": [20], "decode": [30]})
    designs, done = explored(context, EACH)
    result = study_result(context.spec, designs, done, BOOK)
    assert result.winner
    assert not untried(context, what_if(result, Changes(rate_req_per_s=40.0))).count


def test_where_requests_alone_miss_a_limit_no_number_of_machines_is_offered():
    context = asked(limits={"power_limit_kw": 300})
    designs, done = explored(context, {family: (0.0,) * len(each) for family, each in EACH.items()})
    nothing = study_result(context.spec, designs, done, BOOK)
    found = untried(context, what_if(nothing, Changes()))
    assert not found
    queued = {name: replace(one, binding_limit="unstable") for name, one in done.items()}
    assert untried(context, what_if(study_result(context.spec, designs, queued, BOOK), Changes()))


def test_where_replicas_span_machines_whole_ones_alone_are_tried_and_offered():
    spanning = {"tensor_parallel": 8, "pipeline_parallel": 2, "token_budget": 512}
    context = asked(model="llama-3.1-70b", latency={"source": "roofline"}, scheduler_options=spanning)
    designs, done = explored(context, EACH)
    assert len(designs) > 4
    found = untried(context, what_if(study_result(context.spec, designs, done, BOOK), Changes(rate_req_per_s=100.0)))
    for design in (*designs, *found.designs):
        assert all((pool.machines or 1) % 2 == 0 for pool in design.case.pools), design.label
    best = study_result(context.spec, designs, done, BOOK).winner
    assert best is not None
    assert (best.capacity_req_per_s or 0) >= 70
