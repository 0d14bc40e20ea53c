from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

from simcore.answer.measure import difference, measure_of
from simcore.answer.result import study_result
from simcore.catalogue import price_book, resolve_machine
from simcore.evaluation import Evaluation
from simcore.flips.field import Field
from simcore.rows import COLUMNS, as_json, as_text
from simcore.shortfalls import machines
from simcore.spec import Price, PriceBook, SpecError
from simcore.study import next_designs
from tests.unit.simcore.questions import asked, evaluation, explored

EACH = {"sarathi:dgx-h100": (2.0,), "splitwise:dgx-h100+dgx-a100": (6.0, 4.0)}


def answered(book="splitwise-2023", **changes):
    context = asked(**changes)
    designs, done = explored(context, EACH)
    return study_result(context.spec, designs, done, price_book(book))


def test_the_cheapest_design_that_holds_the_rate_wins():
    result = answered()
    meeting = [row for row in result.rows if row.met]
    assert result.winner is not None
    assert result.winner.usd_per_hour == min(row.usd_per_hour for row in meeting)
    assert (result.winner.prefill_machines, result.winner.decode_machines) == (12, 18)
    assert result.winner.usd_per_hour == 12 * Decimal("38.08") + 18 * Decimal("17.68")


@pytest.mark.parametrize(
    ("goal", "figure"),
    [
        ("power", lambda row: row.provisioned_w),
        ("machines", machines),
        ("throughput", lambda row: -row.capacity_req_per_s),
    ],
)
def test_each_goal_picks_by_its_own_figure(goal, figure):
    result = answered(goal=goal)
    assert figure(result.winner) == min(figure(row) for row in result.rows if row.met)


def test_a_changed_price_changes_the_winner_and_no_evaluation():
    context = asked()
    designs, done = explored(context, EACH)
    dear_a100 = PriceBook("x", "x", "", (Price("dgx-h100", Decimal(10)), Price("dgx-a100", Decimal(100))))
    result = study_result(context.spec, designs, done, dear_a100)
    assert result.winner.family == "sarathi:dgx-h100"
    assert result.evaluations == done


def test_perf_per_dollar_and_per_watt_are_of_all_machines_of_the_design():
    row = next(row for row in answered().rows if row.capacity_req_per_s)
    assert row.req_per_usd == pytest.approx(3600 * row.capacity_req_per_s / float(row.usd_per_hour))
    assert row.req_per_s_per_kw == pytest.approx(row.capacity_req_per_s / (row.provisioned_w / 1000))


def test_a_design_over_the_power_limit_is_not_met_and_says_by_how_much():
    result = answered(limits={"power_limit_kw": 100})
    over = [row for row in result.rows if row.nameplate_w > 100_000 and row.status == "evaluated"]
    assert over
    assert all(row.met is False and "kW more nameplate power" in row.reason for row in over)


@pytest.mark.parametrize(
    "limits", [{"usd_per_month": 100_000}, {"machines": 5}, {"power_limit_kw": 0.5, "power_kind": "drawn_mean"}]
)
def test_each_limit_binds(limits):
    result = answered(limits=limits)
    assert result.winner is None
    assert 2 <= len(result.closest) <= 3


@pytest.mark.parametrize("goal", ["cost", "power", "frontier"])
def test_of_designs_that_the_goal_calls_equal_the_one_that_holds_more_is_the_answer(goal):
    """Two budgets on as many of the same machines: the answer is on the frontier of its goal."""
    context = asked(families=["sarathi:dgx-h100"], scheduler_options={"token_budgets": [512, 1024]}, goal=goal)
    designs, done = explored(context, {"sarathi:dgx-h100": (2.0,)})
    capacity = {design.design_id: 73.0 if design.case.scheduler.token_budget == 1024 else 71.0 for design in designs}
    done = {name: replace(found, capacity_req_per_s=capacity[name]) for name, found in done.items() if found.holds(70)}
    result = study_result(context.spec, designs, done, price_book("list"))
    assert result.winner is not None
    assert (result.winner.token_budget, result.winner.capacity_req_per_s) == (1024, 73.0)
    assert result.winner.on_power_frontier if goal == "power" else result.winner.on_cost_frontier


def test_a_design_that_cannot_run_keeps_its_reason_and_has_no_capacity():
    context = asked()
    design = next_designs(context, {})[0]
    reason = "weights need 352 GB"
    done = {design.design_id: Evaluation(design.design_id, "infeasible", reason)}
    row = study_result(context.spec, [design], done, price_book("list")).rows[0]
    assert (row.status, row.reason, row.capacity_req_per_s, row.met) == ("infeasible", reason, None, None)
    assert not row.on_cost_frontier


def test_designs_without_an_evaluation_are_not_rows():
    context = asked()
    designs, done = explored(context, EACH)
    half = dict(list(done.items())[::2])
    assert {row.design_id for row in study_result(context.spec, designs, half, price_book("list")).rows} == set(half)


def test_a_book_without_a_price_is_refused():
    context = asked()
    designs, done = explored(context, EACH)
    with pytest.raises(SpecError, match="no price for"):
        study_result(context.spec, designs, done, PriceBook("x", "x", "", (Price("dgx-a100", Decimal(1)),)))


def test_frontiers_name_what_beats_a_design():
    rows = {row.design_id: row for row in answered().rows}
    for row in rows.values():
        if row.cost_dominated_by:
            better = rows[row.cost_dominated_by]
            assert better.on_cost_frontier
            assert better.usd_per_hour <= row.usd_per_hour
            assert better.capacity_req_per_s >= row.capacity_req_per_s


def test_a_row_has_the_columns_of_the_contract_in_json_and_text():
    row = answered().rows[0]
    assert list(as_json(row)) == list(COLUMNS)
    assert len(as_text(row)) == len(COLUMNS)
    assert as_json(row)["usd_per_hour"] == str(row.usd_per_hour)
    assert COLUMNS[:3] == ("design_id", "label", "family")
    assert COLUMNS[32:34] == ("status", "reason"), "what the contract lists comes first"


def test_a_rate_within_the_search_resolution_of_capacity_is_decided_at_the_rate_itself():
    design = next_designs(asked(), {})[0]
    almost = evaluation(design, 69.5)
    assert not almost.holds(70)
    assert replace(almost, at_required=replace(almost.at_required, met=True)).holds(70)


@pytest.mark.parametrize(
    ("kind", "first", "words"),
    [
        ("nameplate", 11, "less nameplate power"),
        ("provisioned", 10, "less provisioned power"),
        ("drawn_mean", 12, "less mean drawn power"),
        ("drawn_p99", 13, "less P99 drawn power"),
    ],
)
def test_the_least_power_is_of_the_figure_that_the_question_chose(kind, first, words):
    """Of four designs each is the least by one figure; drawn power is that at the required rate."""
    context = asked(goal="power", limits={"power_kind": kind}, counts={"mixed": [10, 11, 12, 13]},
                    families=["sarathi:dgx-h100", "vllm:dgx-h100"])  # fmt: skip
    designs, done = explored(context, {"sarathi:dgx-h100": (7.0,), "vllm:dgx-h100": (7.0,)})
    drawn = {10: (5e4, 6e4), 11: (5e4, 6e4), 12: (3e4, 7e4), 13: (4e4, 5e4)}
    least_by_rating = {10: (11, 1.0), 11: (9, 2.0), 12: (11, 2.0), 13: (11, 2.0)}
    machine = resolve_machine("dgx-h100")

    def made(design):
        count = design.case.pools[0].machines
        nameplate, provisioned = (figure * 1e4 / count for figure in least_by_rating[count])
        rated = replace(machine, nameplate_w=nameplate, provisioned_w=provisioned)
        return replace(design, case=replace(design.case, pools=(replace(design.case.pools[0], machine=rated),)))

    def found(design):
        mean, p99 = drawn[design.case.pools[0].machines]
        more = 1.0 if design.family.startswith("sarathi") else 1.2
        one = done[design.design_id]
        return replace(one, at_required=replace(one.at_required, mean_w=mean * more, p99_w=p99 * more))

    result = study_result(
        context.spec,
        [made(design) for design in designs],
        {design.design_id: found(design) for design in designs},
        price_book("splitwise-2023"),
    )
    assert result.winner.mixed_machines == first
    other = next(row for row in result.rows if row.met and row is not result.winner and row.mixed_machines != first)
    assert words in difference(measure_of(result), result.winner, other)
    field = Field.of(result)
    assert field.design_ids[field.order(np.zeros(len(field.design_ids)))[0]] == result.winner.design_id


def test_rows_are_in_one_order_however_the_designs_were_come_by():
    context = asked()
    designs, done = explored(context, {"sarathi:dgx-h100": (2.0,), "splitwise:dgx-h100+dgx-a100": (6.0, 4.0)})
    book = price_book("splitwise-2023")
    result = study_result(context.spec, designs, done, book)
    other = study_result(context.spec, designs[::-1], dict(reversed(done.items())), book)
    assert other.rows == result.rows
    assert len({row.family for row in result.rows}) > 1
    sarathi = [row.mixed_machines for row in result.rows if row.family == "sarathi:dgx-h100"]
    assert sarathi == sorted(sarathi)


def test_where_the_most_is_asked_for_a_drawn_limit_is_of_what_is_drawn_at_capacity():
    context = asked(
        families=["sarathi:dgx-h100"],
        goal="throughput",
        limits={"power_limit_kw": 2.0, "power_kind": "drawn_mean", "machines": 60},
    )
    designs, done = explored(context, {"sarathi:dgx-h100": (2.0,)})
    held = {
        name: replace(
            found,
            at_required=found.at_required and replace(found.at_required, mean_w=1000.0),
            at_capacity=found.at_capacity and replace(found.at_capacity, mean_w=3000.0),
        )
        for name, found in done.items()
    }
    result = study_result(context.spec, designs, held, price_book("splitwise-2023"))
    searched = [row for row in result.rows if row.status == "evaluated" and held[row.design_id].at_capacity]
    assert searched
    assert result.winner is None
    for row in searched:
        assert any(short.kind == "power" for short in result.shortfalls[row.design_id])
