"""The map around an answer: what is known of each cell, and what is told of those not tried."""

from collections import Counter
from dataclasses import replace

import pytest

from simcore.answer.neighbourhood import Neighbourhood, neighbourhood
from simcore.answer.result import StudyResult, study_result
from simcore.catalogue import price_book
from simcore.spec import SpecError
from simcore.study import Context
from tests.unit.simcore.questions import asked, explored

SPLIT = {"sarathi:dgx-h100": (2.0,), "splitwise:dgx-h100+dgx-a100": (6.0, 4.0)}
TOGETHER = {"sarathi:dgx-h100": (4.0,), "splitwise:dgx-h100+dgx-a100": (2.0, 2.0)}


def explored_study(each: dict[str, tuple[float, ...]], **changes: object) -> tuple[Context, StudyResult]:
    context = asked(**changes)
    designs, done = explored(context, each)
    return context, study_result(context.spec, designs, done, price_book("splitwise-2023"))


def around(each: dict[str, tuple[float, ...]], **changes: object) -> tuple[StudyResult, Neighbourhood]:
    context, result = explored_study(each, **changes)
    return result, neighbourhood(result, context.statistics)


def test_a_split_answer_lies_among_prefill_and_decode_counts() -> None:
    result, found = around(SPLIT)
    assert result.winner is not None
    up, across = found.place
    assert (found.across[across], int(found.up[up])) == (result.winner.prefill_machines, result.winner.decode_machines)
    assert found.names == ("DGX H100 machines for prefill", "DGX A100 machines for decode")
    assert all(len(row) == len(found.across) for row in found.cells)
    assert found.cells[up][across].state == "holds"


def test_a_co_located_answer_lies_among_counts_and_budgets() -> None:
    result, found = around(TOGETHER, scheduler_options={"token_budgets": [256, 512, 1024]})
    assert result.winner is not None
    up, across = found.place
    assert found.across[across] == result.winner.mixed_machines
    assert found.up == ("256 tokens, TP8", "512 tokens, TP8", "1024 tokens, TP8")
    assert found.up[up].startswith(f"{result.winner.token_budget} ")


def test_known_cells_are_the_study_s_designs() -> None:
    result, found = around(SPLIT)
    for cell in found.every:
        row = result.row(cell.design_id) if cell.design_id else None
        if row is not None:
            assert cell.counts == (row.prefill_machines, row.decode_machines)
            assert cell.capacity_req_per_s == row.capacity_req_per_s
            assert cell.provisioned_w == row.provisioned_w
            assert cell.usd_per_month == pytest.approx(float(row.usd_per_hour) * 730)
            assert (cell.state == "holds") == bool(row.met)


def test_what_was_not_tried_is_told_by_its_neighbours() -> None:
    """Prefill machines hold 6 requests/s each here and decode machines 4: what is told must be true of that."""
    _, found = around(SPLIT)
    states = Counter(cell.state for cell in found.every)
    assert states["cannot"]
    assert states["screened"]
    for cell in found.every:
        holds = min(6.0 * cell.counts[0], 4.0 * cell.counts[1]) >= 70
        if cell.state in ("cannot", "misses"):
            assert not holds, cell
        if cell.feasible:
            assert holds, cell


def test_what_costs_more_than_the_answer_comes_after_it() -> None:
    result, found = around(SPLIT)
    assert result.winner is not None
    month = float(result.winner.usd_per_hour) * 730
    assert all(cell.usd_per_month <= month * (1 + 1e-9) for cell in found.every if cell.state == "untried")


def test_a_cell_beyond_a_limit_is_not_feasible() -> None:
    _, found = around(SPLIT, limits={"power_limit_kw": 240})
    beyond = [cell for cell in found.every if cell.counts[0] * 10.2 + cell.counts[1] * 6.5 > 240]
    assert beyond
    assert not any(cell.feasible for cell in beyond)


def test_the_least_power_meets_the_question() -> None:
    _, found = around(SPLIT)
    assert found.least_power is not None
    assert found.least_power.provisioned_w == min(c.provisioned_w for c in found.every if c.state == "holds")


def test_what_is_missing_near_the_centre_can_run_and_is_near() -> None:
    _, found = around(SPLIT)
    up, across = found.place
    near = found.unknown_within(2)
    assert near
    for cell in near:
        assert abs(found.across.index(cell.counts[0]) - across) <= 2
        assert abs(found.up.index(str(cell.counts[1])) - up) <= 2
        assert cell.capacity_req_per_s is None
    assert found.unknown_within(0) == []


def test_a_cell_s_design_has_its_counts() -> None:
    _, found = around(SPLIT)
    cell = found.every[0]
    design = found.design(cell)
    assert tuple(pool.machines for pool in design.case.pools) == cell.counts
    assert design.label == f"{cell.counts[0]} DGX H100 prefill + {cell.counts[1]} DGX A100 decode"


def test_a_cell_s_design_is_the_study_s_where_it_has_it() -> None:
    result, found = around(SPLIT)
    for cell in found.every:
        if cell.design_id:
            assert found.design(cell) == replace(
                result.designs[cell.design_id], rival=None, known=None, rate_only=False
            )


def test_counts_in_the_hundreds_are_shown_in_steps() -> None:
    mix = {"mix": "conversation", "rate_req_per_s": 3000, "requests": 500, "seed": 1}
    _, found = around(SPLIT, rate_req_per_s=3000, limits={}, workload={"synthetic": mix})
    assert len(found.across) <= 21
    assert found.across[-1] - found.across[0] > 50


def test_where_nothing_holds_the_map_is_around_the_closest_miss() -> None:
    result, found = around(SPLIT, limits={"power_limit_kw": 60})
    assert result.winner is None
    assert found.centre is result.closest[0]
    assert not any(cell.feasible for cell in found.every)


def test_where_a_replica_takes_two_machines_one_holds_nothing_and_three_no_more_than_two() -> None:
    two = {"tensor_parallel": 8, "pipeline_parallel": 2, "token_budget": 512}
    asked = {"model": "llama-3.1-70b", "latency": {"source": "roofline"}, "scheduler_options": two}
    _, found = around({"sarathi:dgx-h100": (4.0,)}, families=["sarathi:dgx-h100"], counts={"mixed": [4, 20]}, **asked)
    cells = {cell.counts[0]: cell for cell in found.every}
    assert cells[10].at_most_req_per_s == cells[11].at_most_req_per_s
    assert [cells[count].state for count in (10, 11)] == ["untried", "screened"]
    assert cells[21].words == "not tried: 1 machine would belong to no replica"
    assert cells[21].feasible
    assert all(cell.counts[0] % 2 == 0 for cell in found.unknown_within(5))
    _, found = around({"sarathi:dgx-h100": (40.0,)}, families=["sarathi:dgx-h100"], counts={"mixed": [2]}, **asked)
    alone = found.every[0]
    assert (alone.counts, alone.state, alone.words) == ((1,), "cannot", "not tried: a replica takes 2 machines")


def test_nothing_tried_is_said() -> None:
    context, result = explored_study(SPLIT)
    empty = replace(result, rows=(), winner=None, closest=())
    with pytest.raises(SpecError, match="nothing to look around"):
        neighbourhood(empty, context.statistics)


def test_where_requests_that_are_all_but_alone_miss_a_limit_no_count_can_hold() -> None:
    context, result = explored_study({family: (0.0,) * len(each) for family, each in SPLIT.items()})
    smallest = result.closest[0]
    found = neighbourhood(replace(result, rows=(smallest,)), context.statistics)
    more = [cell for cell in found.every if cell.at_most_req_per_s >= 70]
    assert more
    assert {cell.state for cell in more} == {"cannot"}
    assert all("not even for requests that are all but alone" in cell.words for cell in more)
