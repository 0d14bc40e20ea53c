"""What is said where nothing that was tried will do."""

from dataclasses import replace

from simcore.answer.result import study_result
from simcore.catalogue import price_book
from simcore.evaluation import Evaluation, LimitResult, LimitsAt
from simcore.explain import answer
from simcore.study import next_designs
from tests.unit.simcore.answers import EACH, answered, texts
from tests.unit.simcore.questions import asked, explored


def test_nothing_feasible_lists_the_closest_misses_and_what_each_needs():
    result = answered(limits={"power_limit_kw": 200})
    lines = answer(result)
    assert lines[0].text == (
        "No design within 200 kW nameplate holds Splitwise's nine slowdown limits at 70 requests/s."
    )
    misses = [line.text for line in lines if line.key.startswith("miss")]
    assert len(misses) == 3
    assert "holds 60 requests/s instead of 70 (P90 TTFT slowdown 3.6× instead of 3×)" in misses[0]
    assert "needs 39.4 kW more nameplate power" in misses[1]


def test_a_rate_beyond_the_largest_design_that_is_searched_is_said_with_the_machines_that_it_takes():
    vast = texts(answered({"sarathi:dgx-h100": (2.0,)}, families=["sarathi:dgx-h100"], rate_req_per_s=1e6))
    assert vast["A"].text.endswith("at 1,000,000 requests/s.")
    assert vast["A"].detail == (
        "By what Sarathi on 40 DGX H100, 512-token budget hold the rate takes about 500,000 such machines; designs of"
        " more than 10,000 are not searched, so none that would hold it is shown."
    )
    near = texts(answered({"sarathi:dgx-h100": (2.0,)}, families=["sarathi:dgx-h100"], rate_req_per_s=90))
    assert near["A"].detail == ""


def test_the_most_that_is_searched_is_said_where_the_most_capable_design_is_asked_for():
    changes = {"families": ["sarathi:dgx-h100"], "goal": "throughput"}
    most = texts(answered({"sarathi:dgx-h100": (2.0,)}, limits={"machines": 10**6}, **changes))["A"]
    assert most.text.startswith("Buy 10000 DGX H100")
    assert most.detail.endswith(" Designs of more than 10,000 machines were not tried.")
    by_money = texts(answered({"sarathi:dgx-h100": (2.0,)}, limits={"usd_per_month": 1e8}, **changes))["A"]
    assert by_money.detail.endswith(" machines were not tried.")
    by_power = texts(answered({"sarathi:dgx-h100": (2.0,)}, **changes))["A"]
    assert by_power.text.startswith("Buy 40 DGX H100")
    assert "not tried" not in by_power.detail


def test_a_limit_that_nothing_meets_is_named_with_its_value():
    result = answered({"sarathi:dgx-h100": (0.0,), "splitwise:dgx-h100+dgx-a100": (0.0, 0.0)})
    misses = [line.text for line in answer(result) if line.key.startswith("miss")]
    assert "holds the limits at no rate (P90 TTFT slowdown 3.6× instead of 3×)" in misses[0]


def test_where_nothing_is_met_at_any_rate_the_limit_is_named_not_the_queue():
    context = asked()
    designs, done = explored(context, {family: (0.0,) * len(each) for family, each in EACH.items()})
    done = {name: replace(found, at_required=replace(found.at_required, stable=False)) for name, found in done.items()}
    misses = [line.text for line in answer(study_result(context.spec, designs, done, price_book("list")))]
    assert "(P90 TTFT slowdown is missed even by requests that are all but alone)" in misses[1]


def test_limits_missed_by_lone_requests_are_told_with_their_values_and_the_nearest_first():
    context = asked()
    designs, done = explored(context, {family: (0.0,) * len(each) for family, each in EACH.items()})
    limits = [LimitResult("tbt_s", 99, 0.03, 0.036, False), LimitResult("ttft_s", 99, 0.25, 0.75, False)]
    nearer = [limits[0], LimitResult("ttft_s", 99, 0.25, 0.2, True)]
    for name, found in done.items():
        missed = nearer if len(next(d for d in designs if d.design_id == name).case.pools) == 1 else limits
        alone = (LimitsAt(0.01, tuple(missed)),)
        done[name] = replace(found, at_required=None, binding_limit="ttft_p99", around=alone)
    misses = [line.text for line in answer(study_result(context.spec, designs, done, price_book("list")))]
    assert "no rate (P99 TBT 36 ms instead of 30 ms, even for requests that are all but alone)" in misses[1]
    assert misses[1].startswith("Sarathi")
    assert "P99 TTFT 0.75 s instead of 0.25 s and P99 TBT 36 ms instead of 30 ms, even for requests" in misses[2]


def test_what_does_not_fit_is_no_close_miss_while_others_run():
    context = asked()
    designs, done = explored(context, {family: (0.0,) * len(each) for family, each in EACH.items()})
    first = designs[0].design_id
    done[first] = Evaluation(first, "infeasible", "does not fit")
    lines = [line.text for line in answer(study_result(context.spec, designs, done, price_book("list")))]
    assert not any("does not fit" in text for text in lines)


def test_a_model_that_does_not_fit_is_said_with_its_reason():
    context = asked(memory={"usable": 0.3})
    designs = next_designs(context, {})
    reason = context.lines[0].reason
    done = {design.design_id: Evaluation(design.design_id, "infeasible", reason) for design in designs}
    result = study_result(context.spec, designs, done, price_book("list"))
    lines = answer(result)
    assert lines[0].text == "No design can run BLOOM 176B as asked."
    assert [reason in line.text for line in lines if line.key.startswith("miss")] == [True]


def test_a_limit_missed_by_a_hair_is_told_apart_from_what_it_missed():
    context = asked()
    designs, done = explored(context, EACH)
    hair = LimitResult("tbt_slowdown", 50, 1.25, 1.25004, False)
    done = {
        name: replace(found, at_required=replace(found.at_required, met=False, limits=(hair,)))
        for name, found in done.items()
        if found.at_required
    }
    result = study_result(context.spec, designs, done, price_book("list"))
    assert "P50 TBT slowdown 1.25004× instead of 1.25×" in answer(result)[1].text


def test_counts_given_are_said_where_nothing_of_them_will_do():
    result = answered(counts={"mixed": [2], "prefill": [2], "decode": [2]})
    assert "No design of the counts given within 408 kW nameplate holds" in answer(result)[0].text


def test_what_only_the_lower_bound_misses_is_not_said_to_be_missed_by_all():
    sized = {"families": ["sarathi:dgx-h100"], "size_to": "lower_bound"}
    none = texts(answered({"sarathi:dgx-h100": (2.0,)}, limits={"power_limit_kw": 200}, **sized))["A"]
    assert none.text.endswith("at 70 requests/s at its interval's lower bound.")
    result = answered({"sarathi:dgx-h100": (2.0,)}, **sized)
    unsure = study_result(
        result.spec,
        tuple(result.designs.values()),
        {name: replace(found, capacity_low=0.0) for name, found in result.evaluations.items()},
        result.book,
    )
    assert unsure.winner is None
    assert unsure.median is not None
    text = texts(unsure)["A"].text
    assert text.endswith(
        f"at 70 requests/s at its interval's lower bound; for the median {unsure.median.label} would do."
    )
