from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simcore.search.counts import MOST_MACHINES
from simcore.search.refine import MOST_WALKED
from simcore.spec import SpecError
from simcore.study import next_designs
from tests.unit.simcore.questions import asked, bounded, explored, linear, told

CONTEXT = asked(families=["sarathi:dgx-h100", "splitwise:dgx-h100+dgx-a100"])
H100_KW, A100_KW, LIMIT_KW = 10.2, 6.5, 408.0


AXES = ("mixed", "prefill", "decode")


def counts(design):
    return tuple(pool.machines for pool in design.case.pools)


@settings(max_examples=60, deadline=None)
@given(st.floats(1.8, 9.0))
def test_the_fewest_co_located_machines_that_hold_the_rate_are_found(each):
    designs, done = explored(CONTEXT, {"sarathi:dgx-h100": (each,), "splitwise:dgx-h100+dgx-a100": (50.0, 50.0)})
    holding = [
        counts(design)[0]
        for design in designs
        if design.family == "sarathi:dgx-h100" and done[design.design_id].holds(70)
    ]
    assert min(holding) == min(n for n in range(1, 41) if n * each >= 70)


@settings(max_examples=60, deadline=None)
@given(st.floats(2.5, 9.0), st.floats(2.5, 9.0))
def test_the_fewest_split_machines_within_the_power_limit_are_found(prefill, decode):
    designs, done = explored(CONTEXT, {"sarathi:dgx-h100": (50.0,), "splitwise:dgx-h100+dgx-a100": (prefill, decode)})
    within = [
        (p, d)
        for p, d in product(range(1, 41), range(1, 63))
        if p * prefill >= 70 and d * decode >= 70 and p * H100_KW + d * A100_KW <= LIMIT_KW
    ]
    found = [
        counts(design)
        for design in designs
        if design.family.startswith("splitwise") and done[design.design_id].holds(70)
    ]
    if within:
        assert min(map(sum, found)) == min(map(sum, within))
    assert len([d for d in designs if d.family.startswith("splitwise")]) <= 12 + MOST_WALKED


def test_no_design_is_asked_the_same_twice_and_the_waves_end():
    designs, _ = explored(CONTEXT, {"sarathi:dgx-h100": (2.0,), "splitwise:dgx-h100+dgx-a100": (3.0, 4.0)})
    asked_for = [(design.design_id, design.rate_only) for design in designs]
    assert len(asked_for) == len(set(asked_for))
    assert len({name for name, _ in asked_for}) < len(asked_for)


def test_an_interrupted_study_ends_with_the_same_designs():
    each = {"sarathi:dgx-h100": (2.0,), "splitwise:dgx-h100+dgx-a100": (3.0, 4.0)}
    done = {}
    while wave := next_designs(CONTEXT, done):
        design = wave[-1]
        done[design.design_id] = linear(design, each[design.family])
    assert set(done) == set(explored(CONTEXT, each)[1])


def test_where_nothing_within_the_limits_will_do_designs_beyond_them_are_tried():
    tight = asked(limits={"power_limit_kw": 100})
    designs, done = explored(tight, {"sarathi:dgx-h100": (2.0,), "splitwise:dgx-h100+dgx-a100": (3.0, 3.0)})
    beyond = [design for design in designs if done[design.design_id].holds(70)]
    assert any(counts(design) == (35,) for design in beyond)


def test_a_limit_below_one_machine_leads_to_what_would_hold_the_rate():
    each = {"sarathi:dgx-h100": (2.0,), "splitwise:dgx-h100+dgx-a100": (3.0, 3.0)}
    designs, done = explored(asked(limits={"power_limit_kw": 5}), each)
    assert {(1,), (1, 1)} <= {counts(design) for design in designs}
    assert any(counts(design) == (35,) for design in designs if done[design.design_id].holds(70))


def test_a_limit_below_one_machine_that_holds_nothing_ends_there():
    each = {"sarathi:dgx-h100": (0.0,), "splitwise:dgx-h100+dgx-a100": (0.0, 0.0)}
    designs, _ = explored(asked(limits={"power_limit_kw": 5}), each)
    assert {counts(design) for design in designs} == {(1,), (1, 1)}


def test_a_rate_that_only_a_vast_cluster_holds_is_answered_within_the_limits_and_nothing_vaster_is_tried():
    limited = bounded(families=["sarathi:dgx-h100", "splitwise:dgx-h100+dgx-a100"], rate_req_per_s=1e6)
    designs, done = explored(limited, {"sarathi:dgx-h100": (2.0,), "splitwise:dgx-h100+dgx-a100": (6.0, 4.0)})
    assert designs
    assert max(sum(counts(design)) for design in designs) <= 62
    assert not any(found.holds(1e6) for found in done.values())


def test_no_design_of_more_machines_than_are_searched_is_tried_whatever_the_limits():
    wide = asked(families=["sarathi:dgx-h100"], rate_req_per_s=12_000, limits={"machines": 10**9})
    designs, done = explored(wide, {"sarathi:dgx-h100": (1.0,)})
    assert max(sum(counts(design)) for design in designs) == MOST_MACHINES
    assert not any(found.holds(12_000) for found in done.values())


@pytest.mark.parametrize(
    ("limits", "most"),
    [({"machines": 200}, 200), ({"power_limit_kw": 408}, 40), ({"power_limit_kw": 408, "machines": 9}, 9)],
)
def test_the_most_capable_design_may_take_all_that_the_limits_allow_however_little_the_rate_needs(limits, most):
    little = asked(families=["sarathi:dgx-h100"], rate_req_per_s=1, goal="throughput", limits=limits)
    designs, _ = explored(little, {"sarathi:dgx-h100": (2.0,)})
    assert max(sum(counts(design)) for design in designs) == most


def test_more_counts_than_can_be_compared_are_refused_by_their_number():
    every = list(range(1, 401))
    message = r"^counts: found 160,400 designs of the counts given, expected at most 50,000"
    with pytest.raises(SpecError, match=message):
        asked(families=["sarathi:dgx-h100", "splitwise:dgx-h100+dgx-a100"], counts=dict.fromkeys(AXES, every))


@pytest.mark.parametrize("limits", [{}, {"power_limit_kw": 1e9}, {"machines": 10**9}])
def test_a_rate_whose_work_takes_more_machines_than_are_searched_is_refused_where_no_limit_says_where_to_look(limits):
    message = r"^rate_req_per_s: found 1,000,000, whose work alone keeps [0-9]{3},000 DGX H100 busy, expected a rate"
    with pytest.raises(SpecError, match=message):
        asked(families=["sarathi:dgx-h100", "sarathi:dgx-a100"], rate_req_per_s=1e6, limits=limits)


def test_the_users_own_counts_are_all_that_is_tried():
    designs, _ = explored(
        asked(counts={"mixed": [4, 8], "prefill": [5], "decode": [3, 6]}),
        {"sarathi:dgx-h100": (2.0,), "splitwise:dgx-h100+dgx-a100": (3.0, 4.0)},
    )
    split = [counts(d) for d in designs if d.family.startswith("splitwise")]
    assert set(split) >= {(5, 3), (5, 6)}
    assert {counts(d) for d in designs if d.family.startswith("sarathi")} >= {(4,), (8,)}


def test_counts_given_are_tried_even_over_a_limit_or_far_beyond_the_need():
    each = {"sarathi:dgx-h100": (2.0,), "splitwise:dgx-h100+dgx-a100": (3.0, 4.0)}
    given = {"mixed": [2, 4000], "prefill": [400], "decode": [1]}
    designs, _ = explored(asked(counts=given), each)
    assert {counts(design) for design in designs} == {(2,), (4000,), (400, 1)}


def test_a_model_that_fits_no_machine_is_one_design_a_family_with_the_reason():
    context = asked(families=["sarathi:dgx-a100"], memory={"usable": 0.3})
    assert ["use 16 or more accelerators" in line.reason for line in context.lines] == [True]
    assert [counts(design) for design in next_designs(context, {})] == [(1,)]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"failures": 17}, "failures: found 17"),
        ({"hold_equal": "speed"}, "hold_equal: found 'speed'"),
        ({"families": ["sarathy:dgx-h100"]}, "nearest: 'sarathi'"),
        ({"families": ["splitwise:dgx-h100"]}, "splitwise:<prefill machine>"),
        ({"families": ["sarathi:dgx-h200"]}, "names machine 'dgx-h200'"),
        ({"machines": [{"machine": "dgx-h10"}], "families": []}, "nearest: 'dgx-h100'"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused_by_name(changes, message):
    with pytest.raises(SpecError, match=message):
        asked(**changes)


BUDGETS = asked(
    families=["sarathi:dgx-h100", "sarathi:dgx-a100"],
    scheduler_options={"token_budgets": [128, 256, 512, 1024]},
    counts={"every": True},
)
GRID_IDS = {BUDGETS.design(index).design_id for index in BUDGETS.index.values()}


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(1.2, 9.0), min_size=8, max_size=8))
def test_the_fewest_machines_over_all_budgets_are_found_and_most_are_asked_for_the_rate_alone(each):
    """A line closes in on the rate by runs at it; only the fewest machines of a family have their capacity searched."""
    of = {(line.family, line.scheduler.token_budget): held for line, held in zip(BUDGETS.lines, each, strict=True)}
    done, asked_for = {}, []
    while wave := next_designs(BUDGETS, done):
        asked_for += wave
        known = {d.design_id: linear(d, (of[d.family, d.case.scheduler.token_budget],)) for d in wave}
        done |= {design.design_id: told(design, BUDGETS, known[design.design_id]) for design in wave}
    for family, most in (("sarathi:dgx-h100", 40), ("sarathi:dgx-a100", 62)):
        best = max(held for (of_family, _), held in of.items() if of_family == family)
        met = [counts(d)[0] for d in asked_for if d.family == family and done[d.design_id].holds(70)]
        fewest = min((n for n in range(1, most + 1) if n * best >= 70), default=None)
        assert min(met, default=None) == fewest
        whole = [d for d in asked_for if d.family == family and not d.rate_only and d.design_id not in GRID_IDS]
        assert fewest is None or {counts(d)[0] for d in whole} <= {fewest}


def test_drawn_power_is_known_of_whole_evaluations_so_nothing_is_asked_for_the_rate_alone_where_it_is_limited():
    limited = asked(families=["sarathi:dgx-h100"], limits={"power_limit_kw": 100, "power_kind": "drawn_mean"})
    designs, _ = explored(limited, {"sarathi:dgx-h100": (2.0,)})
    assert len(designs) > 4
    assert not any(design.rate_only for design in designs)
